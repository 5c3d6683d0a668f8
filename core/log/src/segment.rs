//! Records of log segments.

use crate::lineage::Lineage;
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// A segment of a log, as recorded in the Segment table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Log of the segment.
    pub log: LogId,
    /// Segment number, starting at 0.
    pub num: u32,
    /// Creation time of the segment, in seconds since the Unix epoch.
    pub created_s: u64,
    /// Entry number of the segment's latest Snapshot entry with a finished snapshot. Stored as
    /// attribute `L`.
    pub last_snapshot: Option<u32>,
    /// S3 key of the offloaded entries, if any. Stored as attribute `A`.
    pub offloaded: Option<String>,
    /// Source and position of the fork, if the log is a fork. Stored only in the record of segment
    /// 0, which has no entries of its own in a fork.
    pub lineage: Option<Lineage>,
}

impl Segment {
    /// Returns the position of the latest finished snapshot in the segment. In a fork, the record
    /// of segment 0 also covers the snapshots of the inherited segments.
    #[must_use]
    pub fn newest_snapshot(&self) -> Option<Position> {
        let own_snapshot =
            self.last_snapshot.and_then(|entry_number| Position::new(self.num, entry_number).ok());
        let inherited_snapshot = self.lineage.and_then(|lineage| lineage.snapshot);
        own_snapshot.or(inherited_snapshot)
    }
}
