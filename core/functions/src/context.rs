//! Inputs of a formula besides cells: place, time, random seed and limits.

use cellar_sheet::a1::CellName;

use crate::limits::Limits;
use crate::source::SheetIndex;

/// The results of a formula that refers to several cells where one is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrayMode {
    /// The formula has an array of results, which spills into other cells.
    #[default]
    Spill,
    /// The formula uses the cell in its own row or column, as formulas of old workbooks do.
    Intersect,
}

/// The order of day and month in a text such as 2/3/2024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    /// 2/3/2024 is in February, as in the United States.
    #[default]
    MonthFirst,
    /// 2/3/2024 is in March.
    DayFirst,
}

/// Everything that a formula depends on besides cells: place, time, random seed and limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluationContext {
    /// Sheet that contains the formula.
    pub sheet: SheetIndex,
    /// Cell that contains the formula.
    pub cell: CellName,
    /// The current time in UTC, as days since 1899-12-30, for `NOW` and `TODAY`.
    pub now: f64,
    /// Seed of random functions. Callers derive it from log, position, row and column identity.
    pub random_seed: u64,
    /// Order of day and month in texts that are converted to dates.
    pub date_order: DateOrder,
    /// How references to several cells are used where one is expected.
    pub array_mode: ArrayMode,
    /// Limits of work and memory.
    pub limits: Limits,
}
