//! Visits the values of several arguments, for functions such as `SUM`.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::Call;
use crate::number::from_length;
use crate::operand::{Operand, Outcome, Stop};
use crate::source::Block;
use crate::value::{DateRules, bool_of_text, parse_number, to_number};

/// The origin of a value. Most functions convert text and booleans to numbers only if they are
/// arguments, and skip them in cells and arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The value is the argument itself.
    Argument,
    /// The value is read from a reference or an array.
    Cell,
}

/// How text and booleans in cells are converted to numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonNumeric {
    /// Text and booleans are skipped, as in `SUM`.
    Skip,
    /// Text counts as 0 and booleans as 0 or 1, as in `AVERAGEA`.
    Convert,
}

impl Call<'_, '_> {
    /// Calls `visit` with each value of the arguments from index `first` on. References are read
    /// column by column, without the cells outside the used range.
    pub(crate) fn visit_values(
        &self,
        first: usize,
        visit: &mut dyn FnMut(Origin, &Value) -> Outcome<()>,
    ) -> Outcome<()> {
        self.arguments.iter().skip(first).try_for_each(|operand| self.visit_operand(operand, visit))
    }

    pub(crate) fn visit_operand(
        &self,
        operand: &Operand,
        visit: &mut dyn FnMut(Origin, &Value) -> Outcome<()>,
    ) -> Outcome<()> {
        match operand {
            Operand::Omitted => visit(Origin::Argument, &Value::Empty),
            Operand::Value(value) => visit(Origin::Argument, value),
            Operand::Array(matrix) => {
                self.spend(matrix.values.len())?;
                matrix.values.iter().try_for_each(|value| visit(Origin::Cell, value))
            }
            Operand::Reference(areas) => areas.iter().try_for_each(|area| {
                self.evaluator.visit_blocks(*area, &mut |block| match block {
                    Block::Empty(cells) => {
                        (0..cells).try_for_each(|_| visit(Origin::Cell, &Value::Empty))
                    }
                    Block::Numbers(numbers) => numbers
                        .iter()
                        .try_for_each(|number| visit(Origin::Cell, &Value::Number(*number))),
                    Block::Values(values) => {
                        values.iter().try_for_each(|value| visit(Origin::Cell, value))
                    }
                })
            }),
            Operand::Lambda(_) | Operand::Function(_) => Err(ErrorCode::Value.into()),
        }
    }

    /// Calls `visit` with the numbers in the arguments from index `first` on, in blocks.
    pub(crate) fn visit_numbers(
        &self,
        first: usize,
        non_numeric: NonNumeric,
        visit: &mut dyn FnMut(&[f64]),
    ) -> Outcome<()> {
        for operand in self.arguments.iter().skip(first) {
            match operand {
                Operand::Reference(areas) => {
                    for area in areas.iter() {
                        self.evaluator.visit_blocks(*area, &mut |block| match block {
                            Block::Empty(_) => Ok(()),
                            Block::Numbers(numbers) => {
                                visit(numbers);
                                Ok(())
                            }
                            Block::Values(values) => values.iter().try_for_each(|value| {
                                visit_number(Origin::Cell, value, non_numeric, visit)
                            }),
                        })?;
                    }
                }
                other => self.visit_operand(other, &mut |origin, value| {
                    visit_number(origin, value, non_numeric, visit)
                })?,
            }
        }
        Ok(())
    }

    /// Returns the numbers in the arguments from index `first` on.
    pub(crate) fn numbers(&self, first: usize) -> Outcome<Vec<f64>> {
        self.collect_numbers(first, NonNumeric::Skip)
    }

    pub(crate) fn collect_numbers(
        &self,
        first: usize,
        non_numeric: NonNumeric,
    ) -> Outcome<Vec<f64>> {
        let mut numbers = Vec::new();
        self.visit_numbers(first, non_numeric, &mut |block| numbers.extend_from_slice(block))?;
        self.evaluator.spend_array(numbers.len(), 1)?;
        Ok(numbers)
    }

