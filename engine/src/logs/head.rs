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
    /// Time of the latest entry, in seconds since the Unix epoch.
    pub created_s: u64,
}

impl LogHead {
    pub(crate) fn of(entry: &Entry) -> Self {
        let incarnation = entry.header.incarnation;
        Self { head: entry.position, incarnation, created_s: entry.created_s }
    }
}

impl Logs {
    /// Returns the latest position of a log. If a read ends before `min_position` or before the
    /// latest cached entry, it is stale and is repeated with strong consistency.
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
        let cached_entry = self.tails.last(self.clock.now_ms(), log_id);
        let cached_position = cached_entry.as_ref().map(|entry| entry.position);
        let known_position = min_position.max(cached_position);
        let mut segment = match cached_position {
            Some(position) => position.segment(),
            None => self.current_segment(log_id, min_position).await?,
        };
        loop {
            let cached_in_segment =
                cached_entry.as_ref().filter(|entry| entry.position.segment() == segment);
            let latest_entry = self
                .latest_entry_of_segment(log_id, segment, known_position, cached_in_segment)
                .await?;
            let is_closed = matches!(latest_entry.content, Content::EndSegment);
            if !is_closed {
                return Ok(LogHead::of(&latest_entry));
            }
            segment = self.segment_after(log_id, &latest_entry).await?;
        }
    }

    async fn latest_entry_of_segment(
        &self,
        log_id: LogId,
        segment: u32,
        known_position: Option<Position>,
        cached_entry: Option<&Arc<Entry>>,
    ) -> Result<Arc<Entry>, LogError> {
        let mut empty_reads = 0;
        loop {
            let stored_entry = self.read_last_entry(log_id, segment, known_position).await?;
            if let Some(latest_entry) = newer_entry(stored_entry, cached_entry.cloned()) {
                return Ok(latest_entry);
            }
            // The segment's record and first entry are written in one transaction, but an
            // eventually consistent read may see only the record.
            if empty_reads >= MAX_READ_ATTEMPTS {
                let at = Position::new(segment, 0).unwrap_or(Position::FIRST);
                return Err(LogError::Corrupt { at });
            }
            empty_reads += 1;
            self.pause_before_retry(empty_reads).await;
        }
    }

    /// Skips intermediate segments with a single read.
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

    /// If an eventually consistent read finds no entry, or only an entry before `known_position`,
    /// the read is repeated with strong consistency.
    async fn read_last_entry(
        &self,
        log_id: LogId,
        segment: u32,
        known_position: Option<Position>,
    ) -> Result<Option<Arc<Entry>>, LogError> {
        let read =
            |consistency| self.retry_read(move || self.last_entry(log_id, segment, consistency));
        // If `known_position` is in a later segment, this segment is closed. An eventually
        // consistent read may have missed the entry that closes it.
        match read(ReadConsistency::Eventual).await? {
            Some(entry) if known_position <= Some(entry.position) => Ok(Some(entry)),
            _ => read(ReadConsistency::Strong).await,
        }
    }
}

fn newer_entry(
    stored_entry: Option<Arc<Entry>>,
    cached_entry: Option<Arc<Entry>>,
) -> Option<Arc<Entry>> {
    stored_entry.into_iter().chain(cached_entry).max_by_key(|entry| entry.position)
}
