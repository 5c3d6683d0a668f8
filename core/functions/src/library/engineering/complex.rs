//! Functions of complex numbers, which are represented as text, such as `3+4i`.

use cellar_sheet::cell::{ErrorCode, Value};

use super::super::collect::Origin;
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::numerics::complex::{Complex, ONE};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};
use crate::value::{general_text, to_text};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("COMPLEX", 2, 3, "s", |call| {
        let (real, imaginary) =
            (super::special::exact_number(call, 0)?, super::special::exact_number(call, 1)?);
        let suffix = call.text_or(2, "i")?;
        let suffix = if suffix.is_empty() { "i".to_owned() } else { suffix };
        ensure(suffix == "i" || suffix == "j", ErrorCode::Value)?;
        let letter = if suffix == "j" { 'j' } else { 'i' };
        complex_result(Complex::new(real, imaginary), letter)
    }),
    eager("IMABS", 1, 1, "s", |call| number_result(argument(call, 0)?.0.abs())),
    eager("IMAGINARY", 1, 1, "s", |call| number_result(argument(call, 0)?.0.imaginary)),
    eager("IMARGUMENT", 1, 1, "s", |call| {
        let (number, _) = argument(call, 0)?;
        ensure(number.abs() > 0.0, ErrorCode::Div0)?;
        number_result(number.angle())
    }),
    eager("IMCONJUGATE", 1, 1, "s", |call| {
        mapped(call, |z| Ok(Complex::new(z.real, -z.imaginary)))
    }),
    eager("IMCOS", 1, 1, "s", |call| mapped(call, |z| Ok(z.cosine()))),
    eager("IMCOSH", 1, 1, "s", |call| mapped(call, |z| Ok(z.hyperbolic_cosine()))),
    eager("IMCOT", 1, 1, "s", |call| mapped(call, |z| quotient(z.cosine(), z.sine()))),
    eager("IMCSC", 1, 1, "s", |call| mapped(call, |z| quotient(ONE, z.sine()))),
    eager("IMCSCH", 1, 1, "s", |call| mapped(call, |z| quotient(ONE, z.hyperbolic_sine()))),
    eager("IMDIV", 2, 2, "s", |call| {
        let ((left, first), (right, second)) = (argument(call, 0)?, argument(call, 1)?);
        complex_result(quotient(left, right)?, common_letter(first, second)?)
    }),
    eager("IMEXP", 1, 1, "s", |call| mapped(call, |z| Ok(z.exponential()))),
    eager("IMLN", 1, 1, "s", |call| mapped(call, |z| logarithm(z, 1.0))),
    eager("IMLOG10", 1, 1, "s", |call| mapped(call, |z| logarithm(z, std::f64::consts::LN_10))),
    eager("IMLOG2", 1, 1, "s", |call| mapped(call, |z| logarithm(z, std::f64::consts::LN_2))),
    eager("IMPOWER", 2, 2, "s", power),
    eager("IMPRODUCT", 1, MANY, "w", |call| combined(call, ONE, Complex::multiply)),
    eager("IMREAL", 1, 1, "s", |call| number_result(argument(call, 0)?.0.real)),
    eager("IMSEC", 1, 1, "s", |call| mapped(call, |z| quotient(ONE, z.cosine()))),
    eager("IMSECH", 1, 1, "s", |call| mapped(call, |z| quotient(ONE, z.hyperbolic_cosine()))),
    eager("IMSIN", 1, 1, "s", |call| mapped(call, |z| Ok(z.sine()))),
    eager("IMSINH", 1, 1, "s", |call| mapped(call, |z| Ok(z.hyperbolic_sine()))),
    eager("IMSQRT", 1, 1, "s", |call| mapped(call, |z| Ok(z.sqrt()))),
    eager("IMSUB", 2, 2, "s", |call| {
        let ((left, first), (right, second)) = (argument(call, 0)?, argument(call, 1)?);
        complex_result(left.subtract(right), common_letter(first, second)?)
    }),
    eager("IMSUM", 1, MANY, "w", |call| combined(call, Complex::new(0.0, 0.0), Complex::add)),
    eager("IMTAN", 1, 1, "s", |call| mapped(call, |z| quotient(z.sine(), z.cosine()))),
];

/// A complex number and its imaginary unit (`i` or `j`), or `None` if the text has no imaginary
/// part.
type Parsed = (Complex, Option<char>);

fn argument(call: &Call<'_, '_>, index: usize) -> Outcome<Parsed> {
    complex_of(&call.value(index)?)
}

