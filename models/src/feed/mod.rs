//! Indexers that index events of streams, with every fault at every moment.
//!
//! The model contains:
//! - *Indexers*, each with a few batches, run core's `Indexing`. An indexer keeps its cached view of the feed for its
//!   next batch. A failed batch is delivered again. Batches may repeat events, reorder them, or lack some: a lost
//!   record is in no batch, but the streams contain all events.
//! - *Writes with a lost reply*: the indexer learns that the outcome is unknown; the write is applied immediately, at
//!   any later moment, or never.
//! - *Indexers that crash* at any moment: another process, without cached state, takes the batch.
//! - *A new generation of the feed* that starts while other indexers still write the old one.
//!
//! The model leaves out: streams that grow during the run, waiting times, and failed reads.
//! Limits on attempts are higher than the faults within the bounds can reach; unit tests in core
//! cover them.

mod actions;
mod properties;
mod table;

pub use actions::{FeedAction, RequestOutcome};
pub use properties::{COMPLETE, MARKS, ORDERED, REACTED};
pub use table::Table;

use cellar_catalog::feed::{
    Indexing, IndexingAction as Request, Known, PartitionPolicy, Rules, Span,
};
use cellar_catalog::stream::{InvalidEvent, InvalidStreamName, Kind, StreamName};
use cellar_log::append::Inputs;
use stateright::{Model, Property};

/// Constant time and random bits: no decision depends on the time, and generations differ by their
/// first partition.
const INPUTS: Inputs = Inputs { now_s: 1, random: 1 };

/// Maximum number of each fault in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose reply is lost.
    pub lost: u8,
    /// Crashes of indexers.
    pub deaths: u8,
    /// New generations of the feed.
    pub rebuilds: u8,
}

/// A range of events of a stream: the stream's number, the index of the first event, the number of
/// events.
pub type Part = (u8, u64, u64);

/// The feed model with its bounds.
#[derive(Debug, Clone)]
pub struct FeedModel {
    /// The safety rules that the indexers enforce.
    pub rules: Rules,
    /// When a feed partition is full.
    pub policy: PartitionPolicy,
    /// For each indexer, the batches that are delivered to it, in order.
    pub batches: Vec<Vec<Vec<Part>>>,
    /// Number of events of each stream.
    pub streams: Vec<u64>,
    /// Maximum number of each fault.
    pub budget: Budget,
}

/// State of an indexer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Worker {
    /// Cached view of the feed.
    pub cache: Known,
    /// The running machine and its pending request.
    pub running: Option<(Indexing, Request)>,
    /// Set while the indexer starts a new generation of the feed.
    pub is_rebuilding: bool,
    /// Set if the indexer has put an item since it began its batch.
    pub has_put_item: bool,
    /// Number of completed batches.
    pub batches_done: usize,
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The Feed table and the streams.
    pub table: Table,
    /// The indexers.
    pub workers: Vec<Worker>,
    /// Delayed writes that may still be applied.
    pub late_writes: Vec<Request>,
    /// Remaining faults.
    pub budget: Budget,
    /// Set once a put of an item was refused because its key was taken.
    pub put_refused: bool,
    /// Set once an indexer raised marks for items that another indexer had put.
    pub settled_others: bool,
}

/// Returns the name of a stream.
///
/// # Errors
/// Never fails: every number is a valid id.
pub fn stream_name(stream: u8) -> Result<StreamName, InvalidStreamName> {
    StreamName::new("S", &stream.to_string())
}

/// Returns the events of `part` as a span of the feed.
#[must_use]
pub fn part_span((stream, first, events): Part) -> Option<Span> {
    let kind = |index: u64| -> Result<Kind, InvalidEvent> { Kind::new(&format!("K{index}")) };
    let kinds = (first..first + events).map(kind).collect::<Result<_, _>>().ok()?;
    Some(Span { stream: stream_name(stream).ok()?, first, kinds })
}

impl FeedModel {
    /// Returns the spans of an indexer's batch; `None` if the batch does not exist.
    fn batch(&self, worker: usize, batch: usize) -> Option<Vec<Span>> {
        let parts = self.batches.get(worker)?.get(batch)?;
        parts.iter().map(|part| part_span(*part)).collect()
    }
}

impl Model for FeedModel {
    type State = State;
    type Action = FeedAction;

    fn init_states(&self) -> Vec<State> {
        let streams = (0..).zip(&self.streams);
        let streams =
            streams.filter_map(|(stream, events)| Some((stream_name(stream).ok()?, *events)));
        vec![State {
            table: Table::with_streams(streams.collect()),
            workers: vec![Worker::default(); self.batches.len()],
            late_writes: Vec::new(),
            budget: self.budget,
            put_refused: false,
            settled_others: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<FeedAction>) {
        self.add_possible_actions(state, actions);
    }

    fn next_state(&self, state: &State, action: FeedAction) -> Option<State> {
        self.apply_action(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.all_properties()
    }
}
