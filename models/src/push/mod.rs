//! Two clients of a sync group that push and pull, with every fault at every moment.
//!
//! The model contains:
//! - *Clients* with a few mutations each, which push as a Replicache client does: all unacknowledged
//!   mutations, in order, in one push, one push at a time. The base of a mutation is the position that its
//!   client had pulled when it was first pushed. Only a pull acknowledges mutations, with the client's last id in
//!   the log. A pull during a push is modeled as a pull after the push was abandoned. An answer to a push may
//!   report that the log does not know the client, and a pull may report a restore. Either ends the client.
//! - *Processes*: core's `group_into_runs` splits a push into runs, and each run is a `RunPush` whose requests are
//!   executed by `Append`; each read, put and lookup is a step of its own. A process either knows nothing of the
//!   client, or the last id that an earlier push reached. A client may abandon a push and repeat it. The first push
//!   continues, or takes no more steps, which equals a crash at that point or a put that arrives late.
//! - *Eventually consistent reads*: any prefix. A cached tail needs no case of its own, because it is a prefix too.
//! - *Lookups* that see the whole log, or whose root has forgotten an idle client.
//! - *A restore*: the log is reset to any of its prefixes, in the next incarnation. Clients keep their mutations
//!   and bases. Processes from before the restore write only to the old tables, which are never read again, so the
//!   model drops these processes. Answers from them to clients are abstracted away.
//! - *Mutations that cannot succeed*: those that cannot be parsed, and those whose base never existed.
//!
//! A forgotten client is a known limitation: a repeated mutation may be rejected a second time, or
//! be rejected although it had taken effect before a restore. The spreadsheet does not change, and
//! the client's ids continue, so the properties make an exception for forgotten clients.
//!
//! The model leaves out: contents of mutations, undos and imports, rolls and trims, failed
//! reads, and puts of unknown outcome. [`crate::log`] models these: a running append retries the
//! same put, and an append that ends with an unknown outcome equals an abandoned push.

mod actions;
mod client;
mod process;
pub mod properties;
mod table;

pub use actions::{PushAction, RequestOutcome};
pub use client::{Client, MutationContent, PushedMutation};
pub use process::{PendingRequest, Process, StepResult};
pub use properties::Fault;
pub use table::{LoggedMutation, Table};

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_api::sync::PushRules;
use stateright::{Model, Property};

/// Maximum number of each event in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Reads that return a stale view.
    pub stale: u8,
    /// Pushes that are abandoned by their client and continue.
    pub abandoned: u8,
    /// Lookups whose root has forgotten the client.
    pub forgotten: u8,
    pub restores: u8,
}

/// The push model with its bounds.
#[derive(Debug, Clone)]
pub struct PushModel {
    /// The safety rules that pushes enforce.
    pub rules: PushRules,
    /// The content of each client's mutations.
    pub mutations: Vec<Vec<MutationContent>>,
    /// Whether each state is checked for whether its clients can finish (slow).
    pub finishing: bool,
    /// Maximum number of each event.
    pub budget: Budget,
}

impl Default for PushModel {
    fn default() -> Self {
        let two = vec![MutationContent::Edit, MutationContent::Edit];
        Self {
            rules: PushRules::default(),
            mutations: vec![two.clone(), two],
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
    /// Processes whose client no longer waits.
    pub abandoned: Vec<Process>,
    /// Clients that a lookup has forgotten.
    pub forgotten: BTreeSet<usize>,
    /// Remaining events.
    pub budget: Budget,
    /// The fault that a step has caused, for properties that a single state cannot show.
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
        // A faulty state is already reported; its successors add nothing.
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
