//! The simulator command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cellar_sim::command::main()
}
