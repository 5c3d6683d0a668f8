//! Log segments: the records that say which segments a log has.

use crate::identity::LogId;

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
    /// Key of the archive object (`A`), if the segment is archived.
    pub archive: Option<String>,
}
