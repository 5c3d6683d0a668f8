//! In-memory tables and queue.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// Start time of the model, in seconds since the Unix epoch; large enough to subtract from.
pub(super) const START_S: u64 = 1_000_000;

/// Maximum number of queued messages per snapshot.
const MAX_MESSAGES_PER_SNAPSHOT: usize = 3;

/// A message in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Number of the Snapshot entry.
    pub num: u32,
    /// Id of the message.
    pub id: u8,
    /// Unix time in seconds until which the message is hidden, or 0 if it is visible.
    pub hidden_until_s: u64,
}

/// A conditional write to the PendingSnapshots table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Write {
    /// Creates the record if none exists.
    Create(PendingSnapshot),
    /// Replaces the record if it has this version number, or any record if `None`.
    Replace(PendingSnapshot, Option<u64>),
}

impl Write {
    pub(super) fn record(&self) -> &PendingSnapshot {
        match self {
            Self::Create(record) | Self::Replace(record, _) => record,
        }
    }
}

/// A root: the worker that built it, and whether its objects exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Root {
    /// Id of the worker's process.
    pub builder: u8,
    /// Whether the work began after the loss of all objects, so that all of its objects exist.
    pub is_complete: bool,
}

impl Root {
    /// Returns the root's key.
    pub(super) fn name(self) -> String {
        format!("{}{}", if self.is_complete { '+' } else { '-' }, self.builder)
    }

    /// Parses a root's key.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let builder = name.get(1..)?.parse().ok()?;
        Some(Self { builder, is_complete: name.starts_with('+') })
    }
}

/// Contents of the tables and the queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Store {
    /// Root of each Snapshot entry.
    pub roots: BTreeMap<u32, Option<Root>>,
    /// Last snapshot number `L` of the log's only segment.
    pub last: Option<u32>,
    /// Pending snapshots by entry number.
    pub pending: BTreeMap<u32, PendingSnapshot>,
    /// Highest rank of progress ever stored, by snapshot and rebuild.
    pub best_ranks: BTreeMap<(u32, Option<u64>), u8>,
    /// Whether all earlier objects were lost.
    pub lost: bool,
    /// Number of the next rebuild.
    pub(super) next_run: u64,
    /// Queued messages, sorted.
    pub messages: Vec<Message>,
    next_message: u8,
}

impl Store {
    /// Creates a log with `snapshots` Snapshot entries, each with a queued message.
    pub(super) fn new(snapshots: u32) -> Self {
        let mut store = Self {
            roots: (0..snapshots).map(|num| (num, None)).collect(),
            last: None,
            pending: BTreeMap::new(),
            best_ranks: BTreeMap::new(),
            lost: false,
            next_run: 1_000,
            messages: Vec::new(),
            next_message: 0,
        };
        for num in 0..snapshots {
            store.send(num);
        }
        store
    }

    /// Enqueues a message.
    pub(super) fn send(&mut self, num: u32) {
        // More than a few messages per snapshot cause no new behavior. The limit keeps the state
        // space finite.
        let sent = self.messages.iter().filter(|message| message.num == num).count();
        if sent < MAX_MESSAGES_PER_SNAPSHOT {
            self.messages.push(Message { num, id: self.next_message, hidden_until_s: 0 });
            self.messages.sort();
            self.next_message += 1;
        }
    }

    /// Hides a message until `until_s`, or makes it visible if `until_s` is 0.
    pub(super) fn hide(&mut self, id: u8, until_s: u64) {
        let message = self.messages.iter_mut().find(|message| message.id == id);
        if let Some(message) = message {
            message.hidden_until_s = until_s;
        }
        self.messages.sort();
    }

    /// Deletes a message, if it exists.
    pub(super) fn delete_message(&mut self, id: u8) {
        self.messages.retain(|message| message.id != id);
    }

    /// Returns whether the segment record reports the snapshot as finished.
    #[must_use]
    pub fn is_finished(&self, num: u32) -> bool {
        self.last >= Some(num)
    }

    /// Returns the record of the only segment. A stale record lacks the last snapshot.
    pub(super) fn segment(&self, is_stale: bool) -> Segment {
        let last_snapshot = if is_stale { None } else { self.last };
        Segment { log: log(), num: 0, created_s: 0, last_snapshot, offloaded: None, lineage: None }
    }

    /// Returns whether all objects of the snapshot's root exist.
    #[must_use]
    pub fn is_complete(&self, num: u32) -> bool {
        let root = self.roots.get(&num).copied().flatten();
        root.is_some_and(|root| root.is_complete || !self.lost)
    }

    /// Returns the number of the first Snapshot entry without a root.
    pub(super) fn first_unfinished(&self) -> Option<u32> {
        self.roots.iter().find(|(_, root)| root.is_none()).map(|(num, _)| *num)
    }

    /// Executes a write. Returns `false` if its condition failed.
    pub(super) fn write(&mut self, write: &Write) -> bool {
        let record = write.record();
        let num = record.job.position.entry_number();
        let current = self.pending.get(&num);
        let is_condition_met = match write {
            Write::Create(_) => current.is_none(),
            Write::Replace(_, increment) => current.is_some_and(|current| {
                increment.is_none_or(|increment| current.increment == increment)
            }),
        };
        if is_condition_met {
            self.pending.insert(num, record.clone());
        }
        is_condition_met
    }
}

/// Returns the job for the snapshot with this entry number.
pub(super) fn job(num: u32) -> SnapshotJob {
    let position = Position::new(0, num).unwrap_or(Position::FIRST);
    SnapshotJob { log: log(), position }
}

fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::nil())
}
