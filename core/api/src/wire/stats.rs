//! `GET /v1/spreadsheets/{id}/stats`: storage statistics.

use serde::{Deserialize, Serialize};

use cellar_base::position::Position;

/// Storage statistics, and the cost of opening the spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsReply {
    /// Newest position.
    pub head: Position,
    /// Newest finished snapshot; absent if there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotStats>,
    /// Entries after the snapshot.
    pub entries_since: u64,
    /// Cost of opening the first sheet at its top left cell, without the entries after the
    /// snapshot.
    pub open: OpenStats,
}

/// Statistics of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnapshotStats {
    /// Position of the snapshot.
    pub position: Position,
    /// Number of entries that it covers.
    pub entries: u64,
    /// Cells of all levels; a cell counts once per level that contains it.
    pub cells: u64,
    /// Compressed bytes of all levels, without tile indexes.
    pub bytes: u64,
    /// Levels, oldest first.
    pub levels: Vec<LevelStats>,
}

/// Statistics of a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LevelStats {
    /// Position of its last entry.
    pub last: Position,
    /// Number of cells.
    pub cells: u64,
    /// Compressed size in bytes.
    pub bytes: u64,
    /// Chunks of the level; 0 if it is stored in the root.
    pub chunks: u64,
    /// Set if the level is stored inside the root (level 0).
    pub in_root: bool,
}

/// Cost of showing 50 rows and 20 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenStats {
    /// Objects to read, including the root.
    pub objects: u64,
    /// Their compressed size in bytes.
    pub bytes: u64,
    /// Sequential round trips to S3.
    pub round_trips: u64,
}
