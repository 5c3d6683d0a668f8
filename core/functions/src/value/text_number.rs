//! Converts text to numbers, like Excel in the locale English (United States).

use super::text_date::{DateRules, parse_date_and_time};

/// Parses a number, a currency amount, a percentage, a fraction, a date or a time.
pub(crate) fn parse_number(text: &str, rules: DateRules) -> Option<f64> {
    let trimmed = text.trim_matches(' ');
    if trimmed.is_empty() {
        return None;
    }
    // Excel does not convert dates with leading or trailing spaces.
    let date = || (trimmed == text).then(|| parse_date_and_time(text, rules)).flatten();
    parse_amount(trimmed)
        .or_else(|| parse_fraction(trimmed))
        .or_else(date)
        .filter(|number| number.is_finite())
}

fn parse_amount(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut factor: f64 = 1.0;
    if let Some(inside) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        rest = inside.trim_matches(' ');
        factor = -1.0;
        if rest.starts_with(['-', '+']) {
            return None;
        }
    }
    let mut has_currency = false;
    let mut has_sign = false;
    let mut has_percent = false;
    loop {
        let (first, after) = (rest.chars().next()?, rest.trim_start_matches(' '));
        if after.len() != rest.len() {
            rest = after;
            continue;
        }
        match first {
            '$' | '€' | '£' | '¥' if !has_currency => has_currency = true,
            '-' if !has_sign => {
                factor = -factor;
                has_sign = true;
            }
            '+' if !has_sign => has_sign = true,
            '%' if !has_percent => {
                has_percent = true;
                factor /= 100.0;
            }
            _ => break,
        }
        rest = rest.get(first.len_utf8()..)?;
    }
    if let Some(before) = rest.strip_suffix('%') {
        if has_percent {
            return None;
        }
        rest = before.trim_end_matches(' ');
        factor /= 100.0;
    }
    if let Some(before) = rest.strip_suffix('€') {
        if has_currency {
            return None;
        }
        rest = before.trim_end_matches(' ');
    }
    let number = parse_digits(rest)?;
    // A percentage is divided by 100, because multiplying by 0.01 can round differently.
    Some(if factor.abs() < 1.0 { number / factor.recip().round() } else { number * factor })
}

/// Parses a decimal number, optionally with thousands separators, a decimal point and an exponent.
fn parse_digits(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(index) => (text.get(..index)?, Some(text.get(index + 1..)?)),
        None => (text, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(fraction) || (integer.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut groups = integer.split(',');
    let first = groups.next()?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 || first.is_empty() {
            return None;
        }
        digits.push_str(group);
    }
    if !is_digits(&digits) {
        return None;
    }
    let exponent = exponent.unwrap_or("0");
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if exponent_digits.is_empty() || !is_digits(exponent_digits) {
        return None;
    }
    format!("{digits}.{fraction}e{exponent}").parse().ok()
}

/// Parses an integer followed by a fraction, such as `1 3/4`.
fn parse_fraction(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (whole, fraction) = rest.split_once(' ')?;
    let (numerator, denominator) = fraction.trim_matches(' ').split_once('/')?;
    let part = |text: &str| {
        let is_short = !text.is_empty() && text.len() <= 5;
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_short && is_digits { text.parse::<f64>().ok() } else { None }
    };
    let denominator = part(denominator)?;
    if denominator == 0.0 {
        return None;
    }
    Some(sign * (part(whole)? + part(numerator)? / denominator))
}
