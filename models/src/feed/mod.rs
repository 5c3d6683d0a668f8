//! Model of indexers that add stream events to the feed, with faults at every step.
//!
//! The model contains:
//! - *Indexers*: each processes a few batches with core's `Indexing` state machine and keeps its cached view of the feed between batches. A failed batch is redelivered. Batches may repeat, reorder or omit events: a lost change record is in no batch, but the streams contain every event.
//! - *Writes with a lost response*: the indexer learns only that the outcome is unknown; the write is applied immediately, later, or never.
//! - *Crashes*: an indexer may crash at any step; another process without cached state takes over its batch.
//! - *New generations*: a rebuild of the feed may start while other indexers still write to the previous generation.
//!
//! The model omits streams that grow during the run, backoff, and failed reads. Retry limits are
//! too high to be reached within the model's bounds; unit tests in core cover them.

mod actions;
mod properties;
mod table;

pub use actions::{FeedAction, RequestOutcome};
pub use properties::{COMPLETE, MARKS, ORDERED, REACTED};
pub use table::Table;

use std::collections::BTreeMap;

use cellar_catalog::feed::{
    Indexing, IndexingAction as Request, Known, PartitionPolicy, Rules, Span,
};
use cellar_catalog::stream::{InvalidEvent, InvalidStreamName, Kind, StreamName};
use cellar_log::append::Inputs;
use stateright::{Model, Property};

/// The clock and random bits that every step receives. Both are constant: no decision depends on
/// the clock, and a generation is identified by its first partition instead of a random id.
const INPUTS: Inputs = Inputs { now_s: 1, random: 1 };

/// The maximum number of faults that are injected in one run, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Writes whose response is lost.
    pub lost: u8,
    /// Crashes of indexers.
    pub crashes: u8,
    /// New generations of the feed.
    pub rebuilds: u8,
}

/// Consecutive events of a stream: the number of the stream, the index of the first event, and the
/// number of events.
pub type Part = (u8, u64, u64);

/// Model of the feed, with the limits that keep the number of states finite.
#[derive(Debug, Clone)]
pub struct FeedModel {
    /// The safety rules that the indexers follow. Tests disable individual rules.
    pub rules: Rules,
    /// The size at which a feed partition is full.
    pub policy: PartitionPolicy,
    /// The batches that each indexer receives, in order of delivery.
    pub batches: Vec<Vec<Vec<Part>>>,
    /// Number of events per stream.
    pub streams: Vec<u64>,
    /// The maximum number of injected faults, by type.
    pub budget: Budget,
}

/// State of an indexer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexer {
    /// Cached view of the feed.
    pub cache: Known,
    /// The state machine of the indexer and its pending request, or `None` between batches.
    pub running: Option<(Indexing, Request)>,
    /// Whether the indexer is rebuilding the feed as a new generation.
    pub is_rebuilding: bool,
    /// Whether the indexer has put an item during the current batch.
    pub has_put_item: bool,
    /// Number of completed batches.
    pub batches_done: usize,
}

/// A state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The Feed table and the event streams.
    pub table: Table,
    /// The indexers.
    pub indexers: Vec<Indexer>,
    /// The writes whose response was lost and that may still reach the table.
    pub late_writes: Vec<Request>,
    /// Remaining faults.
    pub budget: Budget,
    /// Whether the put of a feed item was ever refused because its key was taken.
    pub has_refused_put: bool,
    /// Whether an indexer has ever advanced a high-water mark past items that another indexer had
    /// put.
    pub has_raised_marks_of_others: bool,
}

/// Returns the name of the event stream with this number.
///
/// # Errors
/// Returns [`InvalidStreamName`] if the number is not a valid stream id. Every `u8` is a valid id.
pub fn stream_name(stream_number: u8) -> Result<StreamName, InvalidStreamName> {
    StreamName::new("S", &stream_number.to_string())
}

/// Returns the feed span that contains the events of a [`Part`], or `None` if an event kind is
/// invalid.
#[must_use]
pub fn part_span((stream_number, first_index, event_count): Part) -> Option<Span> {
    let event_kind = |index: u64| -> Result<Kind, InvalidEvent> { Kind::new(&format!("K{index}")) };
    let event_indexes = first_index..first_index + event_count;
    let kinds = event_indexes.map(event_kind).collect::<Result<_, _>>().ok()?;
    Some(Span { stream: stream_name(stream_number).ok()?, first: first_index, kinds })
}

impl FeedModel {
    fn batch_spans(&self, indexer_index: usize, batch_index: usize) -> Option<Vec<Span>> {
        let parts = self.batches.get(indexer_index)?.get(batch_index)?;
        parts.iter().map(|part| part_span(*part)).collect()
    }
}

impl Model for FeedModel {
    type State = State;
    type Action = FeedAction;

    fn init_states(&self) -> Vec<State> {
        let mut event_counts = BTreeMap::new();
        for (stream_number, event_count) in (0..).zip(&self.streams) {
            if let Ok(name) = stream_name(stream_number) {
                event_counts.insert(name, *event_count);
            }
        }
        vec![State {
            table: Table::with_streams(event_counts),
            indexers: vec![Indexer::default(); self.batches.len()],
            late_writes: Vec::new(),
            budget: self.budget,
            has_refused_put: false,
            has_raised_marks_of_others: false,
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
