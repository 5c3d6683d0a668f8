//! Matrix functions and `SEQUENCE`.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_length, to_length};
use crate::numerics::linear::{determinant, inverse, multiply};
use crate::operand::{Matrix, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("MDETERM", 1, 1, "a", |call| number_result(determinant(square_matrix(call)?))),
    eager("MINVERSE", 1, 1, "a", |call| {
        let rows = inverse(square_matrix(call)?).ok_or(ErrorCode::Num)?;
        Ok(matrix_of(&rows).into())
    }),
    eager("MMULT", 2, 2, "a", |call| {
        let (left, right) = (number_rows(call, 0)?, number_rows(call, 1)?);
        let inner = left.first().map_or(0, Vec::len);
        ensure(inner == right.len(), ErrorCode::Value)?;
        let columns = right.first().map_or(0, Vec::len);
        call.evaluator.spend_array(left.len(), columns)?;
        call.spend(left.len().saturating_mul(columns).saturating_mul(inner))?;
        Ok(matrix_of(&multiply(&left, &right)).into())
    }),
    eager("MUNIT", 1, 1, "s", |call| {
        let size = call.number(0)?.trunc();
        ensure(size >= 1.0, ErrorCode::Value)?;
        let size = to_length(size);
        let unit = |row, column| Value::Number(if row == column { 1.0 } else { 0.0 });
        Ok(call.evaluator.build(size, size, unit)?.into())
    }),
    eager("SEQUENCE", 1, 4, "s", sequence),
];

/// Returns the rows of an argument that contains only numbers. Fails with `#VALUE!` for text,
/// booleans and empty cells.
fn number_rows(call: &Call<'_, '_>, index: usize) -> Outcome<Vec<Vec<f64>>> {
    let matrix = call.matrix(index)?;
    let number = |value: &Value| match value {
        Value::Number(number) => Ok(*number),
        Value::Error(code) => Err((*code).into()),
        _ => Err(ErrorCode::Value.into()),
    };
    (0..matrix.rows).map(|row| matrix.row(row).iter().map(number).collect()).collect()
}

fn square_matrix(call: &Call<'_, '_>) -> Outcome<Vec<Vec<f64>>> {
    let rows = number_rows(call, 0)?;
    let size = rows.len();
    ensure(rows.iter().all(|row| row.len() == size), ErrorCode::Value)?;
    call.spend(size.saturating_mul(size).saturating_mul(size))?;
    Ok(rows)
}

fn matrix_of(rows: &[Vec<f64>]) -> Matrix {
    let row = |row: &Vec<f64>| row.iter().map(|number| Value::Number(*number)).collect();
    Matrix::from_rows(rows.iter().map(row).collect())
}

fn sequence(call: &Call<'_, '_>) -> Outcome<Operand> {
    let rows = call.given_number_or(0, 1.0)?.trunc();
    let columns = call.given_number_or(1, 1.0)?.trunc();
    let (start, step) = (call.given_number_or(2, 1.0)?, call.given_number_or(3, 1.0)?);
    ensure(rows >= 0.0 && columns >= 0.0, ErrorCode::Value)?;
    ensure(rows >= 1.0 && columns >= 1.0, ErrorCode::Calc)?;
    let (rows, columns) = (to_length(rows), to_length(columns));
    let value = |row, column| Value::Number(start + step * from_length(row * columns + column));
    Ok(call.evaluator.build(rows, columns, value)?.into())
}
