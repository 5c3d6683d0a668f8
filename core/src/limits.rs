//! Every bound of Cellar, in one place. Each is tested at N and N+1 where it is enforced.

/// Rows of a sheet: rows are numbered `0..MAX_ROWS`.
pub const MAX_ROWS: u32 = 1 << 30;
/// Columns of a sheet: columns are numbered `0..MAX_COLUMNS`.
pub const MAX_COLUMNS: u32 = 1 << 22;
/// Bytes of one cell's text (UTF-8).
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Bytes of a formula's text.
pub const MAX_FORMULA_BYTES: usize = 8 * 1024;
/// Bytes of a number format.
pub const MAX_FORMAT_BYTES: usize = 255;
/// Cells of one `SetCells` operation.
pub const MAX_CELLS_PER_OPERATION: usize = 10_000;
/// Spans of rows or columns of one operation.
pub const MAX_SPANS: usize = 10_000;
/// Rows or columns that one operation inserts.
pub const MAX_INSERT: u32 = 1 << 20;
/// Characters of a sheet's name, as in Excel.
pub const MAX_SHEET_NAME_CHARACTERS: usize = 31;
/// Sheets of a workbook; one more is not added.
pub const MAX_SHEETS: usize = 1_000;
/// How far the number of a new sheet may be above the next free one.
pub const MAX_SHEET_NUMBER_STEP: u32 = 1 << 16;
/// Bytes of the detail of a rejected mutation.
pub const MAX_REJECTION_BYTES: usize = 512;
/// Operations that one mutation is committed as (a split delete is one; an undo or a revert may be
/// several).
pub const MAX_COMMITTED_OPERATIONS: usize = 10_000;
/// Runs of one axis map.
pub const MAX_AXIS_RUNS: usize = 20_000;
/// Formats of ranges of one sheet, those hidden by a newer one apart. Beyond it, one more changes
/// nothing.
pub const MAX_RANGE_FORMATS: usize = 10_000;
/// Spans of rows and columns in all of them: a snapshot's root holds them.
pub const MAX_RANGE_FORMAT_SPANS: usize = 100_000;

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

