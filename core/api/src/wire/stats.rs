//! `GET /v1/spreadsheets/{id}/stats`: storage statistics.

use serde::{Deserialize, Serialize};

use cellar_base::position::Position;

/// Storage statistics of a spreadsheet, including the cost of opening it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsReply {
    /// Latest position of the spreadsheet.
    pub head: Position,
    /// Newest finished snapshot. Absent if there is no snapshot yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotStats>,
    /// Number of entries after the snapshot.
    pub entries_since: u64,
    /// Cost of opening the first sheet at its top-left cell. Reading the entries after the snapshot
    /// is not included.
    pub open: OpenStats,
}

/// Snapshot statistics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnapshotStats {
    /// Position of the snapshot.
    pub position: Position,
    /// Number of entries included in the snapshot.
    pub entries: u64,
    /// Total number of cells in all LSM levels of the snapshot. A cell in several levels is counted
    /// several times.
    pub cells: u64,
    /// Total compressed size of all LSM levels in bytes, excluding tile indexes.
    pub bytes: u64,
    /// Levels, oldest first.
    pub levels: Vec<LevelStats>,
}

/// Statistics of one LSM level of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LevelStats {
    /// Position of the last entry included in the level.
    pub last: Position,
    /// Number of cells in the level.
    pub cells: u64,
    /// Compressed size of the level in bytes.
    pub bytes: u64,
    /// Number of chunks in the level, or 0 if the level is stored in the snapshot's root (main
    /// object).
    pub chunks: u64,
    /// Whether the level is stored in the snapshot's root (main object). True only for level 0.
    pub in_root: bool,
}

/// Cost of displaying the first 50 rows and 20 columns of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenStats {
    /// Number of objects to be read, including the root.
    pub objects: u64,
    /// Total compressed size of the objects in bytes.
    pub bytes: u64,
    /// Number of sequential round trips to S3.
    pub round_trips: u64,
}
