//! Bounds of what a client keeps and polls.

use super::api::{MAX_MUTATIONS_PER_REQUEST, MAX_REPLAY_BYTES};
use super::log::SNAPSHOT_ENTRIES;

/// Bytes of a client's file cache of snapshot objects.
pub const MAX_CHUNK_CACHE_BYTES: u64 = 256 * 1024 * 1024;
/// Objects that a client downloads concurrently: each takes up to `MAX_STORED_CHUNK_BYTES`.
pub const CHUNK_GETS_AT_ONCE: usize = 16;
/// Tiles that a client loads for one band of rows, unless a single row intersects more: the tiles
/// of a band are in memory together.
pub const MAX_READ_BAND_TILES: usize = 32;
/// Attempts of a client to read a spreadsheet that changes meanwhile.
pub const MAX_READ_BEGINNINGS: u32 = 4;

/// Entries that a live sheet keeps after its root; beyond it, the sheet loads a newer root. Twice
/// the distance of two snapshots.
pub const MAX_LIVE_ENTRIES: usize = 2 * SNAPSHOT_ENTRIES as usize;
/// Bytes of these entries.
pub const MAX_LIVE_ENTRY_BYTES: usize = 16 * 1024 * 1024;
/// Unsent edits of a live sheet: one request takes them all, unless they are long.
pub const MAX_LIVE_PENDING: usize = MAX_MUTATIONS_PER_REQUEST;
/// Bytes of JSON of the unsent edits, without uploaded bodies: their file is always written as a
/// whole.
pub const MAX_LIVE_PENDING_BYTES: usize = 2 * 1024 * 1024;
/// Bytes in memory of unsent edits with uploaded bodies: as much as one read may hold.
pub const MAX_LIVE_OBJECT_BYTES: usize = MAX_REPLAY_BYTES;
/// Shortest interval between two polls in milliseconds, after a change.
pub const POLL_MIN_MS: u64 = 1_000;
/// Longest interval between two polls in milliseconds: half a read unit a minute.
pub const POLL_MAX_MS: u64 = 60_000;
