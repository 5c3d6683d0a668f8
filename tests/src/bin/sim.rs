//! The command of the simulator.

use std::process::ExitCode;

fn main() -> ExitCode {
    cellar_sim::command::main()
}
