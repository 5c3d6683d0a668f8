//! Drives the indexing machine: performs its actions and reports what came of them.

use std::sync::{Arc, Mutex, PoisonError};

use cellar_catalog::feed::{
    Indexed, Indexing, IndexingAction, IndexingAnswer, IndexingFault, Known, Mark, PartitionPolicy,
    Rules, Span,
};
use cellar_catalog::stream::StreamName;
use cellar_log::append::Inputs;
use futures_util::future::try_join_all;

use super::reactions::Reactions;
use super::sources::Sources;
use crate::ports::{Clock, Entries, Index, IndexOutcome, PortError, Random, Streams};

/// Indexes what was appended to streams. It remembers the end of the index, so that a batch of events of
/// one stream is usually two writes and no read.
#[derive(Clone)]
pub struct Indexer {
    index: Arc<dyn Index>,
    sources: Sources,
    reactions: Arc<dyn Reactions>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tables_incarnation: u32,
    policy: PartitionPolicy,
    known: Arc<Mutex<Known>>,
}

/// Why events were not indexed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// As the machine decides.
    #[error(transparent)]
    Indexing(#[from] IndexingFault),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] PortError),
}

impl IndexError {
    /// Whether the same may succeed later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Indexing(fault) => {
                matches!(fault, IndexingFault::Contention | IndexingFault::Store)
            }
            Self::Store(error) => error.temporary,
        }
    }
}

impl Indexer {
    /// An indexer of these streams, in tables of this partition.
    #[must_use]
    pub fn new(
        index: Arc<dyn Index>,
        streams: Arc<dyn Streams>,
        reactions: Arc<dyn Reactions>,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Random>),
        tables_incarnation: u32,
    ) -> Self {
        let sources = Sources::new(streams, Arc::clone(&clock), Arc::clone(&random));
        let (policy, known) = (PartitionPolicy::default(), Arc::default());
        Self { index, sources, reactions, clock, random, tables_incarnation, policy, known }
    }

    /// The same, of the entries of spreadsheets' logs, too.
    #[must_use]
    pub fn with_entries(self, entries: Arc<dyn Entries>) -> Self {
        Self { sources: self.sources.with_entries(entries), ..self }
    }

    /// The same, whose partitions end otherwise.
    #[must_use]
    pub fn ending(self, policy: PartitionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Indexes events that were appended, and whatever of their streams is missing before them. It may be
    /// repeated: what is indexed is not indexed again.
    ///
    /// # Errors
    /// [`IndexError`]; what was indexed before it stays.
    pub async fn index(&self, spans: Vec<Span>) -> Result<Indexed, IndexError> {
        let ends = self.sources.ends_before(&spans).await?;
        let spans = spans.into_iter().chain(ends).collect();
        let known = std::mem::take(&mut *self.known.lock().unwrap_or_else(PoisonError::into_inner));
        let rules = Rules::default();
        let begun = Indexing::begin_by(
            known,
            spans,
            self.tables_incarnation,
            self.policy,
            rules,
            self.inputs(),
        );
        self.drive(begun).await
    }

    /// Begins a new feed, behind the one that there is: every stream is to be indexed again.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn begin_anew(&self) -> Result<Indexed, IndexError> {
        self.drive(Indexing::begin_rebuild(self.tables_incarnation, self.inputs())).await
    }

    async fn drive(&self, begun: (Indexing, IndexingAction)) -> Result<Indexed, IndexError> {
        let (mut indexing, mut action) = begun;
        let mut store_error = None;
        loop {
            let answer = match action {
                IndexingAction::Finish(Ok(indexed)) => {
                    *self.known.lock().unwrap_or_else(PoisonError::into_inner) = indexing.known();
                    return Ok(indexed);
                }
                IndexingAction::Finish(Err(fault)) => {
                    return Err(match (fault, store_error) {
                        (IndexingFault::Store, Some(error)) => IndexError::Store(error),
                        (fault, _) => IndexError::Indexing(fault),
                    });
                }
                action => self.perform(&action).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "the index did not answer");
                    let temporary = error.temporary;
                    store_error = Some(error);
                    IndexingAnswer::Failed { temporary }
                }),
            };
            (indexing, action) = indexing.step(answer, self.inputs());
        }
    }

    async fn perform(&self, action: &IndexingAction) -> Result<IndexingAnswer, PortError> {
        Ok(match action {
            IndexingAction::ReadPartition => {
                IndexingAnswer::Partition(self.index.newest_partition(true).await?)
            }
            IndexingAction::BeginPartition { partition, feed } => {
                answer(self.index.begin_partition(*partition, *feed).await)?
            }
            IndexingAction::ReadTail { partition } => {
                IndexingAnswer::Last(self.index.last_item(*partition).await?)
            }
            IndexingAction::ReadMarks { streams } => {
                let marks = streams.iter().map(|stream| self.mark(stream));
                IndexingAnswer::Marks(try_join_all(marks).await?.into_iter().flatten().collect())
            }
            IndexingAction::RaiseMarks { marks } => {
                let raised =
                    marks.iter().map(|(stream, mark)| self.index.raise_mark(stream, *mark));
                try_join_all(raised).await?;
                IndexingAnswer::Done
            }
            IndexingAction::ReadMissing { stream, from, to } => {
                IndexingAnswer::Missing(self.sources.span(stream, *from, *to).await?)
            }
            IndexingAction::React { spans } => {
                self.reactions.react(spans).await?;
                IndexingAnswer::Done
            }
            IndexingAction::Put { at, item } => answer(self.index.put_item(*at, item).await)?,
            IndexingAction::Wait { delay_ms } => {
                self.clock.sleep_ms(*delay_ms).await;
                IndexingAnswer::Waited
            }
            IndexingAction::Finish(_) => IndexingAnswer::Done,
        })
    }

    async fn mark(&self, stream: &StreamName) -> Result<Option<(StreamName, Mark)>, PortError> {
        Ok(self.index.mark(stream).await?.map(|mark| (stream.clone(), mark)))
    }

    fn inputs(&self) -> Inputs {
        Inputs { now_s: self.clock.now_ms() / 1_000, random: self.random.next() }
    }
}

fn answer(outcome: IndexOutcome) -> Result<IndexingAnswer, PortError> {
    match outcome {
        IndexOutcome::Done => Ok(IndexingAnswer::Done),
        IndexOutcome::Exists => Ok(IndexingAnswer::Exists),
        IndexOutcome::Unknown(error) => {
            tracing::warn!(%error, "a write to the index was not answered");
            Ok(IndexingAnswer::Unknown)
        }
        IndexOutcome::Failed(error) => Err(error),
    }
}