/// Mutations of one append request.
pub const MAX_MUTATIONS_PER_REQUEST: usize = 1_000;
/// The greatest id of a mutation: exact as a JSON number.
pub const MAX_MUTATION_ID: u64 = (1 << 53) - 1;
/// Times that one run of a push looks its client up before the push is to be repeated.
pub const MAX_PUSH_LOOK_UPS: u32 = 4;
/// Bytes of a push: a client of that protocol sends all that it has, and can send no less.
pub const MAX_PUSH_BYTES: usize = MAX_REPLY_BYTES;
/// Who may follow spreadsheets of one process at once, each with an open connection.
pub const MAX_FOLLOWERS: usize = 1_000;
/// How many of these connections one subject, or one link, may have.
pub const MAX_FOLLOWERS_PER_SUBJECT: usize = 50;
/// Seconds after which a connection that follows a spreadsheet ends: its client begins another, with
/// a token that is valid then.
pub const MAX_FOLLOWED_S: u64 = 5 * 60;
/// Seconds of silence after which such a connection says that it is alive.
pub const POKE_KEEP_ALIVE_S: u64 = 15;
/// Last mutation ids of clients of sync groups that a process knows.
pub const MAX_KNOWN_CLIENTS: usize = 4_096;
/// Bases of the mutations of one entry: each costs a walk over what has moved since.
pub const MAX_BASES_PER_ENTRY: usize = 16;
/// What moved rows, columns or sheets since a base: each operation counts its spans, at least one,
/// and an author's own several times.
pub const MAX_TRANSFORM_CHANGES: usize = 20_000;
/// Bytes of one mutation in the API's JSON.
pub const MAX_MUTATION_BYTES: usize = 256 * 1024;
/// Bytes of a request's body.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// Bytes that are read and dropped of a body that is too long, so that its sender gets an answer.
pub const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the bodies that one process keeps at once for requests with a token.
pub const MAX_KEPT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of the bodies that one process keeps at once for requests with a link. They are apart, as anyone
/// can make up a link.
pub const MAX_KEPT_LINK_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Seconds in which the body of a request must arrive.
pub const MAX_BODY_S: u64 = 60;
/// Seconds in which the local cloud must receive the headers of a request, and after which it closes an
/// idle connection.
pub const MAX_HEADERS_S: u64 = 60;
/// Connections that one server of the local cloud has open at once; further ones wait.
pub const MAX_CONNECTIONS: usize = 2_000;
/// Bytes of a list reply (load, update, append, cells); longer ones end with a `next`.
///
/// A Lambda reply is limited to 6 MB, and travels as a text inside JSON in which each quote and
/// backslash takes one byte more: at most twice these bytes, and the last entry or cell on top.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Bytes of a reply of cells that may be spans: of formats, or of rows and columns that differ.
/// They come whole or cut with the first page; the rest of it is for cells.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Chunks that one request asks the URLs of: each URL carries a session token of up to 2 KB.
pub const MAX_CHUNK_URLS: usize = 1_000;
/// Bytes of one span in the API's JSON, with the comma behind it.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Cells that one range may span, populated or not.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Bytes of cells that one read may hold in memory while it replays the log.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of JSON of an operation that a rebase replays, if it can be split: it stands in its entry twice,
/// as it was sent and as it was moved.
pub const MAX_REPLAYED_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2;
/// Bytes of a bearer token.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Seconds from a token's beginning to its end: a year. Tokens cannot be taken back one by one.
pub const MAX_TOKEN_S: u64 = 366 * 24 * 60 * 60;
/// Spreadsheets that one token may name.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// Bytes of an issuer's set of public keys, or of its description of itself.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Keys of a set that are looked at.
pub const MAX_KEY_SET_KEYS: usize = 32;
/// Seconds for which an issuer's keys are used without asking again.
pub const KEY_SET_FRESH_S: u64 = 60 * 60;
/// Seconds for which they are used while the issuer does not answer.
pub const KEY_SET_STALE_S: u64 = 24 * 60 * 60;
/// Seconds between two looks for a key that is not in an issuer's set.
pub const KEY_SET_REFRESH_S: u64 = 60;
/// Seconds before an issuer that did not answer is asked again.
pub const KEY_SET_RETRY_S: u64 = 5;
/// Milliseconds for which an issuer may take to answer.
pub const KEY_SET_TIMEOUT_MS: u64 = 4_000;
/// Items of the feed in one delivery of the webhook.
pub const WEBHOOK_ITEMS: u32 = 100;
/// Milliseconds for which the webhook's receiver may take to answer.
pub const WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Milliseconds of a call of the webhook that are left for one more delivery, at least.
pub const WEBHOOK_RESERVE_MS: u64 = 20_000;
/// Bytes of the object with the webhook's secrets.
pub const MAX_WEBHOOK_SECRETS_BYTES: u64 = 4 * 1024;
/// Forks that may lie between a log and the origin of its family: each is one more log to look at for
/// the oldest entries.
pub const MAX_FORK_DEPTH: u32 = 16;
/// Logs of which a process knows whether and where they were forked.
pub const MAX_KNOWN_LINEAGES: usize = 1_000;
/// Forks of one reply of their list.
pub const MAX_LISTED_FORKS: u32 = 100;
/// Tries of one fork, each under another number in the list of its source's forks.
pub const MAX_FORK_ATTEMPTS: u32 = 8;
/// The greatest number in a reply's `cellar-cost`: the digits of a decimal in a structured field.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;

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

/// Bytes of objects of snapshots that a process keeps, as they are stored.
pub const MAX_KNOWN_OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Logs whose newest root a process keeps.
pub const MAX_KNOWN_ROOTS: usize = 16;

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

/// Bytes of an object's key, as S3 has it.
pub const MAX_BLOB_KEY_BYTES: usize = 1_024;
/// Bytes of one object: what S3 takes in a single PUT.
pub const MAX_BLOB_BYTES: u64 = 5 * 1024 * 1024 * 1024;
/// Seconds for which a presigned URL is valid (design `2-log.md` §4).
pub const MAX_PRESIGNED_S: u64 = 15 * 60;
/// Objects that one page of a list has, as S3 has it.
pub const MAX_LISTED_BLOBS: u16 = 1_000;
/// Bytes of a message in a queue: what every queue service takes, and far above any job.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Messages that one request to a queue receives (SQS).
pub const MAX_RECEIVED_MESSAGES: u8 = 10;
/// Seconds that a received message may be hidden from others (SQS: 12 hours).
pub const MAX_VISIBILITY_S: u32 = 12 * 60 * 60;
/// Bytes of a snapshot job's body.
pub const MAX_SNAPSHOT_JOB_BYTES: usize = 1_024;

