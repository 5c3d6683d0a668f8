//! Applies functions of single values to arrays.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use super::Evaluator;
use crate::operand::{Matrix, Operand, Outcome, Stop};

/// An operand that supplies one value for each place of the result.
pub(super) enum Lane {
    One(Value),
    Many(Rc<Matrix>),
}

impl Lane {
    fn size(&self) -> (usize, usize) {
        match self {
            Self::One(_) => (1, 1),
            Self::Many(matrix) => (matrix.rows, matrix.columns),
        }
    }

    /// Returns the value for a place of the result. One row or column is repeated; beyond the end
    /// of an array there is `#N/A`.
    pub(super) fn at(&self, row: usize, column: usize) -> Value {
        match self {
            Self::One(value) => value.clone(),
            Self::Many(matrix) => {
                let row = if matrix.rows == 1 { 0 } else { row };
                let column = if matrix.columns == 1 { 0 } else { column };
                matrix.get(row, column).clone()
            }
        }
    }
}

/// Returns the number of rows and columns of a result.
pub(super) fn result_size(lanes: &[Lane]) -> (usize, usize) {
    lanes
        .iter()
        .map(Lane::size)
        .fold((1, 1), |(rows, columns), size| (rows.max(size.0), columns.max(size.1)))
}

impl Evaluator<'_> {
    pub(super) fn lane(&self, operand: &Operand) -> Outcome<Lane> {
        Ok(match operand {
            Operand::Value(value) => Lane::One(value.clone()),
            Operand::Omitted => Lane::One(Value::Empty),
            other => Lane::Many(self.matrix(other)?),
        })
    }

    /// Calls `apply` for each place of the result, with one value of each operand.
    pub(super) fn broadcast(
        &self,
        operands: &[Operand],
        apply: &mut dyn FnMut(&[Value]) -> Outcome<Value>,
    ) -> Outcome<Operand> {
        if let [Operand::Value(value)] = operands {
            return apply(std::slice::from_ref(value)).map(Operand::Value);
        }
        let lanes =
            operands.iter().map(|operand| self.lane(operand)).collect::<Outcome<Vec<_>>>()?;
        let (rows, columns) = result_size(&lanes);
        self.spend_array(rows, columns)?;
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let arguments: Vec<_> = lanes.iter().map(|lane| lane.at(row, column)).collect();
                arguments.iter().try_for_each(|value| self.spend_copy(value))?;
                let error = arguments.iter().find_map(|value| match value {
                    Value::Error(code) => Some(*code),
                    _ => None,
                });
                let result = match error {
                    Some(code) => Err(code.into()),
                    None => apply(&arguments),
                };
                let value = value_or_error(result)?;
                self.spend_value(&value)?;
                values.push(value);
            }
        }
        Ok(Operand::matrix(Matrix { rows, columns, values }))
    }
}

/// Turns an error value into a value.
pub(crate) fn value_or_error(result: Outcome<Value>) -> Outcome<Value> {
    match result {
        Ok(Value::Number(number)) if !number.is_finite() => Ok(Value::Error(ErrorCode::Num)),
        Err(Stop::Error(code)) => Ok(Value::Error(code)),
        other => other,
    }
}

impl Evaluator<'_> {
    /// Like `broadcast`, but passes error values to `apply`.
    pub(crate) fn choose(
        &self,
        operands: &[Operand],
        apply: &mut dyn FnMut(&[Value]) -> Outcome<Value>,
    ) -> Outcome<Operand> {
        let lanes =
            operands.iter().map(|operand| self.lane(operand)).collect::<Outcome<Vec<_>>>()?;
        let (rows, columns) = result_size(&lanes);
        self.spend_array(rows, columns)?;
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let arguments: Vec<_> = lanes.iter().map(|lane| lane.at(row, column)).collect();
                arguments.iter().try_for_each(|value| self.spend_copy(value))?;
                let value = value_or_error(apply(&arguments))?;
                self.spend_value(&value)?;
                values.push(value);
            }
        }
        Ok(Operand::matrix(Matrix { rows, columns, values }))
    }
}
