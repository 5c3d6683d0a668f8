//! Converts between numbers and texts.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::library::math::rounding::round_at;
use crate::number::to_i64;
use crate::operand::{Operand, Outcome, Stop};
use crate::value::number_format::{format_number, format_value};
use crate::value::{DateRules, parse_number};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("DOLLAR", 1, 2, "s", dollar),
    eager("FIXED", 1, 3, "s", |call| {
        let decimals = decimals_argument(call)?;
        let has_commas = !call.boolean_or(2, false)?;
        call.text_result(fixed(call.number(0)?, decimals, has_commas)?)
    }),
    eager("NUMBERVALUE", 1, 3, "s", number_value),
    eager("TEXT", 2, 2, "s", |call| {
        let (value, format) = (call.value(0)?, call.text(1)?);
        call.spend(format.len())?;
        ensure(format.chars().count() <= 255, ErrorCode::Value)?;
        let text = format_value(&value, &format).ok_or(Stop::Error(ErrorCode::Value))?;
        call.text_result(text)
    }),
    eager("VALUE", 1, 1, "s", |call| match call.value(0)? {
        Value::Text(text) => number_result(
            parse_number(&text, call.evaluator.date_rules())
                .ok_or(Stop::Error(ErrorCode::Value))?,
        ),
        Value::Bool(_) => Err(ErrorCode::Value.into()),
        other => number_result(crate::value::to_number(&other)?),
    }),
];

fn decimals_argument(call: &Call<'_, '_>) -> Outcome<i32> {
    const MOST_DECIMALS: f64 = 127.0;
    let decimals = call.number_or(1, 2.0)?.trunc();
    ensure(decimals <= MOST_DECIMALS, ErrorCode::Value)?;
    Ok(i32::try_from(to_i64(decimals.max(-400.0))).unwrap_or(0))
}

/// Shows a number with a fixed number of decimals; a negative number of them rounds the integer.
fn fixed(number: f64, decimals: i32, has_commas: bool) -> Outcome<String> {
    let integer = if has_commas { "#,##0" } else { "0" };
    let text = match usize::try_from(decimals) {
        Ok(0) => format_number(number, integer),
        Ok(decimals) => format_number(number, &format!("{integer}.{}", "0".repeat(decimals))),
        Err(_) => format_number(round_at(number, f64::from(decimals), f64::round), integer),
    };
    text.ok_or(Stop::Error(ErrorCode::Value))
}

fn dollar(call: &Call<'_, '_>) -> Outcome<Operand> {
    let decimals = decimals_argument(call)?;
    let number = call.number(0)?;
    let amount = fixed(number.abs(), decimals, true)?;
    let is_zero = amount.chars().all(|character| !('1'..='9').contains(&character));
    call.text_result(if number < 0.0 && !is_zero {
        format!("(${amount})")
    } else {
        format!("${amount}")
    })
}

fn number_value(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let separator = |index: usize, default: char| -> Outcome<char> {
        if !call.has(index) {
            return Ok(default);
        }
        call.text(index)?.chars().next().ok_or(ErrorCode::Value.into())
    };
    let (decimal, group) = (separator(1, '.')?, separator(2, ',')?);
    let mut digits: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    if digits.is_empty() {
        return Ok(0.0.into());
    }
    let percents = digits.chars().rev().take_while(|character| *character == '%').count();
    digits.truncate(digits.len() - percents);
    let (integer, fraction) = match digits.split_once(decimal) {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (digits.as_str(), None),
    };
    ensure(
        !fraction.is_some_and(|fraction| fraction.contains([decimal, group])),
        ErrorCode::Value,
    )?;
    let integer: String = integer.chars().filter(|character| *character != group).collect();
    let plain = match fraction {
        Some(fraction) => format!("{integer}.{fraction}"),
        None => integer,
    };
    let number = parse_number(&plain, DateRules::default()).ok_or(Stop::Error(ErrorCode::Value))?;
    let hundreds = 100_f64.powi(i32::try_from(percents).unwrap_or(i32::MAX));
    number_result(number / hundreds)
}
