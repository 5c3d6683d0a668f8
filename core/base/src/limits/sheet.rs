//! Bounds of cells, sheets and operations.

/// Rows of a sheet, numbered `0..MAX_ROWS`.
pub const MAX_ROWS: u32 = 1 << 30;
/// Columns of a sheet, numbered `0..MAX_COLUMNS`.
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
/// Sheets of a workbook; further ones are not added.
pub const MAX_SHEETS: usize = 1_000;
/// Distance of a new sheet's number from the next free one.
pub const MAX_SHEET_NUMBER_STEP: u32 = 1 << 16;
/// Bytes of the detail of a rejected mutation.
pub const MAX_REJECTION_BYTES: usize = 512;
/// Operations as which one mutation is committed. A split delete is one; an undo or revert may be
/// several.
pub const MAX_COMMITTED_OPERATIONS: usize = 10_000;
/// Runs of one axis map.
pub const MAX_AXIS_RUNS: usize = 20_000;
/// Range formats of one sheet, without those hidden by newer ones; further ones change nothing.
pub const MAX_RANGE_FORMATS: usize = 10_000;
/// Spans of rows and columns in all range formats of a sheet: the root of a snapshot contains them.
pub const MAX_RANGE_FORMAT_SPANS: usize = 100_000;
