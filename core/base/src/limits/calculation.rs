//! Limits of the calculation of formulas.

/// Maximum number of formulas that one read of a window evaluates, each evaluation counted. The
/// others are stale.
pub const MAX_CALCULATION_FORMULAS: u64 = 200_000;
/// Maximum number of cells that one read of a window loads for its formulas.
pub const MAX_CALCULATION_CELLS_LOADED: u64 = 4_000_000;
/// Maximum number of cells that the formulas of one read of a window read, each reading counted.
pub const MAX_CALCULATION_CELLS_READ: u64 = 100_000_000;
/// Maximum number of steps of all formulas of one read of a window. A step is a call, an operator or
/// a value that it processes.
pub const MAX_CALCULATION_STEPS: u64 = 50_000_000;
/// Maximum memory of the cells that a calculation keeps between reads, in bytes.
pub const MAX_CALCULATION_BYTES: usize = 128 * 1024 * 1024;
/// Maximum number of calculations that a server process keeps between requests.
pub const MAX_KEPT_CALCULATIONS: usize = 8;
/// Maximum memory of the cells of a calculation that a server process keeps between requests, in
/// bytes.
pub const MAX_KEPT_CALCULATION_BYTES: usize = 1024 * 1024;
/// Maximum number of long texts, which are separate objects, that one read of a window loads for its
/// formulas.
pub const MAX_CALCULATION_LONG_TEXTS: usize = 64;
/// Number of formulas after which a snapshot worker stores the results that it has calculated.
pub const MAX_RESULTS_AT_ONCE: usize = 500_000;
/// Maximum number of cells, also empty ones, in the rows whose formulas a snapshot worker calculates
/// together.
pub const MAX_CALCULATED_WINDOW_CELLS: u64 = 1_000_000;
/// Maximum number of rows whose formulas a snapshot worker calculates together.
pub const MAX_CALCULATED_WINDOW_ROWS: u32 = 8_192;
/// Maximum number of tiles that the server reads in one search for the formulas that read given
/// cells.
pub const MAX_DEPENDENT_TILES: usize = 1_000;
/// Maximum number of tiles in memory during a search for the formulas that read given cells. The
/// tiles of a single cell may exceed this limit: one for each level.
pub const MAX_DEPENDENT_TILES_AT_ONCE: usize = 32;
/// Maximum number of formulas of a spreadsheet that can fill several cells. Results of several cells
/// of all further formulas are `#SPILL!`.
pub const MAX_SPILLING_FORMULAS: usize = 1_000;
/// Maximum number of tiles that a reader loads to find the formulas that can fill several cells.
pub const MAX_SPILL_SEARCH_TILES: usize = 256;
/// Maximum number of cells of a spreadsheet that the results of formulas fill. Results that would fill
/// more are `#SPILL!`.
pub const MAX_SPILLED_CELLS: u64 = 262_144;
/// Maximum work to find the cells that results fill, as a multiple of the work of one read of a window.
pub const MAX_SPILL_WORK: u64 = 8;
/// Maximum number of times that the formulas that fill several cells are calculated, each time with
/// the results of the time before. If results still change, their formulas depend on themselves.
pub const MAX_SPILL_ROUNDS: usize = 32;
