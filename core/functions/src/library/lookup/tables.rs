//! `VLOOKUP`, `HLOOKUP` and `INDEX`.

use cellar_sheet::cell::{ErrorCode, Value};

use super::matching::{empty_as_zero, slice};
use super::search::{Direction, Vector, Wanted, bisect, find_exact};
use crate::call::{Call, ensure};
use crate::function::{Function, eager};
use crate::number::{to_length, to_u32};
use crate::operand::{Area, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("HLOOKUP", 3, 4, "swss", |call| table_lookup(call, false)),
    eager("INDEX", 2, 4, "wsss", index),
    eager("VLOOKUP", 3, 4, "swss", |call| table_lookup(call, true)),
];

fn table_lookup(call: &Call<'_, '_>, is_vertical: bool) -> Outcome<Operand> {
    let wanted = empty_as_zero(call.value(0)?);
    match call.operand(1) {
        Operand::Value(Value::Error(code)) => return Err((*code).into()),
        Operand::Value(Value::Text(_)) => return Err(ErrorCode::Value.into()),
        _ => {}
    }
    let (rows, columns) = call.evaluator.size(call.operand(1))?;
    let place = call.number(2)?.trunc();
    let is_sorted = call.boolean_or(3, true)?;
    ensure(place >= 1.0, ErrorCode::Value)?;
    let width = if is_vertical { columns } else { rows };
    ensure(to_length(place) <= width, ErrorCode::Ref)?;
    let first = slice(call, 1, 0, !is_vertical)?;
    let vector = Vector::of_operand(call.evaluator, &first)?;
    let found = if is_sorted {
        bisect(&vector, &wanted, false)?
    } else {
        find_exact(&vector, &Wanted::with_wildcards(wanted), Direction::FirstToLast)?
    };
    let found = found.ok_or(ErrorCode::NotAvailable)?;
    let other = to_length(place) - 1;
    let (row, column) = if is_vertical { (found, other) } else { (other, found) };
    table_value(call, row, column)
}

/// Returns the value at a zero-based row and column of the table, which is the second argument.
fn table_value(call: &Call<'_, '_>, row: usize, column: usize) -> Outcome<Operand> {
    match call.operand(1) {
        Operand::Reference(_) => {
            let area = call.area(1)?;
            let row = area.first.row + u32::try_from(row).unwrap_or(u32::MAX);
            let column = area.first.column + u32::try_from(column).unwrap_or(u32::MAX);
            Ok(call.evaluator.read_cell(Area::cell(area.sheet, row, column))?.into())
        }
        _ => Ok(call.matrix(1)?.get(row, column).clone().into()),
    }
}

fn index(call: &Call<'_, '_>) -> Outcome<Operand> {
    if let Operand::Value(Value::Error(code)) = call.operand(0) {
        return Err((*code).into());
    }
    let source = chosen_area(call)?;
    let (rows, columns) = call.evaluator.size(&source)?;
    let (mut row, mut column) = (call.number(1)?.trunc(), call.number_or(2, 0.0)?.trunc());
    ensure(row >= 0.0 && column >= 0.0, ErrorCode::Value)?;
    if !call.has(2) {
        if rows == 1 && columns > 1 {
            (row, column) = (0.0, row);
        } else if rows > 1 && columns > 1 && row > 0.0 {
            let is_reference = matches!(source, Operand::Reference(_));
            ensure(!is_reference, ErrorCode::Ref)?;
        }
    }
    ensure(to_length(row) <= rows && to_length(column) <= columns, ErrorCode::Ref)?;
    if let Operand::Reference(_) = source {
        let mut area = call.evaluator.only_area(&source)?;
        if row > 0.0 {
            area.first.row += to_u32(row) - 1;
            area.last.row = area.first.row;
        }
        if column > 0.0 {
            area.first.column += to_u32(column) - 1;
            area.last.column = area.first.column;
        }
        return Ok(Operand::area(area));
    }
    let matrix = call.evaluator.matrix(&source)?;
    let range = |place: f64, length: usize| match to_length(place) {
        0 => (0, length),
        place => (place - 1, 1),
    };
    let ((top, height), (left, width)) = (range(row, rows), range(column, columns));
    Ok(call
        .evaluator
        .build(height, width, |row, column| matrix.get(top + row, left + column).clone())?
        .into())
}

/// Returns the area that the fourth argument selects from a multi-area reference.
fn chosen_area(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = call.given_number_or(3, 1.0)?.trunc();
    ensure(number >= 1.0, ErrorCode::Value)?;
    match call.operand(0) {
        Operand::Reference(areas) => {
            let area = areas.get(to_length(number) - 1).ok_or(ErrorCode::Ref)?;
            Ok(Operand::area(*area))
        }
        other => {
            ensure(number == 1.0, ErrorCode::Ref)?;
            Ok(other.clone())
        }
    }
}
