//! Limits of chunks, roots, snapshot jobs and imports.

use super::sheet::MAX_TEXT_BYTES;

/// Maximum total compressed size of the snapshot objects cached by a process, in bytes.
pub const MAX_CACHED_OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of logs whose newest snapshot roots are cached by a process.
pub const MAX_CACHED_ROOTS: usize = 16;

/// Maximum size of a snapshot job's stored progress, in bytes. The progress consists only of
/// cursors.
pub const MAX_PROGRESS_BYTES: usize = 4 * 1024;
/// Duration of a worker's lease on a snapshot job, in seconds. If the worker writes nothing for
/// this time, another worker may claim the job.
pub const LEASE_S: u64 = 60;
/// Visibility timeout of a snapshot job's queue message, in seconds, extended whenever progress is
/// stored. Longer than `LEASE_S`, so that the lease has expired by the time the message is
/// redelivered.
pub const WORK_VISIBILITY_S: u32 = 120;
/// Delay between checks of whether an earlier snapshot of the same log is finished, in seconds.
/// With `SNAPSHOT_RECEIVES` deliveries, a snapshot job waits up to eight hours in total.
pub const EARLIER_WAIT_S: u32 = 30;
/// Time since the last write after which a pending snapshot counts as abandoned, in seconds. Longer
/// than `WORK_VISIBILITY_S`, after which the queue would have redelivered the snapshot's message.
pub const ABANDONED_S: u64 = 180;
/// Delay before a snapshot job is retried after a transient failure, in seconds.
pub const FAILED_WAIT_S: u32 = 60;
/// Delay before a snapshot job is retried after a failure that requires an operator, in seconds.
/// The queue redelivers the job for ten days.
pub const BROKEN_WAIT_S: u32 = 15 * 60;
/// Time remaining in a function invocation at which an unfinished snapshot is handed over to the
/// next invocation, in milliseconds.
pub const HAND_OVER_MS: u64 = 30_000;
/// Maximum number of deliveries of a snapshot job before it is moved to the dead-letter queue. The
/// limit is high because a job that waits for an earlier snapshot is also redelivered.
pub const SNAPSHOT_RECEIVES: u32 = 1_000;

