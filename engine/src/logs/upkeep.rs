//! Upkeep of a log after an append: Snapshot entries and new segments.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::{CACHED_ENTRY_AGE_S, SNAPSHOT_ENTRY_ATTEMPTS};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::roll::Rolled;
use cellar_log::upkeep::LogPolicy;

use super::{LogError, Logs};
use crate::ports::PutOutcome;

/// What the upkeep of a log did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkept {
    /// Nothing: it was not time for anything, or others were faster.
    Nothing,
    /// A Snapshot entry was put here.
    Snapshot(Position),
    /// The log goes on in this segment.
    Rolled {
        /// Its number.
        segment: u32,
    },
}

impl Logs {
    /// Does what a log needs behind the newest entry that this process knows: nothing, mostly, and
    /// without a read. For after an append; safe to repeat, and losing it costs nothing.
    ///
    /// # Errors
    /// [`LogError::Store`] if the store fails, [`LogError::Roll`] as [`Logs::roll`].
    pub async fn upkeep(&self, log: LogId, policy: &LogPolicy) -> Result<Upkept, LogError> {
        let Some(tail) = self.young_tail(log) else { return Ok(Upkept::Nothing) };
        // What a fork inherits is kept up where it stands.
        if self.read(|| self.inherits(log, tail.position)).await?.is_some() {
            return Ok(Upkept::Nothing);
        }
        if policy.rolls(&tail) {
            match self.roll(Arc::clone(&tail)).await? {
                Rolled::Into { segment } => return Ok(Upkept::Rolled { segment }),
                Rolled::NoSnapshotYet => {}
            }
        }
        self.put_snapshot_entry(tail, policy).await
    }

    /// The newest entry known, if something may be put behind it unread, as for an append.
    fn young_tail(&self, log: LogId) -> Option<Arc<Entry>> {
        let now_ms = self.clock.now_ms();
        let tail = self.known.last(now_ms, log)?;
        let is_young = now_ms / 1_000 < tail.created_s.saturating_add(CACHED_ENTRY_AGE_S);
        is_young.then_some(tail)
    }

    /// One conditional put at the tail. Refused, it is tried behind the winner, if it is still time.
    async fn put_snapshot_entry(
        &self,
        mut tail: Arc<Entry>,
        policy: &LogPolicy,
    ) -> Result<Upkept, LogError> {
        for _ in 0..SNAPSHOT_ENTRY_ATTEMPTS {
            let now_s = self.clock.now_ms() / 1_000;
            let Some(entry) = policy.snapshot_behind(&tail, now_s) else { break };
            let position = entry.position;
            match self.entries.put(&entry).await {
                PutOutcome::Accepted => {
                    self.learn(&[Arc::new(entry)]);
                    return Ok(Upkept::Snapshot(position));
                }
                PutOutcome::Refused { winner } => {
                    self.learn(std::slice::from_ref(&winner));
                    let is_snapshot = matches!(winner.content, Content::Snapshot { .. });
                    tracing::debug!(log = %winner.log, at = %position, is_snapshot, "others were faster");
                    tail = winner;
                }
                PutOutcome::Unknown(error) | PutOutcome::Failed(error) => {
                    return Err(LogError::Store(error));
                }
            }
        }
        Ok(Upkept::Nothing)
    }
}
