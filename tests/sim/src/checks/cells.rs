//! Checks invariants I7 and I24 for readers: the cells that they show equal the calculated cells of
//! a replay of the log, and each formula has the value that its evaluation gives.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_calculation::CalculatedWorkbook;
use cellar_calculation::testing::{FormulaCounts, SheetCells, ShownCells, calculate, shows_same};
use cellar_engine::logs::{LogError, Logs};
use cellar_sheet::operation::SheetId;

use super::log::Stored;
use crate::fleet::logs_of;
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::reading::cells;
use crate::witness::Witness;
use crate::world::World;

/// Number of positions per log at which all cells are checked, including the newest one. It is
/// limited because a replay is slow.
const MAX_POSITIONS: usize = 2;

/// The calculated state of a log without snapshots.
struct Replayed {
    workbook: CalculatedWorkbook,
    sheets: SheetCells,
}

/// Replays the log. The cells of imported sheets are read, because the log does not contain them.
async fn replay(
    logs: &Logs,
    log: LogId,
    position: Position,
    imported: &BTreeSet<SheetId>,
) -> Result<Replayed, LogError> {
    let replayed = logs.workbook(log, Some(position), None).await?;
    let mut imported_cells = SheetCells::new();
    for sheet in imported {
        if replayed.workbook.sheet(*sheet).is_some() {
            imported_cells.insert(*sheet, cells(logs, log, position, *sheet).await?);
        }
    }
    let seed = CalculatedWorkbook::seed(log, position);
    let (workbook, sheets) =
        calculate(&replayed.workbook, replayed.created_s, seed, &imported_cells);
    Ok(Replayed { workbook, sheets })
}

/// Returns a log service with an empty cache, in a process without faults.
pub(super) fn logs_with_cold_cache(world: &Arc<World>) -> Logs {
    logs_of(&Process::new(world, "check", Mortality::Spared))
}

/// Checks the cells that clients have read from a log, and the cells at some positions.
pub(super) async fn check(world: &Arc<World>, witness: &Witness, stored: &Stored) {
    check_reads(world, witness, stored).await;
    let history = stored.history();
    let step = history.len().div_ceil(MAX_POSITIONS).max(1);
    for entry in history.iter().rev().step_by(step) {
        check_position(world, stored, entry.position).await;
    }
}

async fn check_reads(world: &Arc<World>, witness: &Witness, stored: &Stored) {
    let logs = logs_with_cold_cache(world);
    let imported = stored.imported_sheets();
    let all_reads = witness.seen().cells.clone();
    for read in all_reads {
        if read.log != stored.log {
            continue;
        }
        let position = read.at;
        match replay(&logs, read.log, position, &imported).await {
            Ok(replayed) => {
                let replayed_cells = replayed.sheets.get(&read.sheet);
                if !shows_same(replayed_cells.map_or(&[], Vec::as_slice), &read.cells) {
                    world.report_violation(format_args!(
                        "I7: cells read at {position} differ from the log"
                    ));
                }
            }
            Err(error) => world.report_violation(format_args!(
                "the log cannot be replayed to {position}: {error}"
            )),
        }
    }
}

/// Checks the cells of all sheets that a process with an empty cache reads at a position.
pub(super) async fn check_position(world: &Arc<World>, stored: &Stored, position: Position) {
    let logs = logs_with_cold_cache(world);
    let imported = stored.imported_sheets();
    let replayed = match replay(&logs, stored.log, position, &imported).await {
        Ok(replayed) => replayed,
        Err(error) => {
            return world.report_violation(format_args!(
                "I7: the log cannot be replayed to {position}: {error}"
            ));
        }
    };
    let mut shown = SheetCells::new();
    for (sheet, replayed_cells) in &replayed.sheets {
        match cells(&logs, stored.log, position, *sheet).await {
            Ok(sheet_cells) => {
                if !imported.contains(sheet) && !shows_same(replayed_cells, &sheet_cells) {
                    world.report_violation(format_args!(
                        "I7: the cells at {position} differ from the log"
                    ));
                }
                shown.insert(*sheet, sheet_cells);
            }
            Err(error) => {
                return world.report_violation(format_args!(
                    "I7: cells at {position} cannot be read: {error}"
                ));
            }
        }
    }
    match ShownCells::new(&replayed.workbook, &shown).check_formulas() {
        Ok(counts) => count_formulas(world, counts),
        Err(why) => world.report_violation(format_args!("I24: at {position}: {why}")),
    }
}

fn count_formulas(world: &World, counts: FormulaCounts) {
    let events = [
        (counts.chained, RareEvent::FormulaChained),
        (counts.stale, RareEvent::FormulaStale),
        (counts.cyclic, RareEvent::FormulaCyclic),
        (counts.spilled, RareEvent::FormulaSpilled),
        (counts.blocked, RareEvent::FormulaBlocked),
    ];
    for (count, event) in events {
        if count > 0 {
            world.count(event);
        }
    }
}