/// Maximum length of a text in a tile, in bytes. A longer text is stored as a separate object; the
/// tile contains a preview of this length.
pub const MAX_TILE_TEXT_BYTES: usize = 4 * 1024;
/// Maximum number of cells per tile. Values and formats are counted separately.
pub const MAX_TILE_CELLS: usize = 1 << 18;
/// Maximum number of non-empty columns per tile. Each column takes a few hundred bytes of memory.
pub const MAX_TILE_COLUMNS: usize = 1 << 16;
/// Maximum number of columns in a stripe; equals `MAX_TILE_COLUMNS`.
pub const MAX_STRIPE_COLUMNS: u32 = 1 << 16;
/// Maximum number of text bytes that the expansion of shared prefixes adds to a tile.
pub const MAX_EXPANDED_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum total length of the number formats in a tile, in bytes. Each format counts once per
/// column.
pub const MAX_COPIED_FORMAT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of words in a text column's dictionary.
pub const MAX_WORDS: usize = 1 << 20;
/// Maximum uncompressed size of a chunk, in bytes.
pub const MAX_CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Maximum compressed size of a chunk, in bytes. Sufficient for a row of the narrowest stripe with
/// maximum-length text and formula in each cell.
pub const MAX_STORED_CHUNK_BYTES: usize = 2 * 1024 * 1024;
/// Maximum compressed size of a long text, in bytes. Compression makes incompressible text slightly
/// larger.
pub const MAX_STORED_TEXT_BYTES: usize = MAX_TEXT_BYTES + 1024;
/// Target size of a compressed chunk, in bytes.
pub const TARGET_CHUNK_BYTES: usize = 128 * 1024;
/// Size in memory above which folded changes are written as a level before more entries are folded,
/// in bytes.
pub const FOLD_BYTES: usize = 16 * 1024 * 1024;
/// Number of columns in the narrowest stripe.
pub const MIN_STRIPE_COLUMNS: u32 = 128;
/// Target compressed size of a sheet's first tile, in bytes. A small tile makes the first view load
/// fast.
pub const FIRST_TILE_BYTES: usize = 48 * 1024;
/// Maximum total size of the cells buffered by an import, in bytes.
pub const MAX_WRITER_BYTES: usize = 24 * 1024 * 1024;
/// Maximum uncompressed size of a snapshot root, in bytes.
pub const MAX_ROOT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum compressed size of a snapshot root, in bytes. Large roots consist mostly of hashes,
/// which cannot be compressed.
pub const MAX_STORED_ROOT_BYTES: usize = MAX_ROOT_BYTES;
/// Maximum number of levels in a snapshot, including level 0. Each level is at least twice as large
/// as the next newer one, so no snapshot reaches this limit.
pub const MAX_LEVELS: usize = 32;
/// Maximum number of spans per sheet in the regions that a level clears. Row and column spans, for
/// values and for formats, are counted together.
pub const MAX_LEVEL_CLEAR_SPANS: usize = 50_000;
/// Maximum number of runs of sheet numbers in an entry header. If a log needs more runs, writers
/// read the state instead of the header.
pub const MAX_SUMMARY_RUNS: usize = 64;
/// Maximum number of runs in the set of all sheet numbers ever used in a spreadsheet.
pub const MAX_SHEET_NUMBER_RUNS: usize = 100_000;
/// Maximum number of clients whose last mutation id is stored in a snapshot. If exceeded, the
/// clients that have been idle longest are dropped.
pub const MAX_ROOT_CLIENTS: usize = 40_000;
/// Maximum total size of the client names in a snapshot, in bytes. Sufficient for about 14,000
/// Replicache clients, each with two ids of 36 characters. If exceeded, the clients that have been
/// idle longest are dropped.
pub const MAX_ROOT_CLIENT_NAME_BYTES: usize = 1024 * 1024;
/// Idle time after which a snapshot drops a client, in seconds (90 days).
pub const CLIENT_IDLE_S: u64 = 90 * 24 * 60 * 60;
/// Maximum size of a sheet's tile index in the snapshot root, in bytes. Sufficient for a level of
/// 10 million cells.
pub const INLINE_INDEX_BYTES: usize = 16 * 1024;
/// Maximum total size of a level's tile indexes in the snapshot root, in bytes.
pub const INLINE_LEVEL_BYTES: usize = 64 * 1024;
/// Maximum size of level 0 in the snapshot root, in bytes, including its cells.
pub const INLINE_LEVEL_0_BYTES: usize = 512 * 1024;
/// Maximum size of a sheet's range formats in the snapshot root, in bytes. `INLINE_LEVEL_BYTES`
/// limits the total for all sheets.
pub const INLINE_FORMATS_BYTES: usize = 4 * 1024;
/// Size of level 0's cells above which they become a separate level, in bytes. Rewriting a larger
/// level 0 with each snapshot would cost more than the merges that it avoids.
pub const LEVEL_0_BYTES: usize = 24 * 1024;
/// Maximum number of changed cells for which a level 0 is built. More changes are written as a
/// separate level.
pub const MAX_LEVEL_0_CELLS: usize = 64 * 1024;
/// Maximum number of cells, including empty cells, in each window that is read to search for
/// changed cells, unless the window is a single row.
pub const MAX_BAND_CELLS: u32 = 256 * 1024;
/// Maximum number of axis map runs and cleared spans per sheet and level. The operation that
/// reaches the limit may exceed it. A level that would exceed it further is merged with all older
/// levels, because the merged level needs no axis maps or cleared spans.
pub const MAX_LEVEL_CHANGES: usize = 4_000;

