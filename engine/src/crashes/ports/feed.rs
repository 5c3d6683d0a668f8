//! The Feed table and the webhook receiver, with injected faults.

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_base::identity::LogId;
use cellar_catalog::feed::{Checkpoint, Feed, Item, Mark};
use cellar_catalog::stream::StreamName;
use cellar_catalog::webhook::WebhookProgress;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::FaultyPorts;
use crate::ports::{
    DeliveryRejected, FeedTable, FeedWriteOutcome, ListPage, Lists, PortError, ReadConsistency,
    WebhookProgresses, WebhookSender,
};

fn write_failed(error: PortError) -> FeedWriteOutcome {
    if error.temporary { FeedWriteOutcome::Unknown(error) } else { FeedWriteOutcome::Failed(error) }
}

#[async_trait]
impl FeedTable for FaultyPorts {
    async fn newest_partition(
        &self,
        consistency: ReadConsistency,
    ) -> Result<Option<(u64, Feed)>, PortError> {
        self.faults.read(self.index.newest_partition(consistency)).await
    }
    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome {
        self.faults.send_with_fault(self.index.begin_partition(partition, feed), write_failed).await
    }
    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError> {
        self.faults.read(self.index.last_item(partition)).await
    }
    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome {
        self.faults.send_with_fault(self.index.put_item(at, item), write_failed).await
    }
    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Vec<(u64, Item)>, PortError> {
        self.faults.read(self.index.items(from, limit, consistency)).await
    }
    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError> {
        self.faults.read(self.index.mark(stream)).await
    }
    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError> {
        self.faults.send_with_fault(self.index.raise_mark(stream, mark), Err).await
    }
}

#[async_trait]
impl Lists for FaultyPorts {
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError> {
        self.faults.send_with_fault(self.index.put_listed(person, entry), Err).await
    }
    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError> {
        self.faults.read(self.index.listed(person, after, limit)).await
    }
}

#[async_trait]
impl WebhookProgresses for FaultyPorts {
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError> {
        self.faults.read(self.index.progress()).await
    }
    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError> {
        self.faults.send_with_fault(self.index.advance(from, to), Err).await
    }
}

#[async_trait]
impl WebhookSender for FaultyPorts {
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected> {
        let receive = async {
            self.received.lock().unwrap().push(delivery.clone());
            Ok(())
        };
        let sent = self.faults.send_with_fault(receive, Err).await;
        sent.map_err(|error: PortError| DeliveryRejected { reason: error.to_string() })
    }
}