/// Bytes of a checkpoint of a snapshot's work: cursors only (design `3-snapshots.md` §6).
pub const MAX_CHECKPOINT_BYTES: usize = 4 * 1024;
/// Seconds since its last sign of life after which the worker on a snapshot is taken for dead.
pub const LEASE_S: u64 = 60;
/// Seconds for which a worker hides its message, from its receipt and from each checkpoint on: a
/// message comes back once its worker's lease is surely over.
pub const WORK_VISIBILITY_S: u32 = 120;
/// Seconds that a job waits for an earlier snapshot of its log: as often as a queue gives a message
/// (`SNAPSHOT_RECEIVES`), that is eight hours.
pub const EARLIER_WAIT_S: u32 = 30;
/// Seconds since its last sign of life after which a pending snapshot is taken for one without a
/// message: that would have come back after `WORK_VISIBILITY_S`.
pub const ABANDONED_S: u64 = 180;
/// Seconds that a job waits after a failure that may pass.
pub const FAILED_WAIT_S: u32 = 60;
/// Seconds that a job waits after a failure that stays until somebody mends it: a queue gives it
/// for ten days.
pub const BROKEN_WAIT_S: u32 = 15 * 60;
/// Milliseconds before a function's end at which it hands a snapshot over at the latest.
pub const HAND_OVER_MS: u64 = 30_000;
/// How often a queue gives a snapshot's message before that becomes a dead letter: waiting for an
/// earlier snapshot is not failing.
pub const SNAPSHOT_RECEIVES: u32 = 1_000;

