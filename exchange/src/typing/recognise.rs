//! Fast recognition of numbers, dates and booleans. Equivalent to `cellar_sheet::cell::recognise`,
//! but almost never allocates memory.

use cellar_sheet::cell::{Value, date_serial};

/// Must match the limit in `cellar_sheet::cell`.
const MAX_DECIMALS: usize = 15;
/// Exclusive upper bound for mantissas of at most 15 significant digits (`DBL_DIG`). Parsing such a
/// number and displaying it again preserves all of its digits.
const EXACT_MANTISSA_END: u64 = 1_000_000_000_000_000;
/// Number of decimal digits that a `u64` can always hold.
const MAX_MANTISSA_DIGITS: usize = 19;
/// Lower bound of the positive numbers that are displayed without an exponent.
const MIN_WITHOUT_EXPONENT: f64 = 1e-6;
/// Powers of ten that have an exact floating-point representation.
pub(super) const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Every format with fewer decimals is a prefix of this string.
const LONGEST_FIXED_FORMAT: &str = "0.000000000000000";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RecognisedValue {
    Bool(bool),
    Number(Number),
    Date { serial: f64, form: DateForm },
}

/// How a date is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateForm {
    Dashes,
    Slashes,
    /// The time follows a space.
    WithTime,
    /// The time follows the letter `T`.
    WithTimeAfterT,
}

impl DateForm {
    pub(crate) fn format(self) -> &'static str {
        match self {
            Self::Dashes => "yyyy-mm-dd",
            Self::Slashes => "yyyy/mm/dd",
            Self::WithTime => "yyyy-mm-dd hh:mm:ss",
            Self::WithTimeAfterT => "yyyy-mm-ddThh:mm:ss",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// Whether the `General` format displays the number exactly as it is written.
    pub(crate) is_general: bool,
    /// Number of decimals of the number format that certainly displays the number as it is written.
    pub(crate) fixed_decimals: Option<u8>,
}

impl Number {
    pub(crate) fn format(&self) -> Option<&'static str> {
        if self.is_general { None } else { fixed_format(self.fixed_decimals?) }
    }
}

/// Returns `None` if there are too many decimals.
pub(crate) fn fixed_format(decimals: u8) -> Option<&'static str> {
    let format_bytes = if decimals == 0 { "0".len() } else { "0.".len() + usize::from(decimals) };
    LONGEST_FIXED_FORMAT.get(..format_bytes)
}

/// Returns `None` if the parsed value would be displayed differently from `text`.
pub(crate) fn recognise(text: &str) -> Option<RecognisedValue> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'T' if text == "TRUE" => Some(RecognisedValue::Bool(true)),
        b'F' if text == "FALSE" => Some(RecognisedValue::Bool(false)),
        b'0'..=b'9' | b'-' if may_be_date(bytes) => parse_date(bytes),
        b'0'..=b'9' | b'-' => parse_number(text).map(RecognisedValue::Number),
        _ => None,
    }
}

fn may_be_date(bytes: &[u8]) -> bool {
    matches!(bytes.len(), DATE_BYTES | DATE_TIME_BYTES)
        && matches!(bytes.get(YEAR_BYTES), Some(b'-' | b'/'))
}

fn fixed_decimals(decimals: usize) -> Option<u8> {
    let fixed_decimals = u8::try_from(decimals).ok()?;
    (1..=MAX_DECIMALS).contains(&decimals).then_some(fixed_decimals)
}

struct Digits {
    /// Wraps around if there are more than [`MAX_MANTISSA_DIGITS`] digits.
    mantissa: u64,
    count: usize,
    decimals: usize,
    last_digit: u8,
}

pub(super) fn parse_number(text: &str) -> Option<Number> {
    let (is_negative, unsigned_text) = match text.as_bytes() {
        [b'-', unsigned_text @ ..] => (true, unsigned_text),
        unsigned_text => (false, unsigned_text),
    };
    let digits = parse_digits(unsigned_text)?;
    if digits.count > MAX_MANTISSA_DIGITS || digits.mantissa >= EXACT_MANTISSA_END {
        return parse_long_number(text, &digits);
    }
    // Both operands are exact, so the quotient is the nearest floating-point number.
    let magnitude = digits.mantissa as f64 / POWERS_OF_TEN.get(digits.decimals)?;
    let needs_exponent =
        digits.decimals > 0 && digits.mantissa > 0 && magnitude < MIN_WITHOUT_EXPONENT;
    if needs_exponent {
        return parse_with_sheet_rules(text, digits.decimals);
    }
    let is_general = digits.decimals == 0 || digits.last_digit != b'0';
    if !is_general && digits.decimals > MAX_DECIMALS {
        return None;
    }
    let value = if is_negative { -magnitude } else { magnitude };
    Some(Number { value, is_general, fixed_decimals: fixed_decimals(digits.decimals) })
}

