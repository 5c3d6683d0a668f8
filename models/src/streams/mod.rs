//! Writers that append to one stream, with every fault at every moment.
//!
//! The model contains:
//! - *Clients* with a few commands each, one after the other; a command produces one or more events. Each
//!   call for a command has its own writer id. Its process decides on a tip (the current one, or an older one
//!   that it has cached), runs core's `Append`, and after a conflict decides again on the tip that the conflict
//!   reported, as the engine's driver does. Core's `Rebuild` derives states from unfolds or from event batches.
//! - *Requests with a lost reply*: the writer learns that the outcome is unknown; the write is applied
//!   immediately, at any later moment, never, or twice.
//! - *Abandoned calls*: the process continues, or takes no more steps, which equals a crash at that point. Its
//!   client continues with the next command, or repeats this one in another call; then the decider sees in the
//!   state whether the command is done.
//! - *The table* with the conditions of the adapter: an update of an expected etag, a first tip only if none
//!   exists, and an event batch with its tip in one transaction. An update adds its events to the stored ones,
//!   even if the writer assumes others. Refusals may lack the tip, or report only that the event batch exists. A
//!   transaction that was executed before may be answered as done.
//! - *Event batches*: tips are limited by events, or by bytes of events and unfolds. A page has one event batch.
//! - Writes and reads that fail permanently, and writes that are throttled.
//!
//! The model leaves out: the meaning of events, waiting times, and retried reads. The only
//! eventually consistent read is the one that a call may begin with, which may return an old tip.
//! Limits on attempts are higher than the faults within the bounds can reach; unit tests in core
//! cover them.

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

/// Maximum number of each fault in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose reply is lost.
    pub lost: u8,
    /// Calls that are abandoned by their client and continue.
    pub abandoned: u8,
    /// Calls that begin with an old tip.
    pub stale: u8,
    /// Writes that are throttled.
    pub throttled: u8,
    /// Writes and reads that fail permanently.
    pub failed: u8,
    /// Refusals without the current tip.
    pub refusals_without_tip: u8,
}

/// The stream model with its bounds.
#[derive(Debug, Clone)]
pub struct StreamModel {
    /// The safety rules that appends enforce.
    pub rules: Rules,
    /// The conditions that the table enforces.
    pub conditions: Conditions,
    /// When tips are split.
    pub policy: SplitPolicy,
    /// Number of events that each command of each client produces.
    pub commands: Vec<Vec<u8>>,
    /// Whether appends store their state in an unfold. Otherwise the state is derived from all
    /// events.
    pub unfolds: bool,
    /// Whether a client repeats a command whose outcome is unknown. Then the decider produces no
    /// events for a command that is already done. Otherwise deciders do not check the state, so
    /// that an append that runs twice duplicates its events.
    pub repeats: bool,
    /// Whether each call has a unique writer id.
    pub own_writer_ids: bool,
    /// Whether each state is checked for whether its clients can finish (slow).
    pub finishing: bool,
    /// Maximum number of each fault.
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
    /// The tip and the event batches.
    pub table: Arc<Table>,
    /// The clients, each with the process that runs its call.
    pub clients: Vec<Client>,
    /// Processes whose client no longer waits.
    pub abandoned: Vec<Process>,
    /// Delayed writes that may be applied, once or repeatedly.
    pub late_writes: BTreeSet<Hashed<Write>>,
    /// The outcome of each append that was reported to its writer.
    pub reported: BTreeMap<AppendId, ReportedOutcome>,
    /// Remaining faults.
    pub budget: Budget,
    /// The fault that a step has caused, for properties that a single state cannot show.
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
        // A faulty state is already reported; its successors add nothing.
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
