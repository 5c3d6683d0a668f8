//! Port for offloading and trimming segments. The API functions have no permissions for it.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

use super::PortError;

/// Position in a scan of the Segment table: the key of the last scanned record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanKey {
    pub partition: Vec<u8>,
    pub sort: u64,
}

/// A page of the segments of all logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentPage {
    /// Segments on the page. Segments of the same log are in ascending order. The logs are in no
    /// particular order.
    pub segments: Vec<Segment>,
    /// Scan key after which the next page starts, or `None` on the last page. May be the key of a
    /// segment that is not in `segments`.
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
    /// Returns the same errors as [`Retention::all_segments`]. The error is permanent if the
    /// segment does not exist.
    async fn set_offloaded(&self, log_id: LogId, segment: u32, key: &str) -> Result<(), PortError>;

    /// Sets the trim mark on a segment's first entry. Has no effect if the mark is already set.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Retention::all_segments`]. The error is permanent if the entry
    /// does not exist.
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
    /// Returns the same errors as [`Retention::all_segments`]. Some entries may be deleted despite
    /// the error.
    async fn delete(&self, log_id: LogId, positions: &[Position]) -> Result<(), PortError>;

    /// Deletes a segment record. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Retention::all_segments`].
    async fn delete_segment(&self, log_id: LogId, segment: u32) -> Result<(), PortError>;

    /// Deletes the fork record with a given number from the fork list of its source. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Retention::all_segments`].
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError>;
}
