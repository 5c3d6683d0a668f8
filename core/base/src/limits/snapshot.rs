//! Bounds of chunks, roots, snapshot jobs and imports.

use super::sheet::MAX_TEXT_BYTES;

/// Maximum compressed bytes of snapshot objects that a process caches.
pub const MAX_CACHED_OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of logs whose newest root a process caches.
pub const MAX_CACHED_ROOTS: usize = 16;

/// Maximum bytes of the stored progress of a snapshot job. The progress contains only cursors.
pub const MAX_PROGRESS_BYTES: usize = 4 * 1024;
/// Lease of a worker in seconds: after this time without a write, another worker may claim the
/// snapshot job.
pub const LEASE_S: u64 = 60;
/// Visibility timeout in seconds of a snapshot job's queue message, renewed with each stored
/// progress. Longer than `LEASE_S`: when the message reappears, the lease has expired.
pub const WORK_VISIBILITY_S: u32 = 120;
/// Seconds that a snapshot job waits before it checks again whether an earlier snapshot of the same
/// log is finished. With `SNAPSHOT_RECEIVES` deliveries, it waits up to eight hours in total.
pub const EARLIER_WAIT_S: u32 = 30;
/// Seconds without a write after which a pending snapshot counts as lost: its queue message would
/// have reappeared after `WORK_VISIBILITY_S`.
pub const ABANDONED_S: u64 = 180;
/// Seconds that a snapshot job waits after a temporary failure.
pub const FAILED_WAIT_S: u32 = 60;
/// Seconds that a snapshot job waits after a failure that an operator must fix. The queue
/// redelivers the job for ten days.
pub const BROKEN_WAIT_S: u32 = 15 * 60;
/// Milliseconds before a function's timeout at which the function hands an unfinished snapshot over
/// to its next invocation.
pub const HAND_OVER_MS: u64 = 30_000;
/// Maximum number of deliveries of a snapshot job before it becomes a dead letter. High, because a
/// job that waits for an earlier snapshot is also redelivered.
pub const SNAPSHOT_RECEIVES: u32 = 1_000;

