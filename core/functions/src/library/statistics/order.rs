//! Order statistics: medians, percentiles, ranks and modes.

use std::collections::HashMap;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::number::{from_length, to_length};
use crate::numerics::real::Real;
use crate::operand::{Matrix, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("LARGE", 2, 2, "ws", |call| ranked(call, true)),
    eager("MEDIAN", 1, MANY, "w", |call| {
        let numbers = call.numbers(0)?;
        ensure(!numbers.is_empty(), ErrorCode::Num)?;
        number_result(median(numbers))
    }),
    eager("MODE", 1, MANY, "w", mode),
    eager("MODE.MULT", 1, MANY, "w", |call| {
        let modes = modes_of(&call.numbers(0)?);
        ensure(!modes.is_empty(), ErrorCode::NotAvailable)?;
        Ok(Matrix::from_column(modes.into_iter().map(Value::Number).collect()).into())
    }),
    eager("MODE.SNGL", 1, MANY, "w", mode),
    eager("PERCENTILE", 2, 2, "ws", |call| percentile(call, percentile_inclusive)),
    eager("PERCENTILE.EXC", 2, 2, "ws", |call| percentile(call, percentile_exclusive)),
    eager("PERCENTILE.INC", 2, 2, "ws", |call| percentile(call, percentile_inclusive)),
    eager("PERCENTRANK", 2, 3, "wss", |call| percent_rank(call, true)),
    eager("PERCENTRANK.EXC", 2, 3, "wss", |call| percent_rank(call, false)),
    eager("PERCENTRANK.INC", 2, 3, "wss", |call| percent_rank(call, true)),
    eager("QUARTILE", 2, 2, "ws", |call| quartile(call, true)),
    eager("QUARTILE.EXC", 2, 2, "ws", |call| quartile(call, false)),
    eager("QUARTILE.INC", 2, 2, "ws", |call| quartile(call, true)),
    eager("RANK", 2, 3, "sws", |call| rank(call, false)),
    eager("RANK.AVG", 2, 3, "sws", |call| rank(call, true)),
    eager("RANK.EQ", 2, 3, "sws", |call| rank(call, false)),
    eager("SMALL", 2, 2, "ws", |call| ranked(call, false)),
];

fn sorted_numbers(call: &Call<'_, '_>, index: usize) -> Outcome<Vec<f64>> {
    let mut numbers = call.numbers_of(index)?;
    call.spend(numbers.len())?;
    numbers.sort_by(f64::total_cmp);
    ensure(!numbers.is_empty(), ErrorCode::Num)?;
    Ok(numbers)
}

fn ranked(call: &Call<'_, '_>, is_largest: bool) -> Outcome<Operand> {
    let rank = call.number(1)?;
    let numbers = sorted_numbers(call, 0)?;
    let rank = rank.ceil();
    ensure(rank >= 1.0 && rank <= from_length(numbers.len()), ErrorCode::Num)?;
    let place = to_length(rank) - 1;
    let place = if is_largest { numbers.len() - 1 - place } else { place };
    number_result(numbers.get(place).copied().ok_or(ErrorCode::Num)?)
}

pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let at = |place: usize| numbers.get(place).copied().unwrap_or(f64::NAN);
    if numbers.len().is_multiple_of(2) {
        (at(middle.wrapping_sub(1)) + at(middle)) / 2.0
    } else {
        at(middle)
    }
}

/// Returns the most frequent numbers in order of first occurrence, or none if every number is
/// unique.
fn modes_of(numbers: &[f64]) -> Vec<f64> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for number in numbers {
        *counts.entry((number + 0.0).to_bits()).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    if most < 2 {
        return Vec::new();
    }
    let mut modes = Vec::new();
    for number in numbers {
        let count = counts.get_mut(&(number + 0.0).to_bits());
        if let Some(count) = count
            && *count == most
        {
            modes.push(*number);
            *count = 0;
        }
    }
    modes
}

pub(crate) fn mode_of(numbers: &[f64]) -> Option<f64> {
    modes_of(numbers).first().copied()
}

