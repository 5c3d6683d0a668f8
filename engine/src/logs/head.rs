//! Reads the latest position of a log. A read costs 0.5 read units if the current segment is
//! cached, and 1 read unit otherwise.

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
    /// Incarnation (restore counter) of the latest entry.
    pub incarnation: u32,
}

impl LogHead {
    /// Creates the head of a log whose latest entry is `entry`.
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { head: entry.position, incarnation: entry.header.incarnation }
    }
}

impl Logs {
    /// Returns the latest position of a log. The position is at or after `min_position` and the
    /// positions of all cached entries.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::Corrupt`] or [`LogError::Store`].
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
                // A segment's record and first entry are written in one transaction, but eventually
                // consistent reads may see only the record.
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

    /// Returns the current segment of a log, given the End Segment `end` of an earlier segment.
    /// Requires a single read, regardless of the number of segments between them.
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

    /// Returns the latest entry of a segment. If the entry precedes `min_position` or is missing,
    /// retries with a strongly consistent read.
    async fn last_entry_not_before(
        &self,
        log_id: LogId,
        segment: u32,
        min_position: Option<Position>,
    ) -> Result<Option<Arc<Entry>>, LogError> {
        let last_entry =
            self.retry_read(|| self.last_entry(log_id, segment, ReadConsistency::Eventual)).await?;
        // If `min_position` is in a later segment, this segment has an End Segment (last entry),
        // which an eventually consistent read may miss.
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
