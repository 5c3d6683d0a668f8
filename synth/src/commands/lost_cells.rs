//! `synth reprocess --cells`: lists cells whose long text is lost, and replaces their values with
//! #LOST!.

use std::sync::Arc;

use cellar::text::escape;
use cellar_base::count::{count, grouped};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::{Logs, LostCell, LostCells};
use cellar_engine::system::{SystemClock, SystemRandom};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::data::StackData;
use super::maintenance::{MaintenanceOptions, MaintenancePlan};
use crate::cli::{Output, ReprocessArguments};
use crate::error::{MaintenanceError, SynthError};

/// Author name in the log entries that overwrite lost cells.
const AUTHOR: &str = "synth reprocess";
/// The JSON report contains all cells.
const MAX_SHOWN_ROWS: usize = 50;
const PREVIEW_CHARACTERS: usize = 40;

#[derive(Serialize)]
struct CellsReport {
    spreadsheet: LogId,
    dry_run: bool,
    cells: Vec<LostCellRow>,
    #[serde(rename = "more")]
    may_be_incomplete: bool,
    /// Positions of the log entries that replaced the lost cells.
    positions: Vec<Position>,
}

#[derive(Serialize)]
struct LostCellRow {
    sheet: String,
    cell: String,
    preview: String,
    #[serde(rename = "why")]
    reason: String,
}

pub(super) async fn replace_lost_cells(
    data: &StackData,
    log_id: LogId,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let logs = open_logs(data)?;
    let step = output.start_step("Check the cells");
    let result = logs.lost_cells(log_id).await.map_err(MaintenanceError::LostCells);
    let lost_cells = step.finish(result, |lost| {
        format!("{} lost", format_cell_count(lost.cells.len(), lost.more))
    })?;
    let mut report = CellsReport::new(log_id, arguments.dry_run, &lost_cells);
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let cell_count = format_cell_count(report.cells.len(), report.may_be_incomplete);
    let plan = MaintenancePlan {
        text: report.to_text(),
        item_count: report.cells.len(),
        action: "replacing cells",
        question: format!("Write #LOST! into {cell_count}?"),
    };
    if options.should_carry_out(plan, output).await? {
        let step = output.start_step("Replace the cells");
        let result = replace_cells(&logs, &mut report).await;
        step.finish(result, |()| count(report.cells.len(), "cell replaced", "cells replaced"))?;
    }
    output.print_result(&report, &report.to_text());
    Ok(())
}

async fn replace_cells(logs: &Logs, report: &mut CellsReport) -> Result<(), MaintenanceError> {
    report.cells.clear();
    loop {
        let replacement = logs
            .replace_lost_cells(report.spreadsheet, AUTHOR)
            .await
            .map_err(MaintenanceError::LostCells)?;
        report.cells.extend(replacement.cells.iter().map(LostCellRow::new));
        report.positions.extend(replacement.positions);
        report.may_be_incomplete = replacement.more;
        if !replacement.more {
            return Ok(());
        }
    }
}

fn open_logs(data: &StackData) -> Result<Logs, SynthError> {
    let incarnation = data.feed()?.incarnation;
    let logs = Logs::new(
        Arc::clone(&data.tables) as _,
        Arc::clone(&data.tables) as _,
        Arc::clone(&data.blobs) as _,
        Arc::new(SystemClock),
        Arc::new(SystemRandom),
    );
    Ok(logs.with_incarnation(incarnation))
}

fn format_cell_count(cell_count: usize, may_be_incomplete: bool) -> String {
    if may_be_incomplete {
        format!("{} or more cells", grouped(cell_count))
    } else {
        count(cell_count, "cell", "cells")
    }
}

impl LostCellRow {
    fn new(cell: &LostCell) -> Self {
        Self {
            sheet: cell.sheet_name.clone(),
            cell: cell.place.to_string(),
            preview: cell.preview.chars().take(PREVIEW_CHARACTERS).collect(),
            reason: cell.why.clone(),
        }
    }
}

impl CellsReport {
    fn new(log_id: LogId, dry_run: bool, lost_cells: &LostCells) -> Self {
        Self {
            spreadsheet: log_id,
            dry_run,
            cells: lost_cells.cells.iter().map(LostCellRow::new).collect(),
            may_be_incomplete: lost_cells.more,
            positions: Vec::new(),
        }
    }

    fn to_text(&self) -> String {
        if self.cells.is_empty() {
            return "Every text of the spreadsheet can be read.".to_owned();
        }
        let mut text = format!("{}\n{}\n", self.spreadsheet, self.to_table());
        let hidden_count = self.cells.len().saturating_sub(MAX_SHOWN_ROWS);
        if hidden_count > 0 {
            text.push_str(&format!("… and {hidden_count} more (see --json)\n"));
        }
        let cell_count = format_cell_count(self.cells.len(), self.may_be_incomplete);
        let summary = match self.positions.last() {
            None => format!(
                "{cell_count} lost. If the bucket lost objects, restore their older versions first, or run \
                 `synth reprocess --rebuild --spreadsheet {}`.",
                self.spreadsheet
            ),
            Some(last_position) => format!("{cell_count} replaced by #LOST!, at {last_position}."),
        };
        text.push_str(&summary);
        text
    }

    fn to_table(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["sheet", "cell", "start of the text", "why"]);
        for row in self.cells.iter().take(MAX_SHOWN_ROWS) {
            table.add_row([
                escape(&row.sheet),
                row.cell.clone(),
                escape(&row.preview),
                escape(&row.reason),
            ]);
        }
        table
    }
}
