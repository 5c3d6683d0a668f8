//! Bounds of entries, appends and segments.

/// Segments of a log: a packed position stays exact as a JSON number (2⁵³).
pub const MAX_SEGMENTS: u32 = 1 << 21;
/// Bytes of an entry's encoded body. A DynamoDB item is at most 400 KB, including all attributes.
pub const MAX_ENTRY_BODY_BYTES: usize = 320 * 1024;
/// Bytes of a compressed body above which an external body is cheaper.
pub const EXTERNAL_BODY_BYTES: usize = 10 * 1024;
/// Bytes of an uploaded object.
pub const MAX_UPLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Uncompressed bytes of an uploaded body.
pub const MAX_EXTERNAL_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Cells of all operations of an uploaded body: in memory, a cell is larger than in the body.
pub const MAX_CELLS_PER_UPLOAD: usize = 200_000;
/// Seconds within which an upload must be completed; the bucket deletes it after three days.
pub const MAX_UPLOAD_AGE_S: u64 = 24 * 60 * 60;
/// Sheets whose rows or columns moved between the base of an uploaded body and its entry.
pub const MAX_MOVED_SHEETS: usize = 1_000;
/// Bytes of an author's name on an entry.
pub const MAX_AUTHOR_BYTES: usize = 64;
/// Bytes of a client id before hashing.
pub const MAX_CLIENT_ID_BYTES: usize = 64;
/// Bytes of the nonce of a create or fork.
pub const MAX_NONCE_BYTES: usize = 64;

/// Cells with lost texts found by one search; the next search finds the next ones.
pub const MAX_LOST_CELLS_AT_ONCE: usize = 10_000;
/// Attempts to resolve an undo or revert while others write, before it gives up with `Contention`.
pub const MAX_RESOLVE_ATTEMPTS: u32 = 10;
/// Conditional puts of one entry before its append gives up with `Contention` or `OutcomeUnknown`.
pub const MAX_PUT_ATTEMPTS: u32 = 48;
/// Failed reads of one append before it gives up.
pub const MAX_READ_ATTEMPTS: u32 = 8;
/// Age of an append after which it puts nothing, in seconds: much less than `TRIM_FENCE_S`, so that
/// a process that was frozen during an append never puts into a segment that was trimmed meanwhile.
pub const MAX_APPEND_AGE_S: u64 = 15 * 60;
/// Consecutive lost races after which an append reads the newer entries with one Query.
pub const LOSSES_BEFORE_CATCH_UP: u32 = 2;
/// First upper bound of a backoff in milliseconds; it doubles with each attempt.
pub const BACKOFF_BASE_MS: u64 = 10;
/// Largest upper bound of a backoff in milliseconds.
pub const BACKOFF_MAX_MS: u64 = 400;
/// Entries of one page of a read; DynamoDB itself truncates a page at 1 MB.
pub const MAX_PAGE_ENTRIES: u32 = 1_000;

/// Default number of entries between two Snapshot entries of a log.
pub const SNAPSHOT_ENTRIES: u32 = 1_000;
/// Default bytes of bodies between two Snapshot entries of a log.
pub const SNAPSHOT_BYTES: u64 = 256 * 1024;
/// Attempts to put a Snapshot entry after an append. A lost race leaves it to the writer that won.
pub const SNAPSHOT_ENTRY_ATTEMPTS: u32 = 2;
/// The roll of a full segment is tried at each entry whose number is a multiple of this.
pub const ROLL_TRY_ENTRIES: u32 = 16;
/// Milliseconds that the upkeep of a log may add to the request before it.
pub const MAX_UPKEEP_MS: u64 = 2_000;

/// Default number of entries after which a segment is rolled.
pub const SEGMENT_ENTRIES: u32 = 10_000;
/// Default bytes of bodies after which a segment is rolled.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// Newest segments that are never trimmed: a load searches the two newest for a snapshot.
pub const MIN_KEPT_SEGMENTS: u32 = 2;
/// Seconds after the end of a segment before it may be trimmed: much longer than any process caches
/// a tail (`CACHED_TAIL_AGE_MS`).
pub const TRIM_FENCE_S: u64 = 24 * 60 * 60;
/// Age of the newest cached entry after which nothing is put after it without a read, in seconds: a
/// page of an old segment may be cached while its entries are trimmed. Half the fence, so that the
/// other half covers clock differences.
pub const KNOWN_TAIL_AGE_S: u64 = TRIM_FENCE_S / 2;
/// Bytes of the object of an offloaded segment.
pub const MAX_OFFLOADED_OBJECT_BYTES: usize = 32 * 1024 * 1024;
/// Uncompressed bytes of the records in an offloaded segment.
pub const MAX_OFFLOADED_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of cached entries per log.
pub const MAX_CACHED_TAIL_BYTES: usize = 2 * 1024 * 1024;
/// Logs whose tail a process caches.
pub const MAX_CACHED_TAILS: usize = 16;
/// Age at which a cached tail is discarded, in milliseconds.
pub const CACHED_TAIL_AGE_MS: u64 = 15 * 60 * 1000;
