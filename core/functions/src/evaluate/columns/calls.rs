//! Calls of functions in columns.

use cellar_sheet::cell::{ErrorCode, Value};

use super::cells::{Builder, Cells};
use super::{Rows, RunEvaluator};
use crate::evaluate::{Evaluator, Scope};
use crate::expression::{CellReference, Chain, Expression, Expressions, Link, Node, Prefix};
use crate::function::{Body, Function, Passing};
use crate::operand::{Operand, Stop};
use crate::value::to_bool;

/// An argument of a function that is called for each row.
enum Argument<'t> {
    /// The same operand in all rows.
    Same(Operand),
    Each(Cells),
    Reference(&'t CellReference),
}

impl Argument<'_> {
    fn operand(&self, evaluator: &Evaluator<'_>, index: usize) -> Operand {
        match self {
            Self::Same(operand) => operand.clone(),
            Self::Each(cells) => Operand::Value(cells.value(index)),
            Self::Reference(reference) => match evaluator.resolve(reference) {
                Ok(operand) => operand,
                Err(Stop::Error(code)) => Operand::Value(Value::Error(code)),
                Err(Stop::Limit(_)) => Operand::Value(Value::Error(ErrorCode::Ref)),
            },
        }
    }
}

impl RunEvaluator<'_> {
    /// Calls a function for some rows. Returns `None` if this is not possible.
    pub(super) fn call(
        &self,
        function: &'static Function,
        arguments: Expressions<'_>,
        rows: Rows<'_>,
    ) -> Option<Cells> {
        if arguments.len() < function.least || arguments.len() > function.most {
            return None;
        }
        self.costs.add_steps(rows.len(), 1);
        match (function.name, &function.body) {
            ("IF", _) => self.call_if(arguments, rows),
            ("IFERROR", _) => self.replace_errors(arguments, rows, |_| true),
            ("IFNA", _) => {
                self.replace_errors(arguments, rows, |code| code == ErrorCode::NotAvailable)
            }
            (_, Body::Lazy(_)) => None,
            (name, Body::Eager(_)) => {
                let before = self.costs.clone();
                self.call_aggregate(name, arguments, rows).or_else(|| {
                    self.costs.reset_to(&before);
                    self.call_each(function, arguments, rows)
                })
            }
        }
    }

    fn call_each(
        &self,
        function: &'static Function,
        arguments: Expressions<'_>,
        rows: Rows<'_>,
    ) -> Option<Cells> {
        if self.source.is_interrupted() {
            return None;
        }
        let mut evaluated = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            evaluated.push(self.argument(argument, function.passing(index), rows)?);
        }
        let mut builder = Builder::with_capacity(rows.len());
        for index in 0..rows.len() {
            let context = self.context_at(rows.offset(index));
            let evaluator = self.evaluator(&context);
            let operands =
                evaluated.iter().map(|argument| argument.operand(&evaluator, index)).collect();
            let result = evaluator.call_eager(function, operands);
            builder.push(self.single_value(&evaluator, result)?);
            self.costs.add_own(&evaluator.budget);
        }
        self.costs.end_own();
        Some(builder.finish())
    }

    fn argument<'t>(
        &self,
        argument: Expression<'t>,
        passing: Passing,
        rows: Rows<'_>,
    ) -> Option<Argument<'t>> {
        if super::is_same_in_all_rows(argument) {
            let evaluator = self.evaluator(self.context);
            let operand = match evaluator.evaluate(argument, &Scope::default(), true) {
                Ok(operand) => operand,
                Err(Stop::Error(code)) => Operand::Value(Value::Error(code)),
                Err(Stop::Limit(_)) => return None,
            };
            self.costs.add_shared(rows.len(), &evaluator.budget);
            return (!self.source.is_interrupted()).then_some(Argument::Same(operand));
        }
        match (passing, argument.node()) {
            (Passing::Whole | Passing::Array, Node::Reference(reference)) => {
                self.costs.add_steps(rows.len(), 1);
                Some(Argument::Reference(reference))
            }
            (Passing::Single, _) => Some(Argument::Each(self.evaluate(argument, rows)?)),
            _ if gives_values(argument) => Some(Argument::Each(self.evaluate(argument, rows)?)),
            _ => None,
        }
    }

    fn call_if(&self, arguments: Expressions<'_>, rows: Rows<'_>) -> Option<Cells> {
        let condition = self.evaluate(arguments.get(0)?, rows)?;
        let mut errors = Vec::new();
        let mut holding = Vec::new();
        let mut others = Vec::new();
        let mut place = Value::Empty;
        for index in 0..rows.len() {
            match to_bool(condition.borrowed(index, &mut place)) {
                Ok(true) => holding.push(index),
                Ok(false) => others.push(index),
                Err(Stop::Error(code)) => errors.push((index, code)),
                Err(Stop::Limit(_)) => return None,
            }
        }
        let then = self.branch(arguments, 1, true, rows, &holding)?;
        let otherwise = self.branch(arguments, 2, false, rows, &others)?;
        Some(merged(rows.len(), [(&holding, then), (&others, otherwise)], &errors))
    }

    /// Evaluates the branch of `IF` or the replacement of `IFERROR` for the rows with the given
    /// indices. An omitted branch is 0, and a missing one is `default`.
    fn branch(
        &self,
        arguments: Expressions<'_>,
        argument: usize,
        default: bool,
        rows: Rows<'_>,
        indices: &[usize],
    ) -> Option<Cells> {
        let Some(expression) = arguments.get(argument) else {
            return Some(Cells::Same(Value::Bool(default)));
        };
        if matches!(expression.node(), Node::Omitted) {
            self.costs.add_steps(indices.len(), 1);
            return Some(Cells::Same(Value::Number(0.0)));
        }
        if indices.len() == rows.len() {
            return self.evaluate(expression, rows);
        }
        let offsets: Vec<u32> = indices.iter().map(|index| rows.offset(*index)).collect();
        self.evaluate(expression, Rows::Some(&offsets))
    }

    fn replace_errors(
        &self,
        arguments: Expressions<'_>,
        rows: Rows<'_>,
        is_replaced: fn(ErrorCode) -> bool,
    ) -> Option<Cells> {
        let first = self.evaluate(arguments.get(0)?, rows)?;
        if let Cells::Numbers(_) | Cells::Booleans(_) = first {
            return Some(first);
        }
        let is_error = |index: &usize| first.error(*index).is_some_and(is_replaced);
        let (replaced, kept): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(is_error);
        let replacement = self.branch(arguments, 1, false, rows, &replaced)?;
        let mut kept_cells = Builder::with_capacity(kept.len());
        for index in &kept {
            let value = first.value(*index);
            kept_cells.push(if value == Value::Empty { Value::Number(0.0) } else { value });
        }
        let parts = [(&replaced, replacement), (&kept, kept_cells.finish())];
        Some(merged(rows.len(), parts, &[]))
    }
}

