//! Finds the latest position of a log. This costs half a read unit if entries of the current
//! segment are cached, and one read unit otherwise.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};

use super::{LogError, Logs};
use crate::ports::ReadConsistency;

/// Latest position of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHead {
    /// Position of the latest entry.
    pub head: Position,
    /// How many times the tables had been restored when the latest entry was written.
    pub incarnation: u32,
}

impl LogHead {
    /// Returns the head of a log whose latest entry is `entry`.
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { head: entry.position, incarnation: entry.header.incarnation }
    }
}

impl Logs {
    /// Returns the latest position of a log. Stale reads are repeated until the result is not
    /// before `min_position` and not before the latest cached entry.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] if the log does not exist, [`LogError::Corrupt`] if an entry
    /// is missing, or [`LogError::Store`] if the store fails.
    pub async fn head(
        &self,
        log_id: LogId,
        min_position: Option<Position>,
    ) -> Result<LogHead, LogError> {
        let cached_last = self.tails.last(self.clock.now_ms(), log_id);
        let mut segment = match &cached_last {
            Some(entry) => entry.position.segment(),
            None => self.current_segment(log_id, min_position).await?,
        };
        let min_position = min_position.max(cached_last.as_ref().map(|entry| entry.position));
        let mut waits = 0;
        loop {
            let stored_last = self.last_entry_not_before(log_id, segment, min_position).await?;
            let cached_in_segment =
                cached_last.clone().filter(|entry| entry.position.segment() == segment);
            match newer_entry(stored_last, cached_in_segment) {
                Some(end) if matches!(end.content, Content::EndSegment) => {
                    segment = self.segment_after(log_id, &end).await?;
                }
                Some(last_entry) => return Ok(LogHead::of(&last_entry)),
                // The segment's record and first entry are written in one transaction, but an
                // eventually consistent read may see only the record.
                None if waits < MAX_READ_ATTEMPTS => {
                    waits += 1;
                    self.pause_before_retry(waits).await;
                }
                None => {
                    let at = Position::new(segment, 0).unwrap_or(Position::FIRST);
                    return Err(LogError::Corrupt { at });
                }
            }
        }
    }

    /// Returns the number of the current segment, which follows the closed segment that ends with
    /// the entry `end`. Skips intermediate segments with a single read.
    async fn segment_after(&self, log_id: LogId, end: &Entry) -> Result<u32, LogError> {
        let next_position = end.next_position().ok_or(LogError::Corrupt { at: end.position })?;
        let newest_segments = self.newest_segments(log_id, Some(next_position)).await?;
        let current_segment = newest_segments.first().map_or(0, |segment| segment.num);
        Ok(current_segment.max(next_position.segment()))
    }

    async fn current_segment(
        &self,
        log_id: LogId,
        min_position: Option<Position>,
    ) -> Result<u32, LogError> {
        let newest_segments = self.newest_segments(log_id, min_position).await?;
        newest_segments.first().map(|segment| segment.num).ok_or(LogError::NotFound)
    }

    /// Returns the latest entry of a segment. If the first read finds no entry, or only an entry
    /// before `min_position`, repeats the read with strong consistency.
    async fn last_entry_not_before(
        &self,
        log_id: LogId,
        segment: u32,
        min_position: Option<Position>,
    ) -> Result<Option<Arc<Entry>>, LogError> {
        let last_entry =
            self.retry_read(|| self.last_entry(log_id, segment, ReadConsistency::Eventual)).await?;
        // If `min_position` is in a later segment, this segment is closed. An eventually consistent
        // read may have missed the entry that closes it.
        match last_entry {
            Some(entry) if min_position.is_none_or(|min| entry.position >= min) => Ok(Some(entry)),
            _ => {
                self.retry_read(|| self.last_entry(log_id, segment, ReadConsistency::Strong)).await
            }
        }
    }
}

fn newer_entry(
    stored_entry: Option<Arc<Entry>>,
    cached_entry: Option<Arc<Entry>>,
) -> Option<Arc<Entry>> {
    stored_entry.into_iter().chain(cached_entry).max_by_key(|entry| entry.position)
}
