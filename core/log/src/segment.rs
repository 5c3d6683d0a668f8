//! Log segments: the records that say which segments a log has.

use crate::lineage::Lineage;
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// One record of the Segment table (design `2-log.md` §1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The log.
    pub log: LogId,
    /// The number of the segment in its log, from 0.
    pub num: u32,
    /// When it was opened, Unix seconds.
    pub created_s: u64,
    /// Number of the last entry with a completed snapshot (`L`), if there is one.
    pub last_snapshot: Option<u32>,
    /// Key of the offloaded segment object (`A`), if the segment is offloaded.
    pub offloaded: Option<String>,
    /// Only in the record of segment 0 of a fork, which has no entries of its own: where the entries of
    /// its first segments are.
    pub lineage: Option<Lineage>,
}

impl Segment {
    /// The newest finished snapshot that the record knows of: of its segment, or among what is
    /// inherited.
    #[must_use]
    pub fn newest_snapshot(&self) -> Option<Position> {
        let own = self.last_snapshot.and_then(|num| Position::new(self.num, num).ok());
        own.or(self.lineage.and_then(|lineage| lineage.snapshot))
    }
}
