//! Revert: what takes back all that was done behind a position.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::Resolved;
use cellar_sheet::workbook::revert;

use super::{LogError, Logs};

impl Logs {
    /// What leads from the newest state, which is at least that of `must_reach`, back to the state at
    /// `target`. Of both only what was touched between them is read. No operations if nothing differs, or
    /// there is no such position.
    ///
    /// # Errors
    /// As [`Logs::changes`].
    pub(super) async fn resolve_revert(
        &self,
        log: LogId,
        target: Position,
        must_reach: Position,
    ) -> Result<Resolved, LogError> {
        let at = self.head(log, Some(must_reach)).await?.head;
        let nothing = Ok(Resolved { at, operations: Vec::new() });
        if target >= at {
            return nothing;
        }
        let changes = match self.changes(log, target, at).await {
            Ok(changes) => changes,
            Err(LogError::NoSuchPosition { .. }) => return nothing,
            Err(error) => return Err(error),
        };
        let operations = revert(&changes.before, &changes.after()?).unwrap_or_default();
        Ok(Resolved { at, operations })
    }
}