/// Maximum bytes of a text inside a tile. A longer text is an object of its own; its tile contains
/// a preview of this size.
pub const MAX_TILE_TEXT_BYTES: usize = 4 * 1024;
/// Maximum number of cells of one tile; values and formats are counted separately.
pub const MAX_TILE_CELLS: usize = 1 << 18;
/// Maximum number of non-empty columns of one tile: each takes a few hundred bytes of memory.
pub const MAX_TILE_COLUMNS: usize = 1 << 16;
/// Maximum number of columns of a stripe; equal to `MAX_TILE_COLUMNS`.
pub const MAX_STRIPE_COLUMNS: u32 = 1 << 16;
/// Maximum bytes of text that prefix decompression may add to the texts written in a tile's chunk.
pub const MAX_EXPANDED_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum bytes of the number formats of one tile, counted once per column.
pub const MAX_COPIED_FORMAT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of words in the dictionary of one text column.
pub const MAX_WORDS: usize = 1 << 20;
/// Maximum uncompressed bytes of a chunk.
pub const MAX_CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Maximum compressed bytes of a chunk: enough for a row of the narrowest stripe, with the longest
/// text and formula in each cell.
pub const MAX_STORED_CHUNK_BYTES: usize = 2 * 1024 * 1024;
/// Maximum compressed bytes of a long text. Incompressible text grows by some bytes.
pub const MAX_STORED_TEXT_BYTES: usize = MAX_TEXT_BYTES + 1024;
/// Target size of a compressed chunk in bytes.
pub const TARGET_CHUNK_BYTES: usize = 128 * 1024;
/// Bytes of changes in memory after which the changes become a level before more entries are
/// folded.
pub const FOLD_BYTES: usize = 16 * 1024 * 1024;
/// Columns of the narrowest stripe.
pub const MIN_STRIPE_COLUMNS: u32 = 128;
/// Target size of the first tile of a sheet, compressed, in bytes. It is small so that the first
/// view loads fast.
pub const FIRST_TILE_BYTES: usize = 48 * 1024;
/// Maximum bytes of buffered cells during an import.
pub const MAX_WRITER_BYTES: usize = 24 * 1024 * 1024;
/// Maximum uncompressed bytes of a snapshot's root.
pub const MAX_ROOT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum compressed bytes of a snapshot's root. A large root is mostly hashes, which do not
/// compress.
pub const MAX_STORED_ROOT_BYTES: usize = MAX_ROOT_BYTES;
/// Maximum number of levels of a snapshot, including level 0. Each level is at least twice the size
/// of the next newer one, so no snapshot reaches this limit.
pub const MAX_LEVELS: usize = 32;
/// Maximum number of spans of the regions that a level clears in one sheet: rows and columns,
/// values and formats together.
pub const MAX_LEVEL_CLEAR_SPANS: usize = 50_000;
/// Maximum number of runs of sheet numbers in the header of an entry. If a log has more, writers
/// read the state instead of the header.
pub const MAX_SUMMARY_RUNS: usize = 64;
/// Maximum number of runs of the sheet numbers ever used in one spreadsheet.
pub const MAX_SHEET_NUMBER_RUNS: usize = 100_000;
/// Maximum number of clients whose last mutation id a snapshot stores. Beyond it, the snapshot
/// drops the clients that were idle longest.
pub const MAX_ROOT_CLIENTS: usize = 40_000;
/// Maximum bytes of client names in a snapshot: about 14,000 clients with Replicache's two ids of
/// 36 characters. Beyond it, the snapshot drops the clients that were idle longest.
pub const MAX_ROOT_CLIENT_NAME_BYTES: usize = 1024 * 1024;
/// Seconds after which a snapshot drops an idle client: 90 days.
pub const CLIENT_IDLE_S: u64 = 90 * 24 * 60 * 60;
/// Maximum bytes of one sheet's tile index that is stored inside the root: enough for a level of 10
/// million cells.
pub const INLINE_INDEX_BYTES: usize = 16 * 1024;
/// Maximum bytes of the tile indexes of one level inside the root.
pub const INLINE_LEVEL_BYTES: usize = 64 * 1024;
/// Maximum bytes of level 0 inside the root, including its cells.
pub const INLINE_LEVEL_0_BYTES: usize = 512 * 1024;
/// Maximum bytes of one sheet's range formats inside the root. `INLINE_LEVEL_BYTES` limits the
/// total for all sheets.
pub const INLINE_FORMATS_BYTES: usize = 4 * 1024;
/// Bytes of cells in level 0 above which it becomes a level of its own. Rewriting a larger level 0
/// for each snapshot would cost more than the merges that it saves.
pub const LEVEL_0_BYTES: usize = 24 * 1024;
/// Number of changed cells above which no level 0 is built; the changes become a level of their
/// own.
pub const MAX_LEVEL_0_CELLS: usize = 64 * 1024;
/// Maximum number of cells of one window, populated or not, in the search for changed cells.
pub const MAX_BAND_CELLS: u32 = 256 * 1024;
/// Maximum number of axis map runs and cleared spans per sheet and level. A single operation may
/// exceed it once. A level that would exceed it further is merged with all levels below it; the
/// result needs no axis maps or cleared spans.
pub const MAX_LEVEL_CHANGES: usize = 4_000;

