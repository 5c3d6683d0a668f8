//! `UNIQUE` and `FILTER`.

use std::collections::HashMap;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::function::{Function, eager};
use crate::operand::{Matrix, Operand, Outcome};
use crate::value::to_bool;

pub(super) static FUNCTIONS: &[Function] =
    &[eager("FILTER", 2, 3, "aaw", filter), eager("UNIQUE", 1, 3, "ass", unique)];

fn filter(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let included = call.matrix(1)?;
    let is_by_row = included.columns == 1 && included.rows == matrix.rows;
    let is_by_column = included.rows == 1 && included.columns == matrix.columns;
    ensure(is_by_row || is_by_column, ErrorCode::Value)?;
    let mut kept = Vec::new();
    for (place, value) in included.values.iter().enumerate() {
        if to_bool(value)? {
            kept.push(place);
        }
    }
    if kept.is_empty() {
        return match call.operand(2) {
            Operand::Omitted => Err(ErrorCode::Calc.into()),
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => Ok(other.clone()),
        };
    }
    let at = |place: usize| kept.get(place).copied().unwrap_or(0);
    let result = if is_by_row {
        call.evaluator
            .build(kept.len(), matrix.columns, |row, column| matrix.get(at(row), column).clone())?
    } else {
        call.evaluator
            .build(matrix.rows, kept.len(), |row, column| matrix.get(row, at(column)).clone())?
    };
    Ok(result.into())
}

/// Returns a key that is the same for equal values. Letter case is ignored.
fn identity_of(value: &Value) -> String {
    match value {
        Value::Empty => "e".to_owned(),
        Value::Number(number) => format!("n{number}"),
        Value::Text(text) => format!("t{}", text.to_lowercase()),
        Value::Bool(value) => format!("b{value}"),
        Value::Error(code) => format!("x{code}"),
    }
}

fn unique(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let is_by_column = call.given_boolean_or(1, false)?;
    let is_once = call.given_boolean_or(2, false)?;
    call.evaluator.spend_array(matrix.rows, matrix.columns)?;
    let rows = if is_by_column { matrix.transposed() } else { (*matrix).clone() };
    let identity = |row: usize| -> Vec<String> { rows.row(row).iter().map(identity_of).collect() };
    let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
    for row in 0..rows.rows {
        *counts.entry(identity(row)).or_default() += 1;
    }
    let mut values = Vec::new();
    let mut kept = 0;
    for row in 0..rows.rows {
        let count = counts.get_mut(&identity(row));
        let is_kept = match count {
            Some(count) if is_once => *count == 1,
            Some(count) => std::mem::take(count) > 0,
            None => false,
        };
        if is_kept {
            values.extend_from_slice(rows.row(row));
            kept += 1;
        }
    }
    ensure(kept > 0, ErrorCode::Calc)?;
    let result = Matrix { rows: kept, columns: rows.columns, values };
    Ok(if is_by_column { result.transposed() } else { result }.into())
}
