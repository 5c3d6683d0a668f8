//! Bounds of chunks, roots, snapshot jobs and imports.

use super::sheet::MAX_TEXT_BYTES;

/// Compressed bytes of snapshot objects that a process caches.
pub const MAX_KNOWN_OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Logs whose newest root a process caches.
pub const MAX_KNOWN_ROOTS: usize = 16;

/// Bytes of the stored progress of a snapshot job: cursors only.
pub const MAX_PROGRESS_BYTES: usize = 4 * 1024;
/// Lease of a worker in seconds: this long after a worker's last write, another one may claim its
/// snapshot.
pub const LEASE_S: u64 = 60;
/// Seconds for which a worker hides its message, from receipt and from each stored progress: it
/// reappears after the lease has expired.
pub const WORK_VISIBILITY_S: u32 = 120;
/// Seconds for which a job waits for an earlier snapshot of its log. With `SNAPSHOT_RECEIVES`
/// deliveries, it waits up to eight hours.
pub const EARLIER_WAIT_S: u32 = 30;
/// Seconds after its last write from which a pending snapshot counts as lost: its message would
/// have reappeared after `WORK_VISIBILITY_S`.
pub const ABANDONED_S: u64 = 180;
/// Seconds for which a job waits after a temporary failure.
pub const FAILED_WAIT_S: u32 = 60;
/// Seconds for which a job waits after a failure that requires an operator: the queue delivers it
/// for ten days.
pub const BROKEN_WAIT_S: u32 = 15 * 60;
/// Milliseconds before a function's timeout at which it hands over a snapshot at the latest.
pub const HAND_OVER_MS: u64 = 30_000;
/// Deliveries of a snapshot job before it becomes a dead letter: waiting for an earlier snapshot is
/// not a failure.
pub const SNAPSHOT_RECEIVES: u32 = 1_000;

/// Bytes of a text inside a tile; a longer one has a preview of this size.
pub const MAX_TILE_TEXT_BYTES: usize = 4 * 1024;
/// Cells of one tile; values and formats are counted separately.
pub const MAX_TILE_CELLS: usize = 1 << 18;
/// Non-empty columns of one tile: each takes a few hundred bytes of memory.
pub const MAX_TILE_COLUMNS: usize = 1 << 16;
/// Columns of a stripe, as many as of a tile.
pub const MAX_STRIPE_COLUMNS: u32 = 1 << 16;
/// Bytes of a tile's texts that are expanded from fewer bytes of its chunk, because shared prefixes
/// are written once.
pub const MAX_EXPANDED_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the formats of one tile, counted once per column.
pub const MAX_COPIED_FORMAT_BYTES: usize = 4 * 1024 * 1024;
/// Words in the dictionary of one text column.
pub const MAX_WORDS: usize = 1 << 20;
/// Uncompressed bytes of a chunk.
pub const MAX_CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Compressed bytes of a chunk: enough for a row of the narrowest stripe, with the longest text and
/// formula in each cell.
pub const MAX_STORED_CHUNK_BYTES: usize = 2 * 1024 * 1024;
/// Compressed bytes of a long text: incompressible text grows by some bytes.
pub const MAX_STORED_TEXT_BYTES: usize = MAX_TEXT_BYTES + 1024;
/// Target size of a compressed chunk in bytes.
pub const TARGET_CHUNK_BYTES: usize = 128 * 1024;
/// Bytes of changes in memory after which they become a level before more entries are folded.
pub const FOLD_BYTES: usize = 16 * 1024 * 1024;
/// Columns of the narrowest stripe.
pub const MIN_STRIPE_COLUMNS: u32 = 128;
/// Target size of the first tile of a sheet, compressed, in bytes: the first view is small.
pub const FIRST_TILE_BYTES: usize = 48 * 1024;
/// Bytes of buffered cells during an import.
pub const MAX_WRITER_BYTES: usize = 24 * 1024 * 1024;
/// Uncompressed bytes of a snapshot's root.
pub const MAX_ROOT_BYTES: usize = 8 * 1024 * 1024;
/// Compressed bytes of a snapshot's root. A large root is mostly hashes, which do not compress.
pub const MAX_STORED_ROOT_BYTES: usize = MAX_ROOT_BYTES;
/// Levels of a snapshot, including level 0. Each is at least twice the size of the next newer one,
/// so this exceeds any bucket.
pub const MAX_LEVELS: usize = 32;
/// Spans of the regions that a level clears in one sheet: rows and columns, values and formats
/// together.
pub const MAX_LEVEL_CLEAR_SPANS: usize = 50_000;
/// Runs of sheet numbers in the header of an entry; with more, a writer reads the state.
pub const MAX_SUMMARY_RUNS: usize = 64;
/// Runs of the sheet numbers ever used in one spreadsheet.
pub const MAX_SHEET_NUMBER_RUNS: usize = 100_000;
/// Clients whose last mutation id a snapshot stores; beyond it, those idle longest are dropped.
pub const MAX_ROOT_CLIENTS: usize = 40_000;
/// Bytes of client names in a snapshot: about 14,000 with Replicache's two ids of 36 characters.
/// Beyond it, those idle longest are dropped.
pub const MAX_ROOT_CLIENT_NAME_BYTES: usize = 1024 * 1024;
/// Seconds after which a snapshot drops an idle client: 90 days.
pub const CLIENT_IDLE_S: u64 = 90 * 24 * 60 * 60;
/// Bytes of one sheet's tile index inside the root: enough for a level of 10 million cells.
pub const INLINE_INDEX_BYTES: usize = 16 * 1024;
/// Bytes of the tile indexes of one level inside the root.
pub const INLINE_LEVEL_BYTES: usize = 64 * 1024;
/// Bytes of level 0 inside the root, including its cells.
pub const INLINE_LEVEL_0_BYTES: usize = 512 * 1024;
/// Bytes of one sheet's range formats inside the root; the total for all sheets is that of a
/// level's tile indexes.
pub const INLINE_FORMATS_BYTES: usize = 4 * 1024;
/// Bytes of cells in level 0 above which it becomes a level of its own: with more, rewriting it for
/// each snapshot costs more than the merges that it saves.
pub const LEVEL_0_BYTES: usize = 24 * 1024;
/// Cells above which level 0 is not attempted.
pub const MAX_LEVEL_0_CELLS: usize = 64 * 1024;
/// Cells of one window, populated or not, in the search for changed cells.
pub const MAX_BAND_CELLS: u32 = 256 * 1024;
/// Runs of an axis map and spans of cleared regions, per sheet and level. One operation may exceed
/// it once; a level that would exceed it further is merged with all levels below it, where nothing
/// is left to move or hide.
pub const MAX_LEVEL_CHANGES: usize = 4_000;

