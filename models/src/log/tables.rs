//! The log tables and the offloaded segment in memory, and the outdated views that reads may
//! return.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::invariants;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use crate::fingerprint::Hashed;

/// A stored entry.
pub type Stored = Hashed<Entry>;

/// Contents of the tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tables {
    entries: BTreeMap<Position, Stored>,
    segments: BTreeMap<u32, Segment>,
    offloaded: BTreeMap<Position, Stored>,
    /// The position up to which every read returns all entries. These entries are at least a day
    /// old.
    settled_position: Option<Position>,
    /// Whether a trim has changed the tables since the clock last advanced. If so, a read may still
    /// return the state before the trim.
    has_recent_trim: bool,
}

/// A view of a segment that an eventually consistent read may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// All stored entries.
    Now,
    /// The given number of entries from the start of the read.
    Prefix(usize),
    /// All entries except the one at the given position.
    Without(Position),
    /// The segment before it was trimmed.
    BeforeTrim,
    /// The segment during a trim. The first entry has no trim mark yet, and some of the other
    /// entries are already deleted.
    Unmarked,
}

impl Tables {
    /// Creates the tables of a log that contains only its first entry.
    #[must_use]
    pub fn created() -> Self {
        let mut tables = Self {
            entries: BTreeMap::new(),
            segments: BTreeMap::new(),
            offloaded: BTreeMap::new(),
            settled_position: Some(Position::FIRST),
            has_recent_trim: false,
        };
        tables.insert(&Arc::new(Entry::first(log_id(), None, 0)));
        tables.insert_segment(first_segment());
        tables
    }

    fn insert(&mut self, entry: &Arc<Entry>) {
        self.entries.insert(entry.position, Hashed::new(Arc::clone(entry)));
    }

    /// Adds a segment whose snapshot is finished. [`crate::snapshots`] models unfinished snapshots.
    fn insert_segment(&mut self, segment: Segment) {
        self.segments.insert(segment.num, Segment { last_snapshot: Some(0), ..segment });
    }

    /// Puts an entry if its key is free.
    ///
    /// # Errors
    /// Returns the existing entry if the key is taken.
    pub fn put(&mut self, entry: &Arc<Entry>) -> Result<(), Arc<Entry>> {
        match self.entries.get(&entry.position) {
            Some(winner) => Err(Arc::clone(winner.shared())),
            None => {
                self.insert(entry);
                Ok(())
            }
        }
    }

    /// Writes all items of a roll, or none of them if a key is taken. Returns whether the items
    /// were written.
    pub fn transact(&mut self, transaction: &Transaction) -> bool {
        let Transaction { end, segment, first } = transaction;
        let is_key_taken = self.entries.contains_key(&end.position)
            || self.entries.contains_key(&first.position)
            || self.segments.contains_key(&segment.num);
        if is_key_taken {
            return false;
        }
        self.insert(&Arc::new(end.clone()));
        self.insert(&Arc::new(first.clone()));
        self.insert_segment(segment.clone());
        true
    }

    /// Copies the entries of a segment to the offloaded segment.
    pub fn offload(&mut self, segment_number: u32) {
        let entries: Vec<Stored> = self.segment_entries(segment_number).cloned().collect();
        for entry in entries {
            self.offloaded.insert(entry.position, entry);
        }
        if let Some(segment) = self.segments.get_mut(&segment_number) {
            segment.offloaded = Some("offload".to_owned());
        }
    }

    /// Returns whether the offloaded segment contains every entry of the segment up to `last`.
    #[must_use]
    pub fn is_offload_complete(&self, last: Position) -> bool {
        let mut expected_position = last.segment_start();
        while expected_position <= last {
            if !self.offloaded.contains_key(&expected_position) {
                return false;
            }
            let Some(next_position) = expected_position.next_in_segment() else { break };
            expected_position = next_position;
        }
        true
    }

    /// Sets the trim mark of the first entry of a segment. No-op if the mark is already set.
    pub fn mark_trimmed(&mut self, segment_start: Position, trimmed_s: u64) {
        let Some(first_entry) = self.entries.get(&segment_start) else { return };
        if !first_entry.is_trimmed() {
            let content = Content::Snapshot { root: None, trimmed_s: Some(trimmed_s) };
            let marked_entry = Arc::new(Entry { content, ..Entry::clone(first_entry) });
            self.insert(&marked_entry);
            self.has_recent_trim = true;
        }
    }

    pub fn delete(&mut self, position: Position) {
        self.entries.remove(&position);
        self.has_recent_trim = true;
    }

    /// Makes every read return all stored entries, as if a day had passed.
    pub fn settle(&mut self) {
        self.settled_position = self.entries.keys().next_back().copied();
        self.has_recent_trim = false;
    }

