//! The simulator's command, built without the other crates of Cellar.

use std::process::ExitCode;

fn main() -> ExitCode {
    cellar_sim::command::main()
}
