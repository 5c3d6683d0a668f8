//! Port for offloading and trimming segments. The functions that serve the API lack the permissions
//! for it.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

use super::PortError;

/// Place in a scan of the Segment table: the key of the last scanned record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScanKey {
    pub partition: Vec<u8>,
    pub sort: u64,
}

/// One page of the segments of all logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentPage {
    /// Segments on the page. The segments of one log are in ascending order; the logs are in no
    /// particular order.
    pub segments: Vec<Segment>,
    /// Scan key after which the next page starts; `None` on the last page. It may be the key of a
    /// segment that is not in `segments`.
    pub next: Option<ScanKey>,
}

/// Writes that offload and trim segments, and that delete the records of purged spreadsheets.
#[async_trait]
pub trait Retention: Send + Sync {
    /// Returns a page of the segments of all logs, starting after `after`. A page may be empty even
    /// if more pages follow.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError>;

    /// Stores the key of a segment's offloaded copy in the segment's record. Idempotent.
    ///
    /// # Errors
    /// Returns the same errors as [`Retention::all_segments`]. The error is permanent if the
    /// segment does not exist.
    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError>;

    /// Sets the trim mark on the first entry of a segment. An earlier mark is kept.
    ///
    /// # Errors
    /// Returns the same errors as [`Retention::all_segments`]. The error is permanent if the entry
    /// does not exist.
    async fn mark_trimmed(&self, log: LogId, segment: u32, trimmed_s: u64)
    -> Result<(), PortError>;

    /// Deletes entries of one segment. Idempotent.
    ///
    /// # Errors
    /// Returns the same errors as [`Retention::all_segments`]. After an error, some of the entries
    /// may have been deleted.
    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError>;

    /// Deletes the record of a segment. Idempotent.
    ///
    /// # Errors
    /// Returns the same errors as [`Retention::all_segments`].
    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError>;

    /// Deletes the record of a fork from its source's list of forks. The fork is identified by its
    /// number in the list. Idempotent.
    ///
    /// # Errors
    /// Returns the same errors as [`Retention::all_segments`].
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError>;
}
