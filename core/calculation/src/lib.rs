//! Calculates the formulas of a window.
//!
//! A [`Calculation`] belongs to one position of a spreadsheet. It is a state machine without I/O:
//! [`Calculation::start`] names the formulas to calculate, [`Calculation::step`] evaluates until
//! cells are missing, and [`Calculation::supply`] adds them. Which cells a formula reads is known
//! only when it is evaluated, so a formula that reads a missing cell, or a formula that is not
//! calculated yet, is evaluated again afterwards.
//!
//! - `block` keeps the cells of a part of a column, and the results of its formulas.
//! - `cells` finds blocks, and counts their memory.
//! - `source` supplies cells to the evaluation of one formula and records what is missing.
//! - `order` decides which formula is evaluated next, and finds cycles.
//! - `budget` bounds the work of one request.
//! - `staleness` says why a formula was not calculated.
//!
//! A formula that would exceed a bound is *stale*: its last stored value is shown with a mark. So
//! is every formula that reads a stale one. Values do not depend on the order in which formulas are
//! calculated.

mod block;
mod budget;
mod calculation;
mod cells;
mod order;
mod request;
mod result_format;
mod source;
mod staleness;
#[cfg(test)]
mod tests;
mod window;
mod workbook;

pub use calculation::{Calculation, CalculationStep, FormulaResult};
pub use request::CellWindow;
pub use window::has_formulas;
pub use workbook::{CalculatedWorkbook, CellKey};
