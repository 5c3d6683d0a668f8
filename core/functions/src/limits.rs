//! Limits on one evaluation of a formula.
//!
//! They bound work and memory instead of time, so that evaluation is deterministic.

/// Maximum nesting depth of expressions during evaluation, including the bodies of called lambdas.
/// It is larger than the depth that the parser allows.
pub const MAX_DEPTH: u32 = 256;
/// Maximum length of a string in characters, as in Excel. A longer result is `#VALUE!`.
pub const MAX_TEXT_CHARACTERS: usize = 32_767;
/// Maximum number of values in an array, including an array result.
pub const MAX_ARRAY_VALUES: u64 = 4_000_000;
/// Maximum number of cells that an evaluation reads. Cells outside the used range are not counted.
pub const MAX_CELLS_READ: u64 = 50_000_000;
/// Maximum number of steps in an evaluation. Each call, operator and processed value is a step.
pub const MAX_STEPS: u64 = 50_000_000;
/// Maximum total size of the strings and arrays that an evaluation creates, in bytes.
pub const MAX_CREATED_BYTES: u64 = 256 * 1024 * 1024;

/// Limits on one evaluation that the caller can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of cells read.
    pub cells_read: u64,
    /// Maximum number of calls, operators and processed values.
    pub steps: u64,
    /// Maximum total size of the created strings and arrays, in bytes.
    pub created_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cells_read: MAX_CELLS_READ, steps: MAX_STEPS, created_bytes: MAX_CREATED_BYTES }
    }
}

/// An evaluation exceeded a limit on work or memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitExceeded {
    /// Expressions or calls are nested too deeply.
    #[error("expressions or calls are nested more than {MAX_DEPTH} levels deep; use several cells")]
    Depth,
    /// Too many cells were read.
    #[error("the formula reads more than {limit} cells; use a smaller range")]
    CellsRead {
        /// Maximum number of cells.
        limit: u64,
    },
    /// Too many steps were needed.
    #[error("the formula needs more than {limit} steps; use smaller ranges or arrays")]
    Steps {
        /// Maximum number of steps.
        limit: u64,
    },
    /// An array has too many values.
    #[error(
        "an array has {values} values, more than {MAX_ARRAY_VALUES}; use smaller ranges or arrays"
    )]
    ArrayValues {
        /// Number of values of the array.
        values: u64,
    },
    /// The created strings and arrays are too large.
    #[error("the formula creates more than {limit} bytes of text and arrays; use smaller ranges")]
    CreatedBytes {
        /// Maximum number of bytes.
        limit: u64,
    },
}
