//! Checks invariant I7 for clients: the cells that they read equal the cells of a replay of the
//! log.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::{LogError, Logs};
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::SheetId;

use super::log::Stored;
use crate::fleet::logs_of;
use crate::process::{Mortality, Process};
use crate::reading::all_cells;
use crate::witness::Witness;
use crate::world::World;

/// Returns the cells of all sheets at a position by replaying the log.
pub(super) async fn replay_sheets(
    logs: &Logs,
    log: LogId,
    position: Position,
) -> Result<Vec<(SheetId, Vec<((u32, u32), Cell)>)>, LogError> {
    let replayed = logs.workbook(log, Some(position), None).await?;
    let mut sheets = Vec::new();
    for (sheet_id, sheet) in replayed.workbook.sheets() {
        sheets.push((sheet_id, sheet.cells_in(all_cells()).collect()));
    }
    Ok(sheets)
}

/// Returns a log service with an empty cache, in a process without faults.
pub(super) fn logs_with_cold_cache(world: &Arc<World>) -> Logs {
    logs_of(&Process::new(world, "check", Mortality::Spared))
}

/// Checks the cells that clients have read from a log.
pub(super) async fn check(world: &Arc<World>, witness: &Witness, stored: &Stored) {
    let logs = logs_with_cold_cache(world);
    let all_reads = witness.seen().cells.clone();
    for read in all_reads {
        if read.log != stored.log {
            continue;
        }
        let position = read.at;
        let sheets = match replay_sheets(&logs, read.log, position).await {
            Ok(sheets) => sheets,
            Err(error) => {
                world.report_violation(format_args!(
                    "the log cannot be replayed to {position}: {error}"
                ));
                continue;
            }
        };
        let replayed_sheet = sheets.into_iter().find(|(sheet_id, _)| *sheet_id == read.sheet);
        let replayed_cells = replayed_sheet.map(|(_, cells)| cells).unwrap_or_default();
        if replayed_cells != read.cells {
            world
                .report_violation(format_args!("I7: cells read at {position} differ from the log"));
        }
    }
}
