//! Output of the command: progress on stderr and results on stdout.

use std::fmt;
use std::io::{self, Write as _};

use serde_json::json;

use crate::batch::Summary;
use crate::run::RunOutcome;
use crate::scenarios::Scenario;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn print_line(line: fmt::Arguments<'_>) {
    // Errors of writing to the terminal cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints the error that ended the command.
pub(super) fn print_error(error: &io::Error) {
    print_line(format_args!("error: {error}"));
}

/// Prints the progress of a scenario.
pub(super) fn print_progress(scenario: Scenario, summary: &Summary, total: u64, json: bool) {
    if !json {
        let (seeds, failed) = (summary.seeds, summary.failed.len());
        print_line(format_args!("{scenario:<22} {seeds} of {total} seeds, {failed} failed"));
    }
}

/// Prints the result of one run.
pub(super) fn print_one(
    scenario: Scenario,
    seed: u64,
    outcome: &RunOutcome,
    json: bool,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let RunOutcome { violations, trace_hash, events, elapsed_ms, rare, lines } = outcome;
    let hash = format!("{trace_hash:016x}");
    if json {
        let report = json!({
            "scenario": scenario.name(), "seed": seed, "hash": hash, "events": events,
            "elapsed_ms": elapsed_ms, "violations": violations, "rare": rare, "trace": lines,
        });
        return writeln!(out, "{report}");
    }
    for line in lines {
        writeln!(out, "{line}")?;
    }
    for violation in violations {
        writeln!(out, "{scenario} {seed}: {violation}")?;
    }
    let state = if violations.is_empty() { "well" } else { "FAILED" };
    let seconds = elapsed_ms / 1_000;
    writeln!(out, "{scenario} {seed}: {state}, {events} events in {seconds} s, trace {hash}")
}

/// Prints the results of many runs.
pub(super) fn print_many(reports: &[(Scenario, Summary)], json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        let report = |(scenario, summary): &(Scenario, Summary)| {
            let never = summary.missing_events(*scenario);
            json!({ "scenario": scenario.name(), "summary": summary, "never_happened": never })
        };
        let all: Vec<_> = reports.iter().map(report).collect();
        return writeln!(out, "{}", json!({ "scenarios": all }));
    }
    writeln!(
        out,
        "{:<22} {:>7} {:>7} {:>12} {:>9}",
        "scenario", "seeds", "failed", "events", "days"
    )?;
    for (scenario, Summary { seeds, failed, events, elapsed_ms, .. }) in reports {
        let (failed, days) = (failed.len(), elapsed_ms / DAY_MS);
        writeln!(out, "{scenario:<22} {seeds:>7} {failed:>7} {events:>12} {days:>9}")?;
    }
    for (scenario, summary) in reports {
        writeln!(out, "\n{scenario}")?;
        for (rare, times) in &summary.rare {
            writeln!(out, "{times:>12}  {}", rare.text())?;
        }
        for rare in summary.missing_events(*scenario) {
            writeln!(out, "       NEVER  {}", rare.text())?;
        }
        for failed in &summary.failed {
            writeln!(out, "      FAILED  --seed {}: {}", failed.seed, failed.why)?;
        }
    }
    Ok(())
}
