//! `GET /v1/spreadsheets/{id}/stats`: what a spreadsheet amounts to.

use serde::{Deserialize, Serialize};

use cellar_base::position::Position;

/// What a spreadsheet amounts to, and what opening it costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatsReply {
    /// The newest position.
    pub head: Position,
    /// The newest finished snapshot; none if there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotStats>,
    /// Entries behind it.
    pub entries_since: u64,
    /// What opening the first sheet at its top left costs, the entries behind the snapshot apart.
    pub open: OpenStats,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnapshotStats {
    /// Its position.
    pub position: Position,
    /// Entries that it covers.
    pub entries: u64,
    /// Cells of all levels; one that was set again in a newer level counts in each.
    pub cells: u64,
    /// Bytes of all levels as stored, without indexes.
    pub bytes: u64,
    /// The levels, oldest first.
    pub levels: Vec<LevelStats>,
}

/// A level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LevelStats {
    /// Its last entry.
    pub last: Position,
    /// Its cells.
    pub cells: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its chunks; none of the young level, which is inside the root.
    pub chunks: u64,
    /// Whether it is the young level.
    pub in_root: bool,
}

/// What it takes to show 50 rows and 20 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenStats {
    /// Objects that are read, the root included.
    pub objects: u64,
    /// Their bytes as stored.
    pub bytes: u64,
    /// How often objects are asked for, one after the other.
    pub round_trips: u64,
}
