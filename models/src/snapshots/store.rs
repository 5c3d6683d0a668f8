//! The tables and the message queue in memory.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

use cellar_base::position::Position;
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, SnapshotEvent};
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::log::tables::{first_segment, log_id};

/// Large enough that durations can be subtracted from it.
pub(super) const START_S: u64 = 1_000_000;

const MAX_MESSAGES_PER_SNAPSHOT: usize = 3;

/// Larger than every version number that exists when this rebuild starts.
const FIRST_RUN: u64 = 1_000;

/// A message in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Number of the Snapshot entry.
    pub entry_number: u32,
    /// Id of the message.
    pub id: u8,
    /// The Unix time in seconds until which the message is hidden, or 0 if it is visible.
    pub hidden_until_s: u64,
}

/// A conditional write to the PendingSnapshots table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Write {
    /// Creates the record if none exists.
    Create(PendingSnapshot),
    /// Replaces the record if it has this version number. If the version number is `None`, replaces
    /// any existing record.
    Replace(PendingSnapshot, Option<u64>),
}

impl Write {
    pub(super) fn record(&self) -> &PendingSnapshot {
        match self {
            Self::Create(record) | Self::Replace(record, _) => record,
        }
    }
}

/// The root of a snapshot. The model stores only which worker built it, and whether it was built
/// after all objects were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Root {
    /// Id of the worker's process.
    pub builder: u8,
    /// Whether the worker started to build this root after all objects were lost. If so, all
    /// objects of the root exist.
    pub is_complete: bool,
}

impl Root {
    pub(super) fn name(self) -> String {
        format!("{}{}", if self.is_complete { '+' } else { '-' }, self.builder)
    }

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
    /// The number of the last snapshot in the segment record.
    pub last: Option<u32>,
    /// Pending snapshots by entry number.
    pub pending: BTreeMap<u32, PendingSnapshot>,
    /// The highest rank of progress that was ever stored for each snapshot and rebuild.
    pub best_ranks: BTreeMap<(u32, Option<u64>), u8>,
    /// Whether all objects have been lost at some point.
    pub are_objects_lost: bool,
    pub(super) next_run: u64,
    /// Queued messages, sorted.
    pub messages: Vec<Message>,
    next_message: u8,
}

impl Store {
    /// Creates a log with this number of Snapshot entries and one queued message for each entry.
    pub(super) fn new(snapshots: u32) -> Self {
        let mut store = Self {
            roots: (0..snapshots).map(|entry_number| (entry_number, None)).collect(),
            last: None,
            pending: BTreeMap::new(),
            best_ranks: BTreeMap::new(),
            are_objects_lost: false,
            next_run: FIRST_RUN,
            messages: Vec::new(),
            next_message: 0,
        };
        for entry_number in 0..snapshots {
            store.send_message(entry_number);
        }
        store
    }

    pub(super) fn send_message(&mut self, entry_number: u32) {
        // More messages for the same snapshot would not change the behavior. The limit keeps the
        // number of states finite.
        let message_count =
            self.messages.iter().filter(|message| message.entry_number == entry_number).count();
        if message_count < MAX_MESSAGES_PER_SNAPSHOT {
            self.messages.push(Message { entry_number, id: self.next_message, hidden_until_s: 0 });
            self.messages.sort();
            self.next_message += 1;
        }
    }

    /// If `until_s` is 0, makes the message visible.
    pub(super) fn hide_message(&mut self, id: u8, until_s: u64) {
        let message = self.messages.iter_mut().find(|message| message.id == id);
        if let Some(message) = message {
            message.hidden_until_s = until_s;
        }
        self.messages.sort();
    }

    pub(super) fn delete_message(&mut self, id: u8) {
        self.messages.retain(|message| message.id != id);
    }

    /// Returns whether the snapshot is finished according to the segment record.
    #[must_use]
    pub fn is_finished(&self, entry_number: u32) -> bool {
        self.last >= Some(entry_number)
    }

    pub(super) fn segment(&self) -> Segment {
        Segment { last_snapshot: self.last, ..first_segment() }
    }

    /// Returns whether the snapshot has a root and all objects of the root exist.
    #[must_use]
    pub fn is_complete(&self, entry_number: u32) -> bool {
        let root = self.roots.get(&entry_number).copied().flatten();
        root.is_some_and(|root| root.is_complete || !self.are_objects_lost)
    }

    pub(super) fn first_unfinished(&self) -> Option<u32> {
        self.roots.iter().find(|(_, root)| root.is_none()).map(|(entry_number, _)| *entry_number)
    }

    pub(super) fn find_pending(&self, entry_numbers: impl RangeBounds<u32>) -> SnapshotEvent {
        let first_record = self.pending.range(entry_numbers).next();
        SnapshotEvent::Found(first_record.map(|(_, record)| record.clone()))
    }

    /// Returns whether the condition of the write was met.
    pub(super) fn write(&mut self, write: &Write) -> bool {
        let new_record = write.record();
        let entry_number = new_record.job.position.entry_number();
        let is_condition_met = match (write, self.pending.get(&entry_number)) {
            (Write::Create(_), stored_record) => stored_record.is_none(),
            (Write::Replace(..), None) => false,
            (Write::Replace(_, None), Some(_)) => true,
            (Write::Replace(_, Some(expected_increment)), Some(stored_record)) => {
                stored_record.increment == *expected_increment
            }
        };
        if is_condition_met {
            self.pending.insert(entry_number, new_record.clone());
        }
        is_condition_met
    }
}

pub(super) fn job(entry_number: u32) -> SnapshotJob {
    let position = Position::new(0, entry_number).unwrap_or(Position::FIRST);
    SnapshotJob { log: log_id(), position }
}
