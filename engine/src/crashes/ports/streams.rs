//! The EventStream table, with injected faults.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};

use super::FaultyPorts;
use crate::ports::{PortError, ReadConsistency, StreamOutcome, Streams};

fn write_failed(error: PortError) -> StreamOutcome {
    if error.temporary { StreamOutcome::Unknown(error) } else { StreamOutcome::Failed(error) }
}

#[async_trait]
impl Streams for FaultyPorts {
    async fn tip(
        &self,
        name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        self.faults.read(self.streams.tip(name, consistency)).await
    }
    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        self.faults.read(self.streams.batches_before(name, below, consistency)).await
    }
    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        self.faults.send_with_fault(self.streams.put_first(tip), write_failed).await
    }
    async fn update(&self, update: &Update) -> StreamOutcome {
        self.faults.send_with_fault(self.streams.update(update), write_failed).await
    }
    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        self.faults.send_with_fault(self.streams.split_off(batch, update), write_failed).await
    }
}
