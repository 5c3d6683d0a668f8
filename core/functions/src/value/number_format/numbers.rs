//! Numbers in number formats.

use super::sections::{Section, Token};
use crate::number::to_15_digits;

/// Shows a number with a fixed number of decimals; a negative number of them rounds the integer.
pub(crate) fn fixed(number: f64, decimals: i32, has_commas: bool) -> String {
    let rounded = rounded_text(number.abs(), decimals);
    let (integer, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let integer = if has_commas { grouped(integer) } else { integer.to_owned() };
    let is_zero = rounded.chars().all(|digit| matches!(digit, '0' | '.'));
    let sign = if number < 0.0 && !is_zero { "-" } else { "" };
    if fraction.is_empty() {
        format!("{sign}{integer}")
    } else {
        format!("{sign}{integer}.{fraction}")
    }
}

/// Rounds by the first 15 digits, half away from zero.
fn rounded_text(number: f64, decimals: i32) -> String {
    let text = format!("{number:.14e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> =
        mantissa.bytes().filter(u8::is_ascii_digit).map(|d| d - b'0').collect();
    // `point` is the number of digits before the decimal point.
    let mut point = exponent + 1;
    let kept = point + decimals;
    if kept < 0 {
        digits = vec![0];
        point = 1;
    } else if let Ok(kept) = usize::try_from(kept)
        && kept < digits.len()
    {
        let rounds_up = digits.get(kept).is_some_and(|digit| *digit >= 5);
        digits.truncate(kept);
        if rounds_up && increment(&mut digits) {
            point += 1;
        }
    }
    let decimals = usize::try_from(decimals).unwrap_or(0);
    let digit = |place: i32| {
        let digit = usize::try_from(place).ok().and_then(|place| digits.get(place)).copied();
        char::from(b'0' + digit.unwrap_or(0))
    };
    let integer: String = if point > 0 { (0..point).map(digit).collect() } else { "0".to_owned() };
    if decimals == 0 {
        return integer;
    }
    let decimals = i32::try_from(decimals).unwrap_or(0);
    let fraction: String = (point..point + decimals).map(digit).collect();
    format!("{integer}.{fraction}")
}

/// Adds one to the last digit. Returns whether a digit was added in front.
fn increment(digits: &mut Vec<u8>) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    true
}

fn grouped(integer: &str) -> String {
    let mut result = String::new();
    for (place, digit) in integer.chars().enumerate() {
        let is_start_of_group = (integer.len() - place).is_multiple_of(3);
        if place > 0 && is_start_of_group {
            result.push(',');
        }
        result.push(digit);
    }
    result
}

/// The placeholders of a section, counted and sorted.
#[derive(Debug, Default)]
struct Layout {
    integer: Vec<char>,
    decimals: Vec<char>,
    exponent: Vec<char>,
    has_commas: bool,
    scale: i32,
    percents: i32,
    has_exponent: bool,
    has_slash: bool,
}

fn layout(section: &Section) -> Layout {
    let mut layout = Layout::default();
    let mut is_after_point = false;
    let mut commas = 0;
    for token in &section.tokens {
        match token {
            Token::Digit(digit) if layout.has_exponent => layout.exponent.push(*digit),
            Token::Digit(digit) if is_after_point => layout.decimals.push(*digit),
            Token::Digit(digit) => {
                layout.has_commas |= commas > 0;
                commas = 0;
                layout.integer.push(*digit);
            }
            Token::Comma if !layout.integer.is_empty() || is_after_point => commas += 1,
            Token::Point => {
                is_after_point = true;
                layout.scale += commas;
                commas = 0;
            }
            Token::Percent => layout.percents += 1,
            Token::Exponent(_) => layout.has_exponent = true,
            Token::Slash => layout.has_slash = true,
            _ => {}
        }
    }
    layout.scale += commas;
    layout
}

pub(super) fn format_number(number: f64, section: &Section) -> Option<String> {
    let layout = layout(section);
    if layout.has_slash && !layout.integer.is_empty() {
        return super::numbers::fraction(number, section);
    }
    if layout.integer.is_empty() && layout.decimals.is_empty() {
        let sign = if number < 0.0 && !section.has_text_place() { "-" } else { "" };
        let general = super::general_text(number.abs());
        return Some(format!("{sign}{}", section.with_text(&general)));
    }
    let scaled = number.abs() * 100_f64.powi(layout.percents) / 1000_f64.powi(layout.scale);
    let decimals = i32::try_from(layout.decimals.len()).ok()?;
    let (mantissa, exponent) = if layout.has_exponent {
        exponent_of(scaled, i32::try_from(layout.integer.len()).ok()?, decimals)
    } else {
        (scaled, 0)
    };
    let rounded = rounded_text(mantissa, decimals);
    let is_zero = rounded.chars().all(|digit| matches!(digit, '0' | '.'));
    let mut result = String::new();
    if number < 0.0 && !is_zero {
        result.push('-');
    }
    result.push_str(&filled(section, &layout, &rounded, exponent));
    Some(result)
}

/// Returns mantissa and exponent; the exponent is a multiple of the number of integer digits.
fn exponent_of(number: f64, integer_digits: i32, decimals: i32) -> (f64, i32) {
    if number == 0.0 {
        return (0.0, 0);
    }
    let step = integer_digits.max(1);
    let text = format!("{:.*e}", usize::try_from(decimals + step - 1).unwrap_or(0), number);
    let exponent: i32 =
        text.split_once('e').and_then(|(_, digits)| digits.parse().ok()).unwrap_or(0);
    let exponent = exponent.div_euclid(step) * step;
    (to_15_digits(number / 10_f64.powi(exponent)), exponent)
}

/// Puts digits into the placeholders of a section.
fn filled(section: &Section, layout: &Layout, rounded: &str, exponent: i32) -> String {
    let (integer, fraction) = rounded.split_once('.').unwrap_or((rounded, ""));
    let integer_text = integer_digits(integer, layout);
    let mut fraction = fraction_digits(fraction, &layout.decimals).into_iter();
    let mut exponent_text = Some(exponent_digits(exponent, layout));
    let mut integer_places = split_integer(&integer_text, layout).into_iter();
    let mut result = String::new();
    let (mut is_after_point, mut is_exponent) = (false, false);
    for token in &section.tokens {
        match token {
            Token::Digit(_) if is_exponent => {
                result.push_str(&exponent_text.take().unwrap_or_default());
            }
            Token::Digit(_) if is_after_point => {
                result.push_str(&fraction.next().unwrap_or_default());
            }
            Token::Digit(_) => result.push_str(&integer_places.next().unwrap_or_default()),
            Token::Point => {
                if layout.integer.is_empty() && integer != "0" {
                    result.push_str(&integer_text);
                }
                is_after_point = true;
                result.push('.');
            }
            Token::Percent => result.push('%'),
            Token::Exponent(has_plus) => {
                is_exponent = true;
                result.push('E');
                if exponent < 0 {
                    result.push('-');
                } else if *has_plus {
                    result.push('+');
                }
            }
            Token::Literal(literal) => result.push_str(literal),
            Token::Slash => result.push('/'),
            _ => {}
        }
    }
    result
}

/// Returns the integer with leading zeros or spaces and thousands separators.
fn integer_digits(integer: &str, layout: &Layout) -> String {
    let significant = if integer == "0" { "" } else { integer };
    let needed = layout.integer.iter().skip_while(|digit| **digit == '#').count();
    let missing = needed.saturating_sub(significant.len());
    let padding = layout.integer.iter().skip(layout.integer.len() - needed).take(missing);
    let padding: String = padding.map(|digit| if *digit == '?' { ' ' } else { '0' }).collect();
    let digits = format!("{padding}{significant}");
    if layout.has_commas { grouped(&digits) } else { digits }
}

/// Distributes the characters of the integer over its placeholders; the first gets the rest.
fn split_integer(text: &str, layout: &Layout) -> Vec<String> {
    let places = layout.integer.len();
    let mut parts = vec![String::new(); places];
    let mut slot = places;
    let mut digits_in_slot = 1;
    for character in text.chars().rev() {
        let starts_next = character != ',' && digits_in_slot >= 1 && slot > 1;
        if starts_next || slot == places {
            if slot > 0 && (slot == places || starts_next) {
                slot -= 1;
            }
            digits_in_slot = 0;
        }
        if let Some(part) = parts.get_mut(slot) {
            part.insert(0, character);
        }
        if character != ',' {
            digits_in_slot += 1;
        }
    }
    parts
}

/// Returns the digits after the point. Trailing zeros of `#` are left out, those of `?` are spaces.
fn fraction_digits(fraction: &str, places: &[char]) -> Vec<String> {
    let digits: Vec<char> = fraction.chars().collect();
    let last = digits.iter().rposition(|digit| *digit != '0').map_or(0, |place| place + 1);
    places
        .iter()
        .enumerate()
        .map(|(place, kind)| match (digits.get(place), kind) {
            (Some(digit), _) if place < last => digit.to_string(),
            (_, '#') => String::new(),
            (_, '?') => " ".to_owned(),
            _ => "0".to_owned(),
        })
        .collect()
}

fn exponent_digits(exponent: i32, layout: &Layout) -> String {
    let least = layout.exponent.iter().filter(|digit| **digit == '0').count();
    format!("{:0least$}", exponent.abs())
}

/// Shows a number as a fraction such as `# ??/??`.
fn fraction(number: f64, section: &Section) -> Option<String> {
    let slash = section.tokens.iter().position(|token| *token == Token::Slash)?;
    let is_digit = |token: &&Token| matches!(token, Token::Digit(_));
    let before = section.tokens.get(..slash)?;
    let numerator_places = before.iter().rev().take_while(is_digit).count();
    let has_integer = before.iter().rev().skip(numerator_places).any(|token| is_digit(&token));
    let after = section.tokens.get(slash + 1..)?;
    let denominator_places = after.iter().take_while(is_digit).count();
    let literal: String = after
        .iter()
        .map_while(|token| match token {
            Token::Literal(text) if text.chars().all(|digit| digit.is_ascii_digit()) => {
                Some(text.as_str())
            }
            Token::Digit('0') => Some("0"),
            _ => None,
        })
        .collect();
    let fixed: Option<f64> = literal.parse().ok().filter(|fixed| *fixed > 0.0);
    let absolute = number.abs();
    let integer = if has_integer { absolute.floor() } else { 0.0 };
    let rest = absolute - integer;
    let (mut numerator, denominator) = match fixed {
        Some(fixed) => ((rest * fixed).round(), fixed),
        None => nearest_fraction(rest, denominator_places),
    };
    let mut integer = integer;
    if has_integer && numerator >= denominator {
        integer += 1.0;
        numerator = 0.0;
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let denominator_width = denominator_places.max(literal.len());
    if has_integer && numerator == 0.0 {
        let blank = " ".repeat(numerator_places + 1 + denominator_width);
        return Some(format!("{sign}{integer} {blank}").trim_end_matches('\0').to_owned());
    }
    let fraction = format!("{numerator:>numerator_places$}/{denominator:<denominator_width$}");
    let shows_integer = has_integer && integer > 0.0;
    Some(if shows_integer {
        format!("{sign}{integer} {fraction}")
    } else if has_integer {
        format!("{sign} {fraction}")
    } else {
        format!("{sign}{fraction}")
    })
}

/// Returns the fraction with at most a number of digits in the denominator that is nearest.
fn nearest_fraction(rest: f64, digits: usize) -> (f64, f64) {
    let largest = 10_f64.powi(i32::try_from(digits.clamp(1, 4)).unwrap_or(1)) - 1.0;
    let (mut best, mut error) = ((rest.round(), 1.0), f64::INFINITY);
    let mut denominator = 1.0;
    while denominator <= largest {
        let numerator = (rest * denominator).round();
        let own = (rest - numerator / denominator).abs();
        if own + 1e-13 < error {
            (best, error) = ((numerator, denominator), own);
        }
        denominator += 1.0;
    }
    best
}
