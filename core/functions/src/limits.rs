//! Limits of one evaluation. They count work and memory instead of time, so that the same formula
//! over the same cells always has the same result.

/// Maximum number of nested expressions of a formula, including the bodies of called lambdas. It is
/// larger than the depth that the syntax allows.
pub const MAX_DEPTH: u32 = 256;
/// Maximum number of characters of a text, as in Excel. A longer result is `#VALUE!`.
pub const MAX_TEXT_CHARACTERS: usize = 32_767;
/// Maximum number of values of one array, including the result.
pub const MAX_ARRAY_VALUES: u64 = 4_000_000;
/// Maximum number of cells that an evaluation reads. Empty cells outside the used range are free.
pub const MAX_CELLS_READ: u64 = 50_000_000;
/// Maximum number of steps of an evaluation: calls, operators and values that they process.
pub const MAX_STEPS: u64 = 50_000_000;
/// Maximum number of bytes of all texts and arrays that an evaluation creates.
pub const MAX_CREATED_BYTES: u64 = 256 * 1024 * 1024;

/// Limits of one evaluation that callers may lower or raise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of cells that are read.
    pub cells_read: u64,
    /// Maximum number of calls, operators and values that they process.
    pub steps: u64,
    /// Maximum number of bytes of all texts and arrays that are created.
    pub created_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cells_read: MAX_CELLS_READ, steps: MAX_STEPS, created_bytes: MAX_CREATED_BYTES }
    }
}

/// A formula needs more work or memory than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitExceeded {
    /// Too many nested expressions.
    #[error(
        "the formula nests more than {MAX_DEPTH} expressions or calls; split it into several cells"
    )]
    Depth,
    /// Too many cells read.
    #[error("the formula reads more than {limit} cells; use a smaller range")]
    CellsRead {
        /// Maximum number of cells.
        limit: u64,
    },
    /// Too many steps.
    #[error("the formula needs more than {limit} steps; use smaller ranges or arrays")]
    Steps {
        /// Maximum number of steps.
        limit: u64,
    },
    /// Too many values in one array.
    #[error("an array has {values} values; at most {MAX_ARRAY_VALUES} are allowed")]
    ArrayValues {
        /// Number of values of the array.
        values: u64,
    },
    /// Too much memory.
    #[error("the formula creates more than {limit} bytes of texts and arrays; use smaller ones")]
    CreatedBytes {
        /// Maximum number of bytes.
        limit: u64,
    },
}
