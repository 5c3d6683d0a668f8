//! `SORT` and `SORTBY`.

use std::cmp::Ordering;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::function::{Function, MANY, eager};
use crate::number::{from_length, to_length};
use crate::operand::{Matrix, Operand, Outcome};
use crate::value::compare_filled;

pub(super) static FUNCTIONS: &[Function] =
    &[eager("SORT", 1, 4, "awws", sort), eager("SORTBY", 2, MANY, "a|aw", sort_by)];

/// A sort key: one value for each row, and the sort direction.
struct Key {
    values: Vec<Value>,
    is_descending: bool,
}

/// Returns the row indexes in sorted order. Empty cells are last in both sort directions.
fn sorted_order(length: usize, keys: &[Key]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|left, right| {
        keys.iter()
            .map(|key| {
                let (left, right) = (key.values.get(*left), key.values.get(*right));
                let (Some(left), Some(right)) = (left, right) else { return Ordering::Equal };
                let is_last = *left == Value::Empty || *right == Value::Empty;
                let order = compare_filled(left, right);
                if key.is_descending && !is_last { order.reverse() } else { order }
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    order
}

fn is_descending(number: f64) -> Outcome<bool> {
    match number.trunc() {
        1.0 => Ok(false),
        -1.0 => Ok(true),
        _ => Err(ErrorCode::Value.into()),
    }
}

fn list_of_numbers(call: &Call<'_, '_>, index: usize) -> Outcome<Vec<f64>> {
    if !call.is_given(index) {
        return Ok(vec![1.0]);
    }
    call.matrix(index)?.values.iter().map(crate::value::to_number).collect()
}

fn sort(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let is_by_column = call.given_boolean_or(3, false)?;
    let rows = if is_by_column { matrix.transposed() } else { (*matrix).clone() };
    call.evaluator.spend_array(rows.rows, rows.columns)?;
    let indexes = list_of_numbers(call, 1)?;
    let orders = list_of_numbers(call, 2)?;
    ensure(orders.len() == 1 || orders.len() == indexes.len(), ErrorCode::Value)?;
    let mut keys = Vec::new();
    for (place, index) in indexes.iter().enumerate() {
        let is_column = (1.0..=from_length(rows.columns)).contains(&index.trunc());
        ensure(is_column, ErrorCode::Value)?;
        let order = orders.get(place).or(orders.first()).copied().unwrap_or(1.0);
        keys.push(Key {
            values: rows.column(to_length(*index) - 1).cloned().collect(),
            is_descending: is_descending(order)?,
        });
    }
    let sorted = reordered(&rows, &sorted_order(rows.rows, &keys));
    Ok(if is_by_column { sorted.transposed() } else { sorted }.into())
}

fn reordered(matrix: &Matrix, order: &[usize]) -> Matrix {
    let values = order.iter().flat_map(|row| matrix.row(*row).iter().cloned()).collect();
    Matrix { rows: order.len(), columns: matrix.columns, values }
}

fn sort_by(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let mut keys = Vec::new();
    let mut is_by_column = false;
    for index in (1..call.len()).step_by(2) {
        let by = call.matrix(index)?;
        let is_column = by.columns == 1 && by.rows == matrix.rows;
        let is_row = by.rows == 1 && by.columns == matrix.columns;
        ensure(is_column || is_row, ErrorCode::Value)?;
        is_by_column = !is_column;
        let order = if call.is_given(index + 1) {
            crate::value::to_number(call.matrix(index + 1)?.get(0, 0))?
        } else {
            1.0
        };
        keys.push(Key { values: by.values.clone(), is_descending: is_descending(order)? });
    }
    call.evaluator.spend_array(matrix.rows, matrix.columns)?;
    if is_by_column {
        let rows = matrix.transposed();
        return Ok(reordered(&rows, &sorted_order(rows.rows, &keys)).transposed().into());
    }
    Ok(reordered(&matrix, &sorted_order(matrix.rows, &keys)).into())
}
