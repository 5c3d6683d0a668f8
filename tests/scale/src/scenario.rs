//! Runs all steps on a sheet of one size, with real commands on a local stack.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cellar_api::cost::Cost;
use cellar_reference_data::COLUMNS;
use serde_json::Value;

use crate::ScaleError;
use crate::cost_line::parse_cost;
use crate::data::{EDITED_LINES, FileSummary, TailDigest, code_of_row, write_file};
use crate::figures::{SizeFigures, Step, StepFigures};
use crate::process::{EndedCommand, run_measured};
use crate::stack::{Programs, Stack, StoredObjects};

/// Times that a short step is repeated.
const REPEATS: u32 = 5;
/// Rows of a view.
const VIEW_ROWS: u32 = 50;
/// Lines of the sheet above the first row: the names of the columns.
const HEADER_LINES: u32 = 1;
/// Requests of a snapshot that `--cost` does not report: see `docs/cost.md`.
const SNAPSHOT_COST: Cost = Cost {
    read_half_units: 7,
    write_units: 4,
    table_requests: 0,
    object_puts: 0,
    object_gets: 0,
    object_tags: 0,
    object_deletes: 0,
    object_bytes_sent: 0,
    object_bytes_received: 0,
    queue_requests: 0,
};
/// Edits after which a snapshot must have begun.
const MAX_EDITS_TO_SNAPSHOT: u32 = 30;
const SNAPSHOT_POLL_PERIOD: Duration = Duration::from_millis(20);
const MAX_SNAPSHOT_WAIT: Duration = Duration::from_secs(30 * 60);
/// Maximum output that is kept of a command other than an export.
const MAX_KEPT_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
const EXIT_SUCCESS: i32 = 0;
const EXIT_DIFFERENCES: i32 = 2;

/// Measures all steps on a sheet of `rows` rows. `report_step` is called with the figures of each
/// step.
///
/// # Errors
///
/// Returns a [`ScaleError`] if a command fails or has a wrong result.
pub fn measure_size(
    programs: &Programs,
    folder: &Path,
    rows: u32,
    report_step: &mut dyn FnMut(&StepFigures),
) -> Result<SizeFigures, ScaleError> {
    let stack = Stack::start(programs, folder)?;
    let csv_path = stack.folder().join("scale.csv");
    let csv = write_file(&csv_path, rows).map_err(|source| ScaleError::file(&csv_path, source))?;
    let mut scenario =
        Scenario { stack, rows, inserted_rows: 0, edits: 0, figures: Vec::new(), report_step };
    scenario.run_import()?;
    fs::remove_file(&csv_path).map_err(|source| ScaleError::file(&csv_path, source))?;
    scenario.run_views(Step::ViewFirst, |_, _| 0)?;
    scenario.run_views(Step::ViewLast, |rows, _| rows - VIEW_ROWS)?;
    scenario.run_views(Step::ViewRandom, random_row)?;
    scenario.repeat(Step::Edit, Scenario::edit)?;
    scenario.repeat(Step::InsertAtTop, Scenario::insert_at_top)?;
    scenario.run_snapshot(Step::FirstSnapshot)?;
    scenario.run_snapshot(Step::NextSnapshot)?;
    scenario.run_views(Step::ViewSnapshot, |rows, repeat| random_row(rows, repeat + REPEATS))?;
    scenario.run_export(&csv)?;
    scenario.run_fork()?;
    scenario.run_diff()?;
    let StoredObjects { objects, bytes } = scenario.stack.stored_objects()?;
    Ok(SizeFigures {
        cells: u64::from(rows) * u64::from(COLUMNS),
        csv_bytes: csv.bytes,
        stored_objects: objects,
        stored_bytes: bytes,
        steps: scenario.figures,
    })
}

/// Returns a row from which a view of [`VIEW_ROWS`] rows is within the sheet.
fn random_row(rows: u32, number: u32) -> u32 {
    // The multiples of the golden ratio, here in units of 2⁻³², are spread evenly.
    const GOLDEN_RATIO: u32 = 2_654_435_769;
    let fraction = (number + 1).wrapping_mul(GOLDEN_RATIO);
    let row = (u64::from(rows - VIEW_ROWS) * u64::from(fraction)) >> u32::BITS;
    u32::try_from(row).unwrap_or(0)
}

struct Scenario<'a> {
    stack: Stack,
    rows: u32,
    inserted_rows: u32,
    edits: u32,
    figures: Vec<StepFigures>,
    report_step: &'a mut dyn FnMut(&StepFigures),
}

/// A command that has succeeded.
struct Success {
    output: String,
    figures: StepFigures,
}

/// State of the stack before a step.
struct StackBaseline {
    stored: StoredObjects,
    cpu_s: f64,
}

/// Resources of the stack that a step used.
struct StackUsage {
    added: StoredObjects,
    cpu_s: f64,
    peak_bytes: u64,
}

