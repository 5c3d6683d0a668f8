//! Bounds of entries, appends and segments.

/// Log segments stay below this, so that a packed position is exact as a JSON number (2⁵³).
pub const MAX_SEGMENTS: u32 = 1 << 21;
/// Bytes of an entry's encoded body. A DynamoDB item is at most 400 KB, all attributes together.
pub const MAX_ENTRY_BODY_BYTES: usize = 320 * 1024;
/// Bytes of a body, compressed, above which it is cheaper in an object (design `2-log.md` §4).
pub const EXTERNAL_BODY_BYTES: usize = 10 * 1024;
/// Bytes of an uploaded object.
pub const MAX_UPLOAD_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of an uploaded body before it was compressed.
pub const MAX_EXTERNAL_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Cells of all operations of an uploaded body: each takes more memory than bytes of the body.
pub const MAX_CELLS_PER_UPLOAD: usize = 200_000;
/// Seconds after which an upload can no longer be completed: the bucket deletes it after three days.
pub const MAX_UPLOAD_AGE_S: u64 = 24 * 60 * 60;
/// Sheets in which rows or columns have moved between the base of an uploaded body and its entry.
pub const MAX_MOVED_SHEETS: usize = 1_000;
/// Bytes of an author's name on an entry.
pub const MAX_AUTHOR_BYTES: usize = 64;
/// Bytes of a client's id, before it is hashed.
pub const MAX_CLIENT_ID_BYTES: usize = 64;
/// Bytes of the nonce that makes a create repeatable.
pub const MAX_NONCE_BYTES: usize = 64;

/// Cells with lost texts that one look finds; the next look finds the next ones.
pub const MAX_LOST_CELLS_AT_ONCE: usize = 10_000;
/// How often an undo or a revert is resolved again, because others wrote meanwhile, before it gives up
/// with `Contention`.
pub const MAX_RESOLVE_ATTEMPTS: u32 = 10;
/// Conditional puts of one entry before its append gives up with `Contention` or `OutcomeUnknown` (I6).
pub const MAX_PUT_ATTEMPTS: u32 = 48;
/// Failed reads of one append before it gives up (I6).
pub const MAX_READ_ATTEMPTS: u32 = 8;
/// Age of an append from which on it puts no more, seconds: much less than `TRIM_FENCE_S`, so that
/// a process that was frozen in the middle of one never puts into a segment trimmed meanwhile.
pub const MAX_APPEND_AGE_S: u64 = 15 * 60;
/// Lost puts in a row after which an append catches up with one Query (design `2-log.md` §2).
pub const LOSSES_BEFORE_CATCH_UP: u32 = 2;
/// First upper bound of a backoff, milliseconds; it doubles with each attempt.
pub const BACKOFF_BASE_MS: u64 = 10;
/// Largest upper bound of a backoff, milliseconds.
pub const BACKOFF_MAX_MS: u64 = 400;
/// Entries that one page of a read asks for at most; DynamoDB itself cuts a page at 1 MB.
pub const MAX_PAGE_ENTRIES: u32 = 1_000;

/// Entries since a log's last Snapshot entry after which another is put, if a stack says nothing.
pub const SNAPSHOT_ENTRIES: u32 = 1_000;
/// Bytes of bodies since a log's last Snapshot entry after which another is put, if a stack says
/// nothing.
pub const SNAPSHOT_BYTES: u64 = 256 * 1024;
/// Puts of one Snapshot entry behind an append, each behind a newer entry: the writer of that one
/// tries, too.
pub const SNAPSHOT_ENTRY_ATTEMPTS: u32 = 2;
/// A segment that is to be rolled is tried at each entry whose number is a multiple of this.
pub const ROLL_TRY_ENTRIES: u32 = 16;
/// Milliseconds that the upkeep of a log may take from the request that it follows.
pub const MAX_UPKEEP_MS: u64 = 2_000;

/// Entries of a segment from which on it is rolled, if a stack says nothing.
pub const SEGMENT_ENTRIES: u32 = 10_000;
/// Bytes of bodies of a segment from which on it is rolled, if a stack says nothing.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// Newest segments that are never trimmed: a load looks for a snapshot in the two newest.
pub const MIN_KEPT_SEGMENTS: u32 = 2;
/// Seconds after the end of a segment before which it is not trimmed: much longer than any process
/// keeps what it knows of a tail (`KNOWN_RUN_AGE_MS`).
pub const TRIM_FENCE_S: u64 = 24 * 60 * 60;
/// Age of the newest entry that a process knows from which on nothing is put behind it unread: a
/// page of an old segment may be known while its entries are trimmed. Half the fence, which leaves
/// the other half to clocks that differ.
pub const KNOWN_TAIL_AGE_S: u64 = TRIM_FENCE_S / 2;
/// Bytes of an offloaded segment of a segment.
pub const MAX_OFFLOADED_OBJECT_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of the records in an offloaded segment, unpacked.
pub const MAX_OFFLOADED_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of entries that a process keeps for one log.
pub const MAX_KNOWN_RUN_BYTES: usize = 2 * 1024 * 1024;
/// Logs whose tails a process keeps.
pub const MAX_KNOWN_LOGS: usize = 16;
/// Age at which a kept tail is dropped, however much it is used, milliseconds (design `2-log.md` §2 step 1).
pub const KNOWN_RUN_AGE_MS: u64 = 15 * 60 * 1000;
