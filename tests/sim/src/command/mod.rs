//! The `sim` command, which parses arguments, runs scenarios, and prints progress and results.

pub mod arguments;
pub mod progress;
mod report;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use self::arguments::Arguments;
use self::progress::SavedProgress;
use crate::batch::{FailedSeed, Summary, run_seeds};
use crate::failed_seeds;
use crate::run::run;
use crate::scenarios::Scenario;

/// Exit code of a usage error.
const USAGE: u8 = 64;
/// Number of seeds after which the progress is printed and saved.
const SEEDS_PER_SAVE: usize = 50;

/// Runs the command. The exit code is 0 on success, 1 if a seed failed or an expected event never
/// happened, and 64 for a usage error.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Errors of writing to the terminal cannot be reported anywhere.
            let _ = error.print();
            let is_help =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_help { ExitCode::SUCCESS } else { ExitCode::from(USAGE) };
        }
    };
    let ended = match arguments.seed {
        Some(seed) => run_one(&arguments, seed),
        None => run_many(&arguments),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            report::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Runs one seed of each scenario. Returns whether all runs succeeded.
fn run_one(arguments: &Arguments, seed: u64) -> io::Result<bool> {
    let mut all_passed = true;
    for scenario in arguments.scenarios() {
        let outcome = run(scenario, seed, arguments.trace);
        all_passed &= outcome.violations.is_empty();
        report::print_one(scenario, seed, &outcome, arguments.json)?;
    }
    Ok(all_passed)
}

/// Runs many seeds. Returns whether all runs succeeded and all expected events happened.
fn run_many(arguments: &Arguments) -> io::Result<bool> {
    let mut progress = SavedProgress::read(arguments.resume.as_deref())?;
    let mut all_passed = true;
    let mut reports = Vec::new();
    for scenario in arguments.scenarios() {
        let summary = run_scenario(arguments, scenario, &mut progress)?;
        all_passed &= summary.failed.is_empty() && summary.missing_events(scenario).is_empty();
        record_failed_seeds(arguments, &summary.failed)?;
        reports.push((scenario, summary));
    }
    report::print_many(&reports, arguments.json)?;
    Ok(all_passed)
}

fn run_scenario(
    arguments: &Arguments,
    scenario: Scenario,
    progress: &mut SavedProgress,
) -> io::Result<Summary> {
    let (mut summary, first_seed) = progress.scenario(scenario).unwrap_or_default();
    let seeds: Vec<u64> = arguments.seeds().filter(|seed| *seed >= first_seed).collect();
    let total_count = seeds.len() as u64 + summary.seeds;
    for seed_chunk in seeds.chunks(SEEDS_PER_SAVE) {
        run_seeds(scenario, seed_chunk, arguments.threads(), &mut summary);
        let next_seed = seed_chunk.last().map_or(first_seed, |last_seed| last_seed + 1);
        progress.save(scenario, &summary, next_seed)?;
        report::print_progress(scenario, &summary, total_count, arguments.json);
        if arguments.until_failure && !summary.failed.is_empty() {
            break;
        }
    }
    Ok(summary)
}

fn record_failed_seeds(arguments: &Arguments, failed: &[FailedSeed]) -> io::Result<()> {
    if arguments.forget || failed.is_empty() {
        return Ok(());
    }
    failed_seeds::add(failed)
}
