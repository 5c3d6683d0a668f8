//! Computes the operations that reverse all edits after a position.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::Resolution;
use cellar_sheet::workbook::revert;

use super::{LogError, Logs};

impl Logs {
    /// Reads only the cells that differ. Returns no operations if the states are equal or `target`
    /// does not exist. `min_position` is a position that the log is known to contain.
    pub(super) async fn resolve_revert(
        &self,
        log_id: LogId,
        target: Position,
        min_position: Position,
    ) -> Result<Resolution, LogError> {
        let head = self.head(log_id, Some(min_position)).await?.head;
        let no_operations = Ok(Resolution { state_position: head, operations: Vec::new() });
        if target >= head {
            return no_operations;
        }
        let changes = match self.read_changes(log_id, target, head).await {
            Ok(changes) => changes,
            Err(LogError::NoSuchPosition { .. }) => return no_operations,
            Err(error) => return Err(error),
        };
        let operations = revert(&changes.before, &changes.state_after()?).unwrap_or_default();
        Ok(Resolution { state_position: head, operations })
    }
}
