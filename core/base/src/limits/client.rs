//! Limits of client-side caches, live sheets and polling.

use super::api::{MAX_MUTATIONS_PER_REQUEST, MAX_REPLAY_BYTES};
use super::log::SNAPSHOT_ENTRIES;

/// Maximum bytes of a client's file cache of snapshot objects.
pub const MAX_CHUNK_CACHE_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of objects that a client downloads concurrently: each takes up to
/// `MAX_STORED_CHUNK_BYTES`.
pub const CHUNK_GETS_AT_ONCE: usize = 16;
/// Maximum number of tiles that a client loads for one band of rows; a single row may intersect
/// more. The tiles of a band are in memory together.
pub const MAX_READ_BAND_TILES: usize = 32;
/// Maximum number of attempts of a client to read a spreadsheet consistently while it changes.
pub const MAX_READ_BEGINNINGS: u32 = 4;

/// Maximum number of entries that a live sheet keeps after its root; with more, it loads a newer
/// root. Twice the distance between two snapshots.
pub const MAX_LIVE_ENTRIES: usize = 2 * SNAPSHOT_ENTRIES as usize;
/// Maximum bytes of the entries that a live sheet keeps after its root.
pub const MAX_LIVE_ENTRY_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of unsent edits of a live sheet. One request sends all of them, unless they are
/// long.
pub const MAX_LIVE_PENDING: usize = MAX_MUTATIONS_PER_REQUEST;
/// Maximum bytes of a live sheet's unsent edits as JSON, without uploaded bodies. The file with the
/// unsent edits is always rewritten as a whole.
pub const MAX_LIVE_PENDING_BYTES: usize = 2 * 1024 * 1024;
/// Maximum memory in bytes of a live sheet's unsent edits that have uploaded bodies: the same as
/// for one read.
pub const MAX_LIVE_OBJECT_BYTES: usize = MAX_REPLAY_BYTES;
/// Shortest interval between two polls in milliseconds, used after a change.
pub const POLL_MIN_MS: u64 = 1_000;
/// Longest interval between two polls in milliseconds: half a read unit per minute.
pub const POLL_MAX_MS: u64 = 60_000;
