//! Forks: logs that inherit their first segments from another.
//!
//! A fork of a log at position (s, n) inherits the segments 0 to s of its source. The last of them
//! ends after n with an End Segment that is not stored: every reader creates it. The fork's own
//! first entry is (s + 1, 0). So positions up to the fork have the same meaning in both logs, and
//! nothing is copied.

use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// Source of a fork; never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lineage {
    /// Log that contains the entries up to `position`, or inherits some of them in turn.
    pub source: LogId,
    /// Last shared entry, stored by the source itself.
    pub position: Position,
    /// Set if that entry is an End Segment; otherwise one is created after it.
    pub ended: bool,
    /// Origin of all forks of the family. All snapshot objects of a family are stored under its
    /// prefix, so that equal objects are stored once.
    pub family: LogId,
    /// Number of forks from the family's origin to this log, including this one.
    pub depth: u32,
    /// Newest snapshot at or before `position` at the time of the fork, unless it is the log's
    /// first entry.
    pub snapshot: Option<Position>,
    /// Time of the fork, Unix seconds.
    pub forked_s: u64,
}

/// The inherited part of a page of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Inherited {
    /// Entries, as the fork's own.
    pub entries: Vec<Arc<Entry>>,
    /// Set if the segment may have further entries.
    pub more: bool,
}

/// The page ends before the position of the fork, so it was stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StalePage;

impl Lineage {
    /// Returns whether the entry at a position is inherited from the source.
    #[must_use]
    pub fn inherits(&self, at: Position) -> bool {
        at.segment() <= self.position.segment()
    }

    /// Returns the end of the inherited part: its last End Segment.
    #[must_use]
    pub fn end(&self) -> Position {
        match self.ended {
            true => self.position,
            // A fork is created only where the segment has capacity for an End Segment.
            false => self.position.next_in_segment().unwrap_or(self.position),
        }
    }

    /// Returns the position of the fork's own first entry, if the log can continue there.
    #[must_use]
    pub fn first_own(&self) -> Option<Position> {
        let has_room = self.ended || self.position.next_in_segment().is_some();
        self.position.next_segment().filter(|_| has_room)
    }

    /// Creates the End Segment after the last shared entry, `shared`.
    #[must_use]
    pub fn end_behind(&self, log: LogId, shared: &Entry) -> Entry {
        Entry {
            log,
            position: self.end(),
            created_s: self.forked_s,
            author: None,
            header: shared.header.clone(),
            content: Content::EndSegment,
        }
    }

