//! Creates a log in a single idempotent transaction.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PUT_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::{LogError, LogHead, Logs};
use crate::ports::{CreateOutcome, PortError};

/// Result of creating a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// First position of the log.
    pub head: Position,
    pub incarnation: u32,
    /// Whether the log already existed.
    pub existed: bool,
}

impl Logs {
    /// Creates a log. If a request is retried, returns the existing log.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the store fails or if another log already uses the id.
    pub async fn create(&self, log_id: LogId, author: Option<String>) -> Result<Created, LogError> {
        let created_s = self.clock.now_ms() / 1_000;
        let first_entry =
            Entry::first(log_id, author, created_s).raise_incarnation(self.incarnation);
        let first_segment = Segment {
            log: log_id,
            num: 0,
            created_s,
            last_snapshot: None,
            offloaded: None,
            lineage: None,
        };
        let mut attempt = 1;
        loop {
            match self.segments.create(&first_segment, &first_entry).await {
                CreateOutcome::Created => return Ok(self.cache_created(first_entry)),
                CreateOutcome::Exists => return self.find_existing_log(&first_entry).await,
                CreateOutcome::Unknown(error) if attempt < MAX_PUT_ATTEMPTS => {
                    tracing::warn!(log = %log_id, attempt, %error, "the outcome of a create is unknown");
                    self.pause_before_retry(attempt).await;
                    attempt += 1;
                }
                CreateOutcome::Unknown(error) | CreateOutcome::Failed(error) => {
                    return Err(LogError::Store(error));
                }
            }
        }
    }

    fn cache_created(&self, first_entry: Entry) -> Created {
        let LogHead { head, incarnation, .. } = LogHead::of(&first_entry);
        self.cache_entries(&[first_entry.into()]);
        Created { head, incarnation, existed: false }
    }

    /// The times, roots and restore counters of the entries are not compared, since they may differ
    /// when a request is retried.
    async fn find_existing_log(&self, requested_entry: &Entry) -> Result<Created, LogError> {
        let log_id = requested_entry.log;
        let stored_entry = self.retry_read(|| self.entries.get(log_id, Position::FIRST)).await?;
        let Some(stored_entry) = stored_entry else {
            let message = "another request is creating the same log";
            return Err(LogError::Store(PortError::temporary(message)));
        };
        let is_snapshot_entry = matches!(stored_entry.content, Content::Snapshot { .. });
        if is_snapshot_entry && stored_entry.author == requested_entry.author {
            let created = self.cache_created(stored_entry.as_ref().clone());
            return Ok(Created { existed: true, ..created });
        }
        let message = format!("the id {log_id} is already in use by another log");
        Err(LogError::Store(PortError::permanent(message)))
    }
}
