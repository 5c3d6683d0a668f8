//! Reads a log forward across pages and segments without skipping entries. A stale read may miss an
//! entry, or end before a position that is known to exist. The state machine therefore repeats such
//! a read with strong consistency before it reports a gap or the end of the log.

use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::consistency::ReadConsistency;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;

/// A forward log read in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForwardRead {
    next_position: Option<Position>,
    consistency: ReadConsistency,
    /// Position that is known to exist. If the log appears to end earlier, the read is repeated
    /// with strong consistency.
    existing_position: Option<Position>,
    /// Set after an End Segment (the last entry of a closed segment) was read. The next segment
    /// must then exist.
    is_after_end_segment: bool,
    last_position: Option<Position>,
    segment_waits: u32,
}

/// Next action for the driver to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadStep {
    /// Read one page.
    Read {
        /// First position to read.
        from: Position,
        /// Whether the read must be strongly consistent.
        consistency: ReadConsistency,
    },
    /// Wait, then read one page with strong consistency. Items that were written in one transaction
    /// may become visible at different times.
    ReadLater {
        /// First position to read.
        from: Position,
        /// Number of waits so far, including this one.
        attempt: u32,
    },
    /// The end of the log was reached.
    End,
    /// An entry is missing although a later entry exists.
    Corrupt {
        /// Position of the missing entry.
        at: Position,
    },
}

/// Result of adding the entries of a page to a [`ForwardRead`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedPage {
    /// Whether each entry of the page was the next entry of the log, so that all of them were
    /// added.
    pub is_contiguous: bool,
    /// Whether the page had no entries.
    pub is_empty: bool,
    /// Whether the segment may have more entries.
    pub has_more: bool,
}

impl ForwardRead {
    /// Starts a read at `from` (inclusive). If the log seems to end before `existing_position`, the
    /// read continues with strong consistency.
    #[must_use]
    pub fn begin(from: Position, existing_position: Option<Position>) -> Self {
        Self {
            next_position: Some(from),
            consistency: ReadConsistency::Eventual,
            existing_position,
            is_after_end_segment: false,
            last_position: None,
            segment_waits: 0,
        }
    }

    /// Makes all reads strongly consistent, so that they return every acknowledged write.
    #[must_use]
    pub fn consistently(self) -> Self {
        Self { consistency: ReadConsistency::Strong, ..self }
    }

    /// Adds an entry of the page if it is the next entry of the log. Returns whether it was added.
    pub fn add_entry(&mut self, entry: &Arc<Entry>) -> bool {
        if Some(entry.position) != self.next_position {
            return false;
        }
        self.next_position = entry.next_position();
        self.last_position = Some(entry.position);
        self.is_after_end_segment = matches!(entry.content, Content::EndSegment);
        true
    }

    /// Returns the next action after all entries of a page were added.
    #[must_use]
    pub fn step_after_page(&mut self, page: AddedPage) -> ReadStep {
        let Some(next_position) = self.next_position else { return ReadStep::End };
        if !page.is_contiguous {
            return self.confirm_with_consistent_read(ReadStep::Corrupt { at: next_position });
        }
        if !page.is_empty && (page.has_more || self.is_after_end_segment) {
            return self.read_next_page();
        }
        if self.is_after_end_segment {
            return self.await_segment(next_position);
        }
        if !self.has_reached_existing_position() {
            return self.confirm_with_consistent_read(ReadStep::End);
        }
        ReadStep::End
    }

    fn has_reached_existing_position(&self) -> bool {
        self.last_position >= self.existing_position
    }

    /// Returns the position of the last added entry.
    #[must_use]
    pub fn last_position(&self) -> Option<Position> {
        self.last_position
    }

    /// Returns the action that reads the next page.
    #[must_use]
    pub fn read_next_page(&self) -> ReadStep {
        match self.next_position {
            Some(from) => ReadStep::Read { from, consistency: self.consistency },
            None => ReadStep::End,
        }
    }

    /// Waits for the segment after an End Segment to become visible. Its first entry was written in
    /// the same transaction as the End Segment.
    fn await_segment(&mut self, segment_start: Position) -> ReadStep {
        if !self.consistency.is_strong() || self.segment_waits >= MAX_READ_ATTEMPTS {
            return self.confirm_with_consistent_read(ReadStep::Corrupt { at: segment_start });
        }
        self.segment_waits += 1;
        ReadStep::ReadLater { from: segment_start, attempt: self.segment_waits }
    }