/// Bytes of a text that a tile holds itself; of a longer one it holds this much as a preview.
pub const MAX_TILE_TEXT_BYTES: usize = 4 * 1024;
/// Cells of one tile, values and formats counted apart.
pub const MAX_TILE_CELLS: usize = 1 << 18;
/// Columns of one tile that hold something: each takes a few hundred bytes of memory.
pub const MAX_TILE_COLUMNS: usize = 1 << 16;
/// Columns of a stripe, as many as of a tile.
pub const MAX_STRIPE_COLUMNS: u32 = 1 << 16;
/// Bytes of texts of one tile that come out of fewer bytes of its chunk: what texts share is written
/// once.
pub const MAX_EXPANDED_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the formats of one tile, those of each column counted once.
pub const MAX_COPIED_FORMAT_BYTES: usize = 4 * 1024 * 1024;
/// Words of the texts of one column that is written as words.
pub const MAX_WORDS: usize = 1 << 20;
/// Bytes of a chunk before it is compressed.
pub const MAX_CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a chunk as stored, compressed: a row of the narrowest stripe fits, with the longest texts
/// and formulas in every cell.
pub const MAX_STORED_CHUNK_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a long text as stored: what does not compress grows by some bytes.
pub const MAX_STORED_TEXT_BYTES: usize = MAX_TEXT_BYTES + 1024;
/// Bytes of a stored chunk that a tile should have.
pub const TARGET_CHUNK_BYTES: usize = 128 * 1024;
/// Bytes of changes in memory from which on a level is made of them before more is folded.
pub const FOLD_BYTES: usize = 16 * 1024 * 1024;
/// Columns of the narrowest stripe.
pub const MIN_STRIPE_COLUMNS: u32 = 128;
/// Bytes of a stored chunk that the first tile of a sheet should have: a first view is small.
pub const FIRST_TILE_BYTES: usize = 48 * 1024;
/// Bytes of cells that wait for a tile while a sheet is imported.
pub const MAX_WRITER_BYTES: usize = 24 * 1024 * 1024;
/// Bytes of a snapshot's root before it is compressed.
pub const MAX_ROOT_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a snapshot's root as stored. Most of a large one is hashes, which do not compress.
pub const MAX_STORED_ROOT_BYTES: usize = MAX_ROOT_BYTES;
/// Levels of a snapshot, the young one included: with each at least twice the one above, this is far
/// above what any bucket holds.
pub const MAX_LEVELS: usize = 32;
/// Spans of the regions that a level clears in one sheet, rows and columns, values and formats together.
pub const MAX_LEVEL_CLEAR_SPANS: usize = 50_000;
/// Runs of the numbers of sheets that the header of an entry names; with more, a writer looks them up.
pub const MAX_SUMMARY_RUNS: usize = 64;
/// Runs of the numbers that sheets of one spreadsheet ever had.
pub const MAX_SHEET_NUMBER_RUNS: usize = 100_000;
/// Clients whose last mutation a snapshot knows; beyond it, the longest idle are forgotten.
pub const MAX_ROOT_CLIENTS: usize = 40_000;
/// Bytes of the names that clients of sync groups have there: about 14,000 of them, of the two ids of
/// 36 characters that Replicache makes. Beyond that, the longest idle are forgotten.
pub const MAX_ROOT_CLIENT_NAME_BYTES: usize = 1024 * 1024;
/// Seconds after which a snapshot forgets an idle client: 90 days.
pub const CLIENT_IDLE_S: u64 = 90 * 24 * 60 * 60;
/// Bytes of one sheet's index that stay in the root: enough for a level of 10 million cells.
pub const INLINE_INDEX_BYTES: usize = 16 * 1024;
/// Bytes of the indexes of one level that stay in the root.
pub const INLINE_LEVEL_BYTES: usize = 64 * 1024;
/// Bytes of the young level that stay in the root, cells and all.
pub const INLINE_YOUNG_BYTES: usize = 512 * 1024;
/// Bytes of the formats of one sheet's ranges that stay in the root; as many for all sheets together
/// as for one level.
pub const INLINE_FORMATS_BYTES: usize = 4 * 1024;
/// Bytes of the young level's cells, as they stand in the root, from which on it becomes a level of its
/// own (design `3-snapshots.md` §1, Policy): with more, rewriting it at each snapshot costs more than
/// the merges that are saved.
pub const YOUNG_BYTES: usize = 24 * 1024;
/// Cells from which on nobody tries whether they fit the young level.
pub const MAX_YOUNG_CELLS: usize = 64 * 1024;
/// Cells that one window spans, populated or not, of those that are read to say what entries changed.
pub const MAX_BAND_CELLS: u32 = 256 * 1024;
/// Runs of an axis's map, and spans of cleared regions, of one sheet of one level. One operation may go
/// beyond it once more; a level that would have more is merged with all below, where there is nothing
/// left to move or hide.
pub const MAX_LEVEL_CHANGES: usize = 4_000;

