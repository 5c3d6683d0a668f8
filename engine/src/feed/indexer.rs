//! Adds events to the feed by performing the actions of the indexing state machine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_catalog::feed::{
    Indexed, Indexing, IndexingAction, IndexingAnswer, IndexingFault, Known, Mark, PartitionPolicy,
    Rules, Span,
};
use cellar_catalog::stream::StreamName;
use cellar_log::append::Inputs;
use futures_util::future::try_join_all;

use super::error::FeedError;
use super::reactions::Reactions;
use super::sources::Sources;
use crate::ports::{
    Clock, Entries, FeedTable, FeedWriteOutcome, PortError, Random, ReadConsistency, Streams,
};
use crate::unexpected_event::log_unexpected;

/// Adds appended events to the feed. Caches the end of the feed, so that indexing a batch of events
/// of one stream usually costs two writes and no read.
#[derive(Clone)]
pub struct Indexer {
    index: Arc<dyn FeedTable>,
    sources: Sources,
    reactions: Arc<dyn Reactions>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tables_incarnation: u32,
    policy: PartitionPolicy,
    cached_end: Arc<Mutex<Known>>,
}

impl Indexer {
    /// Creates an indexer for these event streams. `tables_incarnation` is the number of times that
    /// the tables were restored.
    #[must_use]
    pub fn new(
        index: Arc<dyn FeedTable>,
        streams: Arc<dyn Streams>,
        reactions: Arc<dyn Reactions>,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
        tables_incarnation: u32,
    ) -> Self {
        Self {
            index,
            sources: Sources::new(streams, Arc::clone(&clock), Arc::clone(&random)),
            reactions,
            clock,
            random,
            tables_incarnation,
            policy: PartitionPolicy::default(),
            cached_end: Arc::default(),
        }
    }

    /// Indexes log entries in addition to catalog events.
    #[must_use]
    pub fn with_entries(self, entries: Arc<dyn Entries>) -> Self {
        Self { sources: self.sources.with_entries(entries), ..self }
    }

    /// Sets the policy that decides when a feed partition ends.
    #[must_use]
    pub fn with_partition_policy(self, policy: PartitionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Adds appended events to the feed. Events that the feed already contains are skipped. If the
    /// feed lacks earlier events of the same streams, these events are added first.
    ///
    /// # Errors
    ///
    /// Returns [`FeedError`] if the indexing fails. Events that were already added stay in the
    /// feed.
    pub async fn index(&self, mut spans: Vec<Span>) -> Result<Indexed, FeedError> {
        let end_spans = self.sources.end_spans_of_previous_segments(&spans).await?;
        spans.extend(end_spans);
        let cached_end = std::mem::take(&mut *self.lock_cached_end());
        let (indexing, action) = Indexing::begin_with_policy_and_rules(
            cached_end,
            spans,
            self.tables_incarnation,
            self.policy,
            Rules::default(),
            self.inputs(),
        );
        self.run_to_completion(indexing, action).await
    }

    /// Starts a new generation of the feed after the existing one. The caller must then index all
    /// events of every stream again.
    ///
    /// # Errors
    ///
    /// Returns [`FeedError`] if the state machine refuses or the store fails.
    pub async fn start_new_feed(&self) -> Result<Indexed, FeedError> {
        let (indexing, action) = Indexing::begin_rebuild(self.tables_incarnation, self.inputs());
        self.run_to_completion(indexing, action).await
    }

    async fn run_to_completion(
        &self,
        mut indexing: Indexing,
        mut action: IndexingAction,
    ) -> Result<Indexed, FeedError> {
        let mut last_store_error = None;
        loop {
            let answer = match action {
                IndexingAction::Finish(Ok(indexed)) => {
                    *self.lock_cached_end() = indexing.known();
                    return Ok(indexed);
                }
                IndexingAction::Finish(Err(fault)) => {
                    return Err(match (fault, last_store_error) {
                        (IndexingFault::Store, Some(error)) => FeedError::Store(error),
                        (IndexingFault::Unexpected(unexpected), _) => {
                            log_unexpected(&unexpected);
                            FeedError::Indexing(unexpected.into())
                        }
                        (fault, _) => FeedError::Indexing(fault),
                    });
                }
                action => match self.perform_action(&action).await {
                    Ok(answer) => answer,
                    Err(error) => {
                        tracing::warn!(%error, "a request to the Feed table failed");
                        let temporary = error.temporary;
                        last_store_error = Some(error);
                        IndexingAnswer::Failed { temporary }
                    }
                },
            };
            (indexing, action) = indexing.step(answer, self.inputs());
        }
    }

    async fn perform_action(&self, action: &IndexingAction) -> Result<IndexingAnswer, PortError> {
        match action {
            IndexingAction::ReadPartition => Ok(IndexingAnswer::Partition(
                self.index.newest_partition(ReadConsistency::Strong).await?,
            )),
            IndexingAction::BeginPartition { partition, feed } => {
                answer_to_write(self.index.begin_partition(*partition, *feed).await)
            }
            IndexingAction::ReadTail { partition } => {
                Ok(IndexingAnswer::LastItem(self.index.last_item(*partition).await?))
            }
            IndexingAction::ReadMarks { streams } => self.read_marks(streams).await,
            IndexingAction::RaiseMarks { marks } => self.raise_marks(marks).await,
            IndexingAction::ReadMissing { stream, from, to } => {
                Ok(IndexingAnswer::Events(self.sources.span(stream, *from..*to).await?))
            }
            IndexingAction::React { spans } => {
                self.reactions.react(spans).await?;
                Ok(IndexingAnswer::Done)
            }
            IndexingAction::Put { at, item } => {
                answer_to_write(self.index.put_item(*at, item).await)
            }
            IndexingAction::Wait { delay_ms } => {
                self.clock.sleep_ms(*delay_ms).await;
                Ok(IndexingAnswer::Waited)
            }
            IndexingAction::Finish(_) => Err(PortError::permanent("the indexing has finished")),
        }
    }

    async fn read_marks(&self, streams: &[StreamName]) -> Result<IndexingAnswer, PortError> {
        let marks = try_join_all(streams.iter().map(|stream| self.index.mark(stream))).await?;
        let mut stored_marks = Vec::new();
        for (stream, mark) in streams.iter().zip(marks) {
            if let Some(mark) = mark {
                stored_marks.push((stream.clone(), mark));
            }
        }
        Ok(IndexingAnswer::Marks(stored_marks))
    }

    async fn raise_marks(&self, marks: &[(StreamName, Mark)]) -> Result<IndexingAnswer, PortError> {
        let raises = marks.iter().map(|(stream, mark)| self.index.raise_mark(stream, *mark));
        try_join_all(raises).await?;
        Ok(IndexingAnswer::Done)
    }

    fn lock_cached_end(&self) -> MutexGuard<'_, Known> {
        self.cached_end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inputs(&self) -> Inputs {
        Inputs { now_s: self.clock.now_ms() / 1_000, random: self.random.next() }
    }
}

fn answer_to_write(outcome: FeedWriteOutcome) -> Result<IndexingAnswer, PortError> {
    match outcome {
        FeedWriteOutcome::Done => Ok(IndexingAnswer::Done),
        FeedWriteOutcome::Exists => Ok(IndexingAnswer::Exists),
        FeedWriteOutcome::Unknown(error) => {
            tracing::warn!(%error, "the outcome of a write to the Feed table is unknown");
            Ok(IndexingAnswer::Unknown)
        }
        FeedWriteOutcome::Failed(error) => Err(error),
    }
}
