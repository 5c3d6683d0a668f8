//! Port for offloading and trimming log segments. The API functions do not have permission to use
//! it.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

use super::PortError;

/// Position in a scan of the Segment table, given by the key of the last scanned record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanKey {
    pub partition: Vec<u8>,
    pub sort: u64,
}

/// A page of the segments of all logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentPage {
    /// Segments on the page. Segments of the same log are adjacent and in ascending order. The
    /// order of the logs is arbitrary.
    pub segments: Vec<Segment>,
    /// Key after which the next page starts, or `None` on the last page. It may belong to a record
    /// that is not in `segments`.
    pub next: Option<ScanKey>,
}

/// Offloads and trims segments, and deletes the records of purged spreadsheets.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Returns a page of the segments of all logs, starting after `after`. A page may be empty even
    /// if more pages follow.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError>;

    /// Stores the key of a segment's offloaded copy in the segment record. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. The error is permanent if the segment does not
    /// exist.
    async fn set_offloaded(&self, log_id: LogId, segment: u32, key: &str) -> Result<(), PortError>;

    /// Marks a segment as trimmed in its first entry. Has no effect if the mark is already set.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. The error is permanent if the entry does not
    /// exist.
    async fn mark_trimmed(
        &self,
        log_id: LogId,
        segment: u32,
        trimmed_s: u64,
    ) -> Result<(), PortError>;

    /// Deletes entries of a segment. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails. Some of the entries may then be deleted.
    async fn delete(&self, log_id: LogId, positions: &[Position]) -> Result<(), PortError>;

    /// Deletes a segment record. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete_segment(&self, log_id: LogId, segment: u32) -> Result<(), PortError>;

    /// Deletes the record with a given number from a log's list of forks. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError>;
}
