//! The command `sim`: arguments in, progress and a table out.

mod arguments;
mod progress;
mod report;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use self::arguments::Arguments;
use self::progress::Progress;
use crate::batch::{FailedSeed, Summary, run_seeds};
use crate::kept;
use crate::run::run;
use crate::scenarios::Scenario;

/// Exit code of wrong usage.
const USAGE: u8 = 64;
/// Seeds between two lines of progress, and between two writes of the file to go on from.
const STRIDE: usize = 50;

/// Runs the command of this process: 0 if all is well, 1 if a seed failed or something that is promised
/// never happened, 64 for wrong usage.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Nothing is left to do if the terminal is gone.
            let _ = error.print();
            let is_help =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_help { ExitCode::SUCCESS } else { ExitCode::from(USAGE) };
        }
    };
    let ended = match arguments.seed {
        Some(seed) => one(&arguments, seed),
        None => many(&arguments),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            report::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Runs one seed; whether all was well.
fn one(arguments: &Arguments, seed: u64) -> io::Result<bool> {
    let mut is_well = true;
    for scenario in arguments.scenarios() {
        let outcome = run(scenario, seed, arguments.trace);
        is_well &= outcome.violations.is_empty();
        report::one(scenario, seed, &outcome, arguments.json)?;
    }
    Ok(is_well)
}

/// Runs many seeds; whether all was well.
fn many(arguments: &Arguments) -> io::Result<bool> {
    let mut progress = Progress::read(arguments.resume.as_deref())?;
    let mut is_well = true;
    let mut reports = Vec::new();
    for scenario in arguments.scenarios() {
        let summary = scenario_seeds(arguments, scenario, &mut progress)?;
        is_well &= summary.failed.is_empty() && summary.never_happened(scenario).is_empty();
        keep(arguments, &summary.failed)?;
        reports.push((scenario, summary));
    }
    report::many(&reports, arguments.json)?;
    Ok(is_well)
}

fn scenario_seeds(
    arguments: &Arguments,
    scenario: Scenario,
    progress: &mut Progress,
) -> io::Result<Summary> {
    let (mut summary, from) = progress.of(scenario).unwrap_or((Summary::default(), 0));
    let seeds: Vec<u64> = arguments.seeds().filter(|seed| *seed >= from).collect();
    let total = seeds.len() as u64 + summary.seeds;
    for some in seeds.chunks(STRIDE) {
        run_seeds(scenario, some, arguments.threads(), &mut summary);
        let next = some.last().map_or(from, |last| last + 1);
        progress.reached(scenario, &summary, next)?;
        report::progress(scenario, &summary, total, arguments.json);
        if arguments.until_failure && !summary.failed.is_empty() {
            break;
        }
    }
    Ok(summary)
}

fn keep(arguments: &Arguments, failed: &[FailedSeed]) -> io::Result<()> {
    if arguments.forget || failed.is_empty() {
        return Ok(());
    }
    kept::add(failed)
}
