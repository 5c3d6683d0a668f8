//! The `synth` command, for tests.

fn main() -> std::process::ExitCode {
    synth::cli::main()
}
