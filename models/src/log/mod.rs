//! Model of log writers, rolls and trims over the two tables, with faults at every step.
//!
//! The model contains:
//! - *Clients* with one or two mutations each. A client sends its unacknowledged mutations in one or more requests and retries them, split differently, until they are acknowledged. A mutation's base is the client's position when the mutation was first sent.
//! - *Processes*: each request runs one `Append`. A client may abandon a request and retry it with a process that has no cached state. The first process continues or takes no further step, which is equivalent to a crash at that point. A process that is not abandoned keeps its `CachedTail`.
//! - *Lost requests*: the writer learns only that the outcome is unknown; the put or transaction is executed later or never.
//! - *Eventually consistent reads* return any prefix, a prefix with a hole, or a segment before its trim. Even a strongly consistent read may see an End Segment (last entry of a segment) before the next segment. Every read sees writes that are more than a day old.
//! - *Rolls* and *trims* run core's state machines. Each request is a separate step, and entries are deleted one at a time; a trim may be interrupted at any step and restarted.
//! - *The clock* may jump by a day while all processes are frozen. Requests sent before the jump never arrive (a signed request is valid for minutes), and cached tails are too old to append to (`CACHED_ENTRY_AGE_S`), which core's `Append` decides. A running request keeps the data that it has already read.
//!
//! The model omits mutation contents, uploads, incarnations, snapshots, backoff and page sizes. No
//! mutation moves rows or columns, so the transform is the identity. Each segment starts with a
//! finished snapshot, and a page is a segment. [`crate::attempts`] covers the limits on attempts.

mod actions;
mod maintenance;
pub mod properties;
pub(crate) mod tables;
pub(crate) mod writer;

pub use actions::{LogAction, RequestOutcome};
pub use maintenance::{Rolling, Trimming};
pub use properties::Fault;
pub use tables::{Stored, Tables, View};
pub use writer::{Client, Process};

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::Rules;
use cellar_log::retention::Fences;
use cellar_log::roll::Transaction;
use stateright::{Model, Property};

use crate::fingerprint::Hashed;

/// The maximum number of faults and maintenance events in one run, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// The number of puts and transactions whose response may be lost.
    pub lost: u8,
    /// Reads that return a stale view.
    pub stale: u8,
    /// The number of requests that clients may abandon before the response arrives.
    pub abandoned: u8,
    /// Rolls.
    pub rolls: u8,
    /// Trims.
    pub trims: u8,
    /// Interrupted trims.
    pub trim_stops: u8,
    /// Clock jumps by one day.
    pub days: u8,
}

/// Model of the log, with the limits that keep the number of states finite.
#[derive(Debug, Clone)]
pub struct LogModel {
    /// The safety rules that appends follow.
    pub rules: Rules,
    /// The safety conditions that the trim enforces. Tests disable individual conditions.
    pub fences: Fences,
    /// Number of mutations per client.
    pub mutations: Vec<u64>,
    /// The number of entries by which the base of the first client's mutations is ahead of the log.
    /// If it is positive, the base is a position that does not exist.
    pub beyond_end: u32,
    /// Whether a client may send a mutation before its previous mutation is acknowledged.
    pub pipelined: bool,
    /// Whether it is a violation to reject a mutation that has already taken effect.
    ///
    /// Such rejections are a known limitation, because an append does not know the last mutation
    /// ids in a trimmed segment. If the base of a retried mutation was trimmed, the retry is
    /// rejected even if the first attempt succeeded.
    pub check_rejections: bool,
    /// Whether to check in each state that all writers can finish, which is slow.
    pub finishing: bool,
    /// The maximum number of faults and maintenance events, by type.
    pub budget: Budget,
}

impl Default for LogModel {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            fences: Fences::default(),
            mutations: vec![1, 1],
            beyond_end: 0,
            pipelined: false,
            check_rejections: true,
            finishing: false,
            budget: Budget::default(),
        }
    }
}

/// A delayed request. Its sender no longer waits for the response.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LateRequest {
    /// A put of an entry.
    Put(Stored),
    /// The transaction of a roll.
    Roll(Hashed<Transaction>),
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The contents of the tables.
    pub tables: Arc<Tables>,
    /// The current time in seconds since the Unix epoch.
    pub now_s: u64,
    /// The clients, each with the process that runs its request.
    pub clients: Vec<Client>,
    /// Processes abandoned by their clients.
    pub abandoned: Vec<Process>,
    /// Delayed requests that may still arrive.
    pub late_requests: Vec<LateRequest>,
    /// The running roll.
    pub rolling: Option<Rolling>,
    /// The running trim.
    pub trimming: Option<Trimming>,
    /// Remaining faults and maintenance events.
    pub budget: Budget,
    /// The violation that the last step caused. It is recorded here because it cannot be detected
    /// from the state alone.
    pub fault: Option<Fault>,
}

impl Model for LogModel {
    type State = State;
    type Action = LogAction;

    fn init_states(&self) -> Vec<State> {
        let base_of_first_client = Position::new(0, self.beyond_end).unwrap_or(Position::FIRST);
        let mut clients = Vec::new();
        for (index, mutation_count) in self.mutations.iter().enumerate() {
            let base = if index == 0 { base_of_first_client } else { Position::FIRST };
            clients.push(Client::new(index, *mutation_count, base));
        }
        vec![State {
            tables: Arc::new(Tables::created()),
            now_s: 0,
            clients,
            abandoned: Vec::new(),
            late_requests: Vec::new(),
            rolling: None,
            trimming: None,
            budget: self.budget,
            fault: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<LogAction>) {
        // The successors of a state with a violation are not explored, because the violation has
        // already been reported.
        if state.fault.is_none() {
            self.add_possible_actions(state, actions);
        }
    }

    fn next_state(&self, state: &State, action: LogAction) -> Option<State> {
        self.apply_action(state, &action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
