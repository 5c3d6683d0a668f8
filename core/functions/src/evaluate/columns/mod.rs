//! Evaluates one formula for consecutive cells of a column.
//!
//! All cells of a filled column have the same formula, apart from the distances of its references.
//! Each operator is applied to whole columns: an operand has one value for each row. The results
//! are the same, bit for bit, as those of the cells one by one. A formula that cannot be evaluated
//! in this way has no result here, and its cells are evaluated one by one.
//!
//! - `cells` holds one value for each row.
//! - `references` reads the cells of references.
//! - `operators` applies operators.
//! - `calls` calls functions.
//! - `aggregates` computes sums, minima and maxima of cells and ranges.
//! - `running` evaluates a formula that reads the cell above its own.
//! - `inputs` lists the cells that the formulas read.
//! - `costs` counts the work.

mod aggregates;
mod calls;
mod cells;
mod costs;
mod inputs;
mod operators;
mod references;
mod running;

use std::cell::{Cell, RefCell};

use cellar_sheet::cell::{ErrorCode, Value};

use self::cells::{Builder, Cells};
use self::costs::Costs;
use super::{Evaluator, Scope, Work, budget, cell_value};
use crate::context::{ArrayMode, EvaluationContext};
use crate::expression::{Chain, Expression, Link, Node, Prefix};
use crate::operand::{Operand, Outcome, Stop};
use crate::parse::Formula;
use crate::source::CellSource;

pub use aggregates::RunTotals;
pub use inputs::InputArea;

/// Maximum number of nodes of a formula that is evaluated in columns. It bounds the memory of
/// intermediate columns.
const MAX_NODES: usize = 256;

/// The results of a formula in consecutive cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum RunValues {
    /// All results are numbers.
    Numbers(Vec<f64>),
    /// Results of any type.
    Values(Vec<Value>),
}

/// The results of a formula in consecutive cells of a column, and the work of their evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvaluation {
    /// One result for each cell.
    pub values: RunValues,
    /// At least the work that the evaluation of each cell on its own would need.
    pub work: Work,
    /// The work that was done. It is less than `work` if several cells read the same cells.
    pub done_work: Work,
}

/// Evaluates a formula in `row_count` consecutive cells of a column. `context` is that of the first
/// cell. `totals` are totals of earlier evaluations over the same cells.
///
/// Returns `None` if the formula cannot be evaluated in columns, if a cell could not be read, or if
/// the evaluation of a cell might exceed a limit.
#[must_use]
pub fn evaluate_run(
    formula: &Formula,
    context: &EvaluationContext,
    row_count: u32,
    source: &dyn CellSource,
    totals: &mut RunTotals,
) -> Option<RunEvaluation> {
    let is_supported = context.array_mode == ArrayMode::Spill
        && !formula.uses_random_numbers()
        && formula.nodes().len() <= MAX_NODES;
    if !is_supported || row_count == 0 {
        return None;
    }
    let totals = RefCell::new(totals);
    let run = RunEvaluator { source, context, row_count, totals, costs: Costs::default() };
    let expression = formula.expression();
    let cells = if formula.nodes().iter().any(|node| run.reads_own_rows(node)) {
        run.evaluate_running(expression)?
    } else {
        run.evaluate(expression, Rows::All(row_count))?
    };
    if source.is_interrupted() || !run.costs.are_within(&context.limits) {
        return None;
    }
    let (work, done_work) = run.costs.work();
    Some(RunEvaluation { values: run.results(cells), work, done_work })
}

/// The rows for which an expression is evaluated, as distances from the first cell.
#[derive(Debug, Clone, Copy)]
enum Rows<'r> {
    All(u32),
    /// Some rows, in ascending order.
    Some(&'r [u32]),
}

impl Rows<'_> {
    fn len(self) -> usize {
        match self {
            Self::All(count) => count as usize,
            Self::Some(offsets) => offsets.len(),
        }
    }

    /// Returns the row with this index.
    fn offset(self, index: usize) -> u32 {
        match self {
            Self::All(_) => u32::try_from(index).unwrap_or(u32::MAX),
            Self::Some(offsets) => offsets.get(index).copied().unwrap_or(u32::MAX),
        }
    }
}