/// Parses an unsigned decimal number such as `0`, `12`, `0.5` or `12.80`. Returns `None` for text
/// such as `007`, `.5` and `5.`, because no number format displays it.
fn parse_digits(unsigned_text: &[u8]) -> Option<Digits> {
    let integer = parse_leading_digits(unsigned_text, 0);
    let has_leading_zero = integer.count > 1 && unsigned_text.first() == Some(&b'0');
    if integer.count == 0 || has_leading_zero {
        return None;
    }
    let last_digit = *unsigned_text.last()?;
    let after_integer = unsigned_text.get(integer.count..)?;
    if after_integer.is_empty() {
        let LeadingDigits { count, mantissa } = integer;
        return Some(Digits { mantissa, count, decimals: 0, last_digit });
    }
    let [b'.', fraction_text @ ..] = after_integer else { return None };
    let fraction = parse_leading_digits(fraction_text, integer.mantissa);
    if fraction.count == 0 || fraction.count < fraction_text.len() {
        return None;
    }
    Some(Digits {
        mantissa: fraction.mantissa,
        count: integer.count + fraction.count,
        decimals: fraction.count,
        last_digit,
    })
}

/// The result wraps around if there are too many digits.
fn parse_leading_digits(bytes: &[u8], mantissa_before: u64) -> LeadingDigits {
    let mut digits = LeadingDigits { count: 0, mantissa: mantissa_before };
    for byte in bytes {
        if !byte.is_ascii_digit() {
            break;
        }
        let digit = u64::from(byte - b'0');
        digits.mantissa = digits.mantissa.wrapping_mul(10).wrapping_add(digit);
        digits.count += 1;
    }
    digits
}

struct LeadingDigits {
    count: usize,
    /// All digits as one integer, including the digits of the mantissa before this text.
    mantissa: u64,
}

/// Most such numbers were written by a program in the shortest form. To recognise them quickly, the
/// text is compared with the output of the `zmij` crate, which also writes the shortest form.
fn parse_long_number(text: &str, digits: &Digits) -> Option<Number> {
    /// Range of the numbers that `zmij` writes in the expected form. Outside of this range, `zmij`
    /// may use an exponent or another form of the same length.
    const SHORTEST_FORM_RANGE: std::ops::Range<f64> = 1e-5..1e9;
    let value: f64 = text.parse().ok()?;
    // Whole numbers cannot be compared, because `zmij` appends `.0` to them.
    let is_comparable = SHORTEST_FORM_RANGE.contains(&value.abs())
        && digits.decimals > 0
        && digits.last_digit != b'0';
    if is_comparable && zmij::Buffer::new().format_finite(value) == text {
        return Some(Number { value, is_general: true, fixed_decimals: None });
    }
    parse_with_sheet_rules(text, digits.decimals)
}

fn parse_with_sheet_rules(text: &str, decimals: usize) -> Option<Number> {
    let typed_cell = cellar_sheet::cell::recognise(text)?;
    let Value::Number(value) = typed_cell.value else { return None };
    let is_general = typed_cell.format.is_none();
    let fixed_decimals = if is_general { None } else { fixed_decimals(decimals) };
    Some(Number { value, is_general, fixed_decimals })
}

const YEAR_BYTES: usize = 4;
const DATE_BYTES: usize = 10;
const DATE_TIME_BYTES: usize = 19;

/// Parses a date such as `2026-11-21`, `2026/11/21`, `2026-11-21 10:00:00` or
/// `2026-11-21T10:00:00`.
fn parse_date(bytes: &[u8]) -> Option<RecognisedValue> {
    let (date_bytes, time_bytes) = bytes.split_at_checked(DATE_BYTES)?;
    let &[y1, y2, y3, y4, first_separator, m1, m2, second_separator, d1, d2] = date_bytes else {
        return None;
    };
    if first_separator != second_separator {
        return None;
    }
    let year = parse_decimal(&[y1, y2, y3, y4])?;
    let month = parse_decimal(&[m1, m2])?;
    let day = parse_decimal(&[d1, d2])?;
    let (second_of_day, form) = match (first_separator, time_bytes) {
        (b'-', []) => (0, DateForm::Dashes),
        (b'/', []) => (0, DateForm::Slashes),
        (b'-', [b' ', time @ ..]) => (parse_second_of_day(time)?, DateForm::WithTime),
        (b'-', [b'T', time @ ..]) => (parse_second_of_day(time)?, DateForm::WithTimeAfterT),
        _ => return None,
    };
    let serial = date_serial(year, month, day, second_of_day)?;
    Some(RecognisedValue::Date { serial, form })
}