/// Maximum bytes of an imported sheet's tile index in its entry.
pub const MAX_IMPORT_INDEX_BYTES: usize = 16 * 1024;
/// Maximum bytes of a tile index that is stored in the entry of its import; a larger index is an
/// object. Each KB in the entry costs one write unit, an object costs eight.
pub const INLINE_IMPORT_BYTES: usize = 4 * 1024;
/// Maximum bytes of a chunk of an import's tile index, unless a single element is longer. Such a
/// chunk names about 170 others.
pub const IMPORT_INDEX_CHUNK_BYTES: usize = 8 * 1024;
/// Maximum number of objects that one request of an import names or makes the server read.
pub const MAX_IMPORT_OBJECTS: usize = 256;
/// Maximum compressed bytes of all objects that one request of an import names or makes the server
/// read.
pub const MAX_IMPORT_OBJECT_BYTES: u64 = 96 * 1024 * 1024;
/// Maximum compressed bytes of the objects that an entry or a tile index chunk of an import names
/// directly. Half of `MAX_IMPORT_OBJECT_BYTES`, so that the other half of a request is left for
/// further sheets.
pub const IMPORT_NAMED_BYTES: u64 = MAX_IMPORT_OBJECT_BYTES / 2;
/// Maximum number of objects of an import that a server reads concurrently: each takes some MB
/// until it is checked. The same number of long texts (64 KiB each) is read concurrently per tile.
pub const IMPORT_CHECKS_AT_ONCE: usize = 8;
/// Maximum number of long texts that one tile of an import may name. More than a chunk can contain,
/// because each long text has a preview of `MAX_TILE_TEXT_BYTES` in the chunk.
pub const MAX_TILE_LONG_TEXTS: usize = 2_048;
/// The texts of a tile are written in its chunk or expanded from shared prefixes. The limit on long
/// texts must not be stricter than the limits on these bytes.
const _: () = assert!(
    MAX_TILE_LONG_TEXTS * (MAX_TILE_TEXT_BYTES - 3) + MAX_TILE_LONG_TEXTS * 32
        > MAX_CHUNK_BYTES + MAX_EXPANDED_TEXT_BYTES
);
/// Maximum number of columns of an imported file, twice Excel's limit. Each column takes memory.
pub const MAX_IMPORT_COLUMNS: u32 = 1 << 15;
/// Maximum bytes of one row of an imported file: a csv file with unbalanced quotes is a single row.
pub const MAX_IMPORT_ROW_BYTES: usize = 4 * 1024 * 1024;
/// Maximum bytes of the texts in a block of imported cells; the block ends with the row that
/// reaches them.
pub const MAX_BLOCK_TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Maximum bytes of an imported workbook (xlsx, xlsb, ods). Larger tables must be imported as csv.
pub const MAX_WORKBOOK_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum uncompressed bytes of all parts of a workbook, declared and actual.
pub const MAX_XLSX_UNPACKED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Maximum number of cells of all sheets of an imported workbook, including repeated ones.
pub const MAX_XLSX_CELLS: u64 = 20_000_000;
/// Maximum bytes of a workbook's shared strings, which are kept in memory.
pub const MAX_SHARED_TEXT_BYTES: usize = 128 * 1024 * 1024;
/// Maximum number of files in the zip of a workbook.
pub const MAX_WORKBOOK_PARTS: usize = 10_000;
/// Maximum number of XML events of a part that yield no cell or text. No program writes hundreds of
/// millions of empty tags.
pub const MAX_IDLE_XML_EVENTS: u64 = 10_000_000;
/// Number of further XML events allowed for each cell or text that an import finds.
pub const XML_EVENTS_PER_FOUND: u64 = 100;
/// Maximum bytes of one XML tag, or of one text between tags.
pub const MAX_XML_EVENT_BYTES: usize = 256 * 1024;
/// Maximum number of styles, number formats or shared formulas of an imported workbook: Excel
/// allows 65,490 styles.
pub const MAX_WORKBOOK_STYLES: usize = 1 << 17;
/// Maximum number of number formats of an exported workbook: Excel allows 65,490 styles.
pub const MAX_XLSX_FORMATS: usize = 65_000;
/// Maximum bytes of the shared formulas of one sheet, which are kept in memory.
pub const MAX_SHARED_FORMULA_BYTES: usize = 16 * 1024 * 1024;
