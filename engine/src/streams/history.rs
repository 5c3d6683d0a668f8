//! Reads a stream's events from newest to oldest.

use cellar_catalog::stream::{Dated, Decider, RebuildFault, StreamName, newest_first};

use super::{StreamError, StreamStore};

/// The events of one item of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events<E> {
    /// Events, newest first.
    pub events: Vec<Dated<E>>,
    /// Index below which the stream has older events, or `None` if this item contains the oldest
    /// events.
    pub below: Option<u64>,
}

impl StreamStore {
    /// Returns the events with indexes less than `below` from one stream item, newest first. The
    /// item is the tip (latest item) or the event batch that contains event `below - 1`. Costs one
    /// read for the tip, plus one for an event batch.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Rebuild`] if an event is unreadable, or [`StreamError::Store`] if the
    /// store fails permanently.
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
