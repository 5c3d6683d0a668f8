//! Model of workers that build the snapshots of one log, with faults at every step (invariants I8,
//! I9, I10 and I12).
//!
//! The model contains:
//! - *Snapshots* of one log, each with a Snapshot entry, all in one segment. The builder stores progress once per snapshot and depends on the earlier snapshots.
//! - *Messages* that are delivered more than once, early (one message to two workers), late or never.
//! - *Workers*: each runs core's `Worker` state machine and may crash or freeze at any step. A worker may delete a message that another worker has received: SQS does not prevent it.
//! - *Writes with a lost response*: the worker learns only that the outcome is unknown; the write is executed later or never.
//! - *Stale reads* of the segment record, where the worker permits eventual consistency.
//! - *The clock*, which advances by one lease duration at a time.
//! - *A rebuild*: all existing objects are lost, and an operator writes a record for each snapshot in order, based on the roots read before the rebuild. Work that began before the loss is lost too, even if its worker does not know about it.
//!
//! The model omits snapshot contents and sizes, and builder failures other than lost objects. A
//! root is identified by the worker that built it, which makes a replaced root visible; real
//! workers produce identical roots.

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

/// The maximum number of faults and clock steps in one run, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Crashes of workers.
    pub crashes: u8,
    /// Clock steps of one lease duration.
    pub leases: u8,
    /// Duplicated messages.
    pub duplicates: u8,
    /// The number of messages that may be delivered although they are hidden.
    pub early: u8,
    /// The number of messages that may be lost. The message of the last snapshot is never lost,
    /// because only `synth reprocess` could then recover the snapshot.
    pub lost_messages: u8,
    /// Writes whose response is lost.
    pub lost_replies: u8,
    /// Reads that return a stale record.
    pub stale: u8,
    /// The number of rebuilds that an operator may start. The first rebuild follows the loss of all
    /// objects.
    pub rebuilds: u8,
}

/// The conditions that the tables enforce. Tests disable individual conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guarantees {
    /// The number of the last snapshot in the segment record never decreases.
    pub raise_last_only: bool,
    /// A root is set only if none exists.
    pub set_root_once: bool,
    /// A root is replaced only if it is the root that the record of the pending snapshot
    /// references.
    pub replace_old_root_only: bool,
    /// A worker of a rebuild deletes only records of the same rebuild. Any other worker deletes
    /// only records without a rebuild.
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

/// Model of snapshots, with the limits that keep the number of states finite.
#[derive(Debug, Clone)]
pub struct SnapshotsModel {
    /// The safety rules that workers follow.
    pub rules: Rules,
    /// The conditions that the tables enforce.
    pub guarantees: Guarantees,
    /// Number of snapshots in the log.
    pub snapshots: u32,
    /// Maximum number of concurrent workers.
    pub workers: usize,
    /// Whether each invocation of the snapshot function ends after one step of a build.
    pub short_functions: bool,
    /// Whether to check in each state that all snapshots can be finished, which is slow.
    pub finishing: bool,
    /// The maximum number of faults and clock steps, by type.
    pub budget: Budget,
    /// A cache of the states from which all snapshots are known to finish.
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

/// Whether a snapshot was finished when a worker claimed its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnapshotAtClaim {
    Finished,
    Unfinished,
}

/// A running worker and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Process {
    /// The process id, which is the smallest number that no other process had when the process
    /// started.
    pub id: u8,
    /// The id of the message that started the worker.
    pub message_id: u8,
    /// Number of the Snapshot entry.
    pub entry_number: u32,
    /// Core's state machine.
    pub worker: Worker,
    /// The pending request.
    pub action: pending_snapshot::SnapshotAction,
    /// Whether the snapshot was finished when the worker claimed its record, or `None` before the
    /// claim.
    pub snapshot_at_claim: Option<SnapshotAtClaim>,
    /// The number of the rebuild to which the claimed record belongs, or `None` if it belongs to no
    /// rebuild.
    pub run: Option<u64>,
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The tables and the queue.
    pub store: Store,
    /// The current time in seconds since the Unix epoch.
    pub now_s: u64,
    /// The running workers, sorted by id.
    pub processes: Vec<Process>,
    /// The writes whose response was lost and that may still reach the tables.
    pub late_writes: Vec<Write>,
    /// Operator of the current rebuild, if any.
    pub operator: Option<Operator>,
    /// Remaining faults and clock steps.
    pub budget: Budget,
    /// The violation that the last step caused. It is recorded here because it cannot be detected
    /// from the state alone.
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
        // The successors of a state with a violation are not explored, because the violation has
        // already been reported.
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
