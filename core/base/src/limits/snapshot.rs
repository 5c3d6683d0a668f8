//! Limits of chunks, roots, snapshot jobs and imports.

use super::sheet::MAX_TEXT_BYTES;

/// Maximum total compressed size of the snapshot objects cached by a process, in bytes.
pub const MAX_CACHED_OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum total memory of the decoded tiles cached by a process, in bytes.
pub const MAX_CACHED_TILE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of logs whose newest snapshot roots are cached by a process.
pub const MAX_CACHED_ROOTS: usize = 16;

/// Maximum size of the stored progress of a snapshot job, in bytes. The progress consists only of
/// cursors.
pub const MAX_PROGRESS_BYTES: usize = 4 * 1024;
/// Time in seconds after which another worker may take over a snapshot job whose worker has stopped
/// writing.
pub const LEASE_S: u64 = 60;
/// Visibility timeout of a snapshot job's queue message, in seconds. It is renewed whenever
/// progress is stored. It is longer than `LEASE_S`, so that another worker may take over the job as
/// soon as the message is redelivered.
pub const WORK_VISIBILITY_S: u32 = 120;
/// Delay in seconds before a snapshot job checks again whether an earlier snapshot of the same log
/// is finished.
pub const EARLIER_WAIT_S: u32 = 30;
/// Time in seconds since the last write after which an unfinished snapshot is considered abandoned.
/// It is longer than `WORK_VISIBILITY_S`, after which the queue should have redelivered the
/// message.
pub const ABANDONED_S: u64 = 180;
/// Delay before a snapshot job is retried after a transient failure, in seconds.
pub const FAILED_WAIT_S: u32 = 60;
/// Delay in seconds before a snapshot job is retried after a failure that only an operator can
/// resolve. The queue redelivers the job for ten days.
pub const BROKEN_WAIT_S: u32 = 15 * 60;
/// Remaining time of a function invocation at which an unfinished snapshot is handed over to
/// another invocation, in milliseconds.
pub const HAND_OVER_MS: u64 = 30_000;
/// Maximum number of deliveries of a snapshot job before it is moved to the dead-letter queue. The
/// limit is high because a job that waits for an earlier snapshot is also redelivered.
pub const SNAPSHOT_RECEIVES: u32 = 1_000;

