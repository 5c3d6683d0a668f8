//! Reads the events of a stream in reverse order.

use cellar_catalog::stream::{Dated, Decider, EventBatch, RebuildFault, StreamName, newest_first};

use super::{StreamError, StreamStore};
use crate::ports::ReadConsistency;

/// The events of one item of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events<E> {
    /// Events, newest first.
    pub events: Vec<Dated<E>>,
    /// Index below which older events follow, or `None` if there are no older events.
    pub below: Option<u64>,
}

impl StreamStore {
    /// Returns the events of one stream item in reverse order. The item contains the event before
    /// `before_index`, or the latest events if `before_index` is `None`. Only events whose indexes
    /// are less than `before_index` are returned.
    ///
    /// The call reads the latest item and, if the events are older, an event batch.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Rebuild`] if an event is unreadable, or [`StreamError::Store`] if the
    /// store fails permanently.
    pub async fn events_back<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        before_index: Option<u64>,
    ) -> Result<Events<D::Event>, StreamError> {
        let no_events = Events { events: Vec::new(), below: None };
        let Some(tip) = self.read_tip(stream, ReadConsistency::Eventual).await? else {
            return Ok(no_events);
        };
        let (first_index, mut events) = match before_index {
            Some(0) => return Ok(no_events),
            Some(before_index) if before_index <= tip.first() => {
                let batch = self.read_batch_before(stream, before_index).await?;
                (batch.index, newest_first(decider, batch.index, &batch.events)?)
            }
            _ => (tip.first(), newest_first(decider, tip.first(), &tip.events)?),
        };
        if let Some(before_index) = before_index {
            events.retain(|event| event.index < before_index);
        }
        let has_older_events = first_index > 0;
        Ok(Events { events, below: if has_older_events { Some(first_index) } else { None } })
    }

    async fn read_batch_before(
        &self,
        stream: &StreamName,
        before_index: u64,
    ) -> Result<EventBatch, StreamError> {
        let mut batches =
            self.read_batches(stream, before_index, ReadConsistency::Eventual).await?;
        if batches.is_empty() {
            batches = self.read_batches(stream, before_index, ReadConsistency::Strong).await?;
        }
        let newest_batch = batches.into_iter().next();
        Ok(newest_batch.ok_or(RebuildFault::Damaged { index: before_index })?)
    }
}
