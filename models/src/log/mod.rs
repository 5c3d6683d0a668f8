//! Writers, rolls and trims over the two tables, with every fault at every moment.
//!
//! The model contains:
//! - *Clients* with one or two mutations each. A client sends its unacknowledged mutations in one or more
//!   requests, and repeats them, split differently, until they are acknowledged. The base of a mutation is
//!   the position that its client had seen when the mutation was first sent.
//! - *Processes*: each request is one `Append`. A client may abandon a request and send it again to a process
//!   without cached state. The first process continues, or takes no more steps, which equals a crash at that
//!   point. A process that is not abandoned keeps its `CachedTail`.
//! - *Lost requests*: the writer learns that the outcome is unknown; the put or transaction is executed at any
//!   later moment, or never.
//! - *Eventually consistent reads*: any prefix, a hole in the middle, and a segment as it was before its trim.
//!   Even a strongly consistent read may see an End Segment and not yet the next segment. Every read sees
//!   writes that are more than a day old.
//! - *Rolls* and *trims* follow core's machines. Each request is a step of its own, and entries are deleted one
//!   by one; a trim may stop anywhere and begin again.
//! - *The clock*, which may jump by a day while all processes are frozen. Requests sent before the jump never
//!   arrive (a signed request is valid for minutes), and cached tails expire (`CACHED_TAIL_AGE_MS`). A running
//!   request keeps what it has already read.
//!
//! The model leaves out: contents of mutations (no mutation moves rows or columns, so the
//! transform is the identity), uploads, incarnations, snapshots (each segment has one from its
//! start), waiting times and page sizes (a page is a segment). [`crate::attempts`] covers the
//! limits on attempts.

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

/// Maximum number of each event in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Puts and transactions whose reply is lost.
    pub lost: u8,
    /// Reads that return a stale view.
    pub stale: u8,
    /// Requests that are abandoned by their client and continue.
    pub abandoned: u8,
    /// Rolls.
    pub rolls: u8,
    /// Trims.
    pub trims: u8,
    /// Trims that stop before their end.
    pub trim_stops: u8,
    /// Jumps of the clock by a day.
    pub days: u8,
}

/// The log model with its bounds.
#[derive(Debug, Clone)]
pub struct LogModel {
    /// The safety rules that appends enforce.
    pub rules: Rules,
    /// The fences that the trim enforces.
    pub fences: Fences,
    /// Number of mutations of each client.
    pub mutations: Vec<u64>,
    /// How far beyond the end of the log the base of the first client is, in entries.
    pub beyond_end: u32,
    /// Whether clients send a mutation before the previous one is acknowledged.
    pub pipelined: bool,
    /// Whether a rejection of a mutation that had taken effect is a fault.
    ///
    /// A known limitation makes such rejections possible: an append does not learn the last
    /// mutation ids of a trimmed segment, so a repeated request whose base was trimmed is rejected
    /// although the first one succeeded.
    pub check_rejections: bool,
    /// Whether each state is checked for whether its writers can finish (slow).
    pub finishing: bool,
    /// Maximum number of each event.
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

/// A delayed request: its sender no longer waits for the reply.
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
    /// The current time, Unix seconds.
    pub now_s: u64,
    /// The clients, each with the process that runs its request.
    pub clients: Vec<Client>,
    /// Processes whose client no longer waits.
    pub abandoned: Vec<Process>,
    /// Delayed requests that may still arrive.
    pub late_requests: Vec<LateRequest>,
    /// The running roll.
    pub rolling: Option<Rolling>,
    /// The running trim.
    pub trimming: Option<Trimming>,
    /// Remaining events.
    pub budget: Budget,
    /// The fault that a step has caused, for properties that a single state cannot show.
    pub fault: Option<Fault>,
}

impl Model for LogModel {
    type State = State;
    type Action = LogAction;

    fn init_states(&self) -> Vec<State> {
        let mut beyond = Position::FIRST;
        for _ in 0..self.beyond_end {
            beyond = beyond.next_in_segment().unwrap_or(beyond);
        }
        let seen = |number| if number == 0 { beyond } else { Position::FIRST };
        let clients = self.mutations.iter().enumerate();
        let clients =
            clients.map(|(number, mutations)| Client::new(number, *mutations, seen(number)));
        vec![State {
            tables: Arc::new(Tables::created()),
            now_s: 0,
            clients: clients.collect(),
            abandoned: Vec::new(),
            late_requests: Vec::new(),
            rolling: None,
            trimming: None,
            budget: self.budget,
            fault: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<LogAction>) {
        // A faulty state is already reported; its successors add nothing.
        if state.fault.is_none() {
            self.add_possible_actions(state, actions);
        }
    }

    fn next_state(&self, state: &State, action: LogAction) -> Option<State> {
        self.apply_action(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
