//! Calculates the formulas of a window.
//!
//! A [`Calculation`] calculates formulas of a spreadsheet at one position. It is a state machine
//! without I/O: [`Calculation::start`] sets the formulas to calculate, [`Calculation::step`]
//! evaluates them until cells are missing, and [`Calculation::supply`] adds these cells. The cells
//! that a formula reads are known only when it is evaluated. If it reads a missing cell, or a
//! formula that has no result yet, it is evaluated again later.
//!
//! - `block` stores the cells in consecutive rows of a column and the results of their formulas.
//! - `cells` looks up blocks and tracks their memory use.
//! - `lookups` has the indexes of columns in which many formulas search.
//! - `source` supplies cells to the evaluation of a formula and records which inputs are missing.
//! - `order` decides which formula is evaluated next and detects cycles.
//! - `budget` limits the work of a request.
//! - `kept` keeps a calculation between the reads of a reader.
//! - `spills` finds the cells that results of several cells fill.
//! - `stored_results` selects the results that a snapshot stores.
//! - `staleness` explains why a formula was not calculated.
//!
//! A formula that would exceed a limit is *stale*: its stored value is shown with a mark. Every
//! formula that reads a stale formula is also stale. The results do not depend on the order in
//! which formulas are calculated.

mod block;
mod budget;
mod calculation;
mod cells;
mod evaluation;
mod formats;
mod formulas;
mod kept;
mod lookups;
mod order;
mod request;
mod result_format;
mod run;
mod segment;
mod source;
mod spills;
mod staleness;
mod stored_results;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod window;
mod workbook;

pub use calculation::{Calculation, CalculationStep, FormulaResult};
pub use kept::KeptCalculation;
pub use request::CellWindow;
pub use spills::SpillSearch;
pub use stored_results::StoredResults;
pub use window::{CalculatedCell, CalculatedValue, has_formulas};
pub use workbook::{CalculatedWorkbook, CellKey};
