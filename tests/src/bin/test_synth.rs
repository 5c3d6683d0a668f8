//! The `synth` command, built for tests. The clock of its local stack can be set to run faster than
//! real time.

fn main() -> std::process::ExitCode {
    synth::main_with(cellar_tests::fast_clock::ports())
}
