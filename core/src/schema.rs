//! Attribute names of the tables: single letters, because every byte of them is billed
//! (design `2-log.md` §1).

/// Partition key of every table: the log's UUID, on Entry followed by the log-segment number.
pub const PARTITION_KEY: &str = "S";
/// Sort key of every table: the number of the entry, of the log segment, or a packed position.
pub const SORT_KEY: &str = "N";
/// When the record was created, Unix seconds.
pub const CREATED: &str = "C";
