//! Workers on the snapshots of one log, with every fault at every moment (I8, I9, I10, I12).
//!
//! The model contains:
//! - *Snapshots* of one log, each with a Snapshot entry, all in one segment. The builder stores progress once for
//!   each snapshot and needs the earlier snapshots.
//! - *Messages* that are delivered twice, early (one message to two workers), late or never.
//! - *Workers*, each of them core's `Worker`, which crash or freeze at any step. A worker may delete a message
//!   that another worker has received: SQS does not prevent it.
//! - *Writes with a lost reply*: the worker learns that the outcome is unknown; the write is executed at any
//!   later moment, or never.
//! - *Stale reads* of the segment where the worker allows them.
//! - *The clock*, which advances by whole leases.
//! - *A rebuild*: all objects stored until then are lost, and an operator writes a record for each snapshot, one
//!   after the other, from the roots that it has read before. Work that began before the loss is lost too, whether
//!   or not its worker knows.
//!
//! The model leaves out: contents and sizes of snapshots, and failures of the builder except for
//! lost objects. The model names a root after the worker that made it, so that a replaced root is
//! visible; real workers produce identical roots.

mod actions;
mod operator;
pub mod properties;
mod store;

pub use actions::SnapshotsAction;
pub use operator::Operator;
pub use properties::{Fault, KnownToComplete};
pub use store::{Message, Store, Write};

use cellar_snapshot::pending_snapshot::{self, Rules, Worker};
use stateright::{Model, Property};

/// Maximum number of each event in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Crashes of workers.
    pub crashes: u8,
    /// Times that the clock advances by a lease.
    pub leases: u8,
    /// Messages that are duplicated.
    pub duplicates: u8,
    /// Messages that are delivered while they are hidden.
    pub early: u8,
    /// Messages that are lost, except those of the last snapshot: only `synth reprocess` finds that
    /// one.
    pub lost_messages: u8,
    /// Writes whose reply is lost.
    pub lost_replies: u8,
    /// Reads that return a stale record.
    pub stale: u8,
    /// Rebuilds by an operator. The first one follows the loss of all objects.
    pub rebuilds: u8,
}

/// The conditions that the tables enforce. A test switches off one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guarantees {
    /// The segment's last snapshot number `L` only rises.
    pub raise_last_only: bool,
    /// A root is set only where none is set.
    pub set_root_once: bool,
    /// A root is replaced only if it is still the one that the record names.
    pub replace_old_root_only: bool,
    /// A record is deleted only by a worker of the record's own rebuild, or of none if the record
    /// has none.
    pub delete_own_only: bool,
}

impl Guarantees {
    /// All conditions enforced.
    pub const ALL: Self = Self {
        raise_last_only: true,
        set_root_once: true,
        replace_old_root_only: true,
        delete_own_only: true,
    };
}

/// The snapshot model with its bounds.
#[derive(Debug, Clone)]
pub struct SnapshotsModel {
    /// The safety rules that workers enforce.
    pub rules: Rules,
    /// The conditions that the tables enforce.
    pub guarantees: Guarantees,
    /// Number of snapshots of the log.
    pub snapshots: u32,
    /// Maximum number of concurrent workers.
    pub workers: usize,
    /// Whether each invocation ends after one compaction step.
    pub short_functions: bool,
    /// Whether each state is checked for whether all snapshots can be finished (slow).
    pub finishing: bool,
    /// Maximum number of each event.
    pub budget: Budget,
    /// Cache of states from which all snapshots are known to complete.
    pub known_to_complete: KnownToComplete,
}

impl Default for SnapshotsModel {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            guarantees: Guarantees::ALL,
            snapshots: 1,
            workers: 2,
            short_functions: false,
            finishing: true,
            budget: Budget::default(),
            known_to_complete: KnownToComplete::default(),
        }
    }
}

/// A running worker with its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Process {
    /// Smallest number that no other running process had at the start.
    pub id: u8,
    /// Id of the message that started the worker.
    pub message: u8,
    /// Number of the snapshot's entry.
    pub num: u32,
    /// Core's state machine.
    pub worker: Worker,
    /// The pending request.
    pub action: pending_snapshot::SnapshotAction,
    /// Whether the snapshot was already finished when the worker claimed its record; `None` before
    /// the claim.
    pub was_finished: Option<bool>,
    /// The rebuild to which the claimed record belongs, if any.
    pub run: Option<u64>,
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The tables and the queue.
    pub store: Store,
    /// The current time, Unix seconds.
    pub now_s: u64,
    /// The running workers, sorted by id.
    pub processes: Vec<Process>,
    /// Delayed writes that may still arrive.
    pub late_writes: Vec<Write>,
    /// The operator of a running rebuild.
    pub operator: Option<Operator>,
    /// Remaining events.
    pub budget: Budget,
    /// The fault that a step has caused, for properties that a single state cannot show.
    pub fault: Option<Fault>,
}

impl Model for SnapshotsModel {
    type State = State;
    type Action = SnapshotsAction;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            store: Store::new(self.snapshots),
            now_s: store::START_S,
            processes: Vec::new(),
            late_writes: Vec::new(),
            operator: None,
            budget: self.budget,
            fault: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<SnapshotsAction>) {
        // A faulty state is already reported; its successors add nothing.
        if state.fault.is_none() {
            self.add_possible_actions(state, actions);
        }
    }

    fn next_state(&self, state: &State, action: SnapshotsAction) -> Option<State> {
        self.apply_action(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
