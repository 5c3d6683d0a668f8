//! Forks: logs that inherit their first segments from another log. A fork at position (s, n)
//! inherits segments 0 to s of its source, the last of them only up to entry n. In the fork, an End
//! Segment (the last entry of a closed segment) follows entry n, unless entry n is itself an End
//! Segment. This End Segment is not stored; readers synthesize it. The first entry that the fork
//! stores itself is at position (s + 1, 0). Up to the fork position, both logs have the same entry
//! at each position, and no entries are copied.

use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// The origin of a fork. Immutable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lineage {
    /// Source log, from which the fork inherits the entries up to `position`. The source may have
    /// inherited some of these entries from another log.
    pub source: LogId,
    /// Position of the last inherited entry. The source stores this entry and does not inherit it
    /// from another log.
    pub position: Position,
    /// Whether the entry at `position` is an End Segment. If not, readers synthesize an End Segment
    /// after it.
    pub position_ends_segment: bool,
    /// Original log from which all logs in the fork tree (the family) descend. The snapshot objects
    /// of the whole family are stored under the key prefix of this log, so that identical objects
    /// are stored only once.
    pub family: LogId,
    /// Depth in the fork tree. A fork of the original log has depth 1.
    pub depth: u32,
    /// Position of the latest snapshot at or before `position` that was finished when the fork was
    /// created. If `None`, the snapshot at the log's first entry is used.
    pub snapshot: Option<Position>,
    /// Time at which the fork was created, in seconds since the Unix epoch.
    pub forked_s: u64,
}

/// The part of a page read from the source that a fork inherits.
#[derive(Debug, Clone, PartialEq)]
pub struct Inherited {
    /// Inherited entries, with the fork's log id.
    pub entries: Vec<Arc<Entry>>,
    /// Whether the segment may have more entries after this page.
    pub has_more: bool,
}

/// The page read from the source is stale: it ends before the fork position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StalePage;

impl Lineage {
    /// Whether the fork inherits the entry at a position.
    #[must_use]
    pub fn inherits(&self, position: Position) -> bool {
        position.segment() <= self.position.segment()
    }

    /// Returns the position of the End Segment that follows the inherited entries.
    #[must_use]
    pub fn end_segment_position(&self) -> Position {
        if self.position_ends_segment {
            return self.position;
        }
        // A fork is created only at a position that leaves a free position for the End Segment.
        self.position.next_in_segment().unwrap_or(self.position)
    }

    /// Returns the position of the fork's own first entry, or `None` if the log is full.
    #[must_use]
    pub fn first_own_position(&self) -> Option<Position> {
        let has_end_segment_position =
            self.position_ends_segment || self.position.next_in_segment().is_some();
        if has_end_segment_position { self.position.next_segment() } else { None }
    }

    /// Creates the End Segment that follows `source_entry`, the last entry inherited by `fork_log`.
    #[must_use]
    pub fn end_segment_after(&self, fork_log: LogId, source_entry: &Entry) -> Entry {
        Entry {
            log: fork_log,
            position: self.end_segment_position(),
            created_s: self.forked_s,
            author: None,
            header: source_entry.header.clone(),
            content: Content::EndSegment,
        }
    }

    /// Returns the part of a page read from the source that `fork_log` inherits. `page_start` is
    /// the first position of the page, at or before the fork position. `has_more` is set if more
    /// pages follow. The last inherited page ends with an End Segment. Without it, a writer would
    /// try to append to the source's segment. If the source's segment was trimmed, the entries
    /// before the End Segment are missing.
    ///
    /// # Errors
    /// Returns [`StalePage`] if the page ends before the fork position.
    pub fn inherited_page(
        &self,
        fork_log: LogId,
        page_start: Position,
        source_page: &[Arc<Entry>],
        has_more: bool,
    ) -> Result<Inherited, StalePage> {
        let mut entries = self.entries_up_to_fork(fork_log, source_page);
        let is_earlier_segment = page_start.segment() < self.position.segment();
        if is_earlier_segment {
            return Ok(Inherited { entries, has_more });
        }
        let Some(last) = source_page.iter().find(|entry| entry.position >= self.position) else {
            let fork_position_is_on_later_page = has_more;
            if fork_position_is_on_later_page {
                return Ok(Inherited { entries, has_more });
            }
            return Err(StalePage);
        };
        // If the entry at the fork position is missing but a later entry exists, the segment was
        // trimmed. The End Segment then takes the header of the later entry.
        let has_end_segment = last.position == self.position && self.position_ends_segment;
        if !has_end_segment {
            entries.push(Arc::new(self.end_segment_after(fork_log, last)));
        }
        Ok(Inherited { entries, has_more: false })
    }