/// Returns whether an expression gives a value or an array, and not a reference.
pub(super) fn gives_values(expression: Expression<'_>) -> bool {
    match expression.node() {
        Node::Literal(_) | Node::Error(_) | Node::Prefix(Prefix::Minus, _) => true,
        Node::Chain(Chain { links, .. }) => links.iter().all(|link| match link {
            Link::Operator(operator, _) => !operator.joins_references(),
            Link::Percent => true,
            Link::Spill | Link::Call(_) => false,
        }),
        _ => false,
    }
}

/// Combines the values of two sets of rows, and errors of the remaining rows.
fn merged(rows: usize, parts: [(&Vec<usize>, Cells); 2], errors: &[(usize, ErrorCode)]) -> Cells {
    let [first, second] = parts;
    let parts = match (first.0.len() == rows, second.0.len() == rows) {
        (true, _) => return first.1,
        (_, true) => return second.1,
        _ => [first, second],
    };
    let [(_, first), (_, second)] = &parts;
    if let (Some(_), Some(_), []) = (first.as_numbers(), second.as_numbers(), errors) {
        let mut numbers = vec![0.0; rows];
        for (indices, cells) in &parts {
            let Some(part) = cells.as_numbers() else { continue };
            for (place, index) in indices.iter().enumerate() {
                if let Some(slot) = numbers.get_mut(*index) {
                    *slot = part.get(place);
                }
            }
        }
        return Cells::Numbers(numbers);
    }
    let mut values = vec![Value::Empty; rows];
    for (indices, cells) in &parts {
        for (place, index) in indices.iter().enumerate() {
            if let Some(slot) = values.get_mut(*index) {
                *slot = cells.value(place);
            }
        }
    }
    for (index, code) in errors {
        if let Some(slot) = values.get_mut(*index) {
            *slot = Value::Error(*code);
        }
    }
    Cells::Values(values)
}
