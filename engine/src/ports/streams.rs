//! Port of the EventStream table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};

use super::PortError;

/// Outcome of a conditional write to an event stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamOutcome {
    /// The write was stored durably.
    Done,
    /// The condition on the tip failed; nothing was written.
    Refused {
        /// The current tip, if the response included the tip.
        tip: Option<Arc<Tip>>,
    },
    /// An event batch with the same index exists, so nothing was written. The response did not
    /// report a failed condition on the tip.
    BatchExists,
    /// The write may have happened, or may still happen later.
    Unknown(PortError),
    /// The request was throttled; nothing was written.
    Throttled(PortError),
    /// The write did not happen, and a retry cannot succeed.
    Failed(PortError),
}

/// The EventStream table. Its items are never deleted. Adapters must not retry writes: the append
/// state machine decides how to continue after an unknown outcome.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Returns the tip of a stream; `None` if the stream does not exist.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn tip(&self, name: &StreamName, consistent: bool)
    -> Result<Option<Arc<Tip>>, PortError>;

    /// Returns a page of event batches with indexes less than `below`, newest first. The page is
    /// empty only if no such batches exist.
    ///
    /// # Errors
    /// Returns the same errors as [`Streams::tip`].
    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistent: bool,
    ) -> Result<Vec<EventBatch>, PortError>;

    /// Writes the first tip of a stream if the stream does not exist.
    async fn put_first(&self, tip: &Tip) -> StreamOutcome;

    /// Appends events to the tip if the tip's etag is the expected etag.
    async fn update(&self, update: &Update) -> StreamOutcome;

    /// Writes an event batch and updates the tip in one transaction. The transaction succeeds if no
    /// batch exists at the index and the tip has the expected etag. If an identical request is sent
    /// again within ten minutes after a success, the repeated request may also succeed.
    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome;
}

/// One page of the streams of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPage {
    /// Pairs of a stream and the index of its next event. The same stream may be on several pages.
    pub streams: Vec<(StreamName, u64)>,
    /// Scan key after which the next page starts; `None` on the last page.
    pub next: Option<StreamScanKey>,
}

/// Place in a scan of the EventStream table: the key of the last scanned item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamScanKey {
    pub stream: String,
    /// Index of the item.
    pub index: u64,
}

/// Lists all streams of a table. Intended for operators, since a scan reads the whole table.
#[async_trait]
pub trait AllStreams: Send + Sync {
    /// Returns a page of streams in no particular order. The read is strongly consistent.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError>;
}
