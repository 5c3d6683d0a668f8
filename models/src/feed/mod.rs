//! Indexers that index what was appended to streams, with every fault at every moment.
//!
//! What is modelled:
//! - *Indexers* with a few batches each, which run core's `Indexing`. What one knows of the index it keeps
//!   for its next batch. A batch that fails is delivered again. Batches may have the same events, in any order,
//!   and lack some: a record that was lost is in none of them, and the streams have all.
//! - *Writes whose reply is lost*: the indexer is told that the outcome is unknown; the write lands at any later
//!   moment, or never. Right away is one of these moments.
//! - *Indexers that die* at any moment: another process takes the batch, which knows nothing.
//! - *A new feed* that is begun behind the old one while others index.
//!
//! What is abstracted away: that streams grow meanwhile, waiting times, and reads that fail. Limits on attempts are
//! higher than what the bounds allow to happen; core tests them.

mod actions;
mod properties;
mod table;

pub use actions::{Action, Outcome};
pub use properties::{COMPLETE, MARKS, ORDERED, REACTED};
pub use table::Table;

use cellar_catalog::feed::{
    Indexing, IndexingAction as Request, Known, PartitionPolicy, Rules, Span,
};
use cellar_catalog::stream::{InvalidEvent, InvalidStreamName, Kind, StreamName};
use cellar_log::append::Inputs;
use stateright::{Model, Property};

/// Nothing depends on the time, and feeds differ by their first partition.
const INPUTS: Inputs = Inputs { now_s: 1, random: 1 };

/// How much may happen in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose indexer does not learn what came of them.
    pub lost: u8,
    /// Indexers that die.
    pub deaths: u8,
    /// Feeds that are begun anew.
    pub rebuilds: u8,
}

/// A part of a stream: the stream's number, the first event, how many.
pub type Part = (u8, u64, u64);

/// A model with its bounds.
#[derive(Debug, Clone)]
pub struct FeedModel {
    /// The rules of the indexers.
    pub rules: Rules,
    /// When partitions end.
    pub policy: PartitionPolicy,
    /// What each indexer is delivered, batch after batch.
    pub batches: Vec<Vec<Vec<Part>>>,
    /// How many events each stream has.
    pub streams: Vec<u64>,
    /// How much may happen.
    pub budget: Budget,
}

/// An indexer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Worker {
    /// What it knows of the index.
    pub known: Known,
    /// What it is at: the machine, and what that wants.
    pub running: Option<(Indexing, Request)>,
    /// Whether it begins a new feed.
    pub rebuilds: bool,
    /// Whether it has put an item since it began its batch.
    pub has_put: bool,
    /// Its batches that are done.
    pub done: usize,
}

/// Everything there is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// What is stored.
    pub table: Table,
    /// The indexers.
    pub workers: Vec<Worker>,
    /// Writes that may land yet.
    pub late: Vec<Request>,
    /// What may happen yet.
    pub budget: Budget,
    /// Whether an indexer was refused what it wanted to put.
    pub refused: bool,
    /// Whether one settled what another had put.
    pub settled: bool,
}

/// The name of a stream.
///
/// # Errors
/// Never: a number is an id.
pub fn name(stream: u8) -> Result<StreamName, InvalidStreamName> {
    StreamName::new("S", &stream.to_string())
}

/// The events of a part.
#[must_use]
pub fn span((stream, first, events): Part) -> Option<Span> {
    let kind = |index: u64| -> Result<Kind, InvalidEvent> { Kind::new(&format!("K{index}")) };
    let kinds = (first..first + events).map(kind).collect::<Result<_, _>>().ok()?;
    Some(Span { stream: name(stream).ok()?, first, kinds })
}

impl FeedModel {
    /// The spans of a batch.
    fn batch(&self, worker: usize, batch: usize) -> Option<Vec<Span>> {
        let parts = self.batches.get(worker)?.get(batch)?;
        parts.iter().map(|part| span(*part)).collect()
    }
}

impl Model for FeedModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let streams = (0..).zip(&self.streams);
        let streams = streams.filter_map(|(stream, events)| Some((name(stream).ok()?, *events)));
        vec![State {
            table: Table::of(streams.collect()),
            workers: vec![Worker::default(); self.batches.len()],
            late: Vec::new(),
            budget: self.budget,
            refused: false,
            settled: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.possible(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.after(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
