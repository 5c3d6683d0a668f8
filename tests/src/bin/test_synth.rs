//! The `synth` command, for tests: time may run faster in its local cloud.

fn main() -> std::process::ExitCode {
    synth::main_with(cellar_tests::fast_clock::ports())
}
