//! Appends Snapshot entries and starts new segments when a log has grown enough.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::SNAPSHOT_ENTRY_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::roll::Rolled;
use cellar_log::upkeep::LogPolicy;

use super::{LogError, Logs};
use crate::ports::PutOutcome;

/// Result of log upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpkeepOutcome {
    /// Nothing was due, or another process did it first.
    Nothing,
    /// A Snapshot entry was appended at this position.
    Snapshot(Position),
    /// The log continues in a new segment.
    Rolled {
        /// Number of the new segment.
        segment: u32,
    },
}

impl Logs {
    /// Appends a Snapshot entry or starts a new segment if one of them is due after the latest
    /// cached entry. Usually nothing is due and nothing is read. The caller should call this
    /// function after each append. It may be skipped or repeated.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the store fails, or [`LogError::Roll`] if no new segment can
    /// be started.
    pub async fn upkeep(
        &self,
        log_id: LogId,
        policy: &LogPolicy,
    ) -> Result<UpkeepOutcome, LogError> {
        let Some(tail) = self.tails.last(self.clock.now_ms(), log_id) else {
            return Ok(UpkeepOutcome::Nothing);
        };
        // Entries that a fork inherits are maintained in the source.
        if self.retry_read(|| self.lineage_if_inherited(log_id, tail.position)).await?.is_some() {
            return Ok(UpkeepOutcome::Nothing);
        }
        if policy.should_roll(&tail, self.clock.now_ms() / 1_000) {
            match self.roll(Arc::clone(&tail)).await? {
                Rolled::Into { segment } => return Ok(UpkeepOutcome::Rolled { segment }),
                Rolled::NoSnapshotYet => {}
            }
        }
        self.put_snapshot_entry(tail, policy).await
    }

    /// If another entry was appended first, tries again if a snapshot is still due after that
    /// entry.
    async fn put_snapshot_entry(
        &self,
        mut tail: Arc<Entry>,
        policy: &LogPolicy,
    ) -> Result<UpkeepOutcome, LogError> {
        for _ in 0..SNAPSHOT_ENTRY_ATTEMPTS {
            let now_s = self.clock.now_ms() / 1_000;
            let Some(snapshot_entry) = policy.snapshot_entry_after(&tail, now_s) else { break };
            let position = snapshot_entry.position;
            match self.entries.put(&snapshot_entry).await {
                PutOutcome::Accepted => {
                    self.cache_entries(&[Arc::new(snapshot_entry)]);
                    return Ok(UpkeepOutcome::Snapshot(position));
                }
                PutOutcome::Refused { winner } => {
                    self.cache_entries(std::slice::from_ref(&winner));
                    let is_snapshot = matches!(winner.content, Content::Snapshot { .. });
                    tracing::debug!(log = %winner.log, at = %position, is_snapshot, "another entry was appended first");
                    tail = winner;
                }
                PutOutcome::Unknown(error) | PutOutcome::Failed(error) => {
                    return Err(LogError::Store(error));
                }
            }
        }
        Ok(UpkeepOutcome::Nothing)
    }
}
