//! Reads the state of an event stream.

use std::sync::Arc;

use cellar_catalog::stream::{
    Decider, EventBatch, Rebuild, RebuildFault, RebuildStep, RebuiltState, StreamName, Tip,
};

use super::{StreamError, StreamStore};
use crate::ports::{PortError, ReadConsistency};
use crate::retry::retry_with_jitter;

/// A state, and the stream item from which it was rebuilt.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<S> {
    pub state: S,
    /// Index of the first event that the state does not include.
    pub next: u64,
    /// The latest stream item, or `None` if the stream does not exist.
    pub tip: Option<Arc<Tip>>,
}

impl StreamStore {
    /// Returns the state of a stream. An eventually consistent read may return an earlier state.
    ///
    /// A single read is sufficient if the latest stream item contains a cached state, an origin
    /// event or all events of the stream. Otherwise, event batches are read too.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Rebuild`] if the state cannot be rebuilt from the events, or
    /// [`StreamError::Store`] if the store fails permanently.
    pub async fn load<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Loaded<D::State>, StreamError> {
        let tip = self.read_tip(stream, consistency).await?;
        let RebuiltState { state, next } = self.rebuild(decider, stream, tip.as_deref()).await?;
        Ok(Loaded { state, next, tip })
    }

    /// If an eventually consistent read misses an event batch, reads the batches again with strong
    /// consistency.
    pub(super) async fn rebuild<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        tip: Option<&Tip>,
    ) -> Result<RebuiltState<D::State>, StreamError> {
        match self.rebuild_from_batches(decider, stream, tip, ReadConsistency::Eventual).await {
            Err(StreamError::Rebuild(RebuildFault::Damaged { .. })) => {
                self.rebuild_from_batches(decider, stream, tip, ReadConsistency::Strong).await
            }
            rebuilt => rebuilt,
        }
    }

    async fn rebuild_from_batches<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        tip: Option<&Tip>,
        consistency: ReadConsistency,
    ) -> Result<RebuiltState<D::State>, StreamError> {
        let mut rebuild_step = Rebuild::begin(decider, tip)?;
        loop {
            match rebuild_step {
                RebuildStep::Complete(rebuilt) => return Ok(rebuilt),
                RebuildStep::ReadBatches { below, rebuild } => {
                    let batches = self.read_batches(stream, below, consistency).await?;
                    rebuild_step = rebuild.add_batches(&batches)?;
                }
            }
        }
    }

    pub(super) async fn read_tip(
        &self,
        stream: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        self.retry_read(|| self.streams.tip(stream, consistency)).await
    }

    pub(super) async fn read_batches(
        &self,
        stream: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        self.retry_read(|| self.streams.batches_before(stream, below, consistency)).await
    }

    /// Temporary failures are retried, up to `MAX_READ_ATTEMPTS` attempts in total.
    async fn retry_read<T, F>(&self, send_read: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retry_with_jitter(self.clock.as_ref(), self.random.as_ref(), send_read).await
    }
}
