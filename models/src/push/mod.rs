//! Model of two clients in a sync group that push and pull, with faults at every step.
//!
//! The model contains:
//! - *Clients* with a few mutations each. Like a Replicache client, they push all unacknowledged mutations in order, in one push, one push at a time. A mutation's base is the client's last pulled position when the mutation was first pushed. Only a pull acknowledges mutations, by returning the client's last mutation id in the log. A pull during a push is modeled as a pull after the push was abandoned. A client stops when a push response reports an unknown client or a pull reports a restore.
//! - *Processes*: core's `group_into_runs` splits a push into runs. Each run is a `RunPush` whose requests are executed by `Append`; each read, put and lookup is a separate step. A process has either no information about the client or a cached last mutation id from an earlier push. A client may abandon a push and retry it. The first push continues or takes no further step, which is equivalent to a crash at that point or to a delayed put.
//! - *Eventually consistent reads* return any prefix, which also covers cached tails.
//! - *Lookups* see either the whole log or a root (snapshot) that has dropped an idle client.
//! - *A restore* resets the log to any prefix, in the next incarnation. Clients keep their mutations and bases. Processes started before the restore write only to the old tables, which are never read again, so the model drops these processes and their responses.
//! - *Mutations that cannot succeed*: malformed mutations, and mutations whose base never existed.
//!
//! A forgotten client is a known limitation: a retried mutation may be rejected a second time, or
//! be rejected although it took effect before a restore. The spreadsheet does not change, and the
//! client's ids stay consecutive, so the properties exempt forgotten clients.
//!
//! The model omits mutation contents, undos and imports, rolls and trims, failed reads, and puts
//! with an unknown outcome. [`crate::log`] covers these puts: a running append retries the same
//! put, and an append that ends with an unknown outcome is equivalent to an abandoned push.

mod actions;
mod client;
mod process;
pub mod properties;
mod table;

pub use actions::{ClientKnowledge, PushAction, RequestOutcome};
pub use client::{Client, MutationContent, PushedMutation};
pub use process::{PendingRequest, Process, StepResult};
pub use properties::Fault;
pub use table::{LoggedMutation, Table};

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_api::sync::PushRules;
use stateright::{Model, Property};

/// The maximum number of faults in one run, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Reads that return a stale view.
    pub stale: u8,
    /// The number of pushes that clients may abandon before the response arrives.
    pub abandoned: u8,
    /// The number of lookups that may read a snapshot that no longer contains the client.
    pub forgotten: u8,
    pub restores: u8,
}

/// Model of pushes, with the limits that keep the number of states finite.
#[derive(Debug, Clone)]
pub struct PushModel {
    /// The safety rules that pushes follow.
    pub rules: PushRules,
    /// Content of each client's mutations.
    pub mutations: Vec<Vec<MutationContent>>,
    /// Whether to check in each state that all clients can finish, which is slow.
    pub finishing: bool,
    /// Maximum number of faults, by type.
    pub budget: Budget,
}

impl Default for PushModel {
    fn default() -> Self {
        let two_edits = vec![MutationContent::Edit, MutationContent::Edit];
        Self {
            rules: PushRules::default(),
            mutations: vec![two_edits.clone(), two_edits],
            finishing: false,
            budget: Budget::default(),
        }
    }
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The log.
    pub table: Arc<Table>,
    /// The clients, each with the process that runs its push.
    pub clients: Vec<Client>,
    /// Processes abandoned by their clients.
    pub abandoned: Vec<Process>,
    /// The indexes of clients that a lookup has reported as unknown, although the log contains
    /// their mutations.
    pub forgotten: BTreeSet<usize>,
    /// Remaining faults.
    pub budget: Budget,
    /// The violation that the last step caused. It is recorded here because it cannot be detected
    /// from the state alone.
    pub fault: Option<Fault>,
}

impl Model for PushModel {
    type State = State;
    type Action = PushAction;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            table: Arc::new(Table::created()),
            clients: (0..self.mutations.len()).map(Client::new).collect(),
            abandoned: Vec::new(),
            forgotten: BTreeSet::new(),
            budget: self.budget,
            fault: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<PushAction>) {
        // The successors of a state with a violation are not explored, because the violation has
        // already been reported.
        if state.fault.is_none() {
            self.add_possible_actions(state, actions);
        }
    }

    fn next_state(&self, state: &State, action: PushAction) -> Option<State> {
        self.apply_action(state, &action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
