//! Limits of cells, sheets and operations.

/// Maximum number of rows of a sheet. Rows are numbered `0..MAX_ROWS`.
pub const MAX_ROWS: u32 = 1 << 30;
/// Maximum number of columns of a sheet. Columns are numbered `0..MAX_COLUMNS`.
pub const MAX_COLUMNS: u32 = 1 << 22;
/// Maximum length of a cell's text, in bytes (UTF-8).
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Maximum length of a formula, in bytes.
pub const MAX_FORMULA_BYTES: usize = 8 * 1024;
/// Maximum number of parentheses, function calls and arrays in a formula that are nested in each
/// other, as in Excel.
pub const MAX_FORMULA_DEPTH: usize = 64;
/// Maximum number of operators, parentheses and function calls in a formula that are nested in each
/// other: three for each of the parentheses. `1+2+3` is not nested; `---1` is nested three times.
pub const MAX_EXPRESSION_DEPTH: usize = 192;
/// Maximum number of references in a formula. A range is one reference.
pub const MAX_FORMULA_REFERENCES: usize = 1_024;
/// Maximum length of the stored form of a formula, in bytes. Every formula within the limits above
/// fits.
pub const MAX_TEMPLATE_BYTES: usize = 128 * 1024;
/// Maximum length of a defined name, in bytes.
pub const MAX_DEFINED_NAME_BYTES: usize = 255;
/// Maximum length of the formula of a defined name, in bytes. Moved references can make a formula
/// four times as long, which still is a valid formula.
pub const MAX_DEFINED_NAME_FORMULA_BYTES: usize = MAX_FORMULA_BYTES / 4;
/// Maximum number of defined names in a spreadsheet.
pub const MAX_DEFINED_NAMES: usize = 2_000;
/// Maximum total size of the defined names of a spreadsheet, in bytes: their names and formulas,
/// with each reference in its longest stored form. They are stored in the snapshot root.
pub const MAX_DEFINED_NAMES_BYTES: usize = 256 * 1024;
/// Number of insertions and deletions of rows and columns after which a workbook in memory changes
/// its formulas. Until then, each formula is moved when it is read.
pub const MAX_UNRESOLVED_MOVES: usize = 64;
/// Maximum length of a number format, in bytes.
pub const MAX_FORMAT_BYTES: usize = 255;
/// Maximum number of cells per `SetCells` operation.
pub const MAX_CELLS_PER_OPERATION: usize = 10_000;
/// Maximum number of row or column spans per operation, where a span is a range of consecutive rows
/// or columns.
pub const MAX_SPANS: usize = 10_000;
/// Maximum number of rows or columns inserted by one operation.
pub const MAX_INSERT: u32 = 1 << 20;
/// Maximum number of characters in a sheet name, as in Excel.
pub const MAX_SHEET_NAME_CHARACTERS: usize = 31;
/// Maximum number of sheets in a workbook. Adding another sheet has no effect.
pub const MAX_SHEETS: usize = 1_000;
/// Maximum gap between the number of a new sheet and the next unused sheet number.
pub const MAX_SHEET_NUMBER_STEP: u32 = 1 << 16;
/// Maximum length of the explanation of why a mutation was rejected, in bytes.
pub const MAX_REJECTION_BYTES: usize = 512;
/// Maximum number of operations that a mutation is committed as. A deletion may be split, and an
/// undo or revert may consist of several operations.
pub const MAX_COMMITTED_OPERATIONS: usize = 10_000;
/// Maximum number of runs in an axis map.
pub const MAX_AXIS_RUNS: usize = 20_000;
/// Maximum number of visible range formats per sheet. Setting another range format has no effect.
pub const MAX_RANGE_FORMATS: usize = 10_000;
/// Maximum total number of row and column spans in the range formats of a sheet. The spans are
/// stored in the snapshot root, whose size is limited.
pub const MAX_RANGE_FORMAT_SPANS: usize = 100_000;