    fn confirm_with_consistent_read(&mut self, step: ReadStep) -> ReadStep {
        if self.consistency.is_strong() {
            return step;
        }
        self.consistency = ReadConsistency::Strong;
        self.read_next_page()
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

    fn page(read: &mut ForwardRead, entries: &[Arc<Entry>], has_more: bool) -> ReadStep {
        let is_contiguous = entries.iter().all(|entry| read.add_entry(entry));
        read.step_after_page(AddedPage { is_contiguous, is_empty: entries.is_empty(), has_more })
    }

    fn step(segment: u32, num: u32, consistency: ReadConsistency) -> ReadStep {
        ReadStep::Read { from: Position::new(segment, num).unwrap(), consistency }
    }

    #[test]
    fn reads_pages_and_segments_to_the_end() {
        let mut read = ForwardRead::begin(Position::FIRST, None);
        assert_eq!(read.read_next_page(), step(0, 0, ReadConsistency::Eventual));
        assert_eq!(
            page(&mut read, &[plain(0, 0), plain(0, 1)], true),
            step(0, 2, ReadConsistency::Eventual)
        );
        let end = entry(0, 2, Content::EndSegment);
        assert_eq!(page(&mut read, &[end], false), step(1, 0, ReadConsistency::Eventual));
        assert_eq!(page(&mut read, &[plain(1, 0)], false), ReadStep::End);
        assert_eq!(read.last_position(), Some(Position::new(1, 0).unwrap()));
    }

    #[test]
    fn repeats_the_read_of_a_gap_before_reporting_corruption() {
        let mut read = ForwardRead::begin(Position::FIRST, None);
        assert_eq!(
            page(&mut read, &[plain(0, 0), plain(0, 2)], false),
            step(0, 1, ReadConsistency::Strong)
        );
        let at = Position::new(0, 1).unwrap();
        assert_eq!(page(&mut read, &[plain(0, 2)], false), ReadStep::Corrupt { at });
    }

    #[test]
    fn repeats_the_read_of_a_stale_end() {
        let seen = Position::new(0, 2).unwrap();
        let mut read = ForwardRead::begin(Position::FIRST, Some(seen));
        assert_eq!(page(&mut read, &[plain(0, 0)], false), step(0, 1, ReadConsistency::Strong));
        assert_eq!(page(&mut read, &[plain(0, 1), plain(0, 2)], false), ReadStep::End);
        let mut read = ForwardRead::begin(Position::FIRST, Some(seen));
        assert_eq!(page(&mut read, &[], false), step(0, 0, ReadConsistency::Strong));
        assert_eq!(page(&mut read, &[], false), ReadStep::End);
    }

    #[test]
    fn accepts_an_end_at_or_after_the_known_position() {
        let mut read = ForwardRead::begin(Position::FIRST, Some(Position::FIRST));
        assert_eq!(page(&mut read, &[plain(0, 0)], false), ReadStep::End);
        let mut nothing_known = ForwardRead::begin(Position::FIRST, None);
        assert_eq!(page(&mut nothing_known, &[], false), ReadStep::End);
    }

    #[test]
    fn a_consistent_read_starts_with_its_first_page() {
        let read = ForwardRead::begin(Position::FIRST, None).consistently();
        assert_eq!(read.read_next_page(), step(0, 0, ReadConsistency::Strong));
    }

    #[test]
    fn an_end_segment_must_be_followed_by_a_segment() {
        let mut read = ForwardRead::begin(Position::FIRST, None);
        let end = entry(0, 0, Content::EndSegment);
        assert_eq!(page(&mut read, &[end], false), step(1, 0, ReadConsistency::Eventual));
        assert_eq!(page(&mut read, &[], false), step(1, 0, ReadConsistency::Strong));
        let at = Position::new(1, 0).unwrap();
        for attempt in 1..=MAX_READ_ATTEMPTS {
            assert_eq!(page(&mut read, &[], false), ReadStep::ReadLater { from: at, attempt });
        }
        let mut other = read;
        assert_eq!(page(&mut other, &[plain(1, 0)], false), ReadStep::End);
        assert_eq!(page(&mut read, &[], false), ReadStep::Corrupt { at });
    }
}