/// Bytes of an imported sheet's index in its log entry.
pub const MAX_IMPORT_INDEX_BYTES: usize = 16 * 1024;
/// Bytes of it up to which it stays in the entry: a unit of writing for each, where an object costs
/// eight.
pub const INLINE_IMPORT_BYTES: usize = 4 * 1024;
/// Bytes of a chunk of such an index, unless a single element is longer: it names about 170 others.
pub const IMPORT_INDEX_CHUNK_BYTES: usize = 8 * 1024;
/// Objects that one request of an import names or makes the server read.
pub const MAX_IMPORT_OBJECTS: usize = 256;
/// Bytes of them together, as stored.
pub const MAX_IMPORT_OBJECT_BYTES: u64 = 96 * 1024 * 1024;
/// Bytes of the objects, as stored, that one chunk of such an index names, or an entry directly: half of
/// what one request may, so that the other half is for further sheets.
pub const IMPORT_NAMED_BYTES: u64 = MAX_IMPORT_OBJECT_BYTES / 2;
/// Objects of an import that a server reads at the same time: each takes some MB until it is checked.
/// Of the long texts of each tile, as many again: each takes 64 KiB.
pub const IMPORT_CHECKS_AT_ONCE: usize = 8;
/// Long texts that one tile of an import may name: more than fit a chunk, as each has a preview of 4 KiB.
pub const MAX_TILE_LONG_TEXTS: usize = 2_048;
/// Texts as written in a chunk, and texts that unpack from fewer bytes of it, are all that a tile has.
const _: () = assert!(
    MAX_TILE_LONG_TEXTS * (MAX_TILE_TEXT_BYTES - 3) + MAX_TILE_LONG_TEXTS * 32
        > MAX_CHUNK_BYTES + MAX_EXPANDED_TEXT_BYTES
);
/// Columns of a file that is imported, each of which takes memory: twice what Excel has.
pub const MAX_IMPORT_COLUMNS: u32 = 1 << 15;
/// Bytes of one row of a file that is imported: a csv file whose quotes do not match is one row.
pub const MAX_IMPORT_ROW_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the texts of a block of imported cells; it ends with the row that reaches them.
pub const MAX_BLOCK_TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a workbook (xlsx, xlsb, ods) that is imported. Larger tables go in as csv.
pub const MAX_WORKBOOK_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of all that is in a workbook, unpacked, declared as well as actual.
pub const MAX_XLSX_UNPACKED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Cells of all sheets of a workbook that is imported, those that repeat others included.
pub const MAX_XLSX_CELLS: u64 = 20_000_000;
/// Bytes of the texts that the sheets of a workbook share: they are held in memory.
pub const MAX_SHARED_TEXT_BYTES: usize = 128 * 1024 * 1024;
/// Files in the archive that a workbook is.
pub const MAX_WORKBOOK_PARTS: usize = 10_000;
/// Tags of a workbook's part in which nothing was found. Programs do not write parts of hundreds of millions
/// of empty tags.
pub const MAX_IDLE_XML_EVENTS: u64 = 10_000_000;
/// Tags that each cell or text brings along at most, besides [`MAX_IDLE_XML_EVENTS`].
pub const XML_EVENTS_PER_FOUND: u64 = 100;
/// Bytes of one tag, or one text between tags, in a workbook.
pub const MAX_XML_EVENT_BYTES: usize = 256 * 1024;
/// Styles, number formats or shared formulas of a workbook: Excel has 65,490 styles.
pub const MAX_WORKBOOK_STYLES: usize = 1 << 17;
/// Number formats of a workbook that is written: Excel has 65,490 styles.
pub const MAX_XLSX_FORMATS: usize = 65_000;
/// Bytes of the formulas that cells of one sheet share: they are held in memory.
pub const MAX_SHARED_FORMULA_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of the name of a stream: with the sort key far below what DynamoDB takes of a partition key.
pub const MAX_STREAM_NAME_BYTES: usize = 256;
/// Bytes of the kind of an event or an unfold: each event repeats it.
pub const MAX_EVENT_KIND_BYTES: usize = 64;
/// Bytes of an event's correlation, and of its causation.
pub const MAX_EVENT_ID_BYTES: usize = 128;
/// Bytes of the data of an event or an unfold before they are compressed.
pub const MAX_STREAM_PAYLOAD_BYTES: usize = 1024 * 1024;
/// Index of a stream's tip, above that of every calf: how many events a stream can have.
pub const TIP_INDEX: u64 = 2_147_483_647;
/// Bytes of events and unfolds in a tip above which its events calve, if a program says nothing.
pub const TIP_BYTES: usize = 32 * 1024;
/// Events in a tip above which they calve, if a program says nothing.
pub const TIP_EVENTS: usize = 512;
/// Bytes of a tip or a calf, as DynamoDB counts them: an append that alone makes more is refused. It
/// takes 400 KB.
pub const MAX_STREAM_ITEM_BYTES: usize = 350 * 1024;
/// Writes of one append before it gives up, each of the same events on the same tip.
pub const MAX_STREAM_WRITE_ATTEMPTS: u32 = 16;
/// How often a command is decided again because others appended, before it gives up.
pub const MAX_DECIDE_ATTEMPTS: u32 = 16;
/// Bytes of events that one state may be made of, if no unfold and no origin ends the way back.
pub const MAX_REBUILD_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of what a spreadsheet is called.
pub const MAX_SPREADSHEET_NAME_BYTES: usize = 256;
/// Bytes of the issuer of a token.
pub const MAX_ISSUER_BYTES: usize = 256;
/// People with whom one spreadsheet is shared, its owners among them.
pub const MAX_MEMBERS: usize = 200;
/// Links of one spreadsheet that have not ended.
pub const MAX_LINKS: usize = 50;
/// Bytes of what a link is for.
pub const MAX_LINK_LABEL_BYTES: usize = 128;
/// Seconds for which a deleted spreadsheet can be restored.
pub const DELETED_KEPT_S: u64 = 30 * 24 * 60 * 60;
/// Events in the tip of a spreadsheet's stream in the catalog above which they calve.
pub const CATALOG_TIP_EVENTS: usize = 12;
/// Milliseconds for which a process goes on what the catalog said: how long somebody may go on with
/// whom a spreadsheet is not shared any more.
pub const LISTING_AGE_MS: u64 = 30_000;
/// Milliseconds for which a process refuses somebody by what the catalog said.
pub const LISTING_REFUSAL_AGE_MS: u64 = 1_000;
/// Listings that a process keeps.
pub const MAX_KNOWN_LISTINGS: usize = 1_024;
/// Refusals that a process keeps.
pub const MAX_KNOWN_REFUSALS: usize = 1_024;

