//! Creates a log: one transaction, safe to repeat.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PUT_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::{LogError, Logs};
use crate::ports::{CreateOutcome, PortError};

/// A log that exists now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// Its first position.
    pub head: Position,
    /// Its incarnation.
    pub incarnation: u32,
    /// Whether it was there before.
    pub existed: bool,
}

impl Logs {
    /// Creates the log, or finds the one that an earlier try of the same author created.
    ///
    /// # Errors
    /// [`LogError::Store`] if the store fails or something else stands under the id.
    pub async fn create(&self, log: LogId, author: Option<String>) -> Result<Created, LogError> {
        let created_s = self.clock.now_ms() / 1_000;
        let entry = Entry::first(log, author, created_s).at_least(self.incarnation);
        let segment =
            Segment { log, num: 0, created_s, last_snapshot: None, offloaded: None, lineage: None };
        let mut attempt = 1;
        loop {
            match self.segments.create(&segment, &entry).await {
                CreateOutcome::Created => return Ok(self.created(entry, false)),
                CreateOutcome::Exists => return self.found(&entry).await,
                CreateOutcome::Unknown(error) if attempt < MAX_PUT_ATTEMPTS => {
                    tracing::warn!(%log, attempt, %error, "unknown outcome of a create");
                    self.pause(attempt).await;
                    attempt += 1;
                }
                CreateOutcome::Unknown(error) | CreateOutcome::Failed(error) => {
                    return Err(LogError::Store(error));
                }
            }
        }
    }

    fn created(&self, entry: Entry, existed: bool) -> Created {
        let created =
            Created { head: entry.position, incarnation: entry.header.incarnation, existed };
        self.learn(&[entry.into()]);
        created
    }

    /// It is a success if what is there, but for the time, is what would have been written. What
    /// came later is not part of that: the root of a finished snapshot, the incarnation of a revert.
    async fn found(&self, entry: &Entry) -> Result<Created, LogError> {
        let there = self.read(|| self.entries.get(entry.log, Position::FIRST)).await?;
        let same = |there: &Entry| {
            there.author == entry.author && matches!(there.content, Content::Snapshot { .. })
        };
        let Some(there) = there else {
            let message = "another create of the same log is under way";
            return Err(LogError::Store(PortError::temporary(message)));
        };
        if same(&there) {
            return Ok(self.created(there.as_ref().clone(), true));
        }
        let message = format!("something else is stored under the id {}", entry.log);
        Err(LogError::Store(PortError::permanent(message)))
    }
}
