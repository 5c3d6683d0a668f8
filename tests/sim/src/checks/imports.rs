//! Checks of imports: a process with an empty cache can read them, no sheet has a missing text, and
//! the bytes of every object match its name.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_engine::ports::{BlobKey, Blobs as _, GetOutcome};
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::workbook::CellAt;
use cellar_snapshot::keys::parse_chunk_key;
use cellar_snapshot::packed::{Bounds, unpack};

use super::cells::logs_with_cold_cache;
use crate::reading::cells;
use crate::witness::Witness;
use crate::world::World;

/// Checks each acknowledged import in a process with an empty cache.
pub(super) async fn check(world: &Arc<World>, witness: &Witness, logs: &[LogId]) {
    let imports = witness.seen().imports.clone();
    for seen in imports {
        let cold = logs_with_cold_cache(world);
        match cells(&cold, seen.log, seen.at, seen.sheet).await {
            Ok(read) => {
                let values: Vec<_> =
                    read.into_iter().map(|at| ((at.row, at.column), at.cell.value)).collect();
                if values != seen.cells {
                    let at = seen.at;
                    let (read, imported) = (values.len(), seen.cells.len());
                    let why = format_args!(
                        "the {read} cells read at {at} differ from the {imported} imported ones"
                    );
                    world.report_violation(why);
                }
            }
            Err(error) => world.report_violation(format_args!("an import cannot be read: {error}")),
        }
    }
    for log in logs {
        if let Err(error) = check_all_sheets(world, *log).await {
            world.report_violation(format_args!("{log} cannot be read: {error}"));
        }
    }
    check_objects(world).await;
}

/// Reads all sheets of a log to check that no member appended an unreadable import.
async fn check_all_sheets(
    world: &Arc<World>,
    log: LogId,
) -> Result<(), cellar_engine::logs::LogError> {
    let logs = logs_with_cold_cache(world);
    let view = logs.open_view(log, None, None).await?;
    for sheet_id in view.metadata.tabs.order() {
        for CellAt { row, column, cell, .. } in cells(&logs, log, view.position, *sheet_id).await? {
            if cell.value == Value::Error(ErrorCode::Lost) {
                let sheet_number = sheet_id.0;
                world.report_violation(format_args!(
                    "a text is lost in sheet {sheet_number} at row {row}, column {column}"
                ));
            }
        }
    }
    Ok(())
}

/// Checks that the hash in each object's name matches the object's bytes.
async fn check_objects(world: &World) {
    let Ok(page) = world.blobs.list("sheets/", None, u16::MAX).await else { return };
    for blob in page.blobs {
        let Ok(named) = parse_chunk_key(&blob.key) else { continue };
        let Ok(key) = BlobKey::new(&blob.key) else { continue };
        let Ok(GetOutcome::Found { bytes, .. }) = world.blobs.get(&key, u64::MAX).await else {
            continue;
        };
        let is_its_own = unpack(named.hash, &bytes, Bounds::CHUNK).is_ok()
            || unpack(named.hash, &bytes, Bounds::TEXT).is_ok();
        if !is_its_own {
            world.report_violation(format_args!("{} has the bytes of another name", blob.key));
        }
    }
}