struct RunEvaluator<'e> {
    source: &'e dyn CellSource,
    /// The context of the first cell.
    context: &'e EvaluationContext,
    row_count: u32,
    totals: RefCell<&'e mut RunTotals>,
    costs: Costs,
}

impl<'e> RunEvaluator<'e> {
    fn context_at(&self, row_offset: u32) -> EvaluationContext {
        let mut context = *self.context;
        context.cell.row = context.cell.row.saturating_add(row_offset);
        context
    }

    /// Returns an evaluator for a single cell.
    fn evaluator<'a>(&'a self, context: &'a EvaluationContext) -> Evaluator<'a> {
        let (budget, random_draws) = (budget::Budget::default(), Cell::new(0));
        Evaluator { source: self.source, context, budget, random_draws }
    }

    /// Evaluates an expression for some rows. Returns `None` if this is not possible.
    fn evaluate(&self, expression: Expression<'_>, rows: Rows<'_>) -> Option<Cells> {
        if rows.len() == 0 {
            return Some(Cells::Numbers(Vec::new()));
        }
        match expression.node() {
            Node::Literal(value) => {
                self.costs.add_steps(rows.len(), 1);
                Some(Cells::Same(value.clone()))
            }
            Node::Error(code) => {
                self.costs.add_steps(rows.len(), 1);
                Some(Cells::Same(Value::Error(*code)))
            }
            Node::Reference(reference) => {
                self.costs.add_steps(rows.len(), 1);
                self.read_reference(reference, rows)
            }
            Node::Prefix(Prefix::Intersect, _)
            | Node::Omitted
            | Node::Name(_)
            | Node::CallName(..)
            | Node::Array { .. } => None,
            Node::Prefix(_, _) | Node::Chain(_) | Node::Call(..) => {
                if is_same_in_all_rows(expression) {
                    return self.evaluate_once(expression, rows);
                }
                self.evaluate_nested(expression, rows)
            }
        }
    }

    fn evaluate_nested(&self, expression: Expression<'_>, rows: Rows<'_>) -> Option<Cells> {
        match expression.node() {
            Node::Prefix(prefix, operand) => {
                self.costs.add_steps(rows.len(), 1);
                let operand = self.evaluate(expression.at(*operand), rows)?;
                match prefix {
                    Prefix::Minus => self.map_numbers(operand, rows.len(), |number| -number),
                    Prefix::Plus | Prefix::Intersect => Some(operand),
                }
            }
            Node::Chain(chain) => self.evaluate_chain(chain, expression, rows),
            Node::Call(function, arguments) => {
                let arguments = expression.list(arguments);
                let before = self.costs.clone();
                self.call(function, arguments, rows).or_else(|| {
                    self.costs.reset_to(&before);
                    self.evaluate_each(expression, rows)
                })
            }
            _ => None,
        }
    }

    fn evaluate_chain(
        &self,
        chain: &Chain,
        expression: Expression<'_>,
        rows: Rows<'_>,
    ) -> Option<Cells> {
        self.costs.add_steps(rows.len(), crate::number::count(chain.links.len()));
        let mut cells = self.evaluate(expression.at(chain.first), rows)?;
        for link in &chain.links {
            cells = match link {
                Link::Operator(operator, right) if !operator.joins_references() => {
                    let right = self.evaluate(expression.at(*right), rows)?;
                    self.apply_to_columns(*operator, &cells, &right, rows.len())?
                }
                Link::Percent => self.map_numbers(cells, rows.len(), |number| number / 100.0)?,
                _ => return None,
            };
        }
        Some(cells)
    }

    /// Evaluates an expression that has the same value in all rows.
    fn evaluate_once(&self, expression: Expression<'_>, rows: Rows<'_>) -> Option<Cells> {
        let evaluator = self.evaluator(self.context);
        let outcome = evaluator.evaluate(expression, &Scope::default(), true);
        let value = self.single_value(&evaluator, outcome)?;
        self.costs.add_shared(rows.len(), &evaluator.budget);
        Some(Cells::Same(value))
    }

