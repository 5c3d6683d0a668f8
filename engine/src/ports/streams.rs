//! The EventStream table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};

use super::PortError;

/// What came of a conditional write to a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamOutcome {
    /// It is done, durably.
    Done,
    /// The condition on the tip does not hold: nothing was written.
    Refused {
        /// The tip that stands there, if it was told.
        tip: Option<Arc<Tip>>,
    },
    /// An event batch stands where another was to be put, and it was not told that the condition on the tip
    /// fails: nothing was written.
    BatchExists,
    /// It may or may not have happened, or may yet.
    Unknown(PortError),
    /// It was not accepted, as there are too many at once: nothing was written.
    Throttled(PortError),
    /// It did not happen and trying again does not help.
    Failed(PortError),
}

/// The EventStream table. Nothing is ever deleted, and writes are never
/// retried by the port: an unknown outcome is for the append machine.
#[async_trait]
pub trait Streams: Send + Sync {
    /// The tip of a stream; `None` if there is no such stream.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn tip(&self, name: &StreamName, consistent: bool)
    -> Result<Option<Arc<Tip>>, PortError>;

    /// One page of the event batches whose index is below `below`, the newest first; none only if there are
    /// none.
    ///
    /// # Errors
    /// As [`Streams::tip`].
    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistent: bool,
    ) -> Result<Vec<EventBatch>, PortError>;

    /// Puts the first tip of a stream if there is none.
    async fn put_first(&self, tip: &Tip) -> StreamOutcome;

    /// Appends to a tip that has the expected etag.
    async fn update(&self, update: &Update) -> StreamOutcome;

    /// Puts an event batch if its key is free and updates the tip if it has the expected etag: both or nothing.
    /// The same again within ten minutes of its success may be answered with that.
    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome;
}

/// Some of the streams of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPage {
    /// Each stream, and the index of its next event. A stream may be on several pages.
    pub streams: Vec<(StreamName, u64)>,
    /// Where to go on; none behind the last.
    pub next: Option<StreamScanKey>,
}

/// A place in a scan of the EventStream table: the key of the last item that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamScanKey {
    /// The stream.
    pub stream: String,
    /// The index of the item.
    pub index: u64,
}

/// All streams of a table: for operators, as it reads everything.
#[async_trait]
pub trait AllStreams: Send + Sync {
    /// One page of them, in no order, read consistently.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError>;
}
