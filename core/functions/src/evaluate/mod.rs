//! Evaluates expressions.

mod broadcast;
mod budget;
mod calls;
mod cells;
pub(crate) mod columns;
mod operators;
pub(crate) use operators::power;
mod references;

use std::rc::Rc;

use cellar_formula::syntax::SyntaxError;
use cellar_sheet::cell::{ErrorCode, Value};

use crate::context::{ArrayMode, DateOrder, EvaluationContext};
use crate::expression::{Chain, Expression, Link, Node, Prefix};
use crate::limits::LimitExceeded;
use crate::operand::{Matrix, Operand, Outcome, Stop};
use crate::parse::Formula;
use crate::source::CellSource;
use crate::value::{DateRules, calendar};

/// The variables of `LET` and the parameters of `LAMBDA` that are in scope, innermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope(Option<Rc<Binding>>);

#[derive(Debug)]
struct Binding {
    name: String,
    operand: Operand,
    outer: Scope,
}

impl Scope {
    pub(crate) fn with(&self, name: &str, operand: Operand) -> Self {
        Self(Some(Rc::new(Binding { name: name.to_owned(), operand, outer: self.clone() })))
    }

    /// Looks up a name. Returns its operand, and the number of names that were compared.
    fn find(&self, name: &str) -> (Option<&Operand>, u64) {
        let mut scope = self;
        let mut compared = 0;
        while let Some(binding) = &scope.0 {
            compared += 1;
            if binding.name == name {
                return (Some(&binding.operand), compared);
            }
            scope = &binding.outer;
        }
        (None, compared)
    }
}

/// Drops nested scopes and lambdas in a loop. `REDUCE` can create lambdas that are nested so deeply
/// that dropping them recursively would overflow the stack.
impl Drop for Scope {
    fn drop(&mut self) {
        let Some(own) = self.0.take().and_then(Rc::into_inner) else { return };
        let mut waiting = vec![own];
        while let Some(mut binding) = waiting.pop() {
            waiting.extend(binding.outer.0.take().and_then(Rc::into_inner));
            let operand = std::mem::replace(&mut binding.operand, Operand::Omitted);
            if let Operand::Lambda(lambda) = operand
                && let Some(mut lambda) = Rc::into_inner(lambda)
            {
                waiting.extend(lambda.scope.0.take().and_then(Rc::into_inner));
            }
        }
    }
}

/// The state of the evaluation of a formula.
pub(crate) struct Evaluator<'e> {
    pub(crate) source: &'e dyn CellSource,
    pub(crate) context: &'e EvaluationContext,
    pub(crate) budget: budget::Budget,
    /// Number of random numbers drawn so far.
    pub(crate) random_draws: std::cell::Cell<u64>,
}

/// The result of a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum EvaluationOutcome {
    /// A single value.
    Value(Value),
    /// An array that spills into the cells to the right and below.
    Array(Array),
}

/// A non-empty two-dimensional array of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The values in row-major order.
    pub values: Vec<Value>,
}

/// The reason why a formula has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The text is not a valid formula.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The evaluation exceeded a limit on work or memory.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

/// Parses and evaluates a formula such as `=SUM(A1:A3)`.
///
/// # Errors
/// Returns an error if the text is not a valid formula, or if the evaluation exceeds a limit.
pub fn evaluate_text(
    formula: &str,
    context: &EvaluationContext,
    source: &dyn CellSource,
) -> Result<EvaluationOutcome, EvaluationError> {
    Ok(evaluate(&Formula::parse(formula)?, context, source)?)
}

/// Evaluates a parsed formula.
///
/// # Errors
/// Returns an error if the evaluation exceeds a limit.
pub fn evaluate(
    formula: &Formula,
    context: &EvaluationContext,
    source: &dyn CellSource,
) -> Result<EvaluationOutcome, LimitExceeded> {
    evaluate_counted(formula, context, source).0
}

/// The work that an evaluation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Number of cells read.
    pub cells_read: u64,
    /// Number of calls, operators and processed values.
    pub steps: u64,
}

/// Like [`evaluate`], but also returns the work done, even if a limit was exceeded.
pub fn evaluate_counted(
    formula: &Formula,
    context: &EvaluationContext,
    source: &dyn CellSource,
) -> (Result<EvaluationOutcome, LimitExceeded>, Work) {
    let evaluator = Evaluator {
        source,
        context,
        budget: budget::Budget::default(),
        random_draws: std::cell::Cell::new(0),
    };
    let is_array = context.array_mode == ArrayMode::Spill;
    let result = evaluator
        .evaluate(formula.expression(), &Scope::default(), is_array)
        .and_then(|operand| evaluator.finish(operand, is_array));
    let outcome = match result {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Error(code)) => Ok(EvaluationOutcome::Value(Value::Error(code))),
        Err(Stop::Limit(limit)) => Err(limit),
    };
    (outcome, evaluator.budget.work())
}

/// Converts a result to the value that the cell stores. An empty result becomes 0.
fn cell_value(value: Value) -> Value {
    match value {
        Value::Empty => Value::Number(0.0),
        Value::Number(number) if !number.is_finite() => Value::Error(ErrorCode::Num),
        // Adding 0.0 converts negative zero to zero.
        Value::Number(number) => Value::Number(number + 0.0),
        other => other,
    }
}

