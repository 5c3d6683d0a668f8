//! Conversion between binary, octal, decimal and hexadecimal numbers of up to ten digits.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_i64, from_length, to_i64, to_length};
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("BIN2DEC", 1, 1, "s", |call| number_result(from_i64(parsed(call, 2)?))),
    eager("BIN2HEX", 1, 2, "s", |call| written(call, parsed(call, 2)?, 16)),
    eager("BIN2OCT", 1, 2, "s", |call| written(call, parsed(call, 2)?, 8)),
    eager("DEC2BIN", 1, 2, "s", |call| written(call, decimal(call)?, 2)),
    eager("DEC2HEX", 1, 2, "s", |call| written(call, decimal(call)?, 16)),
    eager("DEC2OCT", 1, 2, "s", |call| written(call, decimal(call)?, 8)),
    eager("HEX2BIN", 1, 2, "s", |call| written(call, parsed(call, 16)?, 2)),
    eager("HEX2DEC", 1, 1, "s", |call| number_result(from_i64(parsed(call, 16)?))),
    eager("HEX2OCT", 1, 2, "s", |call| written(call, parsed(call, 16)?, 8)),
    eager("OCT2BIN", 1, 2, "s", |call| written(call, parsed(call, 8)?, 2)),
    eager("OCT2DEC", 1, 1, "s", |call| number_result(from_i64(parsed(call, 8)?))),
    eager("OCT2HEX", 1, 2, "s", |call| written(call, parsed(call, 8)?, 16)),
];

const DIGITS: usize = 10;

/// Returns the number of values with ten digits. The upper half represents negative numbers in
/// two's complement.
fn value_count(radix: i64) -> i64 {
    radix.pow(10)
}

fn parsed(call: &Call<'_, '_>, radix: i64) -> Outcome<i64> {
    ensure(!matches!(call.value(0)?, Value::Bool(_)), ErrorCode::Value)?;
    let text = call.text(0)?;
    let text = text.trim_matches(' ');
    ensure(text.len() <= DIGITS, ErrorCode::Num)?;
    let mut number = 0_i64;
    for character in text.chars() {
        let base = u32::try_from(radix).unwrap_or(10);
        let digit = character.to_digit(base).ok_or(ErrorCode::Num)?;
        number = number * radix + i64::from(digit);
    }
    let is_negative = number >= value_count(radix) / 2;
    Ok(if is_negative { number - value_count(radix) } else { number })
}

fn decimal(call: &Call<'_, '_>) -> Outcome<i64> {
    const LARGEST: f64 = 549_755_813_888.0;
    ensure(!matches!(call.value(0)?, Value::Bool(_)), ErrorCode::Value)?;
    let number = call.number(0)?.trunc();
    ensure((-LARGEST..LARGEST).contains(&number), ErrorCode::Num)?;
    Ok(to_i64(number))
}

fn written(call: &Call<'_, '_>, number: i64, radix: i64) -> Outcome<Operand> {
    let half = value_count(radix) / 2;
    ensure((-half..half).contains(&number), ErrorCode::Num)?;
    let mut rest = number.rem_euclid(value_count(radix));
    let mut digits = Vec::new();
    let base = u32::try_from(radix).unwrap_or(10);
    while rest > 0 || digits.is_empty() {
        let digit = u32::try_from(rest % radix).unwrap_or(0);
        digits.push(char::from_digit(digit, base).unwrap_or('0').to_ascii_uppercase());
        rest /= radix;
    }
    if call.has(1) && number >= 0 {
        ensure(!matches!(call.value(1)?, Value::Bool(_)), ErrorCode::Value)?;
        let places = call.number(1)?.trunc();
        ensure(places >= from_length(digits.len()) && places <= 10.0, ErrorCode::Num)?;
        digits.resize(to_length(places), '0');
    } else if call.has(1) {
        let places = call.number(1)?.trunc();
        ensure((1.0..=10.0).contains(&places), ErrorCode::Num)?;
    }
    Ok(digits.iter().rev().collect::<String>().into())
}
