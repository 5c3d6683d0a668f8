//! Model of writers that append to one event stream, with faults at every step.
//!
//! The model contains:
//! - *Clients* that run a few commands each, in sequence; a command produces one or more events. Each call for a command has its own writer id. Its process decides on a tip (the stream's newest item, either current or from a stale cache) and runs core's `Append`. After a conflict, it decides again on the tip reported by the conflict, like the engine's driver. Core's `Rebuild` derives states from unfolds (cached states) or from event batches.
//! - *Requests with a lost response*: the writer learns only that the outcome is unknown; the write is applied immediately, later, never, or twice.
//! - *Abandoned calls*: the process continues or takes no further step, which is equivalent to a crash at that point. Its client continues with the next command or retries the command in a new call. On a retry, the decider detects from the state whether the command has already been applied.
//! - *The table* with the conditions of the adapter: an update requires the expected etag, a first tip requires that none exists, and an event batch is written together with its tip in one transaction. An update adds its events to the stored ones, even if the writer assumes others. A refusal may omit the tip or report only that the event batch exists. A transaction that was executed before may be reported as successful.
//! - *Event batches*: tips are limited by number of events or by bytes of events and unfolds. A page contains one event batch.
//! - Writes and reads that fail permanently, and throttled writes.
//!
//! The model omits event semantics, backoff, and read retries. The only eventually consistent read
//! is the optional one at the start of a call, which may return a stale tip. Retry limits are too
//! high to be reached within the model's bounds; unit tests in core cover them.

mod actions;
mod events;
pub mod properties;
mod table;
mod writer;

pub use actions::{RequestOutcome, StreamAction};
pub use events::{AppendId, Command, EventListDecider, ModelEvent};
pub use properties::{Evidence, Fault, ReportedOutcome};
pub use table::{Conditions, Table, TipCondition};
pub use writer::{Client, Process};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellar_catalog::stream::append::Rules;
use cellar_catalog::stream::{SplitPolicy, Write};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;

/// The maximum number of faults that are injected in one run, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose response is lost.
    pub lost: u8,
    /// The number of calls that clients may abandon before the result arrives.
    pub abandoned: u8,
    /// The number of calls that may start with a tip that is no longer the newest.
    pub stale: u8,
    /// Throttled writes.
    pub throttled: u8,
    /// Writes and reads that fail permanently.
    pub failed: u8,
    /// The number of refused writes whose response may omit the current tip.
    pub refusals_without_tip: u8,
}

/// Model of an event stream, with the limits that keep the number of states finite.
#[derive(Debug, Clone)]
pub struct StreamModel {
    /// The safety rules that appends follow.
    pub rules: Rules,
    /// The conditions that the table enforces.
    pub conditions: Conditions,
    /// When tips are split.
    pub policy: SplitPolicy,
    /// The number of events that each command of each client produces.
    pub commands: Vec<Vec<u8>>,
    /// Whether an append stores the state of the stream in an unfold, which is a cache in the
    /// newest item. If `false`, readers derive the state from all events.
    pub unfolds: bool,
    /// Whether clients retry a command whose outcome is unknown.
    ///
    /// If `true`, the decider produces no events for a command that has already been applied. If
    /// `false`, the decider does not check this, so an append that is executed twice would
    /// duplicate its events.
    pub repeats: bool,
    /// Whether each call has a unique writer id.
    pub own_writer_ids: bool,
    /// Whether to check in each state that all clients can finish, which is slow.
    pub finishing: bool,
    /// The maximum number of injected faults, by type.
    pub budget: Budget,
}

impl Default for StreamModel {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            conditions: Conditions::default(),
            policy: SplitPolicy { bytes: usize::MAX, events: 2 },
            commands: vec![vec![1, 2], vec![2, 1]],
            unfolds: true,
            repeats: false,
            own_writer_ids: true,
            finishing: false,
            budget: Budget::default(),
        }
    }
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The newest item of the stream, and the event batches with its older events.
    pub table: Arc<Table>,
    /// The clients, each with the process that runs its call.
    pub clients: Vec<Client>,
    /// Processes abandoned by their clients.
    pub abandoned: Vec<Process>,
    /// The writes whose response was lost. They may still be applied, even more than once.
    pub late_writes: BTreeSet<Hashed<Write>>,
    /// The outcome of each append that was reported to its writer.
    pub reported: BTreeMap<AppendId, ReportedOutcome>,
    /// Remaining faults.
    pub budget: Budget,
    /// The violation that the last step caused. It is recorded here because it cannot be detected
    /// from the state alone.
    pub fault: Option<Fault>,
}

impl Model for StreamModel {
    type State = State;
    type Action = StreamAction;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            table: Arc::new(Table::default()),
            clients: vec![Client::default(); self.commands.len()],
            abandoned: Vec::new(),
            late_writes: BTreeSet::new(),
            reported: BTreeMap::new(),
            budget: self.budget,
            fault: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<StreamAction>) {
        // The successors of a state with a violation are not explored, because the violation has
        // already been reported.
        if state.fault.is_none() {
            self.add_possible_actions(state, actions);
        }
    }

    fn next_state(&self, state: &State, action: StreamAction) -> Option<State> {
        self.apply_action(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
