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
/// Operations that one mutation is committed as (a split delete is one; an undo may be several).
pub const MAX_COMMITTED_OPERATIONS: usize = 10_000;
/// Runs of one axis map.
pub const MAX_AXIS_RUNS: usize = 20_000;
/// Formats of ranges of one sheet, those hidden by a newer one apart. Beyond it, only the cells that
/// hold something get the format.
pub const MAX_RANGE_FORMATS: usize = 10_000;

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
/// Bytes of a list reply (load, update, append, cells); longer ones end with a `next`.
///
/// A Lambda reply is limited to 6 MB, and travels as a text inside JSON in which each quote and
/// backslash takes one byte more: at most twice these bytes, and the last entry or cell on top.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Bytes of a reply of cells that may be spans: of formats, or of rows and columns that differ.
/// They come whole or cut with the first page; the rest of it is for cells.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Bytes of one span in the API's JSON, with the comma behind it.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Cells that one range may span, populated or not.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Bytes of cells that one read may hold in memory while it replays the log.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a bearer token.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Spreadsheets that one token may name.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// The greatest number in a reply's `cellar-cost`: the digits of a decimal in a structured field.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;

/// How often an undo is resolved again, because others wrote meanwhile, before it gives up with
/// `Contention`.
pub const MAX_UNDO_ATTEMPTS: u32 = 10;
/// Conditional puts of one entry before its append gives up with `Contention` or `OutcomeUnknown` (I6).
pub const MAX_PUT_ATTEMPTS: u32 = 48;
/// Failed reads of one append before it gives up (I6).
pub const MAX_READ_ATTEMPTS: u32 = 8;
/// Age of an append from which on it puts no more, seconds: much less than `PURGE_FENCE_S`, so that
/// a process that was frozen in the middle of one never puts into a segment purged meanwhile.
pub const MAX_APPEND_AGE_S: u64 = 15 * 60;
/// Lost puts in a row after which an append catches up with one Query (design `2-log.md` §2).
pub const LOSSES_BEFORE_CATCH_UP: u32 = 2;
/// First upper bound of a backoff, milliseconds; it doubles with each attempt.
pub const BACKOFF_BASE_MS: u64 = 10;
/// Largest upper bound of a backoff, milliseconds.
pub const BACKOFF_MAX_MS: u64 = 400;
/// Entries that one page of a read asks for at most; DynamoDB itself cuts a page at 1 MB.
pub const MAX_PAGE_ENTRIES: u32 = 1_000;

/// Entries of a segment from which on it is rolled.
pub const SEGMENT_ENTRIES: u32 = 10_000;
/// Bytes of bodies of a segment from which on it is rolled.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// Newest segments that are never purged: a load looks for a snapshot in the two newest.
pub const MIN_KEPT_SEGMENTS: u32 = 2;
/// Seconds after the end of a segment before which it is not purged: much longer than any process
/// keeps what it knows of a tail (`KNOWN_RUN_AGE_MS`).
pub const PURGE_FENCE_S: u64 = 24 * 60 * 60;
/// Age of the newest entry that a process knows from which on nothing is put behind it unread: a
/// page of an old segment may be known while its entries are purged. Half the fence, which leaves
/// the other half to clocks that differ.
pub const KNOWN_TAIL_AGE_S: u64 = PURGE_FENCE_S / 2;
/// Bytes of an archive of a segment.
pub const MAX_ARCHIVE_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of the records in an archive, unpacked.
pub const MAX_ARCHIVED_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of entries that a process keeps for one log.
pub const MAX_KNOWN_RUN_BYTES: usize = 2 * 1024 * 1024;
/// Logs whose tails a process keeps.
pub const MAX_KNOWN_LOGS: usize = 16;
/// Age at which a kept tail is dropped, however much it is used, milliseconds (design `2-log.md` §2 step 1).
pub const KNOWN_RUN_AGE_MS: u64 = 15 * 60 * 1000;

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

/// Bytes of a text that a tile holds itself; of a longer one it holds this much as a preview.
pub const MAX_TILE_TEXT_BYTES: usize = 4 * 1024;
/// Cells of one tile, values and formats counted apart.
pub const MAX_TILE_CELLS: usize = 1 << 18;
/// Bytes of a chunk before it is compressed.
pub const MAX_CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a chunk as stored, compressed (design `3-snapshots.md` §3).
pub const MAX_STORED_CHUNK_BYTES: usize = 1024 * 1024;
/// Bytes of a stored chunk that a tile should have.
pub const TARGET_CHUNK_BYTES: usize = 128 * 1024;

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
/// Bytes of one tag, or one text between tags, in a workbook.
pub const MAX_XML_EVENT_BYTES: usize = 256 * 1024;
/// Styles, number formats or shared formulas of a workbook: Excel has 65,490 styles.
pub const MAX_WORKBOOK_STYLES: usize = 1 << 17;
/// Number formats of a workbook that is written: Excel has 65,490 styles.
pub const MAX_XLSX_FORMATS: usize = 65_000;
/// Bytes of the formulas that cells of one sheet share: they are held in memory.
pub const MAX_SHARED_FORMULA_BYTES: usize = 16 * 1024 * 1024;
