//! Revert: computes the operations that reverse all edits after a position.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::Resolution;
use cellar_sheet::workbook::revert;

use super::{LogError, Logs};

impl Logs {
    /// Returns the operations that restore the state at `target`, starting from the latest state,
    /// which is at or after `must_reach`. Reads only the cells that differ. Returns no operations
    /// if the states are equal or `target` does not exist.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::changes`].
    pub(super) async fn resolve_revert(
        &self,
        log: LogId,
        target: Position,
        must_reach: Position,
    ) -> Result<Resolution, LogError> {
        let at = self.head(log, Some(must_reach)).await?.head;
        let nothing = Ok(Resolution { state_position: at, operations: Vec::new() });
        if target >= at {
            return nothing;
        }
        let changes = match self.changes(log, target, at).await {
            Ok(changes) => changes,
            Err(LogError::NoSuchPosition { .. }) => return nothing,
            Err(error) => return Err(error),
        };
        let operations = revert(&changes.before, &changes.after()?).unwrap_or_default();
        Ok(Resolution { state_position: at, operations })
    }
}
