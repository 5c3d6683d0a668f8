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
    /// The stored tip (latest stream item) does not match the expected tip, so nothing was written.
    Refused {
        /// Current tip (latest stream item), if the response contained it.
        tip: Option<Arc<Tip>>,
    },
    /// An event batch with the same index exists, so nothing was written. The response does not
    /// state whether the tip matched.
    BatchExists,
    /// The write may have taken effect, or may still take effect later.
    Unknown(PortError),
    /// The request was throttled; nothing was written.
    Throttled(PortError),
    /// Nothing was written, and a retry cannot succeed.
    Failed(PortError),
}

/// The EventStream table, whose items are never deleted. Adapters must not retry writes: the append
/// state machine decides how to proceed after an unknown outcome.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Returns a stream's tip (latest item), or `None` if the stream does not exist.
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
    /// page is empty only if there are no such batches.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Streams::tip`].
    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError>;

    /// Creates a stream by writing its first tip (latest item), if the stream does not exist.
    async fn put_first(&self, tip: &Tip) -> StreamOutcome;

    /// Appends events to the tip (latest stream item) if the tip's etag matches.
    async fn update(&self, update: &Update) -> StreamOutcome;

    /// Writes an event batch and updates the tip (latest stream item) in one transaction, if no
    /// batch exists at the index and the tip's etag matches. If an identical request is sent again
    /// within ten minutes of its success, the table may report success again instead of a failed
    /// condition.
    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome;
}

/// A page of the streams in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPage {
    /// Each stream and the index of its next event. A stream may be on several pages.
    pub streams: Vec<(StreamName, u64)>,
    /// Scan key after which the next page starts, or `None` on the last page.
    pub next: Option<StreamScanKey>,
}

/// Position in a scan of the EventStream table: the key of the last scanned item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamScanKey {
    pub stream: String,
    /// Index of the item.
    pub index: u64,
}

/// Lists all streams in a table. Intended for operators, since the scan reads the whole table.
#[async_trait]
pub trait AllStreams: Send + Sync {
    /// Returns a page of streams in no particular order. The read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError>;
}
