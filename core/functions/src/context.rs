//! The context of an evaluation: the formula's cell, the time, the random seed and the limits.

use cellar_sheet::a1::CellName;

use crate::limits::Limits;
use crate::source::SheetIndex;

/// How a reference to several cells is evaluated where a single value is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrayMode {
    /// The result is an array, which spills into the cells to the right and below.
    #[default]
    Spill,
    /// Implicit intersection: the formula uses the cell in its own row or column, as in workbooks
    /// of Excel versions without dynamic arrays.
    Intersect,
}

/// The order of day and month in a date such as 2/3/2024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    /// 2/3/2024 is February 3, as in the United States.
    #[default]
    MonthFirst,
    /// 2/3/2024 is March 2.
    DayFirst,
}

/// The inputs of an evaluation other than cell values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluationContext {
    /// Sheet that contains the formula.
    pub sheet: SheetIndex,
    /// Cell that contains the formula.
    pub cell: CellName,
    /// Current time for `NOW` and `TODAY`, in days since 1899-12-30 UTC.
    pub now: f64,
    /// Seed of the random functions. Callers derive it from the log, the position and the cell.
    pub random_seed: u64,
    /// Order of day and month when text is converted to a date.
    pub date_order: DateOrder,
    /// How references to several cells are evaluated where a single value is expected.
    pub array_mode: ArrayMode,
    /// Limits on work and memory.
    pub limits: Limits,
}
