//! Two clients of a sync group that push and pull, with every fault at every moment.
//!
//! What is modelled:
//! - *Clients* with a few mutations each, which push as a Replicache client does: all that is not
//!   acknowledged, in order, as one push, one at a time. The base of a mutation is what its client had
//!   pulled when it was first pushed. Nothing in the answer to a push acknowledges anything: that a
//!   pull does, with the client's last id in the log; one while a push is on its way is a pull after the
//!   push was given up. Only that the log knows nothing of the client, an answer tells; and a pull, that
//!   what the client has read is of before a restore. Both end the client.
//! - *Processes*: a push is cut by core's `runs`, and each run is a `RunPush` whose requests are run by
//!   `Append`, each read, put and look-up a step of its own. A process knows nothing of the client, or
//!   the last id that an earlier push came to. A client may give a push up and repeat it; the first goes
//!   on, or is never heard of again, which is the same as a crash at that point or a put that arrives
//!   late.
//! - *Eventually consistent reads*: any prefix. What a process knows of the tail is no other case: it is
//!   a prefix, too.
//! - *Look-ups* that see the whole log, or whose root has forgotten a client that was idle.
//! - *A restore*: the log goes back to any prefix of it, in the next incarnation. Clients keep their mutations
//!   and bases. Processes of before write into the tables of before for as long as they live, which
//!   nobody reads any more, so that they are gone here with all that they know; that a client is still
//!   answered by one of them is abstracted away.
//! - *Mutations that cannot succeed*: those that say nothing, and those whose base never was.
//!
//! A client that was forgotten is the known limit of the design: what it pushes again may be rejected
//! once more, although it had been rejected or, before a restore, had taken effect. That changes
//! nothing in the spreadsheet, and the client's numbering goes on; the properties except it.
//!
//! What is abstracted away: what mutations say, undos and imports, rolls and trims, failed reads and
//! puts of unknown outcome ([`crate::log`] has them: an append under way tries the same put again, and
//! one that ends so is a push that was given up).

mod actions;
mod client;
mod process;
pub mod properties;
mod table;

pub use actions::{Action, Outcome};
pub use client::{Client, Made, Says};
pub use process::{Process, Stepped, Wants};
pub use properties::Fault;
pub use table::{Placed, Table};

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_api::sync::PushRules;
use stateright::{Model, Property};

/// How much may happen in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Reads that do not see everything.
    pub stale: u8,
    /// Pushes that are given up by their client, and go on.
    pub given_up: u8,
    /// Look-ups that have forgotten the client.
    pub forgotten: u8,
    /// Restores.
    pub restores: u8,
}

/// A model with its bounds.
#[derive(Debug, Clone)]
pub struct PushModel {
    /// The rules of the pushes.
    pub rules: PushRules,
    /// What the mutations of each client say.
    pub mutations: Vec<Vec<Says>>,
    /// Whether each state is checked for whether its clients can finish (slow).
    pub finishing: bool,
    /// How much may happen.
    pub budget: Budget,
}

impl Default for PushModel {
    fn default() -> Self {
        let two = vec![Says::Edit, Says::Edit];
        Self {
            rules: PushRules::default(),
            mutations: vec![two.clone(), two],
            finishing: false,
            budget: Budget::default(),
        }
    }
}

/// Everything there is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The log.
    pub table: Arc<Table>,
    /// The clients, each with the process that it waits for.
    pub clients: Vec<Client>,
    /// Processes that nobody waits for.
    pub given_up: Vec<Process>,
    /// Clients that a look-up had forgotten.
    pub forgotten: BTreeSet<usize>,
    /// What may happen yet.
    pub budget: Budget,
    /// What went wrong in a step, as opposed to in a state.
    pub fault: Option<Fault>,
}

impl Model for PushModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            table: Arc::new(Table::created()),
            clients: (0..self.mutations.len()).map(Client::new).collect(),
            given_up: Vec::new(),
            forgotten: BTreeSet::new(),
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
        self.after(state, &action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
