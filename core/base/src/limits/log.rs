//! Limits of entries, appends and segments.

/// Maximum number of segments in a log. Packed positions therefore stay below 2⁵³, which JSON
/// numbers represent exactly.
pub const MAX_SEGMENTS: u32 = 1 << 21;
/// Maximum size of an entry's encoded body, in bytes. DynamoDB limits an item to 400 KB, including
/// all attributes.
pub const MAX_ENTRY_BODY_BYTES: usize = 320 * 1024;
/// Compressed body size above which an external body (in S3) is cheaper, in bytes.
pub const EXTERNAL_BODY_BYTES: usize = 10 * 1024;
/// Maximum size of an uploaded object, in bytes.
pub const MAX_UPLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Maximum uncompressed size of an uploaded body, in bytes.
pub const MAX_EXTERNAL_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Maximum total number of cells in the operations of an uploaded body. Limits memory use, because
/// a cell takes more bytes in memory than in the body.
pub const MAX_CELLS_PER_UPLOAD: usize = 200_000;
/// Timeout for completing an upload, in seconds. The bucket deletes incomplete uploads after three
/// days.
pub const MAX_UPLOAD_AGE_S: u64 = 24 * 60 * 60;
/// Maximum number of sheets whose rows or columns moved between an uploaded body's base and its
/// entry.
pub const MAX_MOVED_SHEETS: usize = 1_000;
/// Maximum length of the author's name in an entry, in bytes.
pub const MAX_AUTHOR_BYTES: usize = 64;
/// Maximum length of a client id before hashing, in bytes.
pub const MAX_CLIENT_ID_BYTES: usize = 64;
/// Maximum length of the nonce in a create or fork request, in bytes.
pub const MAX_NONCE_BYTES: usize = 64;

/// Maximum number of cells per search for cells whose long texts are lost. The next search returns
/// the remaining cells.
pub const MAX_LOST_CELLS_AT_ONCE: usize = 10_000;
/// Maximum number of attempts to resolve an undo or revert while other writers append. If exceeded,
/// the undo or revert fails with `Contention`.
pub const MAX_RESOLVE_ATTEMPTS: u32 = 10;
/// Maximum number of conditional puts per entry. If exceeded, the append fails with `Contention` or
/// `OutcomeUnknown`.
pub const MAX_PUT_ATTEMPTS: u32 = 48;
/// Maximum number of failed reads before an append fails.
pub const MAX_READ_ATTEMPTS: u32 = 8;
/// Maximum age of an append, in seconds. An older append writes no entry. The limit is far below
/// `TRIM_FENCE_S`, so a process that was suspended during an append never writes an entry to a
/// trimmed segment.
pub const MAX_APPEND_AGE_S: u64 = 15 * 60;
/// Number of consecutive lost races after which an append reads the newer entries with a single
/// query.
pub const LOSSES_BEFORE_CATCH_UP: u32 = 2;
/// Maximum backoff before the first retry, in milliseconds. The maximum doubles with each attempt.
pub const BACKOFF_BASE_MS: u64 = 10;
/// Maximum backoff before any retry, in milliseconds.
pub const BACKOFF_MAX_MS: u64 = 400;
/// Maximum number of entries per page of a read. DynamoDB itself truncates a page at 1 MB.
pub const MAX_PAGE_ENTRIES: u32 = 1_000;

/// Default number of entries between two Snapshot entries.
pub const SNAPSHOT_ENTRIES: u32 = 1_000;
/// Default total size of the entry bodies between two Snapshot entries, in bytes.
pub const SNAPSHOT_BYTES: u64 = 256 * 1024;
/// Maximum number of attempts to write a Snapshot entry after an append. If all attempts lose
/// races, the last winner writes the Snapshot entry.
pub const SNAPSHOT_ENTRY_ATTEMPTS: u32 = 2;
/// Number of entries between attempts to roll (close) a full segment. A writer attempts the roll at
/// each entry whose number is a multiple of this constant.
pub const ROLL_TRY_ENTRIES: u32 = 16;
/// Maximum time that an append request spends on log upkeep (Snapshot entries and rolls), in
/// milliseconds.
pub const MAX_UPKEEP_MS: u64 = 2_000;

/// Default number of entries after which a segment is rolled.
pub const SEGMENT_ENTRIES: u32 = 10_000;
/// Default total size of entry bodies after which a segment is rolled, in bytes.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// Number of newest segments that are never trimmed. Loading a spreadsheet searches the two newest
/// segments for a snapshot.
pub const MIN_KEPT_SEGMENTS: u32 = 2;
/// Minimum time between the end and the trim of a segment, in seconds. Much longer than the maximum
/// age of a cached tail (`CACHED_TAIL_AGE_MS`).
pub const TRIM_FENCE_S: u64 = 24 * 60 * 60;
/// Maximum age of the newest cached entry at which an append may write an entry without reading the
/// log first, in seconds. An older cached page may belong to a segment that is being trimmed. Half
/// of `TRIM_FENCE_S`, to allow for clock skew.
pub const CACHED_ENTRY_AGE_S: u64 = TRIM_FENCE_S / 2;
/// Maximum size of an offloaded segment's object, in bytes.
pub const MAX_OFFLOADED_OBJECT_BYTES: usize = 32 * 1024 * 1024;
/// Maximum uncompressed size of an offloaded segment's records, in bytes.
pub const MAX_OFFLOADED_BYTES: usize = 64 * 1024 * 1024;

/// Maximum total size of the cached entries per log, in bytes.
pub const MAX_CACHED_TAIL_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of logs whose tails (newest entries) are cached by a process.
pub const MAX_CACHED_TAILS: usize = 16;
/// Maximum age of a log's cached tail, in milliseconds.
pub const CACHED_TAIL_AGE_MS: u64 = 15 * 60 * 1000;
