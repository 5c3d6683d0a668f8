//! Workers on the snapshots of one log, with every fault at every moment (I8, I9, I10, I12).
//!
//! What is modelled:
//! - *Snapshots* of one log, each with a Snapshot entry, all in one segment; the builder writes one
//!   progress for each and needs the snapshots before it.
//! - *Messages* that come twice, early (the same message to two workers), late or never.
//! - *Workers*, each one core's `Worker`, which die at any step or stand still for as long as they
//!   like. A message that a worker is told to delete is deleted even if another worker has it: SQS
//!   promises neither.
//! - *Writes whose reply is lost*: the worker is told that the outcome is unknown; the write happens
//!   at any later moment, or never.
//! - *Stale reads* of the segment where the worker allows them.
//! - *The clock*, which moves by whole leases.
//! - *A rebuild*: all objects that were stored until then are lost, and an operator writes a record for
//!   each snapshot, one after the other, by the roots that it has read before. What a worker has begun
//!   before is lost, too, whether or not it knows.
//!
//! What is abstracted away: what a snapshot says, sizes, and failures of the builder but for lost
//! objects. A root is named by the worker that made it, so that a replaced one is seen: in truth all make
//! the same.

mod actions;
mod operator;
pub mod properties;
mod store;

pub use actions::Action;
pub use operator::Operator;
pub use properties::{Fault, KnownToComplete};
pub use store::{Message, Store, Write};

use cellar_snapshot::pending_snapshot::{self, Rules, Worker};
use stateright::{Model, Property};

/// How much may happen in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Workers that die.
    pub crashes: u8,
    /// Leases that go by.
    pub leases: u8,
    /// Messages that come twice.
    pub duplicates: u8,
    /// Messages that are given again although they are hidden.
    pub early: u8,
    /// Messages that are lost; never those of the last snapshot: only `synth reprocess` finds it.
    pub lost_messages: u8,
    /// Writes whose worker does not learn what came of them.
    pub lost_replies: u8,
    /// Reads that do not see everything.
    pub stale: u8,
    /// Times that an operator has all snapshots made anew; all objects are lost before the first.
    pub rebuilds: u8,
}

/// What the tables promise; a test switches one off at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Promises {
    /// `L` is raised only.
    pub last_rises: bool,
    /// A root is set only where none is.
    pub root_if_absent: bool,
    /// A root is replaced only where the one stands that the record names.
    pub root_if_old: bool,
    /// A record is deleted only by who worked on the same rebuild, or on none.
    pub own_deleted: bool,
}

impl Promises {
    /// All of them.
    pub const ALL: Self =
        Self { last_rises: true, root_if_absent: true, root_if_old: true, own_deleted: true };
}

/// A model with its bounds.
#[derive(Debug, Clone)]
pub struct SnapshotsModel {
    /// The rules of the workers.
    pub rules: Rules,
    /// The promises of the tables.
    pub promises: Promises,
    /// The snapshots of the log.
    pub snapshots: u32,
    /// Workers at a time.
    pub workers: usize,
    /// Whether each function ends after one piece of work.
    pub short_functions: bool,
    /// Whether each state is checked for whether all snapshots can be finished (slow).
    pub finishing: bool,
    /// How much may happen.
    pub budget: Budget,
    /// States of which it is known that all snapshots are made in the end.
    pub known: KnownToComplete,
}

impl Default for SnapshotsModel {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            promises: Promises::ALL,
            snapshots: 1,
            workers: 2,
            short_functions: false,
            finishing: true,
            budget: Budget::default(),
            known: KnownToComplete::default(),
        }
    }
}

/// A worker with what it is about to do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Process {
    /// Which it is among those there are.
    pub id: u8,
    /// The message it was called with.
    pub message: u8,
    /// The snapshot it is for.
    pub num: u32,
    /// Its rules and its state.
    pub worker: Worker,
    /// What it is about to do.
    pub action: pending_snapshot::SnapshotAction,
    /// Whether its snapshot was finished when it got the record; none before.
    pub late: Option<bool>,
    /// The rebuild that its record is of; none: of none, or it has none yet.
    pub run: Option<u64>,
}

/// Everything there is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// What is stored.
    pub store: Store,
    /// The time, Unix seconds.
    pub now_s: u64,
    /// The workers, by id.
    pub processes: Vec<Process>,
    /// Writes that may arrive yet.
    pub late: Vec<Write>,
    /// Who writes the records of a rebuild.
    pub operator: Option<Operator>,
    /// What may happen yet.
    pub budget: Budget,
    /// What went wrong in a step, as opposed to in a state.
    pub fault: Option<Fault>,
}

impl Model for SnapshotsModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            store: Store::new(self.snapshots),
            now_s: store::BEGAN_S,
            processes: Vec::new(),
            late: Vec::new(),
            operator: None,
            budget: self.budget,
            fault: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        // A state that is wrong has been reported: what follows from it says nothing.
        if state.fault.is_none() {
            self.possible(state, actions);
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.after(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
