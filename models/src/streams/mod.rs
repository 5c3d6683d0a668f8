//! Writers that append to one stream, with every fault at every moment.
//!
//! What is modelled:
//! - *Clients* with a few commands each, one after the other; a command comes to one event or more. Each
//!   call for a command has a writer id of its own. Its process decides on a tip – the one that is there, or
//!   an older one that it knows –, runs core's `Append`, and after a conflict decides again on the tip that
//!   it was told, as the engine's driver does. States are made by core's `Rebuild`, of unfolds or of event batches.
//! - *Requests whose reply is lost*: the writer is told that the outcome is unknown; the write lands at any
//!   later moment, or never, or twice. Right away is one of these moments.
//! - *Calls that are given up*: the process goes on, or is never heard of again, which is the same as a
//!   crash at that point. Its client goes on with the next command, or repeats this one in another call; for
//!   that its decider sees in the state what is done.
//! - *The table* with the conditions of the adapter: a write of an expected etag, a first tip where there is
//!   none, and an event batch with its tip in one transaction. An update adds its events to those that stand there,
//!   whatever the writer believes them to be. Refusals may not tell the tip, or only that the event batch is there; a
//!   transaction that was done before may be answered with that.
//! - *Event batches*: tips of few events, or of few bytes of events and unfolds. Event batches are read one a page.
//! - Writes and reads that are refused for good, and writes that are throttled.
//!
//! What is abstracted away: what events mean, waiting times, and reads that fail and are tried again. Of
//! eventually consistent reads there is only the one that a call may begin with: an old tip. Limits on attempts
//! are higher than what the bounds allow to happen; core tests them.

mod actions;
pub mod properties;
mod sayings;
mod table;
mod writer;

pub use actions::{Action, Outcome};
pub use properties::{Fault, Learned, Told};
pub use sayings::{AppendId, Command, Said, Sayings};
pub use table::{Conditions, Table, TipCondition};
pub use writer::{Client, Process};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellar_catalog::stream::append::Rules;
use cellar_catalog::stream::{SplitPolicy, Write};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;

/// How much may happen in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose writer does not learn what came of them.
    pub lost: u8,
    /// Calls that are given up, and go on.
    pub given_up: u8,
    /// Appends that begin on an old tip.
    pub stale: u8,
    /// Writes that are throttled.
    pub throttled: u8,
    /// Writes and reads that are refused for good.
    pub failed: u8,
    /// Refusals that do not tell the tip, or tell of the event batch only.
    pub untold: u8,
}

/// A model with its bounds.
#[derive(Debug, Clone)]
pub struct StreamModel {
    /// The rules of the appends.
    pub rules: Rules,
    /// The conditions of the table.
    pub conditions: Conditions,
    /// When tips split.
    pub policy: SplitPolicy,
    /// How many events each command of each client comes to.
    pub commands: Vec<Vec<u8>>,
    /// Whether appends keep their state in an unfold; if not, it is made of all events.
    pub unfolds: bool,
    /// Whether who does not learn what came of a call repeats its command, which then comes to nothing if
    /// it is done already. If not, no decider looks at what is there: whoever appends twice doubles it.
    pub repeats: bool,
    /// Whether each call has a writer id that no other has.
    pub own_writer_ids: bool,
    /// Whether each state is checked for whether its clients can finish (slow).
    pub finishing: bool,
    /// How much may happen.
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

/// Everything there is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// What is stored.
    pub table: Arc<Table>,
    /// The clients, each with the process that it waits for.
    pub clients: Vec<Client>,
    /// Processes that nobody waits for.
    pub given_up: Vec<Process>,
    /// Writes that may land yet, or once more.
    pub late: BTreeSet<Hashed<Write>>,
    /// What became of each append, as far as its writer knows.
    pub told: BTreeMap<AppendId, Told>,
    /// What may happen yet.
    pub budget: Budget,
    /// What went wrong in a step, as opposed to in a state.
    pub fault: Option<Fault>,
}

impl Model for StreamModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            table: Arc::new(Table::default()),
            clients: vec![Client::default(); self.commands.len()],
            given_up: Vec::new(),
            late: BTreeSet::new(),
            told: BTreeMap::new(),
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
