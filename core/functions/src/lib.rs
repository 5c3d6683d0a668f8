//! Evaluates a single formula like Excel. Evaluation is deterministic: the caller supplies the
//! cells, the time and a random seed.
//!
//! - [`CellSource`] supplies single cells, or columns in blocks of numbers and values. Aggregate
//!   and lookup functions read blocks without copying them.
//! - [`EvaluationContext`] contains the cell of the formula, the time, the random seed and the
//!   limits.
//! - [`evaluate`] returns a value, or an array that spills. Error values such as `#N/A` are values:
//!   evaluation fails only if a limit is exceeded (see [`limits`]).
//!
//! [`cellar_formula`] parses formulas. The module `library` contains the functions, grouped by
//! Excel's categories.
//!
//! `tests/excel_values.rs` compares results with the values that Excel calculated for the formulas
//! in `tests/facts.txt`.

mod call;
mod context;
mod evaluate;
mod expression;
mod function;
mod library;
pub mod limits;
mod lookup_index;
mod number;
mod numerics;
mod operand;
mod parse;
mod source;
mod value;

pub use cellar_formula::syntax::{SyntaxError, SyntaxProblem};
pub use context::{ArrayMode, DateOrder, EvaluationContext};
pub use evaluate::columns::{InputArea, RunEvaluation, RunTotals, RunValues, evaluate_run};
pub use evaluate::{
    Array, EvaluationError, EvaluationOutcome, Work, evaluate, evaluate_counted, evaluate_text,
};
pub use function::{Passing, argument_counts, argument_passing, function_names};
pub use lookup_index::LookupIndex;
pub use parse::Formula;
pub use source::{Block, CellFacts, CellSource, SheetIndex, Size};