    fn entries_up_to_fork(&self, fork_log: LogId, source_page: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
        let inherited = source_page.iter().filter(|entry| entry.position <= self.position);
        inherited.map(|entry| Arc::new(Entry { log: fork_log, ..Entry::clone(entry) })).collect()
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

    fn lineage(position: Position, position_ends_segment: bool) -> Lineage {
        Lineage {
            source: log(1),
            position,
            position_ends_segment,
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
            (entry.position.entry_number(), entry.content == Content::EndSegment)
        });
        (each.collect(), inherited.has_more)
    }

    #[test]
    fn the_inherited_part_ends_with_an_end_segment() {
        let fork = lineage(at(2, 3), false);
        assert_eq!(
            (fork.end_segment_position(), fork.first_own_position()),
            (at(2, 4), Some(at(3, 0)))
        );
        let cut = fork.inherited_page(log(2), at(2, 1), &entries(2, 1..9), true).unwrap();
        assert_eq!(shown(&cut), (vec![(1, false), (2, false), (3, false), (4, true)], false));
        let end = cut.entries.last().unwrap();
        assert_eq!((end.created_s, end.author.clone()), (77, None), "the same for every reader");
        // An End Segment in the source also ends the inherited part.
        let mut page = entries(2, 2..4);
        Arc::make_mut(&mut page[1]).content = Content::EndSegment;
        let fork = lineage(at(2, 3), true);
        assert_eq!(
            (fork.end_segment_position(), fork.first_own_position()),
            (at(2, 3), Some(at(3, 0)))
        );
        let cut = fork.inherited_page(log(2), at(2, 2), &page, false).unwrap();
        assert_eq!(shown(&cut), (vec![(2, false), (3, true)], false));
    }

    #[test]
    fn earlier_segments_are_inherited_completely() {
        let fork = lineage(at(2, 3), false);
        let cut = fork.inherited_page(log(2), at(1, 7), &entries(1, 7..9), true).unwrap();
        assert_eq!(shown(&cut), (vec![(7, false), (8, false)], true));
        // The End Segment of an earlier segment does not end the inherited part.
        let cut = fork.inherited_page(log(2), at(1, 7), &entries(1, 7..9), false).unwrap();
        assert_eq!(shown(&cut), (vec![(7, false), (8, false)], false));
        assert!(fork.inherits(at(2, u32::MAX)) && fork.inherits(at(0, 0)));
        assert!(!fork.inherits(at(3, 0)));
    }

    #[test]
    fn rejects_a_page_that_ends_before_the_fork() {
        let fork = lineage(at(0, 3), false);
        for page in [entries(0, 0..0), entries(0, 1..3)] {
            assert_eq!(fork.inherited_page(log(2), at(0, 1), &page, false), Err(StalePage));
            let cut = fork.inherited_page(log(2), at(0, 1), &page, true).unwrap();
            assert!(cut.has_more && cut.entries.len() == page.len(), "the page continues");
        }
    }

    #[test]
    fn trimmed_entries_leave_a_gap_before_the_end_segment() {
        let fork = lineage(at(0, 3), false);
        let cut = fork.inherited_page(log(2), at(0, 0), &entries(0, [0, 9]), false).unwrap();
        assert_eq!(shown(&cut), (vec![(0, false), (4, true)], false));
    }

    #[test]
    fn a_fork_needs_positions_for_its_end_and_its_first_entry() {
        assert_eq!(lineage(at(0, u32::MAX), false).first_own_position(), None);
        assert_eq!(lineage(at(0, u32::MAX), true).first_own_position(), Some(at(1, 0)));
        let last = MAX_SEGMENTS - 1;
        assert_eq!(lineage(at(last, 0), false).first_own_position(), None);
        assert_eq!(lineage(at(last - 1, 0), false).first_own_position(), Some(at(last, 0)));
    }
}
