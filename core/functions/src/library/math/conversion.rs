//! Conversion of Roman numerals and number bases.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_i64, to_i64, to_length};
use crate::operand::{Operand, Outcome};
use crate::value::bool_of_text;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ARABIC", 1, 1, "s", arabic),
    eager("BASE", 2, 3, "s", base),
    eager("DECIMAL", 2, 2, "s", decimal),
    eager("ROMAN", 1, 2, "s", roman),
];

const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn arabic(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let upper = text.trim_matches(' ').to_uppercase();
    ensure(upper.len() <= 255, ErrorCode::Value)?;
    let (sign, numeral) = match upper.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, upper.as_str()),
    };
    let mut total = 0_i64;
    let mut largest_after = 0;
    for letter in numeral.chars().rev() {
        let value = match letter {
            'I' => 1,
            'V' => 5,
            'X' => 10,
            'L' => 50,
            'C' => 100,
            'D' => 500,
            'M' => 1000,
            _ => return Err(ErrorCode::Value.into()),
        };
        total += if value < largest_after { -value } else { value };
        largest_after = largest_after.max(value);
    }
    number_result(from_i64(sign * total))
}

fn base(call: &Call<'_, '_>) -> Outcome<Operand> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let (number, radix) = (call.number(0)?.trunc(), call.number(1)?.trunc());
    let length = call.number_or(2, 0.0)?.trunc();
    ensure((0.0..LARGEST).contains(&number), ErrorCode::Num)?;
    ensure((2.0..=36.0).contains(&radix), ErrorCode::Num)?;
    ensure((0.0..=255.0).contains(&length), ErrorCode::Num)?;
    let mut digits = Vec::new();
    let mut rest = number;
    while rest > 0.0 {
        digits.push(DIGITS.get(to_length(rest % radix)).map_or('0', |digit| char::from(*digit)));
        rest = (rest / radix).floor();
    }
    while digits.len() < to_length(length).max(1) {
        digits.push('0');
    }
    call.text_result(digits.iter().rev().collect())
}

fn decimal(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let radix = call.number(1)?.trunc();
    ensure((2.0..=36.0).contains(&radix), ErrorCode::Num)?;
    ensure(text.len() <= 255, ErrorCode::Value)?;
    let mut digits = text.trim_start_matches(' ').to_uppercase();
    if radix == 16.0 {
        let unprefixed = digits.strip_prefix("0X").or_else(|| digits.strip_prefix('X'));
        digits = unprefixed.map_or_else(|| digits.clone(), str::to_owned);
        digits = digits.strip_suffix('H').unwrap_or(&digits).to_owned();
    } else if radix == 2.0 {
        digits = digits.strip_suffix('B').unwrap_or(&digits).to_owned();
    }
    let mut value = 0.0;
    for digit in digits.bytes() {
        let place = DIGITS.iter().position(|known| *known == digit).ok_or(ErrorCode::Num)?;
        let place = crate::number::from_length(place);
        ensure(place < radix, ErrorCode::Num)?;
        value = value * radix + place;
    }
    number_result(value)
}

/// The values and letters of classic Roman numerals. Each of the forms 1 to 4 of `ROMAN` adds more
/// subtractive pairs.
const CLASSIC: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];
const FORM_1: [(i64, &str); 4] = [(950, "LM"), (450, "LD"), (95, "VC"), (45, "VL")];
const FORM_2: [(i64, &str); 4] = [(990, "XM"), (490, "XD"), (99, "IC"), (49, "IL")];
const FORM_3: [(i64, &str); 2] = [(995, "VM"), (495, "VD")];
const FORM_4: [(i64, &str); 2] = [(999, "IM"), (499, "ID")];

fn roman(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = to_i64(call.number(0)?);
    let form = match call.operand(1) {
        Operand::Omitted => 0,
        Operand::Value(cellar_sheet::cell::Value::Bool(value)) => {
            if *value {
                0
            } else {
                4
            }
        }
        Operand::Value(cellar_sheet::cell::Value::Text(text)) if bool_of_text(text).is_some() => 0,
        _ => call.integer(1)?,
    };
    ensure((0..=3_999).contains(&number) && (0..=4).contains(&form), ErrorCode::Value)?;
    let mut pairs: Vec<(i64, &str)> = CLASSIC.to_vec();
    let extra: [&[(i64, &str)]; 4] = [&FORM_1, &FORM_2, &FORM_3, &FORM_4];
    extra.iter().take(usize::try_from(form).unwrap_or(0)).for_each(|more| pairs.extend(*more));
    pairs.sort_unstable_by_key(|(value, _)| -value);
    let mut rest = number;
    let mut numeral = String::new();
    for (value, letters) in pairs {
        while rest >= value {
            numeral.push_str(letters);
            rest -= value;
        }
    }
    call.text_result(numeral)
}