impl<'e> Evaluator<'e> {
    /// Evaluates an expression. If `is_array` is false, implicit intersection reduces references to
    /// several cells to one cell where a single value is expected.
    pub(crate) fn evaluate(
        &self,
        expression: Expression<'_>,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        self.spend(1)?;
        match expression.node() {
            Node::Literal(Value::Error(code)) | Node::Error(code) => Err((*code).into()),
            Node::Literal(value) => Ok(Operand::Value(value.clone())),
            Node::Omitted => Ok(Operand::Omitted),
            Node::Reference(reference) => self.resolve(reference),
            Node::Name(name) => self.resolve_name(name, scope, is_array),
            Node::Array { columns, values } => self.evaluate_array(*columns, values),
            _ => self.budget.nested(|| self.evaluate_nested(expression, scope, is_array)),
        }
    }

    fn evaluate_nested(
        &self,
        expression: Expression<'_>,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        match expression.node() {
            Node::Prefix(Prefix::Intersect, operand) => {
                let operand = self.evaluate(expression.at(*operand), scope, true)?;
                self.intersect(operand)
            }
            Node::Prefix(prefix, operand) => {
                let operand = self.evaluate(expression.at(*operand), scope, is_array)?;
                self.apply_sign(*prefix, operand, is_array)
            }
            Node::Chain(chain) => self.evaluate_chain(chain, expression, scope, is_array),
            Node::Call(function, arguments) => {
                self.call_function(function, expression.list(arguments), scope, is_array)
            }
            Node::CallName(name, arguments) => {
                let callee = self.resolve_name(name, scope, is_array)?;
                self.call_value(&callee, expression.list(arguments), scope, is_array)
            }
            _ => Err(ErrorCode::Value.into()),
        }
    }

    fn evaluate_chain(
        &self,
        chain: &Chain,
        expression: Expression<'_>,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        // One step for the chain has already been counted.
        self.spend(crate::number::count(chain.links.len()).saturating_sub(1))?;
        let is_array_at = |link: usize| is_array || link < chain.links_of_references;
        let mut operand = self.evaluate(expression.at(chain.first), scope, is_array_at(0))?;
        for (index, link) in chain.links.iter().enumerate() {
            let is_array = is_array_at(index + 1);
            operand = match link {
                Link::Operator(operator, right) => {
                    let right = expression.at(*right);
                    self.apply_operator(*operator, operand, right, scope, is_array)?
                }
                Link::Percent => self.apply_percent(operand, is_array)?,
                Link::Spill => self.spilled(&operand)?,
                Link::Call(arguments) => {
                    self.call_value(&operand, expression.list(arguments), scope, is_array)?
                }
            };
        }
        Ok(operand)
    }

    fn evaluate_array(&self, columns: usize, values: &[Value]) -> Outcome<Operand> {
        self.spend(crate::number::count(values.len()))?;
        let rows = values.len() / columns.max(1);
        Ok(Operand::matrix(Matrix { rows, columns, values: values.to_vec() }))
    }

    /// Returns the value of an operand. An error becomes an error value.
    pub(crate) fn single_or_error(&self, operand: Outcome<Operand>) -> Outcome<Value> {
        match operand.and_then(|operand| self.single(&operand)) {
            Err(Stop::Error(code)) => Ok(Value::Error(code)),
            other => other,
        }
    }

    /// Returns the rules for converting text to dates.
    pub(crate) fn date_rules(&self) -> DateRules {
        let today = crate::number::to_i64(self.context.now.max(0.0));
        DateRules {
            current_year: Some(calendar::date_of(today).year),
            is_day_first: self.context.date_order == DateOrder::DayFirst,
        }
    }

    pub(crate) fn spend(&self, steps: u64) -> Outcome<()> {
        Ok(self.budget.spend_steps(steps, &self.context.limits)?)
    }

    /// Counts the steps and the memory that an array needs.
    pub(crate) fn spend_array(&self, rows: usize, columns: usize) -> Outcome<()> {
        let values = crate::number::count(rows).saturating_mul(crate::number::count(columns));
        Ok(self.budget.spend_array(values, &self.context.limits)?)
    }

    /// Counts the memory that a string needs.
    pub(crate) fn spend_text(&self, bytes: usize) -> Outcome<()> {
        Ok(self.budget.spend_bytes(crate::number::count(bytes), &self.context.limits)?)
    }

    fn finish(&self, operand: Operand, is_array: bool) -> Outcome<EvaluationOutcome> {
        let operand = match operand {
            Operand::Reference(_) if !is_array => self.intersect(operand)?,
            other => other,
        };
        let matrix = match operand {
            Operand::Value(value) => return Ok(EvaluationOutcome::Value(cell_value(value))),
            Operand::Lambda(_) | Operand::Function(_) => return Err(ErrorCode::Calc.into()),
            other => self.matrix(&other)?,
        };
        if !is_array || matrix.values.len() == 1 {
            return Ok(EvaluationOutcome::Value(cell_value(matrix.get(0, 0).clone())));
        }
        let (rows, columns) = (matrix.rows, matrix.columns);
        let values = match Rc::try_unwrap(matrix) {
            Ok(matrix) => matrix.values,
            Err(shared) => shared.values.clone(),
        };
        let values = values.into_iter().map(cell_value).collect();
        Ok(EvaluationOutcome::Array(Array { rows, columns, values }))
    }
}
