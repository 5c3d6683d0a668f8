//! Cache of a log's latest entries.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::entry::{Content, Entry};
use cellar_base::limits::MAX_CACHED_TAIL_BYTES;
use cellar_base::position::Position;

/// A cache of the latest entries of a log that this process has read or written. The cached entries
/// are contiguous and take at most `MAX_CACHED_TAIL_BYTES`, but the last of them is always kept.
/// Other processes may have appended later entries.
///
/// Cached entries never become stale, because entries are immutable. The only exception is the root
/// key that a Snapshot entry receives when its snapshot finishes. Root keys are never read from
/// this cache.
#[derive(Debug, Clone, Default)]
pub struct CachedTail {
    entries: VecDeque<Arc<Entry>>,
    cached_bytes: usize,
}

impl CachedTail {
    /// Adds an entry that was read or written, unless it is at or before the latest cached entry.
    /// If entries are missing between the latest cached entry and the new entry, all cached entries
    /// are evicted first.
    pub fn add(&mut self, entry: &Arc<Entry>) {
        if let Some(last_entry) = self.entries.back() {
            if entry.position <= last_entry.position {
                return;
            }
            let is_after_gap = last_entry.next_position() != Some(entry.position);
            if is_after_gap {
                self.entries.clear();
                self.cached_bytes = 0;
            }
        }
        self.cached_bytes = self.cached_bytes.saturating_add(entry.weight_bytes());
        self.entries.push_back(Arc::clone(entry));
        self.evict_oldest_entries();
    }

    /// At least one entry is kept.
    fn evict_oldest_entries(&mut self) {
        while self.cached_bytes > MAX_CACHED_TAIL_BYTES && self.entries.len() > 1 {
            if let Some(oldest_entry) = self.entries.pop_front() {
                self.cached_bytes = self.cached_bytes.saturating_sub(oldest_entry.weight_bytes());
            }
        }
    }

    /// Returns the cached entries starting at `base` (inclusive), or an empty list if the entry at
    /// `base` is not cached.
    #[must_use]
    pub fn entries_from(&self, base: Position) -> Vec<Arc<Entry>> {
        match self.index_of(base) {
            Some(base_index) => self.entries.iter().skip(base_index).cloned().collect(),
            None => Vec::new(),
        }
    }

    fn index_of(&self, position: Position) -> Option<usize> {
        self.entries.binary_search_by_key(&position, |entry| entry.position).ok()
    }

    /// Whether the entry at `base` is cached.
    #[must_use]
    pub fn covers(&self, base: Position) -> bool {
        self.index_of(base).is_some()
    }

    /// Whether the entry at `base` is cached, and none of the cached entries after it is a Snapshot
    /// entry.
    #[must_use]
    pub fn has_no_snapshot_after(&self, base: Position) -> bool {
        let is_snapshot = |entry: &Arc<Entry>| matches!(entry.content, Content::Snapshot { .. });
        self.index_of(base)
            .is_some_and(|index| !self.entries.iter().skip(index + 1).any(is_snapshot))
    }

    /// Returns the latest cached entry.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<Entry>> {
        self.entries.back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::support::{edits_entry, end_entry, snapshot_entry, text_entry};

    fn position(segment: u32, num: u32) -> Position {
        Position::new(segment, num).unwrap()
    }

    fn positions(tail: &CachedTail, base: Position) -> Vec<String> {
        tail.entries_from(base).iter().map(|entry| entry.position.to_string()).collect()
    }

    #[test]
    fn a_gap_replaces_the_tail() {
        let mut tail = CachedTail::default();
        for num in [3, 4, 4, 5] {
            tail.add(&edits_entry(position(0, num), 1, 1));
        }
        tail.add(&edits_entry(position(0, 2), 1, 1));
        assert_eq!(positions(&tail, position(0, 4)), ["0.4", "0.5"]);
        assert!(tail.entries_from(position(0, 2)).is_empty());
        assert!(tail.entries_from(position(0, 6)).is_empty());
        assert!(tail.covers(position(0, 4)) && !tail.covers(position(0, 2)));
        assert!(!tail.covers(position(0, 6)));
        tail.add(&edits_entry(position(0, 9), 1, 1));
        assert!(tail.entries_from(position(0, 5)).is_empty());
        assert_eq!(positions(&tail, position(0, 9)), ["0.9"]);
    }

    #[test]
    fn a_later_snapshot_entry_is_found() {
        let mut tail = CachedTail::default();
        tail.add(&snapshot_entry(position(0, 3)));
        tail.add(&edits_entry(position(0, 4), 1, 1));
        assert!(tail.has_no_snapshot_after(position(0, 3)));
        assert!(tail.has_no_snapshot_after(position(0, 4)));
        assert!(!tail.has_no_snapshot_after(position(0, 2)), "not cached");
        tail.add(&snapshot_entry(position(0, 5)));
        assert!(!tail.has_no_snapshot_after(position(0, 3)));
        assert!(!tail.has_no_snapshot_after(position(0, 4)));
        assert!(tail.has_no_snapshot_after(position(0, 5)));
    }

    #[test]
    fn a_tail_continues_in_the_next_segment_only_after_an_end_segment() {
        let mut tail = CachedTail::default();
        tail.add(&edits_entry(position(0, 3), 1, 1));
        tail.add(&end_entry(position(0, 4)));
        tail.add(&edits_entry(position(1, 0), 1, 1));
        assert_eq!(positions(&tail, position(0, 3)), ["0.3", "0.4", "1.0"]);
        tail.add(&edits_entry(position(2, 0), 1, 1));
        assert_eq!(positions(&tail, position(2, 0)), ["2.0"]);
        assert!(tail.entries_from(position(1, 0)).is_empty());
    }

    #[test]
    fn the_oldest_entries_are_evicted_first() {
        let mut tail = CachedTail::default();
        for num in 0..200 {
            tail.add(&text_entry(position(0, num), 64 * 1024));
            assert!(tail.cached_bytes <= MAX_CACHED_TAIL_BYTES);
        }
        assert!(tail.entries_from(position(0, 0)).is_empty());
        assert_eq!(tail.last().unwrap().position, position(0, 199));
    }

    #[test]
    fn a_tail_is_limited_by_bytes_except_for_its_newest_entry() {
        let frame = text_entry(position(0, 0), 0).weight_bytes();
        for (more, kept) in [(0, true), (1, false)] {
            let mut tail = CachedTail::default();
            tail.add(&text_entry(position(0, 0), 1_000));
            let rest = MAX_CACHED_TAIL_BYTES - 1_000 - 2 * frame;
            tail.add(&text_entry(position(0, 1), rest + more));
            assert_eq!(tail.covers(position(0, 0)), kept);
            tail.add(&text_entry(position(0, 2), MAX_CACHED_TAIL_BYTES + 1));
            assert_eq!(positions(&tail, position(0, 2)), ["0.2"]);
            assert!(!tail.covers(position(0, 1)));
        }
    }
}
