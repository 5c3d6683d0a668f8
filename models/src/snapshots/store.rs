//! The tables and the queue.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// When the model begins, Unix seconds: late enough to have a past.
pub(super) const BEGAN_S: u64 = 1_000_000;

/// A message in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// The number of the snapshot's entry.
    pub num: u32,
    /// Which message it is.
    pub id: u8,
    /// Nobody receives it before this, Unix seconds; 0 if it is visible.
    pub hidden_until_s: u64,
}

/// A conditional write to the table of pending snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Write {
    /// If there is none.
    Create(PendingSnapshot),
    /// If that increment stands there, or any.
    Replace(PendingSnapshot, Option<u64>),
}

/// A root: who made it, and whether its objects are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Root {
    /// The worker.
    pub maker: u8,
    /// Whether it was begun after all objects were lost, and so has all of its own.
    pub whole: bool,
}

impl Root {
    /// Its key.
    pub(super) fn name(self) -> String {
        format!("{}{}", if self.whole { '+' } else { '-' }, self.maker)
    }

    /// Reads a key.
    pub(super) fn named(name: &str) -> Option<Self> {
        let maker = name.get(1..)?.parse().ok()?;
        Some(Self { maker, whole: name.starts_with('+') })
    }
}

/// What is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Store {
    /// The root of each Snapshot entry.
    pub roots: BTreeMap<u32, Option<Root>>,
    /// `L` of the only segment.
    pub last: Option<u32>,
    /// The pending snapshots.
    pub pending: BTreeMap<u32, PendingSnapshot>,
    /// How far each snapshot ever was, in each rebuild.
    pub best: BTreeMap<(u32, Option<u64>), u8>,
    /// Whether all objects that were stored before are lost.
    pub lost: bool,
    /// The name of the next rebuild.
    pub(super) next_run: u64,
    /// The queue.
    pub messages: Vec<Message>,
    next_message: u8,
}

impl Store {
    /// A log with so many Snapshot entries, each with its message.
    pub(super) fn new(snapshots: u32) -> Self {
        let mut store = Self {
            roots: (0..snapshots).map(|num| (num, None)).collect(),
            last: None,
            pending: BTreeMap::new(),
            best: BTreeMap::new(),
            lost: false,
            next_run: 1_000,
            messages: Vec::new(),
            next_message: 0,
        };
        (0..snapshots).for_each(|num| store.send(num));
        store
    }

    /// Puts a message into the queue.
    pub(super) fn send(&mut self, num: u32) {
        // A snapshot with messages enough is not helped by more: the states stay countable.
        if self.messages.iter().filter(|message| message.num == num).count() < 3 {
            self.messages.push(Message { num, id: self.next_message, hidden_until_s: 0 });
            self.messages.sort();
            self.next_message += 1;
        }
    }

    /// Hides a message from now on, or shows it.
    pub(super) fn hide(&mut self, id: u8, until_s: u64) {
        let message = self.messages.iter_mut().find(|message| message.id == id);
        if let Some(message) = message {
            message.hidden_until_s = until_s;
        }
        self.messages.sort();
    }

    /// Deletes a message, if it is there.
    pub(super) fn delete_message(&mut self, id: u8) {
        self.messages.retain(|message| message.id != id);
    }

    /// Whether a snapshot is finished by what the segment says.
    #[must_use]
    pub fn is_finished(&self, num: u32) -> bool {
        self.last >= Some(num)
    }

    /// The record of the only segment, as it is or without what was written to it.
    pub(super) fn segment(&self, stale: bool) -> Segment {
        let last_snapshot = self.last.filter(|_| !stale);
        Segment { log: log(), num: 0, created_s: 0, last_snapshot, offloaded: None, lineage: None }
    }

    /// Whether a snapshot's root has all of its objects.
    #[must_use]
    pub fn is_whole(&self, num: u32) -> bool {
        let root = self.roots.get(&num).copied().flatten();
        root.is_some_and(|root| root.whole || !self.lost)
    }

    /// The first Snapshot entry without a root.
    pub(super) fn first_unfinished(&self) -> Option<u32> {
        self.roots.iter().find(|(_, root)| root.is_none()).map(|(num, _)| *num)
    }

    /// Writes; false if the condition does not hold.
    pub(super) fn write(&mut self, write: &Write) -> bool {
        let (record, holds) = match write {
            Write::Create(record) => (record, !self.pending.contains_key(&num(record))),
            Write::Replace(record, increment) => {
                let there = self.pending.get(&num(record));
                let holds = there.is_some_and(|there| {
                    increment.is_none_or(|increment| there.increment == increment)
                });
                (record, holds)
            }
        };
        if holds {
            self.pending.insert(num(record), record.clone());
        }
        holds
    }
}

fn num(record: &PendingSnapshot) -> u32 {
    record.job.position.num()
}

/// The job of the snapshot with this number.
pub(super) fn job(num: u32) -> SnapshotJob {
    let position = Position::new(0, num).unwrap_or(Position::FIRST);
    SnapshotJob { log: log(), position }
}

fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::nil())
}