/// Maximum length of text that is stored in a tile, in bytes. Longer text is stored as a separate
/// object, and the tile contains only the beginning of the text.
pub const MAX_TILE_TEXT_BYTES: usize = 4 * 1024;
/// Maximum number of cells per tile. A cell with a value and a format counts twice.
pub const MAX_TILE_CELLS: usize = 1 << 18;
/// Maximum number of non-empty columns per tile. Each column takes a few hundred bytes of memory.
pub const MAX_TILE_COLUMNS: usize = 1 << 16;
/// Maximum number of columns in a stripe.
pub const MAX_STRIPE_COLUMNS: u32 = 1 << 16;
/// Maximum number of bytes by which decompressing shared text prefixes may enlarge a tile.
pub const MAX_EXPANDED_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum total length of the number formats in a tile, in bytes. A format is counted once for
/// each column that uses it.
pub const MAX_COPIED_FORMAT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of words in the dictionary of a text column.
pub const MAX_WORDS: usize = 1 << 20;
/// Maximum uncompressed size of a chunk, in bytes.
pub const MAX_CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Maximum compressed size of a chunk, in bytes. A row of the narrowest stripe fits into a chunk
/// even if every cell contains text and a formula of maximum length.
pub const MAX_STORED_CHUNK_BYTES: usize = 2 * 1024 * 1024;
/// Maximum size of a compressed long text, in bytes. Compression may slightly enlarge
/// incompressible text.
pub const MAX_STORED_TEXT_BYTES: usize = MAX_TEXT_BYTES + 1024;
/// Target size of a compressed chunk, in bytes.
pub const TARGET_CHUNK_BYTES: usize = 128 * 1024;
/// Memory size in bytes at which the accumulated changes of log entries are written to a new
/// snapshot level.
pub const FOLD_BYTES: usize = 16 * 1024 * 1024;
/// Number of columns in the narrowest stripe.
pub const MIN_STRIPE_COLUMNS: u32 = 128;
/// Maximum length of the stored form of a formula, in bytes, in a row of the narrowest stripe that
/// would otherwise be too large for a chunk. Longer formulas of such a row become `=#REF!`.
pub const MAX_CROWDED_TEMPLATE_BYTES: usize = 12 * 1024;
/// Maximum number of rectangles in a tile index for the cells that the formulas of a tile read.
pub const MAX_TILE_READ_AREAS: usize = 8;
/// Maximum number of rectangles in a tile index for the cells that the formulas of a sheet of a level
/// read.
pub const MAX_SHEET_READ_AREAS: usize = 32;
/// Maximum number of rectangles in a snapshot root for the cells whose values are outdated.
pub const MAX_OUTDATED_AREAS: usize = 64;
/// Maximum number of tiles and of runs of formulas that a search for outdated values considers. If
/// there are more, all values are outdated.
pub const MAX_OUTDATED_CANDIDATES: usize = 20_000;
/// Maximum number of times that such a search considers all of them. If there are more, because the
/// formulas of a chain are in no order, all values are outdated.
pub const MAX_OUTDATED_PASSES: usize = 64;
/// Maximum number of tiles that such a search loads, because their formulas are far apart.
pub const MAX_OUTDATED_LOADED_TILES: usize = 32;
/// Maximum length of the formulas of a tile that a merge handles at once, in bytes. Formulas that
/// share bytes in the tile count one by one. If there are more, the merge divides the rows.
pub const MAX_BAND_FORMULA_BYTES: usize = 16 * 1024 * 1024;
/// Size of merged cells in memory, in bytes, above which a merge writes a tile even if the tile is
/// expected to be small. Many long formulas can take few bytes when they are stored.
pub const MAX_PENDING_TILE_BYTES: usize = 64 * 1024 * 1024;
/// Target compressed size of the first tile of a sheet, in bytes. It is small so that the top of
/// the sheet loads quickly.
pub const FIRST_TILE_BYTES: usize = 48 * 1024;
/// Maximum total size of the cells that an import buffers in memory, in bytes.
pub const MAX_WRITER_BYTES: usize = 24 * 1024 * 1024;
/// Maximum uncompressed size of a snapshot root, in bytes.
pub const MAX_ROOT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum compressed size of a snapshot root, in bytes. It equals the maximum uncompressed size,
/// because large roots consist mostly of incompressible hashes.
pub const MAX_STORED_ROOT_BYTES: usize = MAX_ROOT_BYTES;
/// Maximum number of LSM levels in a snapshot, including level 0. Each level is at least twice as
/// large as the next newer one, so no snapshot reaches this limit.
pub const MAX_LEVELS: usize = 32;
/// Maximum number of row and column spans per sheet in the regions that an LSM level clears.
pub const MAX_LEVEL_CLEAR_SPANS: usize = 50_000;
/// Maximum number of spans of deleted rows, or of deleted columns, per sheet of an LSM level with
/// stored ends of ranges.
pub const MAX_LINE_ENDS: usize = 20_000;
/// Maximum number of ranges of sheet numbers in an entry header. If a log needs more ranges,
/// writers read the snapshot instead of the header.
pub const MAX_SUMMARY_RUNS: usize = 64;
/// Maximum number of ranges in the set of all sheet numbers ever used in a spreadsheet.
pub const MAX_SHEET_NUMBER_RUNS: usize = 100_000;
/// Maximum number of clients whose last mutation ids are stored in a snapshot. If there are more,
/// the clients that have been idle longest are dropped.
pub const MAX_ROOT_CLIENTS: usize = 40_000;
/// Maximum total size of the client names in a snapshot, in bytes. The limit allows for about
/// 14,000 Replicache clients with ids of 36 characters. If the names are larger, the clients that
/// have been idle longest are dropped.
pub const MAX_ROOT_CLIENT_NAME_BYTES: usize = 1024 * 1024;
/// Idle time after which a snapshot drops a client, in seconds (90 days).
pub const CLIENT_IDLE_S: u64 = 90 * 24 * 60 * 60;
/// Maximum size of the tile index of a sheet in a snapshot root, in bytes. This is sufficient for
/// 10 million cells.
pub const INLINE_INDEX_BYTES: usize = 16 * 1024;
/// Maximum total size of the tile indexes of an LSM level in a snapshot root, in bytes.
pub const INLINE_LEVEL_BYTES: usize = 64 * 1024;
/// Maximum size of level 0 of a snapshot, in bytes. Level 0 is stored in the snapshot root with its
/// cells.
pub const INLINE_LEVEL_0_BYTES: usize = 512 * 1024;
/// Maximum size of the range formats of a sheet in a snapshot root, in bytes. `INLINE_LEVEL_BYTES`
/// is the limit for all sheets together.
pub const INLINE_FORMATS_BYTES: usize = 4 * 1024;
/// Size in bytes above which the cells of level 0 are moved from the snapshot root to a separate
/// level. Rewriting a larger level 0 with each snapshot would cost more than the merges that it
/// avoids.
pub const LEVEL_0_BYTES: usize = 24 * 1024;
/// Maximum number of changed cells in level 0 of a snapshot. If more cells have changed, they are
/// written as a separate level.
pub const MAX_LEVEL_0_CELLS: usize = 64 * 1024;
/// Maximum number of cells per window in a search for changed cells. Empty cells are counted too. A
/// window with a single row may exceed the limit.
pub const MAX_BAND_CELLS: u32 = 256 * 1024;
/// Maximum number of moved and cleared spans that an LSM level stores per sheet. A single operation
/// may exceed the limit. A level that has reached the limit is merged with all older levels,
/// because the oldest level does not store such spans.
pub const MAX_LEVEL_CHANGES: usize = 4_000;

