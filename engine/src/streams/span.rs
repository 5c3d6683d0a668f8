//! Reads ranges of events from a stream.

use std::ops::Range;
use std::sync::Arc;

use cellar_catalog::feed::Span;
use cellar_catalog::stream::{StreamEvent, StreamName, Tip};

use super::{StreamError, StreamStore};
use crate::ports::{PortError, ReadConsistency};

impl StreamStore {
    /// Returns the events of a stream with the given indexes. Returns `None` if any of them is
    /// missing, for example after an eventually consistent read.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Store`] if the store fails permanently.
    pub async fn stored_events(
        &self,
        stream: &StreamName,
        event_indexes: Range<u64>,
        consistency: ReadConsistency,
    ) -> Result<Option<Vec<StreamEvent>>, StreamError> {
        let Some(tip) = self.read_tip(stream, consistency).await? else { return Ok(None) };
        self.events_of(&tip, event_indexes, consistency).await
    }

    /// Returns the events of a stream with the given indexes, using the latest stream item `tip`,
    /// which the caller has already read. Event batches are read only if they contain some of the
    /// events.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Store`] if the store fails permanently.
    pub async fn events_of(
        &self,
        tip: &Tip,
        event_indexes: Range<u64>,
        consistency: ReadConsistency,
    ) -> Result<Option<Vec<StreamEvent>>, StreamError> {
        let Range { start, end } = event_indexes;
        let mut first_index = tip.first();
        let mut items_newest_first = vec![tip.events.clone()];
        while first_index > start {
            let batches = self.read_batches(&tip.name, first_index, consistency).await?;
            let Some(oldest_batch) = batches.last() else { return Ok(None) };
            first_index = oldest_batch.index;
            items_newest_first.extend(batches.into_iter().map(|batch| batch.events));
        }
        if tip.next < end {
            return Ok(None);
        }
        let events_oldest_first = items_newest_first.into_iter().rev().flatten();
        let mut requested_events = Vec::new();
        for (index, event) in (first_index..).zip(events_oldest_first) {
            if (start..end).contains(&index) {
                requested_events.push(event);
            }
        }
        Ok(Some(requested_events))
    }

    /// Returns the latest item of a stream. The read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the store fails permanently.
    pub async fn tip(&self, stream: &StreamName) -> Result<Option<Arc<Tip>>, PortError> {
        self.read_tip(stream, ReadConsistency::Strong).await
    }

    /// Returns a span with the kinds of the events that have the given indexes. Returns `None` if
    /// any of them is missing.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the store fails permanently.
    pub async fn span(
        &self,
        stream: &StreamName,
        event_indexes: Range<u64>,
    ) -> Result<Option<Span>, PortError> {
        let first = event_indexes.start;
        let events = self.stored_events(stream, event_indexes, ReadConsistency::Strong).await;
        let events = events.map_err(|error| match error {
            StreamError::Store(error) => error,
            error => PortError::from_permanent(error),
        })?;
        let Some(events) = events else { return Ok(None) };
        let kinds = events.into_iter().map(|event| event.kind).collect();
        Ok(Some(Span { stream: stream.clone(), first, kinds }))
    }
}
