//! In-memory EventStream table, with the same records and conditions as the DynamoDB table.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cellar_base::limits::TIP_INDEX;
use cellar_base::{record::Item, record::RecordError};
use cellar_catalog::records::stream::{
    decode_event_batch, decode_tip, encode_event_batch, encode_tip,
};
use cellar_catalog::stream::{Etag, EventBatch, StreamName, Tip, Update};

use crate::ports::{AllStreams, PortError, StreamOutcome, StreamPage, StreamScanKey, Streams};

/// The page size is small, so that callers must request several pages.
const BATCHES_PER_PAGE: usize = 2;

type Items = BTreeMap<(StreamName, u64), Item>;

/// In-memory EventStream table. All reads are strongly consistent.
#[derive(Debug, Default)]
pub struct MemoryStreams {
    items: Mutex<Items>,
}

impl MemoryStreams {
    fn lock(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an independent copy of the table.
    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { items: Mutex::new(self.lock().clone()) }
    }

    /// Returns all items, sorted by key. Each item consists of the index of its first event and its
    /// event data.
    #[cfg(test)]
    pub(crate) fn contents(&self) -> Vec<(u64, Vec<Vec<u8>>)> {
        let said = |events: &[cellar_catalog::stream::StreamEvent]| {
            events.iter().map(|event| event.data.stored.clone()).collect()
        };
        let items = self.lock();
        let read = items.iter().map(|((_, index), item)| match *index {
            TIP_INDEX => decode_tip(item).map(|tip| (tip.first(), said(&tip.events))).unwrap(),
            index => (index, said(&decode_event_batch(item).unwrap().events)),
        });
        read.collect()
    }
}

fn tip_of(items: &Items, name: &StreamName) -> Result<Option<Arc<Tip>>, RecordError> {
    let item = items.get(&(name.clone(), TIP_INDEX));
    item.map(|item| decode_tip(item).map(Arc::new)).transpose()
}

/// Writes the tip (latest item) and the event batch if the stored tip has the expected etag and the
/// event batch does not exist. If the expected etag is `None`, no tip may exist.
fn write(
    items: &mut Items,
    batch: Option<&EventBatch>,
    tip: &Tip,
    expected: Option<Etag>,
) -> StreamOutcome {
    let stands = match tip_of(items, &tip.name) {
        Ok(stands) => stands,
        Err(error) => return StreamOutcome::Failed(error.into()),
    };
    if stands.as_ref().map(|tip| tip.etag) != expected {
        return StreamOutcome::Refused { tip: stands };
    }
    if let Some(batch) = batch {
        let key = (batch.name.clone(), batch.index);
        if items.contains_key(&key) {
            return StreamOutcome::BatchExists;
        }
        items.insert(key, encode_event_batch(batch));
    }
    items.insert((tip.name.clone(), TIP_INDEX), encode_tip(tip));
    StreamOutcome::Done
}

#[async_trait]
impl Streams for MemoryStreams {
    async fn tip(&self, name: &StreamName, _: bool) -> Result<Option<Arc<Tip>>, PortError> {
        Ok(tip_of(&self.lock(), name)?)
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        _: bool,
    ) -> Result<Vec<EventBatch>, PortError> {
        let items = self.lock();
        let range = (name.clone(), 0)..(name.clone(), below.min(TIP_INDEX));
        let batches = items.range(range).rev().take(BATCHES_PER_PAGE);
        Ok(batches.map(|(_, item)| decode_event_batch(item)).collect::<Result<_, _>>()?)
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        write(&mut self.lock(), None, tip, None)
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        write(&mut self.lock(), None, &update.tip, Some(update.expected))
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        write(&mut self.lock(), Some(batch), &update.tip, Some(update.expected))
    }
}

/// The page size is small, so that callers must request several pages.
const PAGE_STREAMS: usize = 3;

#[async_trait]
impl AllStreams for MemoryStreams {
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError> {
        let items = self.lock();
        let tips = items.iter().filter(|((_, index), _)| *index == TIP_INDEX);
        let after = after.map(|after| after.stream).unwrap_or_default();
        let behind = tips.filter(|((name, _), _)| name.as_str() > after.as_str());
        let page: Vec<_> = behind.take(PAGE_STREAMS).collect();
        let next = page.last().filter(|_| page.len() == PAGE_STREAMS);
        let next = next
            .map(|((name, index), _)| StreamScanKey { stream: name.to_string(), index: *index });
        let read = |((name, _), item): &(&(StreamName, u64), &Item)| {
            decode_tip(item).map(|tip| (name.clone(), tip.next))
        };
        Ok(StreamPage { streams: page.iter().map(read).collect::<Result<_, _>>()?, next })
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