/// Places in a partition of the feed: what a checkpoint's incarnation is multiplied by (design `6-catalog-feed.md` §3).
pub const FEED_PARTITION_ITEMS: u64 = 1_000_000;
/// Bytes after which a partition of the feed ends.
pub const FEED_PARTITION_BYTES: u64 = 1024 * 1024;
/// Largest checkpoint: the largest whole number that every program can hold.
pub const MAX_CHECKPOINT: u64 = (1 << 53) - 1;
/// Most streams that one item of the feed names.
pub const MAX_FEED_ITEM_SPANS: usize = 128;
/// Most events that one item of the feed names.
pub const MAX_FEED_ITEM_EVENTS: usize = 1_024;
/// Most bytes of the names of streams in one item of the feed.
pub const MAX_FEED_ITEM_NAME_BYTES: usize = 16 * 1024;
/// Most streams of which a process remembers how far they are indexed.
pub const MAX_KNOWN_MARKS: usize = 4_096;
/// How often an indexer tries to put an item, or to begin a partition, before its batch is delivered again.
pub const MAX_INDEX_ATTEMPTS: u32 = 16;
/// Feed partitions per incarnation of the tables: incarnation N starts at N times this number,
/// a checkpoint of before a restore is then one of before the feed.
pub const FEED_PARTITIONS_PER_INCARNATION: u64 = 1_000_000;
/// Most items in one reply of the feed.
pub const MAX_FEED_PAGE_ITEMS: u32 = 1_000;
/// Listings that a look for deleted spreadsheets reads at the same time.
pub const PURGE_READS_AT_ONCE: usize = 16;
/// Seconds for which an object of snapshots stays, whoever needs it (design `3-snapshots.md` §3).
pub const GARBAGE_AGE_S: u64 = 7 * 24 * 60 * 60;
/// Seconds after its job began from which a snapshot's objects may seem to be garbage.
pub const MAX_JOB_AGE_S: u64 = 24 * 60 * 60;
/// What an import or a snapshot has written is named long before it seems to be garbage.
const _: () = assert!(GARBAGE_AGE_S > 3 * (MAX_JOB_AGE_S + MAX_UPLOAD_AGE_S));
/// In an import, an entry names at most three layers of chunks of an index, then tiles, then texts. Each
/// is at most `MAX_UPLOAD_AGE_S` older than what names it.
const _: () = assert!(GARBAGE_AGE_S > 5 * MAX_UPLOAD_AGE_S);
/// Objects of snapshots that a look for garbage reads at the same time.
pub const GARBAGE_READS_AT_ONCE: usize = 16;
/// Objects of a purged spreadsheet that are deleted at the same time.
pub const PURGE_DELETES_AT_ONCE: usize = 16;
/// Entries of people's lists that are written at the same time.
pub const LIST_PUTS_AT_ONCE: usize = 16;
/// Most spreadsheets that one page of somebody's list looks at: about 8 KB, one read unit.
pub const MAX_LIST_PAGE: u32 = 50;
/// Most items in one reply of the feed that tells what the events say.
pub const MAX_FEED_EVENTS_ITEMS: u32 = 20;
/// How often a comparison of the feed with its streams looks again for what is on its way.
pub const FEED_SETTLES: u32 = 5;
/// After how long it does, milliseconds.
pub const FEED_SETTLE_MS: u64 = 2_000;
