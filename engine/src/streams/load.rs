//! Reads the state of a stream.

use std::sync::Arc;

use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_catalog::stream::{
    Decider, EventBatch, Need, Rebuild, RebuildFault, Rebuilt, StreamName, Tip,
};

use super::{StreamError, StreamStore};
use crate::ports::PortError;

/// A state, and the tip that it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<S> {
    /// The state.
    pub state: S,
    /// Index of the first event that is not in it.
    pub next: u64,
    /// The tip; `None` if there is no such stream.
    pub tip: Option<Arc<Tip>>,
}

impl StreamStore {
    /// The state of a stream: one read, unless neither an unfold nor an origin is in its tip. What is not
    /// read consistently may be a little old, but is a state that the stream had.
    ///
    /// # Errors
    /// [`StreamError::Rebuild`] if no state can be made of the events, [`StreamError::Store`] if the
    /// store fails for good.
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

    /// The state of a stream at a tip. An event batch that is not there yet, as the read was not consistent, is
    /// read again so that it is.
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

    /// Repeats a read while its failure is temporary, at most `MAX_READ_ATTEMPTS` times.
    async fn retried<T, F>(&self, read: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        let mut attempt = 1;
        loop {
            match read().await {
                Err(error) if error.temporary && attempt < MAX_READ_ATTEMPTS => {
                    tracing::warn!(attempt, %error, "a stream could not be read");
                    self.pause(attempt).await;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }
}
