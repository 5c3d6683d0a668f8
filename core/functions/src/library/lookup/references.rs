//! Functions that inspect, move and trim references.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_length, to_i64};
use crate::operand::{Area, Matrix, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("AREAS", 1, 1, "w", |call| {
        call.check_errors()?;
        number_result(from_length(call.evaluator.areas(call.operand(0))?.len()))
    }),
    eager("COLUMN", 0, 1, "w", |call| row_or_column(call, false)),
    eager("COLUMNS", 1, 1, "w", |call| {
        call.check_errors()?;
        number_result(from_length(call.evaluator.size(call.operand(0))?.1))
    }),
    eager("OFFSET", 3, 5, "wssss", offset),
    eager("ROW", 0, 1, "w", |call| row_or_column(call, true)),
    eager("ROWS", 1, 1, "w", |call| {
        call.check_errors()?;
        number_result(from_length(call.evaluator.size(call.operand(0))?.0))
    }),
    eager("TRIMRANGE", 1, 3, "wss", trim_range),
];

/// Computes `ROW` or `COLUMN`.
fn row_or_column(call: &Call<'_, '_>, is_row: bool) -> Outcome<Operand> {
    let own = call.evaluator.context.cell;
    if !call.is_given(0) {
        return Ok((f64::from(if is_row { own.row } else { own.column }) + 1.0).into());
    }
    let area = call.area(0)?;
    let (first, count) =
        if is_row { (area.first.row, area.rows()) } else { (area.first.column, area.columns()) };
    let count = count as usize;
    call.evaluator.spend_array(count, 1)?;
    let numbers = (0..count).map(|step| Value::Number(f64::from(first) + from_length(step) + 1.0));
    let numbers = numbers.collect();
    Ok(if is_row { Matrix::from_column(numbers) } else { Matrix::from_row(numbers) }.into())
}

fn offset(call: &Call<'_, '_>) -> Outcome<Operand> {
    let area = call.area(0)?;
    let (rows, columns) = (call.integer(1)?, call.integer(2)?);
    let height = size_argument(call, 3, area.rows())?;
    let width = size_argument(call, 4, area.columns())?;
    let grid = call.evaluator.source.grid_size();
    let (top, bottom) = offset_range(area.first.row, rows, height, grid.rows)?;
    let (left, right) = offset_range(area.first.column, columns, width, grid.columns)?;
    let mut result = Area::cell(area.sheet, top, left);
    result.last.row = bottom;
    result.last.column = right;
    Ok(Operand::Reference(Rc::new(vec![result])))
}

fn size_argument(call: &Call<'_, '_>, index: usize, default: u32) -> Outcome<i64> {
    if !call.is_given(index) {
        return Ok(i64::from(default));
    }
    let number = call.number(index)?;
    // Sizes below 1 are rounded, and larger sizes are truncated.
    let size = if number.abs() < 1.0 { to_i64(number.round()) } else { to_i64(number) };
    ensure(size != 0, ErrorCode::Ref)?;
    Ok(size)
}

/// Returns the first and last row, or column, of the range that `OFFSET` selects. A negative `size`
/// extends the range backward. Fails with `#REF!` if it extends beyond the sheet.
fn offset_range(first: u32, offset: i64, size: i64, limit: u32) -> Outcome<(u32, u32)> {
    let start = i64::from(first).saturating_add(offset);
    let end =
        if size > 0 { start.saturating_add(size - 1) } else { start.saturating_add(size + 1) };
    let low = u32::try_from(start.min(end)).map_err(|_| ErrorCode::Ref)?;
    let high = u32::try_from(start.max(end)).map_err(|_| ErrorCode::Ref)?;
    ensure(high < limit, ErrorCode::Ref)?;
    Ok((low, high))
}

/// Computes `TRIMRANGE`, which removes empty rows and columns at the edges. The second and third
/// argument select which to remove: 0 none, 1 leading, 2 trailing, 3 both.
fn trim_range(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (rows, columns) = (call.given_number_or(1, 3.0)?, call.given_number_or(2, 3.0)?);
    let (rows, columns) = (to_i64(rows), to_i64(columns));
    ensure((0..=3).contains(&rows) && (0..=3).contains(&columns), ErrorCode::Value)?;
    let matrix = call.matrix(0)?;
    let is_filled = |row: usize, column: usize| *matrix.get(row, column) != Value::Empty;
    let filled_rows: Vec<bool> = (0..matrix.rows)
        .map(|row| (0..matrix.columns).any(|column| is_filled(row, column)))
        .collect();
    let filled_columns: Vec<bool> = (0..matrix.columns)
        .map(|column| (0..matrix.rows).any(|row| is_filled(row, column)))
        .collect();
    let (top, bottom) = trimmed(&filled_rows, rows).ok_or(ErrorCode::Ref)?;
    let (left, right) = trimmed(&filled_columns, columns).ok_or(ErrorCode::Ref)?;
    if let Operand::Reference(_) = call.operand(0) {
        let area = call.area(0)?;
        let index = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let mut result =
            Area::cell(area.sheet, area.first.row + index(top), area.first.column + index(left));
        result.last.row = area.first.row + index(bottom);
        result.last.column = area.first.column + index(right);
        return Ok(Operand::area(result));
    }
    let value = |row: usize, column: usize| matrix.get(row + top, column + left).clone();
    Ok(call.evaluator.build(bottom - top + 1, right - left + 1, value)?.into())
}

fn trimmed(filled: &[bool], sides: i64) -> Option<(usize, usize)> {
    let first = filled.iter().position(|filled| *filled)?;
    let last = filled.iter().rposition(|filled| *filled)?;
    let has_side = |side: i64| sides & side != 0;
    Some((if has_side(1) { first } else { 0 }, if has_side(2) { last } else { filled.len() - 1 }))
}
