//! Storage statistics of a spreadsheet: `GET /v1/spreadsheets/{id}/stats`.

use serde::{Deserialize, Serialize};

use cellar_base::position::Position;

/// Storage statistics of a spreadsheet, and the cost of opening it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsReply {
    /// Latest position of the spreadsheet.
    pub head: Position,
    /// The newest finished snapshot. Absent if there is no snapshot yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotStats>,
    /// Number of entries after the snapshot.
    pub entries_since: u64,
    /// Cost of displaying the top-left corner of the first sheet. The entries after the snapshot
    /// are not included.
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
    /// Total number of cells in all LSM levels of the snapshot. A cell is counted once for each
    /// level that contains it.
    pub cells: u64,
    /// Total compressed size of all LSM levels in bytes, excluding tile indexes.
    pub bytes: u64,
    /// Levels, oldest first.
    pub levels: Vec<LevelStats>,
}

/// Statistics of an LSM level of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LevelStats {
    /// Position of the last entry included in the level.
    pub last: Position,
    /// Number of cells in the level.
    pub cells: u64,
    /// Compressed size of the level in bytes.
    pub bytes: u64,
    /// Number of chunks in the level, or 0 if the level is stored in the root object.
    pub chunks: u64,
    /// Whether the level is stored in the root object. Only level 0 can be.
    pub in_root: bool,
}

/// Cost of displaying the first 50 rows and 20 columns of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenStats {
    /// Number of objects that must be read. The root object is counted too.
    pub objects: u64,
    /// Total compressed size of the objects in bytes.
    pub bytes: u64,
    /// Number of sequential round trips to S3.
    pub round_trips: u64,
}
