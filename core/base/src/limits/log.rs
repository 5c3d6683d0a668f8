//! Limits of entries, appends and segments.

/// Maximum number of segments in a log. The limit keeps packed positions below 2⁵³, so JSON numbers
/// represent them exactly.
pub const MAX_SEGMENTS: u32 = 1 << 21;
/// Maximum size of an entry's encoded body, in bytes. DynamoDB limits the whole item to 400 KB.
pub const MAX_ENTRY_BODY_BYTES: usize = 320 * 1024;
/// Compressed size in bytes above which storing an entry's body in S3 is cheaper than in DynamoDB.
pub const EXTERNAL_BODY_BYTES: usize = 10 * 1024;
/// Maximum size of an uploaded object, in bytes.
pub const MAX_UPLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Maximum uncompressed size of an uploaded body, in bytes.
pub const MAX_EXTERNAL_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of cells in an uploaded body. A cell takes more space in memory than in the body,
/// so the size limit of the body alone would not limit memory use.
pub const MAX_CELLS_PER_UPLOAD: usize = 200_000;
/// Timeout for completing an upload, in seconds. The bucket deletes incomplete uploads after three
/// days.
pub const MAX_UPLOAD_AGE_S: u64 = 24 * 60 * 60;
/// Maximum number of sheets whose rows or columns may be moved between the base of an uploaded body
/// and its commit.
pub const MAX_MOVED_SHEETS: usize = 1_000;
/// Maximum length of the author's name in an entry, in bytes.
pub const MAX_AUTHOR_BYTES: usize = 64;
/// Maximum length of a client id, in bytes.
pub const MAX_CLIENT_ID_BYTES: usize = 64;
/// Maximum length of the idempotency key of a create or fork request, in bytes.
pub const MAX_NONCE_BYTES: usize = 64;

/// Maximum number of cells that one search for missing long texts returns. The next search returns
/// further cells.
pub const MAX_LOST_CELLS_AT_ONCE: usize = 10_000;
/// Maximum number of attempts to compute an undo or revert while other writers append. After the
/// last attempt, the undo or revert fails with `Contention`.
pub const MAX_RESOLVE_ATTEMPTS: u32 = 10;
/// Maximum number of attempts to write an entry. After the last attempt, the append fails with
/// `Contention` or `OutcomeUnknown`.
pub const MAX_PUT_ATTEMPTS: u32 = 48;
/// Maximum number of failed reads before an append fails.
pub const MAX_READ_ATTEMPTS: u32 = 8;
/// Maximum duration of an append, in seconds. After this time, the append no longer writes entries.
/// The limit is far below `TRIM_FENCE_S`, so that a process that was suspended during an append
/// never writes to a trimmed segment.
pub const MAX_APPEND_AGE_S: u64 = 15 * 60;
/// Number of consecutive lost races after which an append reads all newer entries with a single
/// query.
pub const LOSSES_BEFORE_CATCH_UP: u32 = 2;
/// Maximum delay before the first retry, in milliseconds. The maximum doubles with each retry.
pub const BACKOFF_BASE_MS: u64 = 10;
/// Maximum delay before any retry, in milliseconds.
pub const BACKOFF_MAX_MS: u64 = 400;
/// Maximum number of entries per page of a read. DynamoDB also limits a page to 1 MB.
pub const MAX_PAGE_ENTRIES: u32 = 1_000;
/// Number of entries that the search for the position at a time reads as one page. Among more
/// entries, it probes single entries first.
pub const TIME_PAGE_ENTRIES: u32 = 16;

/// Default number of entries between two Snapshot entries.
pub const SNAPSHOT_ENTRIES: u32 = 1_000;
/// Maximum number of entries between two Snapshot entries that a stack can configure.
pub const MAX_SNAPSHOT_ENTRIES: u32 = 10_000;
/// Default total size of the entry bodies between two Snapshot entries, in bytes.
pub const SNAPSHOT_BYTES: u64 = 256 * 1024;
/// Memory for data outside of the entry bodies after which a Snapshot entry follows, in bytes. A
/// smaller total costs a reader little, and a Snapshot entry costs a write unit.
pub const SNAPSHOT_OUTSIDE_BYTES: u64 = 4 * 1024 * 1024;
/// Memory that counts for a formula of an imported sheet, in bytes. Each reader calculates it until a
/// snapshot contains its value.
pub const IMPORTED_FORMULA_BYTES: u64 = 1024;
/// Maximum number of attempts to write a Snapshot entry after an append. If another writer appends
/// first each time, that writer becomes responsible for the Snapshot entry.
pub const SNAPSHOT_ENTRY_ATTEMPTS: u32 = 2;
/// Number of entries between attempts to close a full segment. A writer makes an attempt after each
/// entry whose number is a multiple of this constant.
pub const ROLL_TRY_ENTRIES: u32 = 16;
/// Maximum time in milliseconds that an append request spends on writing Snapshot entries and
/// closing segments.
pub const MAX_UPKEEP_MS: u64 = 2_000;

/// Default number of entries after which a segment is closed.
pub const SEGMENT_ENTRIES: u32 = 10_000;
/// Default total size of entry bodies after which a segment is closed, in bytes.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// Number of newest segments that are never trimmed. Loading a spreadsheet searches the two newest
/// segments for a snapshot.
pub const MIN_KEPT_SEGMENTS: u32 = 2;
/// Minimum time between the end of a segment and the deletion of its entries, in seconds. It is
/// much longer than `CACHED_TAIL_AGE_MS`, so no process still uses cached entries of the segment.
pub const TRIM_FENCE_S: u64 = 24 * 60 * 60;
/// Maximum age in seconds of the newest cached entry if an append is to write without reading the
/// log first. An older entry may belong to a segment whose entries are being deleted. The limit is
/// half of `TRIM_FENCE_S`, to allow for clock skew.
pub const CACHED_ENTRY_AGE_S: u64 = TRIM_FENCE_S / 2;
/// Maximum size of an offloaded segment's object, in bytes.
pub const MAX_OFFLOADED_OBJECT_BYTES: usize = 32 * 1024 * 1024;
/// Maximum uncompressed size of the records of an offloaded segment, in bytes.
pub const MAX_OFFLOADED_BYTES: usize = 64 * 1024 * 1024;

/// Maximum number of appends to one log that wait or run in a process. With 5 ms an entry, the last
/// one waits for 5 s.
pub const MAX_QUEUED_APPENDS: usize = 1_000;
/// Maximum total size of the entries that a process caches per log, in bytes.
pub const MAX_CACHED_TAIL_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of logs whose newest entries are cached by a process.
pub const MAX_CACHED_TAILS: usize = 16;
/// Maximum time for which the newest entries of a log are cached, in milliseconds.
pub const CACHED_TAIL_AGE_MS: u64 = 15 * 60 * 1000;
