//! The newest position: 0.5 read units while the current segment is known, 1 if none is.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};

use super::{LogError, Logs};

/// The newest entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headed {
    /// Its position.
    pub head: Position,
    /// Its incarnation.
    pub incarnation: u32,
}

impl Logs {
    /// The newest position, never older than `seen` or than what this process knows.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::Corrupt`], [`LogError::Store`].
    pub async fn head(&self, log: LogId, seen: Option<Position>) -> Result<Headed, LogError> {
        let known = self.known.last(self.clock.now_ms(), log);
        let mut segment = match &known {
            Some(entry) => entry.position.segment(),
            None => self.current_segment(log, seen).await?,
        };
        let floor = seen.max(known.as_ref().map(|entry| entry.position));
        let mut attempt = 0;
        loop {
            let last = self.last_of(log, segment, floor).await?;
            let known_here = known.clone().filter(|entry| entry.position.segment() == segment);
            match newer(last, known_here) {
                Some(entry) if matches!(entry.content, Content::EndSegment) => {
                    let next =
                        entry.next_position().ok_or(LogError::Corrupt { at: entry.position })?;
                    // What is known may be many segments old: one read leads to the current one.
                    let newest = self.newest_segments(log, Some(next)).await?;
                    let current = newest.first().map_or(0, |segment| segment.num);
                    segment = current.max(next.segment());
                }
                Some(entry) => {
                    return Ok(Headed {
                        head: entry.position,
                        incarnation: entry.header.incarnation,
                    });
                }
                // A segment's record and its first entry are written in one transaction, but need
                // not be seen in the same moment.
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

    async fn current_segment(&self, log: LogId, seen: Option<Position>) -> Result<u32, LogError> {
        let newest = self.newest_segments(log, seen).await?;
        newest.first().map(|segment| segment.num).ok_or(LogError::NotFound)
    }

    /// The newest entry of a segment; read again consistently if that is older than `floor`.
    async fn last_of(
        &self,
        log: LogId,
        segment: u32,
        floor: Option<Position>,
    ) -> Result<Option<Arc<Entry>>, LogError> {
        let last = self.read(|| self.last(log, segment, false)).await?;
        // A floor in a later segment: this one must have an End Segment that was not seen.
        if last.is_some() && last.as_ref().map(|entry| entry.position) >= floor {
            return Ok(last);
        }
        self.read(|| self.last(log, segment, true)).await
    }
}

/// The newer of two entries.
fn newer(one: Option<Arc<Entry>>, two: Option<Arc<Entry>>) -> Option<Arc<Entry>> {
    [one, two].into_iter().flatten().max_by_key(|entry| entry.position)
}