    /// Returns the numbers in one argument, row by row.
    pub(crate) fn numbers_of(&self, index: usize) -> Outcome<Vec<f64>> {
        let mut numbers = Vec::new();
        match self.operand(index) {
            Operand::Omitted => numbers.push(0.0),
            Operand::Value(value) => numbers.push(to_number(value)?),
            operand => {
                for area in self.single_areas(operand)? {
                    for value in &self.evaluator.matrix(&area)?.values {
                        visit_number(Origin::Cell, value, NonNumeric::Skip, &mut |block| {
                            numbers.extend_from_slice(block);
                        })?;
                    }
                }
            }
        }
        Ok(numbers)
    }

    /// Splits a reference into its areas, each clipped to the used range.
    fn single_areas(&self, operand: &Operand) -> Outcome<Vec<Operand>> {
        Ok(match operand {
            Operand::Reference(areas) => areas
                .iter()
                .map(|area| self.evaluator.used_part(*area).unwrap_or(*area))
                .filter(|area| self.evaluator.used_part(*area).is_some())
                .map(Operand::area)
                .collect(),
            other => vec![other.clone()],
        })
    }

    /// Returns the pairs of numbers at the same index of two arguments. Pairs that contain text, a
    /// boolean or an empty cell are skipped. Fails with `#N/A` if the arguments have different
    /// lengths.
    pub(crate) fn pairs(&self, first: usize, second: usize) -> Outcome<Vec<(f64, f64)>> {
        let (first, second) = (self.matrix(first)?, self.matrix(second)?);
        if first.values.len() != second.values.len() {
            return Err(ErrorCode::NotAvailable.into());
        }
        let mut pairs = Vec::new();
        for pair in first.values.iter().zip(&second.values) {
            match pair {
                (Value::Error(code), _) | (_, Value::Error(code)) => return Err((*code).into()),
                (Value::Number(first), Value::Number(second)) => pairs.push((*first, *second)),
                _ => {}
            }
        }
        Ok(pairs)
    }
}

/// Adds numbers one after the other, so that the sum of a range does not depend on its blocks.
pub(crate) fn add_in_order(sum: f64, block: &[f64]) -> f64 {
    block.iter().fold(sum, |sum, number| sum + number)
}

fn visit_number(
    origin: Origin,
    value: &Value,
    non_numeric: NonNumeric,
    visit: &mut dyn FnMut(&[f64]),
) -> Outcome<()> {
    if let Some(number) = number_of(origin, value, non_numeric)? {
        visit(std::slice::from_ref(&number));
    }
    Ok(())
}

/// Converts a value to a number, as in `SUM`. Returns `None` for values that are skipped.
pub(crate) fn number_of(
    origin: Origin,
    value: &Value,
    non_numeric: NonNumeric,
) -> Outcome<Option<f64>> {
    Ok(Some(match (origin, value) {
        (_, Value::Number(number)) => *number,
        (_, Value::Error(code)) => return Err((*code).into()),
        (Origin::Argument, Value::Text(text)) => {
            parse_number(text, DateRules::default()).ok_or(Stop::Error(ErrorCode::Value))?
        }
        (Origin::Argument, value) => to_number(value)?,
        (Origin::Cell, Value::Text(_)) if non_numeric == NonNumeric::Convert => 0.0,
        (Origin::Cell, Value::Bool(value)) if non_numeric == NonNumeric::Convert => {
            f64::from(u8::from(*value))
        }
        (Origin::Cell, _) => return Ok(None),
    }))
}

/// Converts a value to a boolean, as in `AND`. Returns `None` for text and empty cells of a range,
/// which are skipped.
pub(crate) fn boolean_of(origin: Origin, value: &Value) -> Outcome<Option<bool>> {
    match (origin, value) {
        (_, Value::Bool(value)) => Ok(Some(*value)),
        (_, Value::Number(number)) => Ok(Some(*number != 0.0)),
        (_, Value::Error(code)) => Err((*code).into()),
        (Origin::Argument, Value::Empty) => Ok(Some(false)),
        (Origin::Argument, Value::Text(text)) if text.is_empty() => Ok(None),
        (Origin::Argument, Value::Text(text)) => {
            bool_of_text(text).map(Some).ok_or(Stop::Error(ErrorCode::Value))
        }
        (Origin::Cell, _) => Ok(None),
    }
}

pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / from_length(numbers.len())
}

/// Returns the sum of squared deviations from the mean.
pub(crate) fn squared_deviations(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    numbers.iter().map(|number| (number - mean).powi(2)).sum()
}
