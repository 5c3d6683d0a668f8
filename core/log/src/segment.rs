//! Records of log segments.

use crate::lineage::Lineage;
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// One record of the Segment table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Log id.
    pub log: LogId,
    /// Number of the segment in its log, from 0.
    pub num: u32,
    /// Creation time, Unix seconds.
    pub created_s: u64,
    /// Number of the last entry with a finished snapshot (`L`), if there is one.
    pub last_snapshot: Option<u32>,
    /// Key of the offloaded segment (`A`), if it is offloaded.
    pub offloaded: Option<String>,
    /// Source of a fork's first segments. Only in a fork's record of segment 0, which has no
    /// entries of its own.
    pub lineage: Option<Lineage>,
}

impl Segment {
    /// Returns the newest finished snapshot of the segment, or of the inherited entries.
    #[must_use]
    pub fn newest_snapshot(&self) -> Option<Position> {
        let own = self.last_snapshot.and_then(|num| Position::new(self.num, num).ok());
        own.or(self.lineage.and_then(|lineage| lineage.snapshot))
    }
}