fn complex_of(value: &Value) -> Outcome<Parsed> {
    match value {
        Value::Empty => Ok((Complex::new(0.0, 0.0), None)),
        Value::Number(number) => Ok((Complex::new(*number, 0.0), None)),
        Value::Bool(_) => Err(ErrorCode::Value.into()),
        other => parse(&to_text(other)?).ok_or(ErrorCode::Num.into()),
    }
}

fn parse(text: &str) -> Option<Parsed> {
    let Some(letter) = text.chars().next_back().filter(|letter| matches!(letter, 'i' | 'j')) else {
        return Some((Complex::new(parse_part(text)?, 0.0), None));
    };
    let body = text.strip_suffix(letter)?;
    // The imaginary part begins at the last sign that is neither the first character nor part of an
    // exponent.
    let split = body
        .char_indices()
        .filter(|(place, character)| {
            let before = place.checked_sub(1).and_then(|place| body.as_bytes().get(place));
            *place > 0 && matches!(character, '+' | '-') && !matches!(before, Some(b'e' | b'E'))
        })
        .map(|(place, _)| place)
        .next_back();
    let (real, imaginary) = match split {
        Some(place) => (parse_part(body.get(..place)?)?, body.get(place..)?),
        None => (0.0, body),
    };
    let imaginary = match imaginary {
        "" | "+" => 1.0,
        "-" => -1.0,
        digits => parse_part(digits)?,
    };
    Some((Complex::new(real, imaginary), Some(letter)))
}

fn parse_part(text: &str) -> Option<f64> {
    let is_number =
        |letter: u8| letter.is_ascii_digit() || matches!(letter, b'+' | b'-' | b'.' | b'e' | b'E');
    if text.bytes().all(is_number) { text.parse().ok() } else { None }
}

fn complex_result(number: Complex, letter: char) -> Outcome<Operand> {
    let (real, imaginary) = (number.real, number.imaginary);
    ensure(real.is_finite() && imaginary.is_finite(), ErrorCode::Num)?;
    if imaginary == 0.0 {
        return Ok(general_text(real).into());
    }
    let digits = match imaginary {
        1.0 => String::new(),
        -1.0 => "-".to_owned(),
        other => general_text(other),
    };
    if real == 0.0 {
        return Ok(format!("{digits}{letter}").into());
    }
    let plus = if imaginary > 0.0 { "+" } else { "" };
    Ok(format!("{}{plus}{digits}{letter}", general_text(real)).into())
}

fn common_letter(first: Option<char>, second: Option<char>) -> Outcome<char> {
    if let (Some(first), Some(second)) = (first, second) {
        ensure(first == second, ErrorCode::Value)?;
    }
    Ok(first.or(second).unwrap_or('i'))
}

fn mapped(call: &Call<'_, '_>, function: fn(Complex) -> Outcome<Complex>) -> Outcome<Operand> {
    let (number, letter) = argument(call, 0)?;
    complex_result(function(number)?, letter.unwrap_or('i'))
}

fn quotient(left: Complex, right: Complex) -> Outcome<Complex> {
    ensure(right.abs() > 0.0, ErrorCode::Num)?;
    if !right.real.is_finite() || !right.imaginary.is_finite() {
        return Err(ErrorCode::Num.into());
    }
    Ok(left.divide(right))
}

fn logarithm(number: Complex, base: f64) -> Outcome<Complex> {
    ensure(number.abs() > 0.0, ErrorCode::Num)?;
    let logarithm = number.natural_logarithm();
    Ok(Complex::new(logarithm.real / base, logarithm.imaginary / base))
}

fn power(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (number, letter) = argument(call, 0)?;
    let exponent = super::special::exact_number(call, 1)?;
    let letter = letter.unwrap_or('i');
    if number.abs() == 0.0 {
        ensure(exponent > 0.0, ErrorCode::Num)?;
        return complex_result(Complex::new(0.0, 0.0), letter);
    }
    let result = Complex::polar(number.abs().power(exponent), number.angle() * exponent);
    complex_result(result, letter)
}

fn combined(
    call: &Call<'_, '_>,
    start: Complex,
    combine: fn(Complex, Complex) -> Complex,
) -> Outcome<Operand> {
    let mut result = start;
    let mut letter = None;
    call.visit_values(0, &mut |origin, value| {
        if let Value::Error(code) = value {
            return Err((*code).into());
        }
        if origin == Origin::Cell && *value == Value::Empty {
            return Ok(());
        }
        let (number, own) = complex_of(value)?;
        if own.is_some() {
            letter = Some(common_letter(letter, own)?);
        }
        result = combine(result, number);
        Ok(())
    })?;
    complex_result(result, letter.unwrap_or('i'))
}
