//! Limits of client-side caches, live sheets and polling.

use super::api::{MAX_MUTATIONS_PER_REQUEST, MAX_REPLAY_BYTES};
use super::log::SNAPSHOT_ENTRIES;

/// Maximum size of a client's on-disk cache of snapshot objects, in bytes.
pub const MAX_CHUNK_CACHE_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of concurrent object downloads per client. Each object takes up to
/// `MAX_STORED_CHUNK_BYTES`.
pub const CHUNK_GETS_AT_ONCE: usize = 16;
/// Maximum number of tiles that a client loads per band of rows, unless the band is a single row.
/// All tiles of a band are in memory at the same time.
pub const MAX_READ_BAND_TILES: usize = 32;
/// Maximum number of attempts to read a consistent version of a spreadsheet that changes during the
/// read.
pub const MAX_READ_BEGINNINGS: u32 = 4;

/// Maximum number of entries after the snapshot root that a live sheet keeps: twice the default
/// number of entries between two snapshots. If exceeded, the live sheet loads a newer root.
pub const MAX_LIVE_ENTRIES: usize = 2 * SNAPSHOT_ENTRIES as usize;
/// Maximum total size of the entries after the snapshot root that a live sheet keeps, in bytes.
pub const MAX_LIVE_ENTRY_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of unsent edits per live sheet. Unless the edits are long, a single request sends
/// all of them.
pub const MAX_LIVE_PENDING: usize = MAX_MUTATIONS_PER_REQUEST;
/// Maximum size of a live sheet's unsent edits as JSON, in bytes, excluding uploaded bodies. Every
/// change rewrites the entire file of unsent edits.
pub const MAX_LIVE_PENDING_BYTES: usize = 2 * 1024 * 1024;
/// Maximum memory for a live sheet's unsent edits with uploaded bodies, in bytes. Equal to the
/// memory limit of a read.
pub const MAX_LIVE_OBJECT_BYTES: usize = MAX_REPLAY_BYTES;
/// Minimum poll interval, used after a change, in milliseconds.
pub const POLL_MIN_MS: u64 = 1_000;
/// Maximum poll interval in milliseconds. At this interval, polling costs half a read unit per
/// minute.
pub const POLL_MAX_MS: u64 = 60_000;
