//! Port of the EventStream table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};

use super::PortError;

/// Outcome of a conditional write to an event stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamOutcome {
    /// The write succeeded durably.
    Done,
    /// The condition on the tip failed; nothing was written.
    Refused {
        /// The current tip, if the response included it.
        tip: Option<Arc<Tip>>,
    },
    /// An event batch with the same index exists, and the response did not report a failed
    /// condition on the tip; nothing was written.
    BatchExists,
    /// The write may or may not have happened, or may still happen.
    Unknown(PortError),
    /// The request was throttled; nothing was written.
    Throttled(PortError),
    /// The write did not happen, and a retry cannot succeed.
    Failed(PortError),
}

/// The EventStream table. Items are never deleted. Adapters must not retry writes: the append
/// machine decides what an unknown outcome allows.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Returns the tip of a stream; `None` if the stream does not exist.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn tip(&self, name: &StreamName, consistent: bool)
    -> Result<Option<Arc<Tip>>, PortError>;

    /// Returns one page of the event batches with an index less than `below`, newest first. Empty
    /// only if there are none.
    ///
    /// # Errors
    /// As [`Streams::tip`].
    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistent: bool,
    ) -> Result<Vec<EventBatch>, PortError>;

    /// Writes the first tip of a stream if the stream does not exist.
    async fn put_first(&self, tip: &Tip) -> StreamOutcome;

    /// Appends to the tip that has the expected etag.
    async fn update(&self, update: &Update) -> StreamOutcome;

    /// Writes an event batch if its index is free, and updates the tip if it has the expected etag,
    /// in one transaction. An identical request within ten minutes after a success may also
    /// succeed.
    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome;
}

/// One page of the streams of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPage {
    /// Each stream with the index of its next event. A stream may be on several pages.
    pub streams: Vec<(StreamName, u64)>,
    /// Start of the next page; `None` on the last page.
    pub next: Option<StreamScanKey>,
}

/// A place in a scan of the EventStream table: the key of the last scanned item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamScanKey {
    /// Name of the stream.
    pub stream: String,
    /// Index of the item.
    pub index: u64,
}

/// All streams of a table. For operators, since a scan reads the whole table.
#[async_trait]
pub trait AllStreams: Send + Sync {
    /// Returns one page of streams, unordered and strongly consistent.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError>;
}
