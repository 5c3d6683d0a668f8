//! Port for the EventStream table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::consistency::ReadConsistency;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};

use super::PortError;

/// Outcome of a conditional write to an event stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamOutcome {
    /// The write is durable.
    Done,
    /// The latest stream item in the table is not the expected one, so nothing was written.
    Refused {
        /// The latest item in the table, if the response contained it.
        tip: Option<Arc<Tip>>,
    },
    /// An event batch with the same index already exists, so nothing was written. It is unknown
    /// whether the latest stream item was the expected one.
    BatchExists,
    /// The write may have succeeded, or may still succeed later.
    Unknown(PortError),
    /// The request was throttled; nothing was written.
    Throttled(PortError),
    /// Nothing was written, and a retry cannot succeed.
    Failed(PortError),
}

/// The EventStream table. Its items are never deleted. Adapters must not retry writes, since the
/// append state machine decides what to do after an unknown outcome.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Returns the latest item of a stream, or `None` if the stream does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn tip(
        &self,
        name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError>;

    /// Returns a page of the event batches whose indexes are less than `below`, newest first. The
    /// page is empty only if there is no such batch.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError>;

    /// Creates a stream by writing its first item, unless the stream already exists.
    async fn put_first(&self, tip: &Tip) -> StreamOutcome;

    /// Appends events to the latest item of a stream if its etag is the expected one.
    async fn update(&self, update: &Update) -> StreamOutcome;

    /// Appends events to the latest item of a stream, and moves its older events to a new event
    /// batch, in one transaction.
    /// Writes nothing if the batch already exists or the latest item's etag is not the expected
    /// one.
    ///
    /// If the same request is repeated within ten minutes of its success, the table may report
    /// success again.
    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome;
}

/// A page of the streams in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPage {
    /// Streams, each with the index of its next event. The same stream may be on several pages.
    pub streams: Vec<(StreamName, u64)>,
    /// Key after which the next page starts, or `None` on the last page.
    pub next: Option<StreamScanKey>,
}

/// Position in a scan of the EventStream table, given by the key of the last scanned item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamScanKey {
    pub stream: String,
    /// Index of the item.
    pub index: u64,
}

/// Lists all streams of a table. Only for operators, since the whole table is scanned.
#[async_trait]
pub trait AllStreams: Send + Sync {
    /// Returns a page of streams in arbitrary order. The read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError>;
}
