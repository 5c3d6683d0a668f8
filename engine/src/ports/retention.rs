//! Port for offloading and trimming segments; functions of the API have no permission for it.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

use super::PortError;

/// The place from which a scan of the Segment table continues: the key of the last scanned record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanKey {
    pub partition: Vec<u8>,
    pub sort: u64,
}

/// One page of the segments of all logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentPage {
    /// Segments, with the segments of one log in ascending order. Logs are in no particular order.
    pub segments: Vec<Segment>,
    /// Start of the next page, not necessarily the key of a listed segment; `None` on the last
    /// page.
    pub next: Option<ScanKey>,
}

/// Offloads and trims segments, and deletes the records of purged spreadsheets.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Returns one page of the segments of all logs, after `after`. A page may be empty although
    /// there are more.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError>;

    /// Records the key of a segment's offloaded copy. Idempotent.
    ///
    /// # Errors
    /// As [`Retention::all_segments`]; permanent if the segment does not exist.
    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError>;

    /// Marks the first entry of a segment as trimmed; an earlier mark is kept.
    ///
    /// # Errors
    /// As [`Retention::all_segments`]; permanent if the entry does not exist.
    async fn mark_trimmed(&self, log: LogId, segment: u32, trimmed_s: u64)
    -> Result<(), PortError>;

    /// Deletes entries of one segment. Idempotent.
    ///
    /// # Errors
    /// As [`Retention::all_segments`]; some entries may have been deleted.
    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError>;

    /// Deletes the record of a segment. Idempotent.
    ///
    /// # Errors
    /// As [`Retention::all_segments`].
    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError>;

    /// Deletes a fork from the list of its source, by its number in that list. Idempotent.
    ///
    /// # Errors
    /// As [`Retention::all_segments`].
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError>;
}
