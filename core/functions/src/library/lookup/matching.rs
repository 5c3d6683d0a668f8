//! `MATCH`, `XMATCH`, `LOOKUP` and `XLOOKUP`.

use std::cmp::Ordering;
use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use super::search::{Direction, Vector, Wanted, bisect, find_exact, find_nearest};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_length, to_i64};
use crate::operand::{Area, Matrix, Operand, Outcome};
use crate::value::compare_filled;
use crate::value::wildcard::Pattern;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("LOOKUP", 2, 3, "sww", lookup),
    eager("MATCH", 2, 3, "sws", match_function),
    eager("XLOOKUP", 3, 6, "swwwss", x_lookup),
    eager("XMATCH", 2, 4, "swss", |call| {
        let vector = vector_or_value_error(call, 1)?;
        let place = x_search(call, &vector, 2, 3)?.ok_or(ErrorCode::NotAvailable)?;
        number_result(from_length(place) + 1.0)
    }),
];

/// Converts an empty lookup value to 0, as in `LOOKUP`, `VLOOKUP` and `HLOOKUP`.
pub(super) fn empty_as_zero(value: Value) -> Value {
    if value == Value::Empty { Value::Number(0.0) } else { value }
}

fn match_function(call: &Call<'_, '_>) -> Outcome<Operand> {
    let wanted = call.value(0)?;
    ensure(wanted != Value::Empty, ErrorCode::NotAvailable)?;
    let kind = call.number_or(2, 1.0)?;
    let vector = Vector::of_argument(call, 1)?;
    let place = if kind == 0.0 {
        find_exact(&vector, &Wanted::with_wildcards(wanted), Direction::FirstToLast)?
    } else if kind > 0.0 {
        bisect(&vector, &wanted, false)?
    } else {
        last_not_smaller(&vector, &wanted)?
    };
    number_result(from_length(place.ok_or(ErrorCode::NotAvailable)?) + 1.0)
}

/// Returns the index of the first value equal to `wanted` in a vector in descending order, or else
/// of the last value greater than `wanted`.
fn last_not_smaller(vector: &Vector<'_, '_>, wanted: &Value) -> Outcome<Option<usize>> {
    let mut found = None;
    for index in 0..vector.used_length() {
        let value = vector.get(index)?;
        if crate::value::type_rank(&value) != crate::value::type_rank(wanted) {
            continue;
        }
        match compare_filled(&value, wanted) {
            Ordering::Equal => return Ok(Some(index)),
            Ordering::Greater => found = Some(index),
            Ordering::Less => break,
        }
    }
    Ok(found)
}

fn lookup(call: &Call<'_, '_>) -> Outcome<Operand> {
    let wanted = empty_as_zero(call.value(0)?);
    let (rows, columns) = call.evaluator.size(call.operand(1))?;
    if call.is_given(2) {
        let vector = Vector::of_argument(call, 1)?;
        let place = bisect(&vector, &wanted, false)?.ok_or(ErrorCode::NotAvailable)?;
        let results = Vector::of_argument(call, 2)?;
        ensure(place < results.length, ErrorCode::NotAvailable)?;
        return Ok(results.get(place)?.into());
    }
    let matrix = call.matrix(1)?;
    // If an array has more columns than rows, its first row is searched and the result is taken
    // from its last row. Otherwise, its first and last columns are used.
    let is_by_row = columns > rows;
    let (searched, results) = if is_by_row {
        (matrix.row(0).to_vec(), matrix.row(matrix.rows - 1).to_vec())
    } else {
        (matrix.column(0).cloned().collect(), matrix.column(matrix.columns - 1).cloned().collect())
    };
    let searched = Operand::Array(Rc::new(Matrix::from_column(searched)));
    let vector = Vector::of_operand(call.evaluator, &searched)?;
    let place = bisect(&vector, &wanted, false)?.ok_or(ErrorCode::NotAvailable)?;
    Ok(results.get(place).cloned().ok_or(ErrorCode::NotAvailable)?.into())
}

fn vector_or_value_error<'c, 'e>(call: &Call<'c, 'e>, index: usize) -> Outcome<Vector<'c, 'e>> {
    call.check_errors()?;
    let (rows, columns) = call.evaluator.size(call.operand(index))?;
    ensure(rows == 1 || columns == 1, ErrorCode::Value)?;
    Vector::of_operand(call.evaluator, call.operand(index))
}

