#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cellar_untrusted::FEED.check(bytes);
});
