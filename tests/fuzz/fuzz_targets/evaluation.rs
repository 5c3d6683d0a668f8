#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cellar_fuzz::check_evaluation(bytes);
});
