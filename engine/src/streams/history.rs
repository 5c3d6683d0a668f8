//! Reads the events of a stream, from the newest back.

use cellar_catalog::stream::{Dated, Decider, RebuildFault, StreamName, newest_first};

use super::{StreamError, StreamStore};

/// Some events of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events<E> {
    /// The newest first.
    pub events: Vec<Dated<E>>,
    /// The index below which there are more; `None` if there are none.
    pub below: Option<u64>,
}

impl StreamStore {
    /// The events of one item whose index is below this one, the newest first: those of the tip if `below`
    /// is `None` or in it, otherwise those of an event batch. One read, and one more behind the tip.
    ///
    /// # Errors
    /// [`StreamError::Rebuild`] if an event cannot be read, [`StreamError::Store`] if the store fails for
    /// good.
    pub async fn events_back<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        below: Option<u64>,
    ) -> Result<Events<D::Event>, StreamError> {
        let nothing = || Events { events: Vec::new(), below: None };
        let Some(tip) = self.read_tip(name, false).await? else { return Ok(nothing()) };
        let (first, mut events) = match below {
            Some(below) if below <= tip.first() => {
                if below == 0 {
                    return Ok(nothing());
                }
                let mut batches = self.read_batches(name, below, false).await?;
                if batches.is_empty() {
                    batches = self.read_batches(name, below, true).await?;
                }
                let batch = batches.first().ok_or(RebuildFault::Damaged { index: below })?;
                (batch.index, newest_first(decider, batch.index, &batch.events)?)
            }
            _ => (tip.first(), newest_first(decider, tip.first(), &tip.events)?),
        };
        events.retain(|event| below.is_none_or(|below| event.index < below));
        Ok(Events { events, below: Some(first).filter(|first| *first > 0) })
    }
}
