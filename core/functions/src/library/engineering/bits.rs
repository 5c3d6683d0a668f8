//! Bitwise operations on unsigned 48-bit integers.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_i64, to_i64};
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("BITAND", 2, 2, "s", |call| bitwise(call, |left, right| left & right)),
    eager("BITLSHIFT", 2, 2, "s", |call| shifted(call, 1)),
    eager("BITOR", 2, 2, "s", |call| bitwise(call, |left, right| left | right)),
    eager("BITRSHIFT", 2, 2, "s", |call| shifted(call, -1)),
    eager("BITXOR", 2, 2, "s", |call| bitwise(call, |left, right| left ^ right)),
];

const LIMIT: f64 = 281_474_976_710_656.0;

fn bits(call: &Call<'_, '_>, index: usize) -> Outcome<i64> {
    let number = call.number(index)?;
    ensure((0.0..LIMIT).contains(&number) && number.fract() == 0.0, ErrorCode::Num)?;
    Ok(to_i64(number))
}

fn bitwise(call: &Call<'_, '_>, combine: fn(i64, i64) -> i64) -> Outcome<Operand> {
    number_result(from_i64(combine(bits(call, 0)?, bits(call, 1)?)))
}

fn shifted(call: &Call<'_, '_>, direction: i64) -> Outcome<Operand> {
    let number = bits(call, 0)?;
    let shift = call.number(1)?.trunc();
    ensure(shift.abs() <= 53.0, ErrorCode::Num)?;
    let shift = to_i64(shift) * direction;
    let result = from_i64(number) * 2_f64.powi(i32::try_from(shift).unwrap_or(0));
    ensure(result < LIMIT, ErrorCode::Num)?;
    number_result(result.floor())
}
