//! What offloading and trimming need of the tables; no function of the API may do any of it.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

use super::PortError;

/// Where a scan of the Segment table goes on: the key of the record that it came to last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanKey {
    /// Its partition key.
    pub partition: Vec<u8>,
    /// Its sort key.
    pub sort: u64,
}

/// Records of segments, of all logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentPage {
    /// In no particular order of logs; the segments of one log ascend.
    pub segments: Vec<Segment>,
    /// If there are more: where to go on. It need not be one of these.
    pub next: Option<ScanKey>,
}

/// Offloading and trimming, and what is left of a spreadsheet that is trimmed as a whole.
#[async_trait]
pub trait Retention: Send + Sync {
    /// One page of all logs' segments, behind `after`; it may have none though there are more.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError>;

    /// Records where a segment's offload is. Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`Retention::all_segments`]; permanent if there is no such segment.
    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError>;

    /// Marks the first entry of a segment as trimmed; an earlier mark stays.
    ///
    /// # Errors
    /// As [`Retention::all_segments`]; permanent if there is no such entry.
    async fn mark_trimmed(&self, log: LogId, segment: u32, trimmed_s: u64)
    -> Result<(), PortError>;

    /// Deletes entries of one segment. Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`Retention::all_segments`]; some of them may be gone then.
    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError>;

    /// Deletes the record of a segment. Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`Retention::all_segments`].
    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError>;

    /// Deletes a fork from the list of its source, by its number there. Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`Retention::all_segments`].
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError>;
}
