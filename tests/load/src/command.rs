//! The `load` command, which parses arguments and prints progress and a report.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;

use crate::LoadError;
use crate::cloud::Program;
use crate::plan::{CLIENTS, Scenario};
use crate::report::Report;
use crate::run::{RunProgress, run};

/// Exit code if a check failed.
const EXIT_VIOLATION: u8 = 1;
/// Exit code if the load test could not be run.
const EXIT_NOT_RUN: u8 = 2;
/// Exit code of a usage error.
const EXIT_USAGE: u8 = 64;
/// Maximum number of clients, each of which uses two connections.
const MAX_CLIENTS: i64 = 1_000;
/// Maximum duration of a run, in seconds (one day).
const MAX_SECONDS: u64 = 24 * 60 * 60;
/// Terminal control sequence.
const CLEAR_TO_END_OF_LINE: &str = "\x1b[K";
/// Number of seconds between two lines of progress if the output is not a terminal.
const PROGRESS_STEP_S: u64 = 60;

/// Run a load test against a local cloud over HTTP, and check that no edit was lost or duplicated
#[derive(Debug, Parser)]
#[command(
    name = "load",
    version,
    after_help = "\
Examples:
  load sustained                      100 clients, 20 requests a second for a minute
  load sustained --rate 100 --seconds 120
  load kill --clients 20 --json > kill.json
  load soak                           half an hour; also checks the growth of memory

Exit codes: 0 success; 1 a check failed (lost, duplicated or different data, faults, memory); 2 the run could \
not be made; 64 usage error."
)]
struct Arguments {
    /// Scenario to run
    scenario: Scenario,
    /// Number of clients, each with its own connections
    #[arg(long, value_name = "N", default_value_t = CLIENTS,
        value_parser = clap::value_parser!(u32).range(1..=MAX_CLIENTS))]
    clients: u32,
    /// Duration in seconds; defaults to a minute, or half an hour for soak
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=MAX_SECONDS))]
    seconds: Option<u64>,
    /// Requests per second of all clients together, for sustained and soak
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The programs that start the local stacks.
#[derive(Debug, Clone)]
pub struct Programs {
    /// For most scenarios.
    pub real: Program,
    /// For `kill`: starts a local stack with a fast clock, so that the leases of killed workers
    /// expire soon.
    pub fast: Program,
}

/// Runs the command. The exit code is 0 on success, 1 if a check failed, 2 if the load test could
/// not be run, and 64 for a usage error.
#[must_use]
pub fn main(programs: &Programs) -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Errors of writing to the terminal cannot be reported anywhere.
            let _ = error.print();
            let is_help =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_help { ExitCode::SUCCESS } else { ExitCode::from(EXIT_USAGE) };
        }
    };
    match run_and_report(&arguments, programs) {
        Ok(report) if report.violations().is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(EXIT_VIOLATION),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(EXIT_NOT_RUN)
        }
    }
}

fn run_and_report(arguments: &Arguments, programs: &Programs) -> Result<Report, LoadError> {
    let report = execute_run(arguments, programs)?;
    print_report(arguments, &report)?;
    Ok(report)
}

fn execute_run(arguments: &Arguments, programs: &Programs) -> Result<Report, LoadError> {
    let Arguments { scenario, clients, rate, json, .. } = *arguments;
    let seconds = arguments.seconds.unwrap_or(scenario.seconds());
    let plan = scenario.plan(clients, Duration::from_secs(seconds), rate);
    let program = if plan.kills > 0 { &programs.fast } else { &programs.real };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| LoadError::Part { why: error.to_string() })?;
    let is_terminal = io::stderr().is_terminal();
    let report_progress = move |progress| {
        if !json {
            print_progress(scenario, progress, is_terminal);
        }
    };
    let report = runtime.block_on(run(&plan, program, report_progress))?;
    if is_terminal && !json {
        let _ = writeln!(io::stderr());
    }
    Ok(report)
}

/// Prints the progress. On a terminal, one line is overwritten; otherwise, one line is printed each
/// minute.
fn print_progress(scenario: Scenario, progress: RunProgress, is_terminal: bool) {
    let seconds = progress.elapsed.as_secs();
    if !is_terminal && !seconds.is_multiple_of(PROGRESS_STEP_S) {
        return;
    }
    let memory = match progress.resident_bytes {
        Some(resident_bytes) => format!(", {} MB", resident_bytes / 1_000_000),
        None => String::new(),
    };
    let answered = progress.answered;
    let line = format!("{scenario}: {seconds} s, {answered} requests answered{memory}");
    // Errors of writing to the terminal cannot be reported anywhere.
    let _ = if is_terminal {
        write!(io::stderr(), "\r{line}{CLEAR_TO_END_OF_LINE}")
    } else {
        writeln!(io::stderr(), "{line}")
    };
    let _ = io::stderr().flush();
}

fn print_report(arguments: &Arguments, report: &Report) -> Result<(), LoadError> {
    let load_error = |why: String| LoadError::Part { why };
    let output = if arguments.json {
        serde_json::to_string(report).map_err(|error| load_error(error.to_string()))?
    } else {
        report.to_string()
    };
    writeln!(io::stdout(), "{output}").map_err(|error| load_error(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from([&["load"], arguments].concat())
    }

    #[test]
    fn invalid_arguments_are_refused() {
        for wrong in [
            &[][..],
            &["nowhere"],
            &["kill", "--clients", "0"],
            &["kill", "--clients", "1001"],
            &["soak", "--seconds", "0"],
            &["soak", "--seconds", "86401"],
            &["soak", "--rate", "0"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
        let largest = parsed(&["soak", "--clients", "1000", "--seconds", "86400"]).unwrap();
        assert_eq!((largest.clients, largest.seconds), (1_000, Some(86_400)));
        assert_eq!(parsed(&["one-sheet"]).unwrap().scenario, Scenario::OneSheet);
    }
}