/// Searches like `XMATCH`. `match_argument` and `search_argument` are the indexes of the match mode
/// and search mode arguments.
fn x_search(
    call: &Call<'_, '_>,
    vector: &Vector<'_, '_>,
    match_argument: usize,
    search_argument: usize,
) -> Outcome<Option<usize>> {
    let wanted = call.value(0)?;
    let match_mode = to_i64(call.given_number_or(match_argument, 0.0)?);
    let search_mode = to_i64(call.given_number_or(search_argument, 1.0)?);
    let direction = match search_mode {
        1 => Direction::FirstToLast,
        -1 => Direction::LastToFirst,
        2 | -2 if match_mode == 2 || match_mode == 3 => return Err(ErrorCode::Value.into()),
        2 | -2 if (-1..=1).contains(&match_mode) => {
            return bisect_mode(vector, &wanted, match_mode, search_mode == -2);
        }
        _ => return Err(ErrorCode::Value.into()),
    };
    match match_mode {
        0 => find_exact(vector, &Wanted::Value(wanted), direction),
        -1 => find_nearest(vector, &wanted, Ordering::Less, direction),
        1 => find_nearest(vector, &wanted, Ordering::Greater, direction),
        2 => {
            let wanted = match wanted {
                Value::Text(text) => Wanted::Pattern(Pattern::new(&text)),
                other => Wanted::Value(other),
            };
            find_exact(vector, &wanted, direction)
        }
        3 => {
            let wanted = match wanted {
                Value::Text(text) => Wanted::Regex(crate::library::text::compile_regex(
                    &format!("^(?:{text})$"),
                    false,
                )?),
                other => Wanted::Value(other),
            };
            find_exact(vector, &wanted, direction)
        }
        _ => Err(ErrorCode::Value.into()),
    }
}

/// Searches sorted values like `XMATCH`, by binary search. Of several equal values, returns the
/// first one in ascending order, which is the last one in a descending vector. Values of different
/// types are ordered by type.
fn bisect_mode(
    vector: &Vector<'_, '_>,
    wanted: &Value,
    match_mode: i64,
    is_descending: bool,
) -> Outcome<Option<usize>> {
    let length = vector.used_length();
    let place_of = |rank: usize| if is_descending { length - 1 - rank } else { rank };
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        if compare_filled(&vector.get(place_of(middle))?, wanted).is_lt() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if low < length && compare_filled(&vector.get(place_of(low))?, wanted).is_eq() {
        return Ok(Some(place_of(low)));
    }
    Ok(match match_mode {
        -1 => low.checked_sub(1).map(place_of),
        1 if low < length => Some(place_of(low)),
        _ => None,
    })
}

fn x_lookup(call: &Call<'_, '_>) -> Outcome<Operand> {
    for index in [0, 1, 2, 4, 5] {
        if let Operand::Value(Value::Error(code)) = call.operand(index) {
            return Err((*code).into());
        }
    }
    let (rows, columns) = call.evaluator.size(call.operand(1))?;
    ensure(rows == 1 || columns == 1, ErrorCode::Value)?;
    let vector = Vector::of_operand(call.evaluator, call.operand(1))?;
    let result_size = call.evaluator.size(call.operand(2))?;
    let is_by_row = columns == 1 && result_size.0 == rows;
    ensure(is_by_row || (rows == 1 && result_size.1 == columns), ErrorCode::Value)?;
    let Some(place) = x_search(call, &vector, 4, 5)? else {
        return match call.operand(3) {
            Operand::Omitted => Err(ErrorCode::NotAvailable.into()),
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => Ok(other.clone()),
        };
    };
    slice(call, 2, place, is_by_row)
}

/// Returns a single row or column of an argument. The result is a reference if the argument is a
/// reference.
pub(super) fn slice(
    call: &Call<'_, '_>,
    index: usize,
    place: usize,
    is_row: bool,
) -> Outcome<Operand> {
    if let Operand::Reference(_) = call.operand(index) {
        let area = call.area(index)?;
        let step = u32::try_from(place).unwrap_or(u32::MAX);
        let mut result = area;
        if is_row {
            result.first.row = area.first.row + step;
            result.last.row = result.first.row;
        } else {
            result.first.column = area.first.column + step;
            result.last.column = result.first.column;
        }
        return Ok(Operand::area(Area { ..result }));
    }
    let matrix = call.matrix(index)?;
    Ok(if is_row {
        Matrix::from_row(matrix.row(place).to_vec())
    } else {
        Matrix::from_column(matrix.column(place).cloned().collect())
    }
    .into())
}
