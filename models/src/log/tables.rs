//! The two tables and the offloaded segment, and what a read may see of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
use cellar_log::invariants;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use crate::fingerprint::Hashed;

/// An entry as it is stored.
pub type Stored = Hashed<Entry>;

/// What is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tables {
    entries: BTreeMap<Position, Stored>,
    segments: BTreeMap<u32, Segment>,
    offloaded: BTreeMap<Position, Stored>,
    /// Every read sees all that was written up to here: it was written a day ago or more.
    settled: Option<Position>,
    /// Segments that were offloaded when everything settled last: their trim is younger.
    trimmed_lately: bool,
}

/// What a read sees; an eventually consistent one may see any of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// All that is stored.
    Now,
    /// Not the last entries: only so many of them.
    Prefix(usize),
    /// Not this entry, but those behind it.
    Without(Position),
    /// A segment as it was before it was trimmed.
    BeforeTrim,
    /// The first entry without the mark of a trim, and of the others only what is left.
    Unmarked,
}

impl Tables {
    /// The tables of a log that was just created.
    #[must_use]
    pub fn created() -> Self {
        let log = log();
        let first = Entry::first(log, None, 0);
        let mut tables = Self {
            entries: BTreeMap::new(),
            segments: BTreeMap::new(),
            offloaded: BTreeMap::new(),
            settled: Some(Position::FIRST),
            trimmed_lately: false,
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

    /// Snapshots are complete at once: how they are made is another model's matter.
    fn insert_segment(&mut self, segment: Segment) {
        self.segments.insert(segment.num, Segment { last_snapshot: Some(0), ..segment });
    }

    /// Puts an entry if its key is free.
    ///
    /// # Errors
    /// The winner.
    pub fn put(&mut self, entry: &Arc<Entry>) -> Result<(), Arc<Entry>> {
        match self.entries.get(&entry.position) {
            Some(winner) => Err(Arc::clone(winner.shared())),
            None => {
                self.insert(entry);
                Ok(())
            }
        }
    }

    /// Writes all of a roll if every key is free; whether it did.
    pub fn transact(&mut self, transaction: &Transaction) -> bool {
        let Transaction { end, segment, first } = transaction;
        let taken = self.entries.contains_key(&end.position)
            || self.entries.contains_key(&first.position)
            || self.segments.contains_key(&segment.num);
        if !taken {
            self.insert(&Arc::new(end.clone()));
            self.insert(&Arc::new(first.clone()));
            self.insert_segment(segment.clone());
        }
        !taken
    }

    /// Packs a segment.
    pub fn offload(&mut self, num: u32) {
        let packed: Vec<Stored> = self.segment_entries(num).cloned().collect();
        self.offloaded.extend(packed.into_iter().map(|entry| (entry.position, entry)));
        if let Some(segment) = self.segments.get_mut(&num) {
            segment.offloaded = Some("offload".to_owned());
        }
    }

    /// Whether the offloaded segment holds every entry from the first of the segment to `last`.
    #[must_use]
    pub fn offloaded_is_whole(&self, last: Position) -> bool {
        let mut at = Some(last.segment_start());
        while let Some(position) = at.filter(|position| *position <= last) {
            if !self.offloaded.contains_key(&position) {
                return false;
            }
            at = position.next_in_segment();
        }
        true
    }

    /// Marks the first entry of a segment as trimmed, if it is not yet.
    pub fn mark(&mut self, segment_start: Position, trimmed_s: u64) {
        let first = self.entries.get(&segment_start).filter(|first| !first.is_trimmed());
        if let Some(first) = first {
            let content = Content::Snapshot { root: None, trimmed_s: Some(trimmed_s) };
            let marked = Arc::new(Entry { content, ..Entry::clone(first) });
            self.insert(&marked);
            self.trimmed_lately = true;
        }
    }

    /// Deletes an entry.
    pub fn delete(&mut self, position: Position) {
        self.entries.remove(&position);
        self.trimmed_lately = true;
    }

    /// A day goes by: what is stored now is seen by every read.
    pub fn settle(&mut self) {
        self.settled = self.entries.keys().next_back().copied();
        self.trimmed_lately = false;
    }

    /// The entries of a segment.
    pub fn segment_entries(&self, num: u32) -> impl DoubleEndedIterator<Item = &Stored> {
        let of_segment = move |entry: &&Stored| entry.position.segment() == num;
        self.entries.values().filter(of_segment)
    }

    /// The entries of one segment that a read from `from` sees.
    #[must_use]
    pub fn read(&self, from: Position, view: View) -> Vec<Arc<Entry>> {
        let num = from.segment();
        let offloaded = || self.offloaded.values().filter(move |e| e.position.segment() == num);
        let stored = || self.segment_entries(num);
        let seen: Vec<&Stored> = match view {
            View::Now => stored().collect(),
            View::Prefix(count) => {
                stored().filter(|entry| entry.position >= from).take(count).collect()
            }
            View::Without(hidden) => stored().filter(|e| e.position != hidden).collect(),
            View::BeforeTrim => offloaded().collect(),
            View::Unmarked => offloaded().take(1).chain(stored().skip(1)).collect(),
        };
        let page = seen.into_iter().filter(|entry| entry.position >= from);
        page.map(|entry| Arc::clone(entry.shared())).collect()
    }

    /// What an eventually consistent read from `from` may see instead of all.
    #[must_use]
    pub fn stale_views(&self, from: Position) -> Vec<View> {
        let page: Vec<Position> =
            self.read(from, View::Now).iter().map(|entry| entry.position).collect();
        let unsettled = |position: &Position| Some(*position) > self.settled;
        let settled = page.iter().take_while(|position| !unsettled(position)).count();
        let mut views: Vec<View> = (settled..page.len()).map(View::Prefix).collect();
        let inner = page.iter().rev().skip(1).filter(|position| unsettled(position));
        views.extend(inner.map(|position| View::Without(*position)));
        let first = self.entries.get(&from.segment_start());
        if self.trimmed_lately && first.is_some_and(|first| first.is_trimmed()) {
            views.extend([View::BeforeTrim, View::Unmarked]);
        }
        views
    }

    /// What a consistent read from the beginning of a segment may see instead: nothing yet, though
    /// the segment before it has ended. Both were written in one transaction, but two reads need
    /// not see both sides of it in the same moment.
    #[must_use]
    pub fn torn_view(&self, from: Position) -> Option<View> {
        let begins = from.num() == 0 && Some(from) > self.settled;
        begins.then_some(View::Prefix(0))
    }

    /// The record of the newest segment.
    #[must_use]
    pub fn newest_segment(&self) -> Option<&Segment> {
        self.segments.values().next_back()
    }

    /// The record of a segment.
    #[must_use]
    pub fn segment(&self, num: u32) -> Option<&Segment> {
        self.segments.get(&num)
    }

    /// The newest entry.
    #[must_use]
    pub fn tail(&self) -> Option<&Stored> {
        self.entries.values().next_back()
    }

    /// The entries that are in the table.
    #[must_use]
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.values().map(|entry| Arc::clone(entry.shared())).collect()
    }

    /// The records of the segments.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        self.segments.values().cloned().collect()
    }

    /// All that ever was in the log.
    #[must_use]
    pub fn history(&self) -> Vec<Arc<Entry>> {
        invariants::history(&self.entries(), &self.offloaded())
    }

    /// What is read of the log, from its beginning.
    #[must_use]
    pub fn readable(&self) -> Vec<Arc<Entry>> {
        invariants::readable(&self.entries(), &self.offloaded())
    }

    fn offloaded(&self) -> Vec<Arc<Entry>> {
        self.offloaded.values().map(|entry| Arc::clone(entry.shared())).collect()
    }
}

/// The only log.
#[must_use]
pub(crate) fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::nil())
}

/// The incarnation of the only log.
#[must_use]
pub(super) fn incarnation() -> u32 {
    Header::first(FIRST_INCARNATION).incarnation
}