/// Maximum size of an imported sheet's tile index in its entry, in bytes.
pub const MAX_IMPORT_INDEX_BYTES: usize = 16 * 1024;
/// Maximum size of a tile index that is stored in its import entry, in bytes. A larger index is
/// stored as an object. Each KB in the entry costs one write unit; an object costs as much as eight
/// write units.
pub const INLINE_IMPORT_BYTES: usize = 4 * 1024;
/// Maximum size of an import's tile index chunk, in bytes, unless the chunk contains a single
/// element. A chunk of this size references about 170 other chunks.
pub const IMPORT_INDEX_CHUNK_BYTES: usize = 8 * 1024;
/// Maximum number of objects that one import request references or causes the server to read.
pub const MAX_IMPORT_OBJECTS: usize = 256;
/// Maximum total compressed size of the objects that one import request references or causes the
/// server to read, in bytes.
pub const MAX_IMPORT_OBJECT_BYTES: u64 = 96 * 1024 * 1024;
/// Maximum total compressed size of the objects directly referenced by an import entry or tile
/// index chunk, in bytes. Half of `MAX_IMPORT_OBJECT_BYTES`, so that the other half of a request
/// remains for additional sheets.
pub const IMPORT_NAMED_BYTES: u64 = MAX_IMPORT_OBJECT_BYTES / 2;
/// Maximum number of an import's objects that a server reads concurrently. Each object takes a few
/// MB of memory until it is checked. The same limit applies to the long texts (64 KiB each) of one
/// tile.
pub const IMPORT_CHECKS_AT_ONCE: usize = 8;
/// Maximum number of long texts per imported tile. The length limit of a chunk is reached first,
/// because a chunk stores a preview of `MAX_TILE_TEXT_BYTES` for each long text.
pub const MAX_TILE_LONG_TEXTS: usize = 2_048;
/// The limit on the number of long texts must not be stricter than the byte limits of a tile, whose
/// texts are either stored in its chunk or expanded from shared prefixes.
const _: () = assert!(
    MAX_TILE_LONG_TEXTS * (MAX_TILE_TEXT_BYTES - 3) + MAX_TILE_LONG_TEXTS * 32
        > MAX_CHUNK_BYTES + MAX_EXPANDED_TEXT_BYTES
);
/// Maximum number of columns in an imported file: twice Excel's limit. Each column takes memory.
pub const MAX_IMPORT_COLUMNS: u32 = 1 << 15;
/// Maximum size of one row in an imported file, in bytes. A CSV file with unbalanced quotes is a
/// single row.
pub const MAX_IMPORT_ROW_BYTES: usize = 4 * 1024 * 1024;
/// Maximum total text size of a block of imported cells, in bytes. The row that reaches this size
/// is the last of its block.
pub const MAX_BLOCK_TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Maximum size of an imported workbook (xlsx, xlsb, ods), in bytes. Larger tables must be imported
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
/// Maximum number of XML events in a workbook part that yield neither a cell nor a text. No
/// legitimate file contains hundreds of millions of empty tags.
pub const MAX_IDLE_XML_EVENTS: u64 = 10_000_000;
/// Number of additional XML events allowed for each cell or text found by an import.
pub const XML_EVENTS_PER_FOUND: u64 = 100;
/// Maximum length of one XML tag, or of one text between tags, in bytes.
pub const MAX_XML_EVENT_BYTES: usize = 256 * 1024;
/// Maximum number of styles, number formats or shared formulas in an imported workbook. Excel
/// allows 65,490 styles.
pub const MAX_WORKBOOK_STYLES: usize = 1 << 17;
/// Maximum number of number formats in an exported workbook. Excel allows 65,490 styles.
pub const MAX_XLSX_FORMATS: usize = 65_000;
/// Maximum total size of a sheet's shared formulas, in bytes. They are buffered in memory.
pub const MAX_SHARED_FORMULA_BYTES: usize = 16 * 1024 * 1024;
