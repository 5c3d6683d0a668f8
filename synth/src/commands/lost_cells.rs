//! `synth reprocess --cells`: lists cells whose long text is lost, and replaces their values with
//! #LOST!.

use std::fmt::Write as _;
use std::sync::Arc;

use cellar::text::escape;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::{Logs, LostCell};
use cellar_engine::system::{SystemClock, SystemRandom};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::data::StackData;
use super::maintenance::{MaintenanceOptions, MaintenancePlan};
use crate::cli::{Output, ReprocessArguments};
use crate::error::{MaintenanceError, SynthError};

/// Author of the log entries that overwrite lost cells.
const AUTHOR: &str = "synth reprocess";
/// Maximum number of cells in the text report. The JSON report contains all cells.
const MAX_SHOWN_ROWS: usize = 50;
/// Maximum number of lost text characters shown.
const PREVIEW_CHARACTERS: usize = 40;

/// JSON report of `synth reprocess --cells`.
#[derive(Serialize)]
struct CellsReport {
    spreadsheet: LogId,
    dry_run: bool,
    cells: Vec<Row>,
    /// Whether the list of cells may be incomplete.
    more: bool,
    /// Positions of the log entries that replace the lost cells.
    positions: Vec<Position>,
}

#[derive(Serialize)]
struct Row {
    sheet: String,
    cell: String,
    /// Start of the lost text.
    preview: String,
    why: String,
}

/// Lists the lost cells and, after confirmation, replaces their values.
pub(super) async fn run(
    data: &StackData,
    log: LogId,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let logs = logs(data)?;
    let step = output.step("Check the cells");
    let found = logs.lost_cells(log).await.map_err(MaintenanceError::LostCells);
    let found =
        step.finish(found, |found| format!("{} lost", count_text(found.cells.len(), found.more)))?;
    let mut report = CellsReport {
        spreadsheet: log,
        dry_run: arguments.dry_run,
        cells: found.cells.iter().map(Row::new).collect(),
        more: found.more,
        positions: Vec::new(),
    };
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let count = count_text(report.cells.len(), report.more);
    let plan = MaintenancePlan {
        text: &|| report.text(),
        due: report.cells.len(),
        action: "replacing cells",
        question: format!("Write #LOST! into {count} cells?"),
    };
    if options.should_carry_out(plan, output).await? {
        replace_cells(&logs, &mut report, output).await?;
    }
    output.print_result(&report, &report.text());
    Ok(())
}

/// Replaces the values of all lost cells and adds the cells to the report.
async fn replace_cells(
    logs: &Logs,
    report: &mut CellsReport,
    output: &Output,
) -> Result<(), SynthError> {
    report.cells.clear();
    report.more = true;
    let step = output.step("Replace the cells");
    while report.more {
        let replaced = match logs.replace_lost_cells(report.spreadsheet, AUTHOR).await {
            Ok(replaced) => replaced,
            Err(error) => {
                step.fail();
                return Err(MaintenanceError::LostCells(error).into());
            }
        };
        report.cells.extend(replaced.cells.iter().map(Row::new));
        report.positions.extend(replaced.positions);
        report.more = replaced.more;
    }
    step.succeed(&format!("{} replaced", report.cells.len()));
    Ok(())
}

/// Opens the stack's logs for edits in the current incarnation (restore counter).
fn logs(data: &StackData) -> Result<Logs, SynthError> {
    let incarnation = data.feed()?.incarnation;
    let (entries, segments) = (Arc::clone(&data.tables), Arc::clone(&data.tables));
    let blobs = Arc::clone(&data.blobs);
    let logs = Logs::new(entries, segments, blobs, Arc::new(SystemClock), Arc::new(SystemRandom));
    Ok(logs.with_incarnation(incarnation))
}

fn count_text(cells: usize, more: bool) -> String {
    if more { format!("{cells} or more") } else { cells.to_string() }
}

impl Row {
    fn new(cell: &LostCell) -> Self {
        Self {
            sheet: cell.sheet_name.clone(),
            cell: cell.place.to_string(),
            preview: cell.preview.chars().take(PREVIEW_CHARACTERS).collect(),
            why: cell.why.clone(),
        }
    }
}

impl CellsReport {
    fn text(&self) -> String {
        if self.cells.is_empty() {
            return "Every text of the spreadsheet can be read.".to_owned();
        }
        let mut text = format!("{}\n{}\n", self.spreadsheet, self.table());
        let hidden_rows = self.cells.len().saturating_sub(MAX_SHOWN_ROWS);
        // Writing to a `String` is infallible.
        if hidden_rows > 0 {
            let _ = writeln!(text, "… and {hidden_rows} more (see --json)");
        }
        let count = count_text(self.cells.len(), self.more);
        let _ = match self.positions.last() {
            None => write!(
                text,
                "{count} lost. If the bucket lost objects, restore their older versions first, or run \
                 `synth reprocess --rebuild --spreadsheet {}`.",
                self.spreadsheet
            ),
            Some(position) => write!(text, "{count} replaced by #LOST!, at {position}."),
        };
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["sheet", "cell", "start of the text", "why"]);
        for row in self.cells.iter().take(MAX_SHOWN_ROWS) {
            table.add_row([
                escape(&row.sheet),
                row.cell.clone(),
                escape(&row.preview),
                escape(&row.why),
            ]);
        }
        table
    }
}
