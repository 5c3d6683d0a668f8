//! Functions that reshape and combine arrays.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::function::{Function, MANY, eager};
use crate::number::{to_i64, to_length};
use crate::operand::{Matrix, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("HSTACK", 1, MANY, "a", |call| {
        let matrices = all_matrices(call)?;
        let rows = matrices.iter().map(|matrix| matrix.rows).max().unwrap_or(0);
        let columns: Vec<(&Matrix, usize)> = matrices
            .iter()
            .flat_map(|matrix| (0..matrix.columns).map(move |column| (matrix.as_ref(), column)))
            .collect();
        let value = |row: usize, column: usize| match columns.get(column) {
            Some((matrix, column)) => matrix.get(row, *column).clone(),
            None => Value::Empty,
        };
        Ok(call.evaluator.build(rows, columns.len(), value)?.into())
    }),
    eager("TOCOL", 1, 3, "ass", |call| Ok(Matrix::from_column(flattened(call)?).into())),
    eager("TOROW", 1, 3, "ass", |call| Ok(Matrix::from_row(flattened(call)?).into())),
    eager("TRANSPOSE", 1, 1, "a", |call| {
        let matrix = call.matrix(0)?;
        call.evaluator.spend_array(matrix.rows, matrix.columns)?;
        Ok(matrix.transposed().into())
    }),
    eager("VSTACK", 1, MANY, "a", |call| {
        let matrices = all_matrices(call)?;
        let columns = matrices.iter().map(|matrix| matrix.columns).max().unwrap_or(0);
        let rows: Vec<(&Matrix, usize)> = matrices
            .iter()
            .flat_map(|matrix| (0..matrix.rows).map(move |row| (matrix.as_ref(), row)))
            .collect();
        let value = |row: usize, column: usize| match rows.get(row) {
            Some((matrix, row)) => matrix.get(*row, column).clone(),
            None => Value::Empty,
        };
        Ok(call.evaluator.build(rows.len(), columns, value)?.into())
    }),
    eager("WRAPCOLS", 2, 3, "ass", |call| Ok(wrapped(call)?.transposed().into())),
    eager("WRAPROWS", 2, 3, "ass", |call| Ok(wrapped(call)?.into())),
];

/// Returns all arguments as arrays. A single value becomes a single-element array.
fn all_matrices(call: &Call<'_, '_>) -> Outcome<Vec<Rc<Matrix>>> {
    call.arguments.iter().map(|operand| call.evaluator.matrix(operand)).collect()
}

/// Returns the values for `TOCOL` or `TOROW`. The second argument selects which values to skip: 0
/// none, 1 empty cells, 2 errors, 3 both.
fn flattened(call: &Call<'_, '_>) -> Outcome<Vec<Value>> {
    let matrix = call.matrix(0)?;
    let ignored = to_i64(call.given_number_or(1, 0.0)?);
    let is_by_column = call.given_boolean_or(2, false)?;
    ensure((0..=3).contains(&ignored), ErrorCode::Value)?;
    call.evaluator.spend_array(matrix.rows, matrix.columns)?;
    let ordered = if is_by_column { Rc::new(matrix.transposed()) } else { matrix };
    let is_kept = |value: &&Value| match value {
        Value::Empty => ignored & 1 == 0,
        Value::Error(_) => ignored & 2 == 0,
        _ => true,
    };
    let values: Vec<_> = ordered.values.iter().filter(is_kept).cloned().collect();
    ensure(!values.is_empty(), ErrorCode::Calc)?;
    Ok(values)
}

fn wrapped(call: &Call<'_, '_>) -> Outcome<Matrix> {
    let matrix = call.matrix(0)?;
    ensure(matrix.rows == 1 || matrix.columns == 1, ErrorCode::Value)?;
    let width = call.number(1)?.trunc();
    ensure(width >= 1.0, ErrorCode::Num)?;
    let padding =
        if call.is_given(2) { call.any_value(2)? } else { Value::Error(ErrorCode::NotAvailable) };
    let width = to_length(width).min(matrix.values.len());
    let rows = matrix.values.len().div_ceil(width);
    let value = |row: usize, column: usize| {
        matrix.values.get(row * width + column).cloned().unwrap_or_else(|| padding.clone())
    };
    call.evaluator.build(rows, width, value)
}
