//! Bounds of what a client keeps and polls.

use super::api::{MAX_MUTATIONS_PER_REQUEST, MAX_REPLAY_BYTES};
use super::log::SNAPSHOT_ENTRIES;

/// Bytes of the files in which a client keeps objects that it has read.
pub const MAX_CHUNK_CACHE_BYTES: u64 = 256 * 1024 * 1024;
/// Objects that a client fetches at the same time: each takes up to `MAX_STORED_CHUNK_BYTES`.
pub const CHUNK_GETS_AT_ONCE: usize = 16;
/// Tiles that a client loads for one band of rows, unless a single row meets more: those of one band
/// are in memory together.
pub const MAX_READ_BAND_TILES: usize = 32;
/// How often a client begins to read a spreadsheet that changes under its hands.
pub const MAX_READ_BEGINNINGS: u32 = 4;

/// Entries that a live sheet keeps behind its root, and so loads after it: beyond it, a newer root is
/// looked for. Twice as many as stand between two snapshots.
pub const MAX_LIVE_ENTRIES: usize = 2 * SNAPSHOT_ENTRIES as usize;
/// Bytes of them: a root is never further behind, where snapshots are made.
pub const MAX_LIVE_ENTRY_BYTES: usize = 16 * 1024 * 1024;
/// Edits of a live sheet that wait to be sent: one request takes them all, unless they are long.
pub const MAX_LIVE_PENDING: usize = MAX_MUTATIONS_PER_REQUEST;
/// Bytes of JSON of them, those apart that are objects: the file that keeps them is written whole.
pub const MAX_LIVE_PENDING_BYTES: usize = 2 * 1024 * 1024;
/// Bytes in memory of those that are objects: as much as one read may hold.
pub const MAX_LIVE_OBJECT_BYTES: usize = MAX_REPLAY_BYTES;
/// The shortest interval between two polls, milliseconds: after something has happened.
pub const POLL_MIN_MS: u64 = 1_000;
/// The longest interval between two polls, milliseconds: half a read unit a minute.
pub const POLL_MAX_MS: u64 = 60_000;
