//! Limits of client caches, live sheets and polling.

use super::api::{MAX_MUTATIONS_PER_REQUEST, MAX_REPLAY_BYTES};
use super::log::{MAX_SNAPSHOT_ENTRIES, SNAPSHOT_ENTRIES};

/// Maximum size of a client's on-disk cache of snapshot objects, in bytes.
pub const MAX_CHUNK_CACHE_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of objects that a client downloads concurrently. Each object takes up to
/// `MAX_STORED_CHUNK_BYTES` of memory.
pub const CHUNK_GETS_AT_ONCE: usize = 16;
/// Maximum number of tiles that a client holds in memory while it reads a range of rows. A single
/// row may exceed this limit.
pub const MAX_READ_BAND_TILES: usize = 32;
/// Maximum number of attempts to read a consistent state of a spreadsheet that other clients
/// change.
pub const MAX_READ_BEGINNINGS: u32 = 4;

/// Maximum number of entries after the snapshot root that a live sheet keeps when it is opened or
/// loads a newer root. It is twice the maximum number of entries between two snapshots, so that a
/// live sheet can be opened offline with every policy that a stack can configure.
pub const MAX_LIVE_ENTRIES: usize = 2 * MAX_SNAPSHOT_ENTRIES as usize;
/// Minimum number of entries that a live sheet applies before it loads a newer snapshot root. If
/// more entries followed the root when it was loaded, their number is used instead, because
/// snapshots are then less frequent than by default.
pub const LIVE_RELOAD_ENTRIES: usize = 2 * SNAPSHOT_ENTRIES as usize;
/// Maximum total size of the entries that a live sheet keeps in addition to a snapshot, in bytes.
pub const MAX_LIVE_ENTRY_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of unsent edits per live sheet. All of them usually fit into a single request.
pub const MAX_LIVE_PENDING: usize = MAX_MUTATIONS_PER_REQUEST;
/// Maximum size of the JSON encoding of a live sheet's unsent edits, in bytes, excluding uploaded
/// bodies. The limit is low because every edit rewrites the file of unsent edits.
pub const MAX_LIVE_PENDING_BYTES: usize = 2 * 1024 * 1024;
/// Maximum memory for a live sheet's unsent edits with uploaded bodies, in bytes.
pub const MAX_LIVE_OBJECT_BYTES: usize = MAX_REPLAY_BYTES;
/// Minimum polling interval in milliseconds, used after a change.
pub const POLL_MIN_MS: u64 = 1_000;
/// Maximum polling interval in milliseconds. At this interval, polling costs half a read unit per
/// minute.
pub const POLL_MAX_MS: u64 = 60_000;
/// Maximum number of formulas that a trace of a cell lists.
pub const MAX_TRACED_FORMULAS: usize = 1_000;
/// Maximum number of areas read by a cell that a trace on the server lists.
pub const MAX_TRACED_AREAS: usize = 1_000;