/// Parses a time such as `10:00:00`. Returns the number of seconds since midnight.
fn parse_second_of_day(time: &[u8]) -> Option<i64> {
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = time else { return None };
    let hour = parse_decimal(&[h1, h2])?;
    let minute = parse_decimal(&[m1, m2])?;
    let second = parse_decimal(&[s1, s2])?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(hour * 3_600 + minute * 60 + second)
}

fn parse_decimal(digits: &[u8]) -> Option<i64> {
    let mut number = 0_i64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(byte - b'0');
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::{TypedText, display};
    use proptest::prelude::*;

    use super::*;

    fn typed(text: &str) -> Option<TypedText> {
        Some(match recognise(text)? {
            RecognisedValue::Bool(value) => TypedText::of_value(Value::Bool(value)),
            RecognisedValue::Number(number) => TypedText {
                format: number.format().map(str::to_owned),
                ..TypedText::of_value(Value::Number(number.value))
            },
            RecognisedValue::Date { serial, form } => TypedText {
                format: Some(form.format().to_owned()),
                ..TypedText::of_value(Value::Number(serial))
            },
        })
    }

    fn assert_equals_sheet_rules(text: &str) {
        let expected = cellar_sheet::cell::recognise(text);
        let found = typed(text);
        assert_eq!(found, expected, "{text:?}");
        if let (
            Some(TypedText { value: Value::Number(one), .. }),
            Some(TypedText { value: Value::Number(two), .. }),
        ) = (&found, &expected)
        {
            assert_eq!(one.to_bits(), two.to_bits(), "{text:?}");
        }
        if let Some(RecognisedValue::Number(number)) = recognise(text)
            && let Some(decimals) = number.fixed_decimals
        {
            let format = fixed_format(decimals).unwrap();
            assert_eq!(display(&Value::Number(number.value), format), text);
        }
    }

    #[test]
    fn equals_the_rules_of_the_sheet_crate() {
        for text in [
            "",
            "0",
            "-0",
            "-0.0",
            "0.0",
            "12",
            "007",
            "0E8",
            "1.",
            ".5",
            "-.5",
            "-",
            "--1",
            "1-2",
            "12.80",
            "0.000001",
            "0.0000001",
            "0.00000010",
            "0.0000000000000001",
            "1.5000000000000000",
            "123456789012345",
            "1234567890123456",
            "9007199254740993",
            "12345678901234567890",
            "999999999999999999999",
            "1000000000000000000000",
            "0.1",
            "0.10000000000000001",
            "0.30000000000000004",
            "143762047225150.62",
            "912684537475934.2",
            "12.123456789012345",
            "0.5000000000000000",
            "TRUE",
            "FALSE",
            "True",
            "2012-01-01",
            "2012/01/01",
            "2012-01/01",
            "2012-02-30",
            "2012-01-01T10:00:00",
            "2012-01-01 24:00:00",
            "2012/01/01 10:00:00",
            "1899-12-31",
            "-012-01-01",
            "2012-01-0x",
            "20é2-01-0",
            "1234-56789",
            "-123-45678",
            "00.5",
            "0.",
            "-00",
        ] {
            assert_equals_sheet_rules(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn equals_the_rules_for_any_text(
            text in "-?[0-9]{1,20}(\\.[0-9]{1,18})?|-?0\\.0{0,8}[0-9]{1,17}|[-+0-9.eE/: TRUEFALS]{0,20}|\
                     (19|20)[0-9]{2}[-/][0-3][0-9][-/][0-3][0-9]([ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9])?|\\PC{0,20}"
        ) {
            assert_equals_sheet_rules(&text);
        }

        #[test]
        fn equals_the_rules_for_any_number(number: f64, decimals in 0..18_usize) {
            assert_equals_sheet_rules(&number.to_string());
            assert_equals_sheet_rules(&format!("{number:.decimals$}"));
            let small = number.abs().ln();
            assert_equals_sheet_rules(&small.to_string());
            assert_equals_sheet_rules(&format!("{small:.decimals$}"));
        }
    }
}
