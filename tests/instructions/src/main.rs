//! Runs the hot path whose name is the first argument.

use std::process::ExitCode;

use cellar_instructions::{Failure, HOT_PATHS, run_counted_path};

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match run(&name) {
        Ok(result) => {
            println!("{result}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str) -> Result<usize, Failure> {
    let path = HOT_PATHS.iter().find(|(path_name, _)| *path_name == name);
    let (_, prepare) = path.ok_or("there is no such path")?;
    run_counted_path(prepare()?)
}
