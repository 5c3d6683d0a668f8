//! Applies functions of single values to arrays, element by element.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use super::Evaluator;
use crate::operand::{Matrix, Operand, Outcome, Stop};

/// An operand that supplies one value for each element of the result.
pub(super) enum BroadcastOperand {
    Single(Value),
    Array(Rc<Matrix>),
}

impl BroadcastOperand {
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Single(_) => (1, 1),
            Self::Array(matrix) => (matrix.rows, matrix.columns),
        }
    }

    /// Returns the value at a row and column of the result. An operand with a single row or column
    /// is repeated. Outside the operand, the value is `#N/A`.
    pub(super) fn at(&self, row: usize, column: usize) -> Value {
        match self {
            Self::Single(value) => value.clone(),
            Self::Array(matrix) => {
                let row = if matrix.rows == 1 { 0 } else { row };
                let column = if matrix.columns == 1 { 0 } else { column };
                matrix.get(row, column).clone()
            }
        }
    }
}

/// Returns the number of rows and columns to which the operands are broadcast.
pub(super) fn result_size(operands: &[BroadcastOperand]) -> (usize, usize) {
    operands
        .iter()
        .map(BroadcastOperand::size)
        .fold((1, 1), |(rows, columns), size| (rows.max(size.0), columns.max(size.1)))
}

impl Evaluator<'_> {
    pub(super) fn broadcast_operand(&self, operand: &Operand) -> Outcome<BroadcastOperand> {
        Ok(match operand {
            Operand::Value(value) => BroadcastOperand::Single(value.clone()),
            Operand::Omitted => BroadcastOperand::Single(Value::Empty),
            other => BroadcastOperand::Array(self.matrix(other)?),
        })
    }

    /// Calls `apply` for each element of the result, with the corresponding value of each operand.
    /// If one of these is an error value, it becomes the element and `apply` is not called.
    pub(super) fn broadcast(
        &self,
        operands: &[Operand],
        apply: &mut dyn FnMut(&[Value]) -> Outcome<Value>,
    ) -> Outcome<Operand> {
        if let [Operand::Value(value)] = operands {
            return apply(std::slice::from_ref(value)).map(Operand::Value);
        }
        let operands = operands
            .iter()
            .map(|operand| self.broadcast_operand(operand))
            .collect::<Outcome<Vec<_>>>()?;
        let (rows, columns) = result_size(&operands);
        self.spend_array(rows, columns)?;
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let arguments: Vec<_> =
                    operands.iter().map(|operand| operand.at(row, column)).collect();
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

/// Converts an error to an error value, and a number that is not finite to `#NUM!`. An exceeded
/// limit remains an error.
pub(crate) fn value_or_error(result: Outcome<Value>) -> Outcome<Value> {
    match result {
        Ok(Value::Number(number)) if !number.is_finite() => Ok(Value::Error(ErrorCode::Num)),
        Err(Stop::Error(code)) => Ok(Value::Error(code)),
        other => other,
    }
}

impl Evaluator<'_> {
    /// Like `broadcast`, but also passes error values to `apply`.
    pub(crate) fn choose(
        &self,
        operands: &[Operand],
        apply: &mut dyn FnMut(&[Value]) -> Outcome<Value>,
    ) -> Outcome<Operand> {
        let operands = operands
            .iter()
            .map(|operand| self.broadcast_operand(operand))
            .collect::<Outcome<Vec<_>>>()?;
        let (rows, columns) = result_size(&operands);
        self.spend_array(rows, columns)?;
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let arguments: Vec<_> =
                    operands.iter().map(|operand| operand.at(row, column)).collect();
                arguments.iter().try_for_each(|value| self.spend_copy(value))?;
                let value = value_or_error(apply(&arguments))?;
                self.spend_value(&value)?;
                values.push(value);
            }
        }
        Ok(Operand::matrix(Matrix { rows, columns, values }))
    }
}