impl StackUsage {
    fn figures(&self, step: Step, cost: &Cost, client: &EndedCommand) -> StepFigures {
        StepFigures {
            wall_s: client.wall_s,
            client_cpu_s: client.cpu_s,
            stack_cpu_s: self.cpu_s,
            client_peak_bytes: client.peak_bytes,
            stack_peak_bytes: self.peak_bytes,
            added_objects: self.added.objects,
            added_bytes: self.added.bytes,
            ..StepFigures::of_cost(step, cost)
        }
    }
}

/// The newest position, and that of the newest snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Positions {
    head: u64,
    snapshot: Option<u64>,
}

impl Scenario<'_> {
    fn record(&mut self, figures: StepFigures) {
        (self.report_step)(&figures);
        self.figures.push(figures);
    }

    fn repeat(
        &mut self,
        step: Step,
        mut run_once: impl FnMut(&mut Self, Step) -> Result<StepFigures, ScaleError>,
    ) -> Result<(), ScaleError> {
        let mut repeats = Vec::new();
        for _ in 0..REPEATS {
            repeats.push(run_once(self, step)?);
        }
        if let Some(figures) = StepFigures::combine(&repeats) {
            self.record(figures);
        }
        Ok(())
    }

    /// Runs a command and measures it, with the work that the stack does after its reply.
    fn run(&self, step: Step, arguments: &[&str]) -> Result<Success, ScaleError> {
        let mut output = Vec::new();
        let mut keep = |bytes: &[u8]| {
            if output.len() + bytes.len() <= MAX_KEPT_OUTPUT_BYTES {
                output.extend_from_slice(bytes);
            }
        };
        let figures = self.measure(step, arguments, &mut keep)?;
        Ok(Success { output: String::from_utf8_lossy(&output).into_owned(), figures })
    }

    fn measure(
        &self,
        step: Step,
        arguments: &[&str],
        receive_output: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<StepFigures, ScaleError> {
        let baseline = self.begin_step()?;
        let ended = run_measured(self.stack.cellar(arguments), receive_output)?;
        let cost = check_success(arguments, &ended)?;
        Ok(self.end_step(&baseline)?.figures(step, &cost, &ended))
    }

    fn begin_step(&self) -> Result<StackBaseline, ScaleError> {
        self.stack.wait_until_idle()?;
        let stored = self.stack.stored_objects()?;
        self.stack.reset_peak()?;
        Ok(StackBaseline { stored, cpu_s: self.stack.cpu_s()? })
    }

    /// Waits until the stack has done the work that follows the step.
    fn end_step(&self, baseline: &StackBaseline) -> Result<StackUsage, ScaleError> {
        self.stack.wait_until_idle()?;
        Ok(StackUsage {
            cpu_s: self.stack.cpu_s()? - baseline.cpu_s,
            peak_bytes: self.stack.peak_bytes()?,
            added: self.stack.stored_objects()?.since(baseline.stored),
        })
    }

    fn run_import(&mut self) -> Result<(), ScaleError> {
        let imported = self.run(Step::Import, &["--cost", "import", "scale.csv"])?;
        self.record(imported.figures);
        Ok(())
    }

    fn run_views(
        &mut self,
        step: Step,
        first_row_of: impl Fn(u32, u32) -> u32,
    ) -> Result<(), ScaleError> {
        let mut repeat = 0;
        self.repeat(step, |scenario, step| {
            let first_row = first_row_of(scenario.rows, repeat);
            repeat += 1;
            scenario.view(step, first_row)
        })
    }

    /// Views rows from `first_row` and checks the first and the last of them.
    fn view(&self, step: Step, first_row: u32) -> Result<StepFigures, ScaleError> {
        self.stack.clear_client_cache()?;
        // Lines of the sheet are numbered from 1.
        let first_line = first_row + HEADER_LINES + self.inserted_rows + 1;
        let last_row = first_row + VIEW_ROWS - 1;
        let range = format!("A{first_line}:J{}", first_line + VIEW_ROWS - 1);
        let viewed = self.run(step, &["--cost", "get", &range])?;
        for row in [first_row, last_row] {
            // The first rows are edited, but not their codes.
            expect_contains(step, &viewed.output, &code_of_row(row))?;
        }
        Ok(viewed.figures)
    }

    fn edit(&mut self, step: Step) -> Result<StepFigures, ScaleError> {
        self.edits += 1;
        let cell = format!("B{}", u64::from(self.edits) % (EDITED_LINES - 2) + 2);
        let text = format!("edit {}", self.edits);
        Ok(self.run(step, &["--cost", "set", &cell, &text])?.figures)
    }

    fn insert_at_top(&mut self, step: Step) -> Result<StepFigures, ScaleError> {
        let inserted = self.run(step, &["--cost", "rows", "insert", "1"])?;
        self.inserted_rows += 1;
        Ok(inserted.figures)
    }

    /// Edits until the stack begins a snapshot. Measures from that edit until the snapshot is
    /// readable.
    fn run_snapshot(&mut self, step: Step) -> Result<(), ScaleError> {
        for _ in 0..MAX_EDITS_TO_SNAPSHOT {
            let head_before = self.positions()?.head;
            let baseline = self.begin_step()?;
            let begun_at = Instant::now();
            let edit = self.set_quickly(step)?;
            let head = self.positions()?.head;
            let has_snapshot_entry = head > head_before + 1;
            if has_snapshot_entry {
                self.wait_for_snapshot(step, head)?;
                let wall_s = begun_at.elapsed().as_secs_f64();
                let usage = self.end_step(&baseline)?;
                let cost = Cost {
                    object_puts: usage.added.objects,
                    object_bytes_sent: usage.added.bytes,
                    ..SNAPSHOT_COST
                };
                self.record(StepFigures { wall_s, ..usage.figures(step, &cost, &edit) });
                return Ok(());
            }
        }
        Err(wrong_result(step, format!("no snapshot after {MAX_EDITS_TO_SNAPSHOT} edits")))
    }

    /// Edits a cell without waiting until the stack is idle.
    fn set_quickly(&mut self, step: Step) -> Result<EndedCommand, ScaleError> {
        self.edits += 1;
        let text = format!("{} {}", step.label(), self.edits);
        let arguments = ["--cost", "set", "B3", &text];
        let ended = run_measured(self.stack.cellar(&arguments), &mut |_| {})?;
        check_success(&arguments, &ended)?;
        Ok(ended)
    }

    fn wait_for_snapshot(&self, step: Step, position: u64) -> Result<(), ScaleError> {
        let begun_at = Instant::now();
        while self.positions()?.snapshot != Some(position) {
            if begun_at.elapsed() > MAX_SNAPSHOT_WAIT {
                return Err(wrong_result(step, format!("no snapshot at position {position}")));
            }
            thread::sleep(SNAPSHOT_POLL_PERIOD);
        }
        Ok(())
    }

    fn positions(&self) -> Result<Positions, ScaleError> {
        let arguments = ["--json", "stats"];
        let mut output = Vec::new();
        let command = self.stack.cellar(&arguments);
        let ended = run_measured(command, &mut |bytes| output.extend_from_slice(bytes))?;
        let stats: Option<Value> = serde_json::from_slice(&output).ok();
        let position = |pointer| stats.as_ref()?.pointer(pointer)?.as_u64();
        let head = position("/head").ok_or_else(|| command_error(&arguments, &ended))?;
        Ok(Positions { head, snapshot: position("/snapshot/position") })
    }

    /// Exports to standard output, and compares all rows that were not edited.
    fn run_export(&mut self, csv: &FileSummary) -> Result<(), ScaleError> {
        let inserted_rows = u64::from(self.inserted_rows);
        let mut digest = TailDigest::after_lines(EDITED_LINES + inserted_rows);
        self.stack.clear_client_cache()?;
        let arguments = ["--cost", "export", "--format", "csv", "-"];
        let figures = self.measure(Step::Export, &arguments, &mut |bytes| digest.update(bytes))?;
        let exported = digest.finish();
        if exported.lines != csv.lines + inserted_rows || exported.tail_hash != csv.tail_hash {
            let why = format!("{} lines differ from {}", exported.lines, csv.lines);
            return Err(wrong_result(Step::Export, why));
        }
        self.record(figures);
        Ok(())
    }

    fn run_fork(&mut self) -> Result<(), ScaleError> {
        let arguments = ["--cost", "fork", "--name", "scale-fork", "--no-use"];
        let forked = self.run(Step::Fork, &arguments)?;
        self.record(forked.figures);
        Ok(())
    }

    fn run_diff(&mut self) -> Result<(), ScaleError> {
        self.run(Step::Diff, &["--cost", "-s", "scale-fork", "set", "B9", "edit of the fork"])?;
        self.stack.clear_client_cache()?;
        let diff = self.run(Step::Diff, &["--cost", "diff", "scale", "scale-fork"])?;
        expect_contains(Step::Diff, &diff.output, "edit of the fork")?;
        self.record(diff.figures);
        Ok(())
    }
}

