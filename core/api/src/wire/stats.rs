//! `GET /v1/spreadsheets/{id}/stats`: storage statistics.

use serde::{Deserialize, Serialize};

use cellar_base::position::Position;

/// Storage statistics, and the cost of opening the spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsReply {
    /// Newest position of the spreadsheet.
    pub head: Position,
    /// Newest finished snapshot; absent if no snapshot exists yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotStats>,
    /// Entries after the snapshot.
    pub entries_since: u64,
    /// Cost of opening the first sheet at its top left cell, without reading the entries after the
    /// snapshot.
    pub open: OpenStats,
}

/// Statistics of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnapshotStats {
    /// Position of the snapshot.
    pub position: Position,
    /// Number of entries that the snapshot covers.
    pub entries: u64,
    /// Number of cells in all levels. A cell counts once for each level that contains it.
    pub cells: u64,
    /// Compressed bytes of all levels, without tile indexes.
    pub bytes: u64,
    /// Levels, oldest first.
    pub levels: Vec<LevelStats>,
}

/// Statistics of a level of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LevelStats {
    /// Position of the last entry that the level covers.
    pub last: Position,
    /// Number of cells in the level.
    pub cells: u64,
    /// Compressed size of the level in bytes.
    pub bytes: u64,
    /// Number of chunks of the level; 0 if the level is stored inside the root.
    pub chunks: u64,
    /// Set if the level is stored inside the root (level 0).
    pub in_root: bool,
}

/// Cost of displaying the first 50 rows and 20 columns of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenStats {
    /// Number of objects to read, including the root.
    pub objects: u64,
    /// Compressed size of all objects in bytes.
    pub bytes: u64,
    /// Number of sequential round trips to S3.
    pub round_trips: u64,
}