    /// Returns the entries of a segment.
    pub fn segment_entries(&self, segment_number: u32) -> impl DoubleEndedIterator<Item = &Stored> {
        entries_of_segment(&self.entries, segment_number)
    }

    /// Reads the entries from `from` to the end of the segment. `view` determines which of them are
    /// visible.
    #[must_use]
    pub fn read(&self, from: Position, view: View) -> Vec<Arc<Entry>> {
        let segment_number = from.segment();
        let mut stored_entries: Vec<&Stored> = self.segment_entries(segment_number).collect();
        let offloaded_entries = entries_of_segment(&self.offloaded, segment_number);
        let visible_entries: Vec<&Stored> = match view {
            View::Now => stored_entries,
            View::Prefix(count) => {
                stored_entries.retain(|entry| entry.position >= from);
                stored_entries.truncate(count);
                stored_entries
            }
            View::Without(hidden) => {
                stored_entries.retain(|entry| entry.position != hidden);
                stored_entries
            }
            View::BeforeTrim => offloaded_entries.collect(),
            View::Unmarked => {
                let other_entries = stored_entries.into_iter().skip(1);
                offloaded_entries.take(1).chain(other_entries).collect()
            }
        };
        let page = visible_entries.into_iter().filter(|entry| entry.position >= from);
        page.map(|entry| Arc::clone(entry.shared())).collect()
    }

    /// Returns the incomplete views that an eventually consistent read from `from` may return.
    #[must_use]
    pub fn stale_views(&self, from: Position) -> Vec<View> {
        let page: Vec<Position> =
            self.read(from, View::Now).iter().map(|entry| entry.position).collect();
        let settled_count = page.iter().take_while(|position| self.is_settled(**position)).count();
        let mut views: Vec<View> = (settled_count..page.len()).map(View::Prefix).collect();
        for position in page.iter().rev().skip(1) {
            if !self.is_settled(*position) {
                views.push(View::Without(*position));
            }
        }
        let first_entry = self.entries.get(&from.segment_start());
        if self.has_recent_trim && first_entry.is_some_and(|entry| entry.is_trimmed()) {
            views.extend([View::BeforeTrim, View::Unmarked]);
        }
        views
    }

    /// Returns whether every read returns the entry at this position.
    fn is_settled(&self, position: Position) -> bool {
        self.settled_position.is_some_and(|settled_position| position <= settled_position)
    }

    /// Returns the incomplete view that a strongly consistent read from `from` may return, if any.
    ///
    /// A roll writes the last entry of a segment and the first entry of the next segment in one
    /// transaction. A reader that reads the two segments in separate requests may see only the last
    /// entry.
    #[must_use]
    pub fn torn_view(&self, from: Position) -> Option<View> {
        let is_new_segment = from.entry_number() == 0 && !self.is_settled(from);
        if is_new_segment { Some(View::Prefix(0)) } else { None }
    }

    /// Returns the record of the newest segment in the Segment table.
    #[must_use]
    pub fn newest_segment(&self) -> Option<&Segment> {
        self.segments.values().next_back()
    }

    /// Returns the record of a segment in the Segment table.
    #[must_use]
    pub fn segment(&self, segment_number: u32) -> Option<&Segment> {
        self.segments.get(&segment_number)
    }

    /// Returns the newest entry.
    #[must_use]
    pub fn tail(&self) -> Option<&Stored> {
        self.entries.values().next_back()
    }

    /// Returns the entries in the Entry table, without the copies in the offloaded segment.
    #[must_use]
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.values().map(|entry| Arc::clone(entry.shared())).collect()
    }

    /// Returns the records of all segments.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        self.segments.values().cloned().collect()
    }

    /// Returns every entry that was ever written to the log.
    #[must_use]
    pub fn history(&self) -> Vec<Arc<Entry>> {
        invariants::complete_history(&self.entries(), &self.offloaded())
    }

    /// Returns the entries that a reader sees when it reads the log from the start.
    #[must_use]
    pub fn readable(&self) -> Vec<Arc<Entry>> {
        invariants::readable_entries(&self.entries(), &self.offloaded())
    }

    fn offloaded(&self) -> Vec<Arc<Entry>> {
        self.offloaded.values().map(|entry| Arc::clone(entry.shared())).collect()
    }
}

fn entries_of_segment(
    entries: &BTreeMap<Position, Stored>,
    segment_number: u32,
) -> impl DoubleEndedIterator<Item = &Stored> {
    entries.values().filter(move |entry| entry.position.segment() == segment_number)
}

/// The segment has no finished snapshot yet.
#[must_use]
pub(crate) fn first_segment() -> Segment {
    Segment {
        log: log_id(),
        num: 0,
        created_s: 0,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    }
}

#[must_use]
pub(crate) fn log_id() -> LogId {
    LogId::from_uuid(uuid::Uuid::nil())
}
