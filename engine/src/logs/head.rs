//! Reads a log's latest position. The read costs 0.5 read units if the current segment is cached,
//! and 1 read unit otherwise.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};

use super::{LogError, Logs};

/// Latest position of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHead {
    /// Position of the latest entry.
    pub head: Position,
    /// Incarnation (restore counter) of the latest entry.
    pub incarnation: u32,
}

impl Logs {
    /// Returns a log's latest position. The result is at or after `min_position` and every cached
    /// entry.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::Corrupt`] or [`LogError::Store`].
    pub async fn head(
        &self,
        log: LogId,
        min_position: Option<Position>,
    ) -> Result<LogHead, LogError> {
        let cached = self.tails.last(self.clock.now_ms(), log);
        let mut segment = match &cached {
            Some(entry) => entry.position.segment(),
            None => self.current_segment(log, min_position).await?,
        };
        let floor = min_position.max(cached.as_ref().map(|entry| entry.position));
        let mut attempt = 0;
        loop {
            let last = self.last_not_before(log, segment, floor).await?;
            let cached_here = cached.clone().filter(|entry| entry.position.segment() == segment);
            match newer_entry(last, cached_here) {
                Some(entry) if matches!(entry.content, Content::EndSegment) => {
                    let next =
                        entry.next_position().ok_or(LogError::Corrupt { at: entry.position })?;
                    // Many segments may have followed the cached one, so find the current segment
                    // with a single read.
                    let newest = self.newest_segments(log, Some(next)).await?;
                    let current = newest.first().map_or(0, |segment| segment.num);
                    segment = current.max(next.segment());
                }
                Some(entry) => {
                    return Ok(LogHead {
                        head: entry.position,
                        incarnation: entry.header.incarnation,
                    });
                }
                // A segment's record and first entry are written in one transaction, but an
                // eventually consistent read may see the record before the entry.
                None if attempt < MAX_READ_ATTEMPTS => {
                    attempt += 1;
                    self.pause(attempt).await;
                }
                None => {
                    let at = Position::new(segment, 0).unwrap_or(Position::FIRST);
                    return Err(LogError::Corrupt { at });
                }
            }
        }
    }

    async fn current_segment(
        &self,
        log: LogId,
        min_position: Option<Position>,
    ) -> Result<u32, LogError> {
        let newest = self.newest_segments(log, min_position).await?;
        newest.first().map(|segment| segment.num).ok_or(LogError::NotFound)
    }

    /// Returns the latest entry of a segment. If that entry is older than `floor`, retries with a
    /// strongly consistent read.
    async fn last_not_before(
        &self,
        log: LogId,
        segment: u32,
        floor: Option<Position>,
    ) -> Result<Option<Arc<Entry>>, LogError> {
        let last = self.retry_read(|| self.last(log, segment, false)).await?;
        // If `floor` is in a later segment, this segment has an End Segment (last entry) that the
        // first read missed.
        if last.is_some() && last.as_ref().map(|entry| entry.position) >= floor {
            return Ok(last);
        }
        self.retry_read(|| self.last(log, segment, true)).await
    }
}

fn newer_entry(first: Option<Arc<Entry>>, second: Option<Arc<Entry>>) -> Option<Arc<Entry>> {
    [first, second].into_iter().flatten().max_by_key(|entry| entry.position)
}
