//! Operators on columns.

use cellar_sheet::cell::Value;

use super::super::operators::{calculate, holds};
use super::cells::{Builder, Cells, Numbers};
use super::{RunEvaluator, number_value, value_of};
use crate::expression::Operator;
use crate::value::{compare_numbers, to_number_by};

impl RunEvaluator<'_> {
    /// Applies an operator row by row.
    pub(super) fn apply_to_columns(
        &self,
        operator: Operator,
        left: &Cells,
        right: &Cells,
        rows: usize,
    ) -> Option<Cells> {
        if let (Some(left), Some(right)) = (left.as_numbers(), right.as_numbers())
            && operator != Operator::Concatenate
        {
            return apply_to_numbers(operator, left, right, rows);
        }
        let evaluator = self.evaluator(self.context);
        let mut builder = Builder::with_capacity(rows);
        let (mut left_place, mut right_place) = (Value::Empty, Value::Empty);
        for index in 0..rows {
            let left = left.borrowed(index, &mut left_place);
            let right = right.borrowed(index, &mut right_place);
            builder.push(value_of(evaluator.apply(operator, left, right))?);
        }
        self.costs.add_texts(&evaluator.budget);
        Some(builder.finish())
    }

    /// Applies a function of one number to each row.
    pub(super) fn map_numbers(
        &self,
        cells: Cells,
        rows: usize,
        change: fn(f64) -> f64,
    ) -> Option<Cells> {
        if let Cells::Numbers(mut numbers) = cells {
            numbers.iter_mut().for_each(|number| *number = change(*number));
            if numbers.iter().all(|number| number.is_finite()) {
                return Some(Cells::Numbers(numbers));
            }
            return Some(Cells::Values(numbers.into_iter().map(number_value).collect()));
        }
        let rules = self.evaluator(self.context).date_rules();
        let mut builder = Builder::with_capacity(rows);
        let mut place = Value::Empty;
        for index in 0..rows {
            let number = to_number_by(cells.borrowed(index, &mut place), rules);
            builder.push(value_of(number.map(|number| number_value(change(number))))?);
        }
        Some(builder.finish())
    }
}

fn apply_to_numbers(
    operator: Operator,
    left: Numbers<'_>,
    right: Numbers<'_>,
    rows: usize,
) -> Option<Cells> {
    let pairs = (0..rows).map(|index| (left.get(index), right.get(index)));
    match operator {
        Operator::Add
        | Operator::Subtract
        | Operator::Multiply
        | Operator::Divide
        | Operator::Power => {}
        _ => {
            let compared = pairs.map(|(left, right)| holds(operator, compare_numbers(left, right)));
            return Some(Cells::Booleans(compared.collect()));
        }
    }
    let mut builder = Builder::with_capacity(rows);
    for (left, right) in pairs {
        let result = calculate(operator, left, right);
        builder.push(value_of(result.map(number_value))?);
    }
    Some(builder.finish())
}
