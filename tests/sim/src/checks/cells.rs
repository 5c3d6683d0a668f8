//! Invariant I7 for clients: cells that were read equal those of a replay of the log.

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

/// Returns the cells of all sheets at a position, by a replay of the log.
pub(super) async fn replayed(
    logs: &Logs,
    log: LogId,
    at: Position,
) -> Result<Vec<(SheetId, Vec<((u32, u32), Cell)>)>, LogError> {
    let read = logs.workbook(log, Some(at), None).await?;
    let sheets = read.workbook.sheets();
    Ok(sheets.map(|(number, sheet)| (number, sheet.cells_in(all_cells()).collect())).collect())
}

/// Returns a log service with an empty cache, in a process without faults.
pub(super) fn cold_logs(world: &Arc<World>) -> Logs {
    logs_of(&Process::new(world, "check", Mortality::Spared))
}

/// Checks the cells that clients have read of a log.
pub(super) async fn check(world: &Arc<World>, witness: &Witness, stored: &Stored) {
    let logs = cold_logs(world);
    let seen: Vec<_> = {
        let seen = witness.seen();
        seen.cells.iter().filter(|seen| seen.log == stored.log).cloned().collect()
    };
    for seen in seen {
        match replayed(&logs, seen.log, seen.at).await {
            Ok(sheets) => {
                let sheet = sheets.into_iter().find(|(sheet, _)| *sheet == seen.sheet);
                if sheet.map(|(_, cells)| cells).unwrap_or_default() != seen.cells {
                    let at = seen.at;
                    world.report_violation(format_args!(
                        "I7: cells read at {at} differ from the log"
                    ));
                }
            }
            Err(error) => world.report_violation(format_args!(
                "the log cannot be replayed to {}: {error}",
                seen.at
            )),
        }
    }
}