/// Maximum size of the tile index in an import entry, in bytes. An import with a larger tile index
/// is rejected.
pub const MAX_IMPORT_INDEX_BYTES: usize = 16 * 1024;
/// Maximum total length in bytes of the names of sheets that the formulas of an imported sheet use.
/// As many names as a spreadsheet can have sheets fit, if they are 32 letters long.
pub const MAX_IMPORT_SHEET_NAMES_BYTES: usize = 32 * 1024;
/// Size of a tile index in bytes above which a client stores it as an object instead of in the
/// import entry. An object costs as much as eight write units. Each KB in the entry costs one write
/// unit.
pub const INLINE_IMPORT_BYTES: usize = 4 * 1024;
/// Maximum size of a tile index chunk of an import, in bytes. A chunk with a single element may
/// exceed the limit. A chunk of this size references about 170 other chunks.
pub const IMPORT_INDEX_CHUNK_BYTES: usize = 8 * 1024;
/// Maximum number of objects that an import request references or that the server must read to
/// handle it.
pub const MAX_IMPORT_OBJECTS: usize = 256;
/// Maximum total compressed size of the objects that an import request references or that the
/// server must read to handle it, in bytes.
pub const MAX_IMPORT_OBJECT_BYTES: u64 = 96 * 1024 * 1024;
/// Maximum total compressed size of the objects that an import entry or a tile index chunk
/// references directly, in bytes. The limit is half of `MAX_IMPORT_OBJECT_BYTES`, so that a request
/// can contain further sheets.
pub const IMPORT_NAMED_BYTES: u64 = MAX_IMPORT_OBJECT_BYTES / 2;
/// Maximum number of imported objects that a server checks concurrently. Each object takes a few MB
/// of memory.
pub const IMPORT_CHECKS_AT_ONCE: usize = 8;
/// Maximum number of long texts per imported tile. A chunk reaches its size limit first, because it
/// stores up to `MAX_TILE_TEXT_BYTES` of each long text.
pub const MAX_TILE_LONG_TEXTS: usize = 2_048;
/// A tile with too many long texts must always exceed a size limit first.
const _: () = assert!(
    MAX_TILE_LONG_TEXTS * (MAX_TILE_TEXT_BYTES - 3) + MAX_TILE_LONG_TEXTS * 32
        > MAX_CHUNK_BYTES + MAX_EXPANDED_TEXT_BYTES
);
/// Maximum number of columns in an imported file, twice Excel's limit. The number is limited
/// because each column takes memory.
pub const MAX_IMPORT_COLUMNS: u32 = 1 << 15;
/// Maximum size of a row in an imported file, in bytes. The parser reads a CSV file with an
/// unclosed quote as a single row.
pub const MAX_IMPORT_ROW_BYTES: usize = 4 * 1024 * 1024;
/// Total text size in bytes at which a block of imported rows is complete.
pub const MAX_BLOCK_TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Maximum size of an imported xlsx, xlsb or ods workbook, in bytes. Larger tables must be imported
/// as CSV.
pub const MAX_WORKBOOK_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum total uncompressed size of a workbook's parts, in bytes. Both the declared and the
/// actual size are checked.
pub const MAX_WORKBOOK_UNPACKED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Maximum total number of cells in an imported workbook's sheets, including repeated cells.
pub const MAX_WORKBOOK_CELLS: u64 = 20_000_000;
/// Maximum total size of a workbook's shared strings, in bytes. They are buffered in memory.
pub const MAX_SHARED_TEXT_BYTES: usize = 128 * 1024 * 1024;
/// Maximum number of files in a workbook's zip archive.
pub const MAX_WORKBOOK_PARTS: usize = 10_000;
/// Maximum number of XML events without a cell or text in a part of a workbook. More such events
/// indicate a malicious file, such as one with hundreds of millions of empty tags.
pub const MAX_IDLE_XML_EVENTS: u64 = 10_000_000;
/// Number of further XML events that are allowed per imported cell or text.
pub const XML_EVENTS_PER_FOUND: u64 = 100;
/// Maximum length of an XML tag, or of the text between two tags, in bytes.
pub const MAX_XML_EVENT_BYTES: usize = 256 * 1024;
/// Maximum number of styles, number formats, shared formulas or records of cell metadata in an
/// imported workbook. Excel allows 65,490 styles.
pub const MAX_WORKBOOK_STYLES: usize = 1 << 17;
/// Maximum number of number formats in an exported workbook. Excel allows 65,490 styles.
pub const MAX_XLSX_FORMATS: usize = 65_000;
/// Maximum total size of the shared formulas of a sheet, in bytes. Shared formulas are buffered in
/// memory.
pub const MAX_SHARED_FORMULA_BYTES: usize = 16 * 1024 * 1024;
