//! In-memory log tables and offloaded segment, with the stale views that reads may return.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
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
    /// Position up to which every read sees the entries, because they are at least a day old.
    settled: Option<Position>,
    /// Set if a trim changed the tables since the last clock jump: reads may still return the state
    /// before the trim.
    has_recent_trim: bool,
}

/// View of a segment that an eventually consistent read may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// All stored entries.
    Now,
    /// Only the first entries, up to this number.
    Prefix(usize),
    /// All entries except this one.
    Without(Position),
    /// The segment before it was trimmed.
    BeforeTrim,
    /// The first entry without its trim mark, and only those other entries that are not yet
    /// deleted.
    Unmarked,
}

impl Tables {
    /// Creates the tables of a log that contains only its first entry.
    #[must_use]
    pub fn created() -> Self {
        let log = log();
        let first = Entry::first(log, None, 0);
        let mut tables = Self {
            entries: BTreeMap::new(),
            segments: BTreeMap::new(),
            offloaded: BTreeMap::new(),
            settled: Some(Position::FIRST),
            has_recent_trim: false,
        };
        tables.insert(&Arc::new(first));
        tables.insert_segment(Segment {
            log,
            num: 0,
            created_s: 0,
            last_snapshot: None,
            offloaded: None,
            lineage: None,
        });
        tables
    }

    fn insert(&mut self, entry: &Arc<Entry>) {
        self.entries.insert(entry.position, Hashed::new(Arc::clone(entry)));
    }

    /// Adds a segment with a finished snapshot; [`crate::snapshots`] covers snapshot jobs.
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

    /// Writes all items of a roll if every key is free. Returns whether it wrote them.
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

    /// Copies a segment's entries to the offloaded segment.
    pub fn offload(&mut self, num: u32) {
        let entries: Vec<Stored> = self.segment_entries(num).cloned().collect();
        self.offloaded.extend(entries.into_iter().map(|entry| (entry.position, entry)));
        if let Some(segment) = self.segments.get_mut(&num) {
            segment.offloaded = Some("offload".to_owned());
        }
    }

    /// Returns whether the offloaded segment contains every entry from the segment's start to
    /// `last`.
    #[must_use]
    pub fn is_offload_complete(&self, last: Position) -> bool {
        let mut position = last.segment_start();
        while position <= last {
            if !self.offloaded.contains_key(&position) {
                return false;
            }
            let Some(next) = position.next_in_segment() else { break };
            position = next;
        }
        true
    }

    /// Sets the trim mark of a segment's first entry unless it is already set.
    pub fn mark_trimmed(&mut self, segment_start: Position, trimmed_s: u64) {
        let Some(first) = self.entries.get(&segment_start) else { return };
        if !first.is_trimmed() {
            let content = Content::Snapshot { root: None, trimmed_s: Some(trimmed_s) };
            let marked = Arc::new(Entry { content, ..Entry::clone(first) });
            self.insert(&marked);
            self.has_recent_trim = true;
        }
    }

    pub fn delete(&mut self, position: Position) {
        self.entries.remove(&position);
        self.has_recent_trim = true;
    }

    /// Makes all stored entries visible to every read, as if a day had passed.
    pub fn settle(&mut self) {
        self.settled = self.entries.keys().next_back().copied();
        self.has_recent_trim = false;
    }

    /// Returns the entries of a segment.
    pub fn segment_entries(&self, num: u32) -> impl DoubleEndedIterator<Item = &Stored> {
        let of_segment = move |entry: &&Stored| entry.position.segment() == num;
        self.entries.values().filter(of_segment)
    }

    /// Returns the entries that a read from `from` returns, limited to one segment.
    #[must_use]
    pub fn read(&self, from: Position, view: View) -> Vec<Arc<Entry>> {
        let num = from.segment();
        let offloaded =
            || self.offloaded.values().filter(move |entry| entry.position.segment() == num);
        let stored = || self.segment_entries(num);
        let visible: Vec<&Stored> = match view {
            View::Now => stored().collect(),
            View::Prefix(count) => {
                stored().filter(|entry| entry.position >= from).take(count).collect()
            }
            View::Without(hidden) => stored().filter(|entry| entry.position != hidden).collect(),
            View::BeforeTrim => offloaded().collect(),
            View::Unmarked => offloaded().take(1).chain(stored().skip(1)).collect(),
        };
        let page = visible.into_iter().filter(|entry| entry.position >= from);
        page.map(|entry| Arc::clone(entry.shared())).collect()
    }

    /// Returns the incomplete views that an eventually consistent read from `from` may return.
    #[must_use]
    pub fn stale_views(&self, from: Position) -> Vec<View> {
        let page: Vec<Position> =
            self.read(from, View::Now).iter().map(|entry| entry.position).collect();
        let is_unsettled = |position: &Position| Some(*position) > self.settled;
        let settled_count = page.iter().take_while(|position| !is_unsettled(position)).count();
        let mut views: Vec<View> = (settled_count..page.len()).map(View::Prefix).collect();
        let all_but_last = page.iter().rev().skip(1);
        let possible_holes = all_but_last.filter(|position| is_unsettled(position));
        views.extend(possible_holes.map(|position| View::Without(*position)));
        let first = self.entries.get(&from.segment_start());
        if self.has_recent_trim && first.is_some_and(|first| first.is_trimmed()) {
            views.extend([View::BeforeTrim, View::Unmarked]);
        }
        views
    }

    /// Returns the incomplete view that a strongly consistent read from a segment's start may
    /// return: no entries, although the previous segment has ended. A roll writes both sides in one
    /// transaction, but two separate reads may see only one of them.
    #[must_use]
    pub fn torn_view(&self, from: Position) -> Option<View> {
        let is_new_segment = from.entry_number() == 0 && Some(from) > self.settled;
        if is_new_segment { Some(View::Prefix(0)) } else { None }
    }

    /// Returns the Segment table record of the newest segment.
    #[must_use]
    pub fn newest_segment(&self) -> Option<&Segment> {
        self.segments.values().next_back()
    }

    /// Returns the Segment table record of a segment.
    #[must_use]
    pub fn segment(&self, num: u32) -> Option<&Segment> {
        self.segments.get(&num)
    }

    /// Returns the newest entry.
    #[must_use]
    pub fn tail(&self) -> Option<&Stored> {
        self.entries.values().next_back()
    }

    /// Returns the entries in the table, excluding offloaded entries.
    #[must_use]
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.values().map(|entry| Arc::clone(entry.shared())).collect()
    }

    /// Returns the records of all segments.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        self.segments.values().cloned().collect()
    }

    /// Returns every entry ever written to the log.
    #[must_use]
    pub fn history(&self) -> Vec<Arc<Entry>> {
        invariants::history(&self.entries(), &self.offloaded())
    }

    /// Returns the entries that a reader sees when it reads the log from the start.
    #[must_use]
    pub fn readable(&self) -> Vec<Arc<Entry>> {
        invariants::readable(&self.entries(), &self.offloaded())
    }

    fn offloaded(&self) -> Vec<Arc<Entry>> {
        self.offloaded.values().map(|entry| Arc::clone(entry.shared())).collect()
    }
}

/// Returns the id of the only log.
#[must_use]
pub(crate) fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::nil())
}

/// Returns the incarnation of the only log.
#[must_use]
pub(super) fn incarnation() -> u32 {
    Header::first(FIRST_INCARNATION).incarnation
}
