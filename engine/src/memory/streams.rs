//! An in-memory EventStream table. It has the same records and conditions as the DynamoDB table.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cellar_base::limits::TIP_INDEX;
use cellar_base::{record::Item, record::RecordError};
use cellar_catalog::records::stream::{
    decode_event_batch, decode_tip, encode_event_batch, encode_tip,
};
use cellar_catalog::stream::{Etag, EventBatch, StreamName, Tip, Update};

use crate::ports::{
    AllStreams, PortError, ReadConsistency, StreamOutcome, StreamPage, StreamScanKey, Streams,
};

/// The limit is low, so that tests read several pages.
const BATCHES_PER_PAGE: usize = 2;

type Items = BTreeMap<(StreamName, u64), Item>;

/// An in-memory EventStream table. All reads are strongly consistent.
#[derive(Debug, Default)]
pub struct MemoryStreams {
    items: Mutex<Items>,
}

impl MemoryStreams {
    fn lock(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { items: Mutex::new(self.lock().clone()) }
    }

    /// Returns all items, sorted by key. An item is returned as the index of its first event and
    /// its encoded events.
    #[cfg(test)]
    pub(crate) fn contents(&self) -> Vec<(u64, Vec<Vec<u8>>)> {
        let event_data = |events: &[cellar_catalog::stream::StreamEvent]| {
            events.iter().map(|event| event.data.stored.clone()).collect()
        };
        let mut contents = Vec::new();
        for ((_, index), item) in self.lock().iter() {
            if *index == TIP_INDEX {
                let tip = decode_tip(item).unwrap();
                contents.push((tip.first(), event_data(&tip.events)));
            } else {
                let batch = decode_event_batch(item).unwrap();
                contents.push((*index, event_data(&batch.events)));
            }
        }
        contents
    }
}

fn stored_tip(items: &Items, stream: &StreamName) -> Result<Option<Arc<Tip>>, RecordError> {
    match items.get(&(stream.clone(), TIP_INDEX)) {
        Some(item) => Ok(Some(Arc::new(decode_tip(item)?))),
        None => Ok(None),
    }
}

/// If `expected_etag` is `None`, the stream must not exist.
fn write_if_current(
    items: &mut Items,
    batch: Option<&EventBatch>,
    tip: &Tip,
    expected_etag: Option<Etag>,
) -> StreamOutcome {
    let current_tip = match stored_tip(items, &tip.name) {
        Ok(current_tip) => current_tip,
        Err(error) => return StreamOutcome::Failed(error.into()),
    };
    if current_tip.as_ref().map(|tip| tip.etag) != expected_etag {
        return StreamOutcome::Refused { tip: current_tip };
    }
    if let Some(batch) = batch {
        let batch_key = (batch.name.clone(), batch.index);
        if items.contains_key(&batch_key) {
            return StreamOutcome::BatchExists;
        }
        items.insert(batch_key, encode_event_batch(batch));
    }
    items.insert((tip.name.clone(), TIP_INDEX), encode_tip(tip));
    StreamOutcome::Done
}

#[async_trait]
impl Streams for MemoryStreams {
    async fn tip(
        &self,
        name: &StreamName,
        _: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        Ok(stored_tip(&self.lock(), name)?)
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        _: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        let items = self.lock();
        let range = (name.clone(), 0)..(name.clone(), below.min(TIP_INDEX));
        let batches = items.range(range).rev().take(BATCHES_PER_PAGE);
        Ok(batches.map(|(_, item)| decode_event_batch(item)).collect::<Result<_, _>>()?)
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        write_if_current(&mut self.lock(), None, tip, None)
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        write_if_current(&mut self.lock(), None, &update.tip, Some(update.expected))
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        write_if_current(&mut self.lock(), Some(batch), &update.tip, Some(update.expected))
    }
}

/// The limit is low, so that tests read several pages.
const STREAMS_PER_PAGE: usize = 3;

#[async_trait]
impl AllStreams for MemoryStreams {
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError> {
        let after = after.map(|key| key.stream).unwrap_or_default();
        let items = self.lock();
        let remaining_tips = items
            .iter()
            .filter(|((name, index), _)| *index == TIP_INDEX && name.as_str() > after.as_str());
        let mut streams: Vec<(StreamName, u64)> = Vec::new();
        for ((name, _), item) in remaining_tips.take(STREAMS_PER_PAGE) {
            streams.push((name.clone(), decode_tip(item)?.next));
        }
        let is_full = streams.len() == STREAMS_PER_PAGE;
        let next = match streams.last() {
            Some((name, _)) if is_full => {
                Some(StreamScanKey { stream: name.to_string(), index: TIP_INDEX })
            }
            _ => None,
        };
        Ok(StreamPage { streams, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[tokio::test]
    async fn memory_keeps_the_contract() {
        contract::streams(&MemoryStreams::default()).await;
    }
}
