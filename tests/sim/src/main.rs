//! The simulator command, built without Cellar's other crates.

use std::process::ExitCode;

fn main() -> ExitCode {
    cellar_sim::command::main()
}
