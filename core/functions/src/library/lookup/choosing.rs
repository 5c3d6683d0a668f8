//! `CHOOSE`, and functions that select, drop or add rows and columns.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::function::{Function, LazyCall, MANY, eager, lazy};
use crate::number::{from_length, to_length};
use crate::operand::{Operand, Outcome, Stop};

pub(super) static FUNCTIONS: &[Function] = &[
    lazy("CHOOSE", 2, MANY, choose),
    eager("CHOOSECOLS", 2, MANY, "aw", |call| {
        let matrix = call.matrix(0)?;
        let chosen = chosen_indexes(call, matrix.columns)?;
        let value = |row: usize, column: usize| {
            matrix.get(row, chosen.get(column).copied().unwrap_or(0)).clone()
        };
        Ok(call.evaluator.build(matrix.rows, chosen.len(), value)?.into())
    }),
    eager("CHOOSEROWS", 2, MANY, "aw", |call| {
        let matrix = call.matrix(0)?;
        let chosen = chosen_indexes(call, matrix.rows)?;
        let value = |row: usize, column: usize| {
            matrix.get(chosen.get(row).copied().unwrap_or(0), column).clone()
        };
        Ok(call.evaluator.build(chosen.len(), matrix.columns, value)?.into())
    }),
    eager("DROP", 2, 3, "ass", |call| take_or_drop(call, dropped)),
    eager("EXPAND", 2, 4, "asss", expand),
    eager("TAKE", 2, 3, "ass", |call| take_or_drop(call, taken)),
];

fn choose(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    let evaluator = call.evaluator;
    let index = call.evaluate(0)?;
    let index = evaluator.value_operand(index, call.is_array)?;
    if let Operand::Value(value) = &index {
        let number = crate::value::to_number(value)?.trunc();
        let count = from_length(call.arguments.len());
        ensure(number >= 1.0 && number < count, ErrorCode::Value)?;
        return match call.evaluate(to_length(number))? {
            Operand::Omitted => Ok(0.0.into()),
            other => Ok(other),
        };
    }
    let mut operands = vec![index];
    for argument in 1..call.arguments.len() {
        operands.push(match call.evaluate(argument) {
            Err(Stop::Error(code)) => Operand::Value(Value::Error(code)),
            other => other?,
        });
    }
    evaluator.choose(&operands, &mut |values| {
        let (index, choices) = values.split_first().ok_or(ErrorCode::Value)?;
        let number = crate::value::to_number(index)?.trunc();
        ensure(number >= 1.0, ErrorCode::Value)?;
        Ok(choices.get(to_length(number) - 1).cloned().ok_or(ErrorCode::Value)?)
    })
}

/// Returns the zero-based indexes of the chosen rows or columns. Negative arguments count from the
/// end.
fn chosen_indexes(call: &Call<'_, '_>, length: usize) -> Outcome<Vec<usize>> {
    let mut indexes = Vec::new();
    for index in 1..call.len() {
        for value in &call.matrix(index)?.values {
            let number = crate::value::to_number(value)?.trunc();
            let is_valid = number != 0.0 && number.abs() <= from_length(length);
            ensure(is_valid, ErrorCode::Value)?;
            let from_start = if number > 0.0 { number - 1.0 } else { from_length(length) + number };
            indexes.push(to_length(from_start));
        }
    }
    Ok(indexes)
}

/// Returns the index of the first remaining row or column, and the number of remaining ones, for a
/// given argument and total number.
type Part = fn(f64, usize) -> (usize, usize);

fn taken(number: f64, length: usize) -> (usize, usize) {
    let count = to_length(number.abs()).min(length);
    if number < 0.0 { (length - count, count) } else { (0, count) }
}

fn dropped(number: f64, length: usize) -> (usize, usize) {
    let count = to_length(number.abs()).min(length);
    if number < 0.0 { (0, length - count) } else { (count, length - count) }
}

fn take_or_drop(call: &Call<'_, '_>, part: Part) -> Outcome<Operand> {
    let (rows, columns) = call.evaluator.size(call.operand(0))?;
    let along = |index: usize, length: usize| -> Outcome<(usize, usize)> {
        if !call.is_given(index) {
            return Ok((0, length));
        }
        Ok(part(call.number(index)?.trunc(), length))
    };
    let ((top, height), (left, width)) = (along(1, rows)?, along(2, columns)?);
    ensure(height > 0 && width > 0, ErrorCode::Calc)?;
    if let Operand::Reference(_) = call.operand(0) {
        let mut area = call.area(0)?;
        let step = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        area.first.row += step(top);
        area.first.column += step(left);
        area.last.row = area.first.row + step(height - 1);
        area.last.column = area.first.column + step(width - 1);
        return Ok(Operand::area(area));
    }
    let matrix = call.matrix(0)?;
    Ok(call
        .evaluator
        .build(height, width, |row, column| matrix.get(top + row, left + column).clone())?
        .into())
}

fn expand(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let rows = call.given_number_or(1, from_length(matrix.rows))?.trunc();
    let columns = call.given_number_or(2, from_length(matrix.columns))?.trunc();
    let padding =
        if call.is_given(3) { call.any_value(3)? } else { Value::Error(ErrorCode::NotAvailable) };
    let is_larger = rows >= from_length(matrix.rows) && columns >= from_length(matrix.columns);
    ensure(is_larger, ErrorCode::Value)?;
    let (rows, columns) = (to_length(rows), to_length(columns));
    let value = |row: usize, column: usize| {
        let is_inside = row < matrix.rows && column < matrix.columns;
        if is_inside { matrix.get(row, column).clone() } else { padding.clone() }
    };
    Ok(call.evaluator.build(rows, columns, value)?.into())
}