/// Bytes of an imported sheet's tile index in its entry.
pub const MAX_IMPORT_INDEX_BYTES: usize = 16 * 1024;
/// Bytes of a tile index up to which it stays in the entry: each KB costs a write unit, an object
/// costs eight.
pub const INLINE_IMPORT_BYTES: usize = 4 * 1024;
/// Bytes of a chunk of an import's tile index, unless a single element is longer: it names about
/// 170 others.
pub const IMPORT_INDEX_CHUNK_BYTES: usize = 8 * 1024;
/// Objects that one request of an import names or makes the server read.
pub const MAX_IMPORT_OBJECTS: usize = 256;
/// Compressed bytes of these objects together.
pub const MAX_IMPORT_OBJECT_BYTES: u64 = 96 * 1024 * 1024;
/// Compressed bytes of the objects that one tile index chunk of an import, or its entry, names
/// directly: half of what a request may, so that the other half is for further sheets.
pub const IMPORT_NAMED_BYTES: u64 = MAX_IMPORT_OBJECT_BYTES / 2;
/// Objects of an import that a server reads concurrently: each takes some MB until it is checked.
/// As many long texts per tile again: each takes 64 KiB.
pub const IMPORT_CHECKS_AT_ONCE: usize = 8;
/// Long texts that one tile of an import may name: more than fit a chunk, as each has a preview of
/// 4 KiB.
pub const MAX_TILE_LONG_TEXTS: usize = 2_048;
/// A tile's texts are those written in its chunk and those expanded from fewer bytes of it.
const _: () = assert!(
    MAX_TILE_LONG_TEXTS * (MAX_TILE_TEXT_BYTES - 3) + MAX_TILE_LONG_TEXTS * 32
        > MAX_CHUNK_BYTES + MAX_EXPANDED_TEXT_BYTES
);
/// Columns of an imported file, twice Excel's limit: each takes memory.
pub const MAX_IMPORT_COLUMNS: u32 = 1 << 15;
/// Bytes of one row of an imported file: a csv file with unbalanced quotes is a single row.
pub const MAX_IMPORT_ROW_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the texts in a block of imported cells; the block ends with the row that reaches them.
pub const MAX_BLOCK_TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of an imported workbook (xlsx, xlsb, ods). Larger tables must be imported as csv.
pub const MAX_WORKBOOK_BYTES: u64 = 256 * 1024 * 1024;
/// Uncompressed bytes of all parts of a workbook, declared and actual.
pub const MAX_XLSX_UNPACKED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Cells of all sheets of an imported workbook, including repeated ones.
pub const MAX_XLSX_CELLS: u64 = 20_000_000;
/// Bytes of a workbook's shared strings, which are held in memory.
pub const MAX_SHARED_TEXT_BYTES: usize = 128 * 1024 * 1024;
/// Files in the zip of a workbook.
pub const MAX_WORKBOOK_PARTS: usize = 10_000;
/// XML events of a part that yield nothing. No program writes hundreds of millions of empty tags.
pub const MAX_IDLE_XML_EVENTS: u64 = 10_000_000;
/// Further XML events allowed for each cell or text that was found.
pub const XML_EVENTS_PER_FOUND: u64 = 100;
/// Bytes of one XML tag, or of one text between tags.
pub const MAX_XML_EVENT_BYTES: usize = 256 * 1024;
/// Styles, number formats or shared formulas of an imported workbook: Excel allows 65,490 styles.
pub const MAX_WORKBOOK_STYLES: usize = 1 << 17;
/// Number formats of an exported workbook: Excel allows 65,490 styles.
pub const MAX_XLSX_FORMATS: usize = 65_000;
/// Bytes of the shared formulas of one sheet, which are held in memory.
pub const MAX_SHARED_FORMULA_BYTES: usize = 16 * 1024 * 1024;