    /// Evaluates an expression for each row on its own.
    fn evaluate_each(&self, expression: Expression<'_>, rows: Rows<'_>) -> Option<Cells> {
        let mut builder = Builder::with_capacity(rows.len());
        for index in 0..rows.len() {
            let context = self.context_at(rows.offset(index));
            let evaluator = self.evaluator(&context);
            let outcome = evaluator.evaluate(expression, &Scope::default(), true);
            builder.push(self.single_value(&evaluator, outcome)?);
            self.costs.add_own(&evaluator.budget);
        }
        self.costs.end_own();
        Some(builder.finish())
    }

    /// Returns the value of an operand. Returns `None` if it has several values, if a cell could not
    /// be read, or if a limit was exceeded.
    fn single_value(&self, evaluator: &Evaluator<'_>, outcome: Outcome<Operand>) -> Option<Value> {
        let value = match outcome.and_then(|operand| evaluator.value_operand(operand, true)) {
            Ok(Operand::Value(value)) => value,
            Err(Stop::Error(code)) => Value::Error(code),
            Ok(_) | Err(Stop::Limit(_)) => return None,
        };
        if self.source.is_interrupted() { None } else { Some(value) }
    }

    /// Converts values to the results that the cells have.
    fn results(&self, cells: Cells) -> RunValues {
        let count = self.row_count as usize;
        match cells {
            Cells::Numbers(mut numbers) => {
                // Adding 0.0 converts negative zero to zero.
                numbers.iter_mut().for_each(|number| *number += 0.0);
                RunValues::Numbers(numbers)
            }
            Cells::Same(value) => match cell_value(value) {
                Value::Number(number) => RunValues::Numbers(vec![number; count]),
                other => RunValues::Values(vec![other; count]),
            },
            Cells::Booleans(booleans) => {
                RunValues::Values(booleans.into_iter().map(Value::Bool).collect())
            }
            Cells::Values(values) => {
                RunValues::Values(values.into_iter().map(cell_value).collect())
            }
        }
    }
}

/// Functions whose results can differ between cells although their arguments are the same.
const PLACE_FUNCTIONS: [&str; 10] = [
    "CELL",
    "COLUMN",
    "FORMULATEXT",
    "INDIRECT",
    "OFFSET",
    "RAND",
    "RANDARRAY",
    "RANDBETWEEN",
    "ROW",
    "SHEET",
];

/// Returns whether an expression reads the same cells in all rows of a column, and has the same
/// value.
fn is_same_in_all_rows(expression: Expression<'_>) -> bool {
    match expression.node() {
        Node::Literal(_) | Node::Error(_) | Node::Array { .. } | Node::Omitted => true,
        Node::Reference(reference) => !reference.has_relative_rows(),
        Node::Name(_) | Node::CallName(..) | Node::Prefix(Prefix::Intersect, _) => false,
        Node::Prefix(_, operand) => is_same_in_all_rows(expression.at(*operand)),
        Node::Chain(chain) => {
            is_same_in_all_rows(expression.at(chain.first))
                && chain.links.iter().all(|link| match link {
                    Link::Operator(_, right) => is_same_in_all_rows(expression.at(*right)),
                    Link::Percent => true,
                    Link::Spill | Link::Call(_) => false,
                })
        }
        Node::Call(function, arguments) => {
            PLACE_FUNCTIONS.binary_search(&function.name).is_err()
                && expression.list(arguments).iter().all(is_same_in_all_rows)
        }
    }
}

/// Returns the value of an outcome, which may be an error value. Returns `None` if a limit was
/// exceeded.
fn value_of(outcome: Outcome<Value>) -> Option<Value> {
    match outcome {
        Ok(value) => Some(value),
        Err(Stop::Error(code)) => Some(Value::Error(code)),
        Err(Stop::Limit(_)) => None,
    }
}

/// Returns a number as a value. A number that is not finite is `#NUM!`.
fn number_value(number: f64) -> Value {
    if number.is_finite() { Value::Number(number) } else { Value::Error(ErrorCode::Num) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_functions_are_sorted() {
        assert!(PLACE_FUNCTIONS.is_sorted());
    }
}
