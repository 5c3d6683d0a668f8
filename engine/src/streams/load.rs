//! Reads the state of an event stream.

use std::sync::Arc;

use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_catalog::stream::{
    Decider, EventBatch, Need, Rebuild, RebuildFault, Rebuilt, StreamName, Tip,
};

use super::{StreamError, StreamStore};
use crate::ports::PortError;

/// A state and the tip (latest stream item) from which it was rebuilt.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<S> {
    pub state: S,
    /// Index of the first event that the state does not include.
    pub next: u64,
    /// The tip, or `None` if the stream does not exist.
    pub tip: Option<Arc<Tip>>,
}

impl StreamStore {
    /// Returns a stream's state. Costs one read if the tip (latest item) contains an unfold (cached
    /// state) or an origin event, and more reads otherwise. An eventually consistent read may
    /// return an earlier state.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Rebuild`] if the state cannot be rebuilt from the events, or
    /// [`StreamError::Store`] if the store fails permanently.
    pub async fn load<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        consistent: bool,
    ) -> Result<Loaded<D::State>, StreamError> {
        let tip = self.read_tip(name, consistent).await?;
        let Rebuilt { state, next } = self.rebuild(decider, name, tip.as_deref()).await?;
        Ok(Loaded { state, next, tip })
    }

    /// Rebuilds the state at a tip. If an eventually consistent read misses an event batch, retries
    /// the batch reads with strong consistency.
    pub(super) async fn rebuild<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        tip: Option<&Tip>,
    ) -> Result<Rebuilt<D::State>, StreamError> {
        match self.rebuild_once(decider, name, tip, false).await {
            Err(StreamError::Rebuild(RebuildFault::Damaged { .. })) => {
                self.rebuild_once(decider, name, tip, true).await
            }
            rebuilt => rebuilt,
        }
    }

    async fn rebuild_once<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        tip: Option<&Tip>,
        consistent: bool,
    ) -> Result<Rebuilt<D::State>, StreamError> {
        let mut need = Rebuild::begin(decider, tip)?;
        loop {
            match need {
                Need::Nothing(rebuilt) => return Ok(rebuilt),
                Need::Batches { below, rebuild } => {
                    let batches = self.read_batches(name, below, consistent).await?;
                    need = rebuild.add_batches(&batches)?;
                }
            }
        }
    }

    pub(super) async fn read_tip(
        &self,
        name: &StreamName,
        consistent: bool,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        self.retried(|| self.streams.tip(name, consistent)).await
    }

    pub(super) async fn read_batches(
        &self,
        name: &StreamName,
        below: u64,
        consistent: bool,
    ) -> Result<Vec<EventBatch>, PortError> {
        self.retried(|| self.streams.batches_before(name, below, consistent)).await
    }

    /// Runs a read, retrying temporary failures up to `MAX_READ_ATTEMPTS` attempts in total.
    async fn retried<T, F>(&self, read: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        let mut attempt = 1;
        loop {
            match read().await {
                Err(error) if error.temporary && attempt < MAX_READ_ATTEMPTS => {
                    tracing::warn!(attempt, %error, "a read of an event stream failed; retrying");
                    self.pause(attempt).await;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }
}
