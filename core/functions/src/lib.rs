//! Evaluates one formula as Excel does. The caller supplies cells, time and a random seed, so that
//! the same formula over the same cells always has the same result.
//!
//! - [`CellSource`] is the workbook: cells one by one, or columns in blocks of numbers and values.
//!   Aggregates and look-ups read blocks and do not copy them.
//! - [`EvaluationContext`] has the place of the formula, the time, the seed and the limits.
//! - [`evaluate`] returns a value, or an array that spills. An error value such as `#N/A` is a
//!   value. The only error is an exceeded limit (see [`limits`]).
//!
//! Formulas are parsed by [`cellar_formula`], with the rows and columns of Cellar's sheets. The
//! functions are in `library`, in one file for each category of Excel, and are defined over the types of this crate.
//!
//! `tests/excel_values.rs` compares the results with the values that Excel calculated for the
//! formulas of `tests/facts.txt`.

mod call;
mod context;
mod dependence;
mod evaluate;
mod expression;
mod function;
mod library;
pub mod limits;
mod number;
mod numerics;
mod operand;
mod parse;
mod source;
mod value;

pub use cellar_formula::syntax::{SyntaxError, SyntaxProblem};
pub use context::{ArrayMode, DateOrder, EvaluationContext};
pub use evaluate::{
    Array, EvaluationError, EvaluationOutcome, Work, evaluate, evaluate_counted, evaluate_text,
};
pub use function::function_names;
pub use parse::Formula;
pub use source::{Block, CellFacts, CellSource, SheetIndex, Size};
