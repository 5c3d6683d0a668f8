//! `synth reprocess --cells`: cells whose long text is lost are named, and say so from then on.

use std::fmt::Write as _;
use std::sync::Arc;

use cellar::table::escape;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::{Logs, LostCell};
use cellar_engine::system::{SystemClock, SystemRandom};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::confirm::confirm;
use super::data::Data;
use crate::cli::{Output, ReprocessArguments};
use crate::error::SynthError;

/// The author of the entries that replace cells.
const AUTHOR: &str = "synth reprocess";
/// Rows that people are shown; programs get all.
const MAX_SHOWN_ROWS: usize = 50;
/// Characters of the beginning of a text that are shown.
const PREVIEW_CHARACTERS: usize = 40;

/// The lost cells, and the entries that replace them.
#[derive(Serialize)]
struct CellsReport {
    spreadsheet: LogId,
    dry_run: bool,
    cells: Vec<Row>,
    /// Whether a dry run stopped before it had found all.
    more: bool,
    /// The entries that replace the cells.
    positions: Vec<Position>,
}

#[derive(Serialize)]
struct Row {
    sheet: String,
    cell: String,
    /// How the text began.
    preview: String,
    why: String,
}

/// Shows the cells, asks, and has them replaced.
pub(super) async fn run(
    data: &Data,
    log: LogId,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let logs = logs(data)?;
    let step = output.step("Look at the cells");
    let found = logs.lost_cells(log).await.map_err(SynthError::LostCells);
    let found =
        step.ended(found, |found| format!("{} lost", shown(found.cells.len(), found.more)))?;
    let mut report = CellsReport {
        spreadsheet: log,
        dry_run: arguments.dry_run,
        cells: found.cells.iter().map(Row::of).collect(),
        more: found.more,
        positions: Vec::new(),
    };
    if arguments.dry_run || report.cells.is_empty() {
        output.result(&report, &report.text());
        return Ok(());
    }
    if !arguments.yes && !output.is_for_programs() {
        output.note(&report.text());
        let cells = shown(report.cells.len(), report.more);
        confirm("replacing cells", &format!("Write #LOST! into {cells} cells?")).await?;
    }
    (report.cells, report.more) = (Vec::new(), true);
    let step = output.step("Replace the cells");
    while report.more {
        let replaced = logs.replace_lost_cells(log, AUTHOR).await.map_err(SynthError::LostCells);
        let replaced = match replaced {
            Ok(replaced) => replaced,
            Err(error) => {
                step.failed();
                return Err(error);
            }
        };
        report.cells.extend(replaced.cells.iter().map(Row::of));
        report.positions.extend(replaced.positions);
        report.more = replaced.more;
    }
    step.done(&format!("{} replaced", report.cells.len()));
    output.result(&report, &report.text());
    Ok(())
}

/// The logs, as the API has them.
fn logs(data: &Data) -> Result<Logs, SynthError> {
    let (_, _, incarnation) = data.indexed()?;
    let (entries, segments) = (Arc::clone(&data.tables), Arc::clone(&data.tables));
    let blobs = Arc::clone(&data.blobs);
    let logs = Logs::new(entries, segments, blobs, Arc::new(SystemClock), Arc::new(SystemRandom));
    Ok(logs.with_incarnation(incarnation))
}

/// How many, if they were all counted.
fn shown(cells: usize, more: bool) -> String {
    format!("{cells}{}", if more { " or more" } else { "" })
}

impl Row {
    fn of(cell: &LostCell) -> Self {
        let preview = cell.preview.chars().take(PREVIEW_CHARACTERS).collect();
        Self {
            sheet: cell.sheet_name.clone(),
            cell: cell.place.to_string(),
            preview,
            why: cell.why.clone(),
        }
    }
}

impl CellsReport {
    fn text(&self) -> String {
        if self.cells.is_empty() {
            return "Every text of the spreadsheet can be read.".to_owned();
        }
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["sheet", "cell", "the text began with", "why"]);
        for row in self.cells.iter().take(MAX_SHOWN_ROWS) {
            table.add_row([
                escape(&row.sheet),
                row.cell.clone(),
                escape(&row.preview),
                escape(&row.why),
            ]);
        }
        let mut text = format!("{}\n{table}\n", self.spreadsheet);
        let more = self.cells.len().saturating_sub(MAX_SHOWN_ROWS);
        // Writing to a String cannot fail.
        if more > 0 {
            let _ = writeln!(text, "… and {more} more, which --json shows");
        }
        let cells = shown(self.cells.len(), self.more);
        let _ = match self.positions.as_slice() {
            [] => write!(
                text,
                "{cells} lost. If the bucket lost objects, restore their older versions first, or run \
                 `synth reprocess --rebuild --spreadsheet {}`.",
                self.spreadsheet
            ),
            [.., last] => write!(text, "{cells} replaced by #LOST!, at {last}."),
        };
        text
    }
}
