//! Reads a log forward over pages and segments without missing a hole.
//!
//! A hole, or an end before a position that the reader knows, may be caused by a stale read: it is
//! read again with strong consistency before it is believed.

use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;

/// State of a forward read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForwardRead {
    next: Option<Position>,
    consistent: bool,
    /// The end is not believed before this position, unless read with strong consistency.
    must_reach: Option<Position>,
    /// Set after an End Segment: the next segment must exist.
    ended: bool,
    last: Option<Position>,
    /// Number of waits for the next segment.
    waits: u32,
}

/// Next action of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadStep {
    /// Read one page.
    Read {
        /// First position.
        from: Position,
        /// Set for a strongly consistent read.
        consistent: bool,
    },
    /// Wait, then read with strong consistency: the two sides of a transaction may become visible
    /// at different times.
    ReadLater {
        /// First position.
        from: Position,
        /// Number of waits, including this one.
        attempt: u32,
    },
    /// End of the log.
    End,
    /// An entry is missing although a later one exists.
    Corrupt {
        /// Position of the hole.
        at: Position,
    },
}

impl ForwardRead {
    /// Starts at `from`, inclusive. The end is read again with strong consistency if it lies before
    /// `must_reach`.
    #[must_use]
    pub fn begin(from: Position, must_reach: Option<Position>) -> Self {
        Self { next: Some(from), consistent: false, must_reach, ended: false, last: None, waits: 0 }
    }

    /// Same, but strongly consistent: includes every acknowledged write.
    #[must_use]
    pub fn consistently(self) -> Self {
        Self { consistent: true, ..self }
    }

    /// Takes an entry if it is the next one; returns whether it is.
    pub fn take(&mut self, entry: &Arc<Entry>) -> bool {
        if Some(entry.position) != self.next {
            return false;
        }
        self.next = entry.next_position();
        self.last = Some(entry.position);
        self.ended = matches!(entry.content, Content::EndSegment);
        true
    }

    /// Returns the action after a page: `whole` if every entry was taken, `empty` if there was
    /// none, `more` if the segment may continue.
    #[must_use]
    pub fn after_page(&mut self, whole: bool, empty: bool, more: bool) -> ReadStep {
        let Some(next) = self.next else { return ReadStep::End };
        if !whole {
            return self.believe_only_consistently(ReadStep::Corrupt { at: next });
        }
        if !empty && (more || self.ended) {
            return self.read();
        }
        if self.ended {
            return self.await_segment(next);
        }
        if self.must_reach > self.last {
            return self.believe_only_consistently(ReadStep::End);
        }
        ReadStep::End
    }

    /// Returns the newest entry taken.
    #[must_use]
    pub fn last(&self) -> Option<Position> {
        self.last
    }

    /// Returns the read of the next page.
    #[must_use]
    pub fn read(&self) -> ReadStep {
        match self.next {
            Some(from) => ReadStep::Read { from, consistent: self.consistent },
            None => ReadStep::End,
        }
    }

    /// The segment after an End Segment is written in one transaction with it.
    fn await_segment(&mut self, from: Position) -> ReadStep {
        if !self.consistent || self.waits >= MAX_READ_ATTEMPTS {
            return self.believe_only_consistently(ReadStep::Corrupt { at: from });
        }
        self.waits += 1;
        ReadStep::ReadLater { from, attempt: self.waits }
    }

    fn believe_only_consistently(&mut self, step: ReadStep) -> ReadStep {
        if self.consistent {
            return step;
        }
        self.consistent = true;
        self.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::LogId;

    fn entry(segment: u32, num: u32, content: Content) -> Arc<Entry> {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let position = Position::new(segment, num).unwrap();
        Arc::new(Entry { position, content, ..Entry::first(log, None, 0) })
    }

    fn plain(segment: u32, num: u32) -> Arc<Entry> {
        entry(segment, num, Content::Snapshot { root: None, trimmed_s: None })
    }

    fn page(read: &mut ForwardRead, entries: &[Arc<Entry>], more: bool) -> ReadStep {
        let whole = entries.iter().all(|entry| read.take(entry));
        read.after_page(whole, entries.is_empty(), more)
    }

    fn step(segment: u32, num: u32, consistent: bool) -> ReadStep {
        ReadStep::Read { from: Position::new(segment, num).unwrap(), consistent }
    }

    #[test]
    fn pages_and_segments_are_followed_to_the_end() {
        let mut read = ForwardRead::begin(Position::FIRST, None);
        assert_eq!(read.read(), step(0, 0, false));
        assert_eq!(page(&mut read, &[plain(0, 0), plain(0, 1)], true), step(0, 2, false));
        let end = entry(0, 2, Content::EndSegment);
        assert_eq!(page(&mut read, &[end], false), step(1, 0, false));
        assert_eq!(page(&mut read, &[plain(1, 0)], false), ReadStep::End);
        assert_eq!(read.last(), Some(Position::new(1, 0).unwrap()));
    }

    #[test]
    fn a_hole_is_read_again_before_it_is_corruption() {
        let mut read = ForwardRead::begin(Position::FIRST, None);
        assert_eq!(page(&mut read, &[plain(0, 0), plain(0, 2)], false), step(0, 1, true));
        let at = Position::new(0, 1).unwrap();
        assert_eq!(page(&mut read, &[plain(0, 2)], false), ReadStep::Corrupt { at });
    }

    #[test]
    fn a_stale_end_is_read_again() {
        let seen = Position::new(0, 2).unwrap();
        let mut read = ForwardRead::begin(Position::FIRST, Some(seen));
        assert_eq!(page(&mut read, &[plain(0, 0)], false), step(0, 1, true));
        assert_eq!(page(&mut read, &[plain(0, 1), plain(0, 2)], false), ReadStep::End);
        let mut read = ForwardRead::begin(Position::FIRST, Some(seen));
        assert_eq!(page(&mut read, &[], false), step(0, 0, true));
        assert_eq!(page(&mut read, &[], false), ReadStep::End);
    }

    #[test]
    fn an_end_that_was_seen_before_is_believed_at_once() {
        let mut read = ForwardRead::begin(Position::FIRST, Some(Position::FIRST));
        assert_eq!(page(&mut read, &[plain(0, 0)], false), ReadStep::End);
        let mut nothing_known = ForwardRead::begin(Position::FIRST, None);
        assert_eq!(page(&mut nothing_known, &[], false), ReadStep::End);
    }

    #[test]
    fn a_consistent_read_is_one_from_its_first_page_on() {
        let read = ForwardRead::begin(Position::FIRST, None).consistently();
        assert_eq!(read.read(), step(0, 0, true));
    }

    #[test]
    fn a_segment_that_ended_must_go_on() {
        let mut read = ForwardRead::begin(Position::FIRST, None);
        let end = entry(0, 0, Content::EndSegment);
        assert_eq!(page(&mut read, &[end], false), step(1, 0, false));
        assert_eq!(page(&mut read, &[], false), step(1, 0, true));
        let at = Position::new(1, 0).unwrap();
        for attempt in 1..=MAX_READ_ATTEMPTS {
            assert_eq!(page(&mut read, &[], false), ReadStep::ReadLater { from: at, attempt });
        }
        let mut other = read;
        assert_eq!(page(&mut other, &[plain(1, 0)], false), ReadStep::End);
        assert_eq!(page(&mut read, &[], false), ReadStep::Corrupt { at });
    }
}
