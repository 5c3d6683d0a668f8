//! Writers, rolls and trims over the two tables, with every fault at every moment.
//!
//! What is modelled:
//! - *Clients* with one or two mutations each. A client sends what is not acknowledged in one
//!   request or several, and repeats it, with another split, until it is. The base of a mutation
//!   is what its client had seen when it was first sent.
//! - *Processes*: each request is one `Append`. A client may give a request up and send it again
//!   to a process without knowledge; the first goes on, or is never heard of again, which is the
//!   same as a crash at that point. A process that is not given up keeps its `CachedTail`.
//! - *Requests that are lost*: the writer is told that the outcome is unknown; the put or
//!   transaction happens at any later moment, or never.
//! - *Eventually consistent reads*: any prefix, a hole in the middle, and a segment as it was
//!   before it was trimmed. Also a consistent one may see an End Segment and not yet the segment
//!   behind it. What is older than a day is seen by every read.
//! - *Rolls* and *trims* as core's machines say, each action a step of its own, entries deleted
//!   one by one; a trim may stop anywhere and begin again.
//! - *The clock*, which may jump by a day while everything is frozen. What was sent before arrives
//!   no more (a signed request is valid for minutes), and cached tails are dropped at their age
//!   (`CACHED_TAIL_AGE_MS`); but a process goes on with what its request had learned.
//!
//! What is abstracted away: what mutations say (they move nothing, so that the transform is the
//! identity), uploads, incarnations, snapshots (a segment has one as soon as it begins), waiting times
//! and the size of pages (a page is a segment). Limits on attempts are [`crate::attempts`].

mod actions;
mod keeper;
pub mod properties;
pub(crate) mod tables;
pub(crate) mod writer;

pub use actions::{Action, Outcome};
pub use keeper::{Rolling, Trimming};
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

/// How much may happen in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Puts and transactions whose writer does not learn what came of them.
    pub lost: u8,
    /// Reads that do not see everything.
    pub stale: u8,
    /// Requests that are given up by their client, and go on.
    pub given_up: u8,
    /// Rolls that begin.
    pub rolls: u8,
    /// Trims that begin.
    pub trims: u8,
    /// Trims that stop where they are.
    pub trim_stops: u8,
    /// Days that go by.
    pub days: u8,
}

/// A model with its bounds.
#[derive(Debug, Clone)]
pub struct LogModel {
    /// The rules of the appends.
    pub rules: Rules,
    /// The fences of the trim.
    pub fences: Fences,
    /// The mutations of each client.
    pub mutations: Vec<u64>,
    /// How many entries beyond the end of the log the first client believes to have seen.
    pub beyond_end: u32,
    /// Clients send a mutation also while the one before it is on its way.
    pub pipelined: bool,
    /// Whether it is a fault to tell a client that a mutation was rejected that had taken effect.
    ///
    /// A known limit: an append does not learn the last mutation ids of a trimmed segment, so that a repeated request whose base was
    /// trimmed is rejected although it got through.
    pub judge_rejections: bool,
    /// Whether each state is checked for whether its writers can finish (slow).
    pub finishing: bool,
    /// How much may happen.
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
            judge_rejections: true,
            finishing: false,
            budget: Budget::default(),
        }
    }
}

/// A request that its sender has given up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Late {
    /// A put.
    Put(Stored),
    /// The transaction of a roll.
    Roll(Hashed<Transaction>),
}

/// Everything there is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// What is stored.
    pub tables: Arc<Tables>,
    /// The time, Unix seconds.
    pub now_s: u64,
    /// The clients, each with the process that it waits for.
    pub clients: Vec<Client>,
    /// Processes that nobody waits for.
    pub given_up: Vec<Process>,
    /// Requests that may arrive yet.
    pub late: Vec<Late>,
    /// The roll that is on its way.
    pub rolling: Option<Rolling>,
    /// The trim that is on its way.
    pub trimming: Option<Trimming>,
    /// What may happen yet.
    pub budget: Budget,
    /// What went wrong in a step, as opposed to in a state.
    pub fault: Option<Fault>,
}

impl Model for LogModel {
    type State = State;
    type Action = Action;

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
            given_up: Vec::new(),
            late: Vec::new(),
            rolling: None,
            trimming: None,
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
