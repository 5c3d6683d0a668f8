//! The `synth` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    synth::main()
}