fn mode(call: &Call<'_, '_>) -> Outcome<Operand> {
    number_result(mode_of(&call.numbers(0)?).ok_or(ErrorCode::NotAvailable)?)
}

/// Returns the linearly interpolated value at a fractional, zero-based index of sorted numbers.
fn interpolated(numbers: &[f64], place: f64) -> Option<f64> {
    let low = to_length(place.floor());
    let first = *numbers.get(low)?;
    let part = place - place.floor();
    if part == 0.0 {
        return Some(first);
    }
    Some(first + part * (numbers.get(low + 1)? - first))
}

/// Computes the inclusive percentile of sorted numbers. Returns `None` if `part` is not in the
/// range 0 to 1.
pub(crate) fn percentile_inclusive(numbers: &[f64], part: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&part) || numbers.is_empty() {
        return None;
    }
    interpolated(numbers, part * from_length(numbers.len() - 1))
}

pub(crate) fn percentile_exclusive(numbers: &[f64], part: f64) -> Option<f64> {
    let count = from_length(numbers.len());
    let place = part * (count + 1.0);
    let tolerance = 1e-12;
    if place < 1.0 - tolerance || place > count + tolerance || part <= 0.0 || part >= 1.0 {
        return None;
    }
    interpolated(numbers, (place - 1.0).clamp(0.0, count - 1.0))
}

fn percentile(call: &Call<'_, '_>, of_sorted: fn(&[f64], f64) -> Option<f64>) -> Outcome<Operand> {
    let part = call.number(1)?;
    let numbers = sorted_numbers(call, 0)?;
    number_result(of_sorted(&numbers, part).ok_or(ErrorCode::Num)?)
}

fn quartile(call: &Call<'_, '_>, is_inclusive: bool) -> Outcome<Operand> {
    let quarter = call.number(1)?.trunc();
    let numbers = sorted_numbers(call, 0)?;
    ensure((0.0..=4.0).contains(&quarter), ErrorCode::Num)?;
    let part = quarter / 4.0;
    let result = if is_inclusive {
        percentile_inclusive(&numbers, part)
    } else {
        percentile_exclusive(&numbers, part)
    };
    number_result(result.ok_or(ErrorCode::Num)?)
}

fn percent_rank(call: &Call<'_, '_>, is_inclusive: bool) -> Outcome<Operand> {
    let x = call.number(1)?;
    let digits = call.given_number_or(2, 3.0)?.trunc();
    ensure(digits >= 1.0, ErrorCode::Num)?;
    let numbers = sorted_numbers(call, 0)?;
    let count = from_length(numbers.len());
    let below = numbers.partition_point(|number| *number < x);
    let found = numbers.get(below).copied().ok_or(ErrorCode::NotAvailable)?;
    let place = if found == x {
        from_length(below)
    } else {
        let lower = below.checked_sub(1).and_then(|place| numbers.get(place)).copied();
        let lower = lower.ok_or(ErrorCode::NotAvailable)?;
        from_length(below - 1) + (x - lower) / (found - lower)
    };
    let rank = if is_inclusive {
        if count == 1.0 { 1.0 } else { place / (count - 1.0) }
    } else {
        (place + 1.0) / (count + 1.0)
    };
    let power = 10_f64.power(digits);
    number_result((crate::number::to_15_digits(rank * power)).floor() / power)
}

fn rank(call: &Call<'_, '_>, is_average: bool) -> Outcome<Operand> {
    let x = call.number(0)?;
    let is_ascending = call.number_or(2, 0.0)? != 0.0;
    ensure(matches!(call.operand(1), Operand::Reference(_) | Operand::Array(_)), ErrorCode::Value)?;
    let numbers = call.numbers_of(1)?;
    let is_before = |number: &&f64| if is_ascending { **number < x } else { **number > x };
    let before = numbers.iter().filter(is_before).count();
    let equal = numbers.iter().filter(|number| **number == x).count();
    ensure(equal > 0, ErrorCode::NotAvailable)?;
    let extra = if is_average { (from_length(equal) - 1.0) / 2.0 } else { 0.0 };
    number_result(from_length(before) + 1.0 + extra)
}
