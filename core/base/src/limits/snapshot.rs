//! Bounds of chunks, roots, snapshot jobs and imports.

use super::sheet::MAX_TEXT_BYTES;

/// Bytes of objects of snapshots that a process keeps, as they are stored.
pub const MAX_KNOWN_OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Logs whose newest root a process keeps.
pub const MAX_KNOWN_ROOTS: usize = 16;

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