fn check_success(arguments: &[&str], ended: &EndedCommand) -> Result<Cost, ScaleError> {
    let has_succeeded = matches!(ended.status.code(), Some(EXIT_SUCCESS | EXIT_DIFFERENCES));
    match parse_cost(&ended.stderr) {
        Some(cost) if has_succeeded => Ok(cost),
        _ => Err(command_error(arguments, ended)),
    }
}

fn command_error(arguments: &[&str], ended: &EndedCommand) -> ScaleError {
    ScaleError::Command { arguments: arguments.join(" "), output: ended.stderr.clone() }
}

fn expect_contains(step: Step, output: &str, text: &str) -> Result<(), ScaleError> {
    if output.contains(text) {
        return Ok(());
    }
    Err(wrong_result(step, format!("the output does not contain `{text}`")))
}

fn wrong_result(step: Step, why: String) -> ScaleError {
    ScaleError::WrongResult { step: step.label(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_rows_are_within_the_sheet_and_differ() {
        let mut rows: Vec<u32> = (0..2 * REPEATS).map(|it| random_row(1_000_000, it)).collect();
        assert!(rows.iter().all(|row| row + VIEW_ROWS <= 1_000_000), "{rows:?}");
        rows.sort_unstable();
        assert!(rows.windows(2).all(|pair| pair[1] - pair[0] > 10_000), "{rows:?}");
        assert_eq!(random_row(VIEW_ROWS, 7), 0);
    }
}
