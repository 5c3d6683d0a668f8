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

/// Maximum number of injected faults per run, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose response is lost.
    pub lost: u8,
    /// Calls that their client abandons before the result arrives.
    pub abandoned: u8,
    /// Calls that start with a stale tip (newest item of the stream).
    pub stale: u8,
    /// Throttled writes.
    pub throttled: u8,
    /// Writes and reads that fail permanently.
    pub failed: u8,
    /// Refused writes whose response omits the current tip.
    pub refusals_without_tip: u8,
}

/// Model of an event stream, with the bounds of the state space.
#[derive(Debug, Clone)]
pub struct StreamModel {
    /// The safety rules that appends follow.
    pub rules: Rules,
    /// The conditions that the table enforces.
    pub conditions: Conditions,
    /// When tips are split.
    pub policy: SplitPolicy,
    /// Number of events per command, for each client.
    pub commands: Vec<Vec<u8>>,
    /// Whether appends store the stream's state in an unfold (cached state). If `false`, readers
    /// derive the state from all events.
    pub unfolds: bool,
    /// Whether clients retry a command with an unknown outcome. If `true`, the decider produces no
    /// events for a command that has already been applied. If `false`, deciders do not check the
    /// state, so an append that is executed twice duplicates its events.
    pub repeats: bool,
    /// Whether each call has a unique writer id.
    pub own_writer_ids: bool,
    /// Whether to check in each state that all clients can finish. This check is slow.
    pub finishing: bool,
    /// Maximum number of injected faults, by type.
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
    /// The tip (newest item of the stream) and the event batches.
    pub table: Arc<Table>,
    /// Clients with the processes that run their calls.
    pub clients: Vec<Client>,
    /// Processes abandoned by their clients.
    pub abandoned: Vec<Process>,
    /// Delayed writes that may still be applied, possibly more than once.
    pub late_writes: BTreeSet<Hashed<Write>>,
    /// Outcome of each append, as reported to its writer.
    pub reported: BTreeMap<AppendId, ReportedOutcome>,
    /// Remaining faults.
    pub budget: Budget,
    /// Violation caused by the last step. Used for properties that cannot be checked on a single
    /// state.
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
        // A state with a violation has already been reported, so its successors are not explored.
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