    /// Returns the part that the fork `log` inherits of a page of its source, read from `from`,
    /// which is not after the last shared entry.
    ///
    /// The inherited part always ends with an End Segment or a hole (as in a trimmed segment).
    /// Otherwise a writer would consider a position of the source free.
    ///
    /// # Errors
    /// [`StalePage`] if the page ends before the position of the fork.
    pub fn cut(
        &self,
        log: LogId,
        from: Position,
        page: &[Arc<Entry>],
        more: bool,
    ) -> Result<Inherited, StalePage> {
        let shared = page.iter().filter(|entry| entry.position <= self.position);
        let mut entries: Vec<Arc<Entry>> =
            shared.map(|entry| Arc::new(Entry { log, ..entry.as_ref().clone() })).collect();
        let last = page.iter().rev().find(|entry| entry.position <= self.position);
        if from.segment() < self.position.segment() {
            return Ok(Inherited { entries, more });
        }
        if let Some(shared) = last.filter(|last| last.position == self.position) {
            if !self.ended {
                entries.push(Arc::new(self.end_behind(log, shared)));
            }
            return Ok(Inherited { entries, more: false });
        }
        let beyond = page.iter().find(|entry| entry.position > self.position);
        match beyond {
            // A hole before it.
            Some(beyond) => {
                entries.push(Arc::new(self.end_behind(log, beyond)));
                Ok(Inherited { entries, more: false })
            }
            None if more => Ok(Inherited { entries, more }),
            None => Err(StalePage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::MAX_SEGMENTS;

    fn log(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    fn at(segment: u32, num: u32) -> Position {
        Position::new(segment, num).unwrap()
    }

    fn lineage(position: Position, ended: bool) -> Lineage {
        Lineage {
            source: log(1),
            position,
            ended,
            family: log(1),
            depth: 1,
            snapshot: None,
            forked_s: 77,
        }
    }

    fn entries(segment: u32, nums: impl IntoIterator<Item = u32>) -> Vec<Arc<Entry>> {
        let entry = |num| Entry { position: at(segment, num), ..Entry::first(log(1), None, 5) };
        nums.into_iter().map(|num| Arc::new(entry(num))).collect()
    }

    fn shown(inherited: &Inherited) -> (Vec<(u32, bool)>, bool) {
        let each = inherited.entries.iter().map(|entry| {
            assert_eq!(entry.log, log(2));
            (entry.position.num(), entry.content == Content::EndSegment)
        });
        (each.collect(), inherited.more)
    }

    #[test]
    fn the_inherited_part_ends_with_an_end_segment() {
        let fork = lineage(at(2, 3), false);
        assert_eq!((fork.end(), fork.first_own()), (at(2, 4), Some(at(3, 0))));
        let cut = fork.cut(log(2), at(2, 1), &entries(2, 1..9), true).unwrap();
        assert_eq!(shown(&cut), (vec![(1, false), (2, false), (3, false), (4, true)], false));
        let end = cut.entries.last().unwrap();
        assert_eq!((end.created_s, end.author.clone()), (77, None), "the same for whoever reads");
        // An End Segment of the source is its own end.
        let mut page = entries(2, 2..4);
        Arc::make_mut(&mut page[1]).content = Content::EndSegment;
        let fork = lineage(at(2, 3), true);
        assert_eq!((fork.end(), fork.first_own()), (at(2, 3), Some(at(3, 0))));
        let cut = fork.cut(log(2), at(2, 2), &page, false).unwrap();
        assert_eq!(shown(&cut), (vec![(2, false), (3, true)], false));
    }

    #[test]
    fn earlier_segments_are_whole() {
        let fork = lineage(at(2, 3), false);
        let cut = fork.cut(log(2), at(1, 7), &entries(1, 7..9), true).unwrap();
        assert_eq!(shown(&cut), (vec![(7, false), (8, false)], true));
        // Its end is no end of the inherited part: nothing is missing behind it.
        let cut = fork.cut(log(2), at(1, 7), &entries(1, 7..9), false).unwrap();
        assert_eq!(shown(&cut), (vec![(7, false), (8, false)], false));
        assert!(fork.inherits(at(2, u32::MAX)) && fork.inherits(at(0, 0)));
        assert!(!fork.inherits(at(3, 0)));
    }

    #[test]
    fn a_page_that_ends_too_soon_is_no_end() {
        let fork = lineage(at(0, 3), false);
        for page in [entries(0, 0..0), entries(0, 1..3)] {
            assert_eq!(fork.cut(log(2), at(0, 1), &page, false), Err(StalePage));
            let cut = fork.cut(log(2), at(0, 1), &page, true).unwrap();
            assert!(cut.more && cut.entries.len() == page.len(), "it goes on");
        }
    }

    #[test]
    fn what_was_trimmed_is_a_hole_and_no_free_place() {
        let fork = lineage(at(0, 3), false);
        let cut = fork.cut(log(2), at(0, 0), &entries(0, [0, 9]), false).unwrap();
        assert_eq!(shown(&cut), (vec![(0, false), (4, true)], false));
    }

    #[test]
    fn a_fork_needs_room_for_its_end_and_its_first_entry() {
        assert_eq!(lineage(at(0, u32::MAX), false).first_own(), None);
        assert_eq!(lineage(at(0, u32::MAX), true).first_own(), Some(at(1, 0)));
        let last = MAX_SEGMENTS - 1;
        assert_eq!(lineage(at(last, 0), false).first_own(), None);
        assert_eq!(lineage(at(last - 1, 0), false).first_own(), Some(at(last, 0)));
    }
}
