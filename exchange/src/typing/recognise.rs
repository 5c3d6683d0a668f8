//! What a field is, fast: the same as `cellar_sheet::cell::recognise`, without an allocation for
//! nearly all fields there are.

use cellar_sheet::cell::{Value, date_serial};

/// Decimals of a fixed format, at most: what `cellar_sheet::cell` has.
const MAX_DECIMALS: usize = 15;
/// Decimal numbers of at most 15 digits, zeros in front apart, read and show as themselves (`DBL_DIG`).
const EXACT_BELOW: u64 = 1_000_000_000_000_000;
/// Digits that are certain to fit into a mantissa.
const MANTISSA_DIGITS: usize = 19;
/// Below it, numbers are shown with an exponent.
const SMALLEST_PLAIN: f64 = 1e-6;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
const FIXED: [&str; MAX_DECIMALS + 1] = [
    "0",
    "0.0",
    "0.00",
    "0.000",
    "0.0000",
    "0.00000",
    "0.000000",
    "0.0000000",
    "0.00000000",
    "0.000000000",
    "0.0000000000",
    "0.00000000000",
    "0.000000000000",
    "0.0000000000000",
    "0.00000000000000",
    "0.000000000000000",
];

/// A field that is more than text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Recognised {
    Bool(bool),
    Number(Number),
    Date { serial: f64, format: &'static str },
}

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// Digits behind its point.
    pub(crate) decimals: usize,
    /// It is written in its shortest form, that of `General`.
    pub(crate) general: bool,
    /// Under the format with its decimals it is certain to be shown as it is written.
    pub(crate) fixed: bool,
}

impl Number {
    /// The format under which it shows as it is written; `None` is `General`.
    pub(crate) fn format(&self) -> Option<&'static str> {
        if self.general { None } else { fixed_format(self.decimals) }
    }
}

/// The format with so many decimals.
pub(crate) fn fixed_format(decimals: usize) -> Option<&'static str> {
    FIXED.get(decimals).copied()
}

/// The number, date or boolean that `text` is, if showing it again gives `text` exactly.
pub(crate) fn recognise(text: &str) -> Option<Recognised> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'T' => (text == "TRUE").then_some(Recognised::Bool(true)),
        b'F' => (text == "FALSE").then_some(Recognised::Bool(false)),
        b'0'..=b'9' | b'-' => match bytes.get(4) {
            Some(b'-' | b'/') if matches!(bytes.len(), 10 | 19) => date(bytes),
            _ => number(text).map(Recognised::Number),
        },
        _ => None,
    }
}

/// The digits of a plain decimal number.
struct Digits {
    /// All of them as one number, if they are few enough.
    mantissa: u64,
    count: usize,
    decimals: usize,
    last: u8,
}

fn number(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    let negative = bytes.first() == Some(&b'-');
    let unsigned = if negative { bytes.get(1..)? } else { bytes };
    let digits = digits(unsigned)?;
    if digits.count > MANTISSA_DIGITS || digits.mantissa >= EXACT_BELOW {
        return long_number(text, &digits);
    }
    // Both are exact, so that the quotient is the nearest there is.
    let value = digits.mantissa as f64 / POWERS.get(digits.decimals)?;
    let value = if negative { -value } else { value };
    let general = digits.decimals == 0 || digits.last != b'0';
    if digits.decimals > 0 && digits.mantissa > 0 && value.abs() < SMALLEST_PLAIN {
        return slow_number(text, digits.decimals);
    }
    if !general && digits.decimals > MAX_DECIMALS {
        return None;
    }
    let fixed = (1..=MAX_DECIMALS).contains(&digits.decimals);
    Some(Number { value, decimals: digits.decimals, general, fixed })
}

/// Takes `0`, `12`, `0.5`, `12.80` apart; not `007`, `.5`, `5.`, which are never shown so.
fn digits(unsigned: &[u8]) -> Option<Digits> {
    let (whole, mantissa) = leading_digits(unsigned, 0);
    if whole == 0 || (whole > 1 && unsigned.first() == Some(&b'0')) {
        return None;
    }
    let last = *unsigned.last()?;
    let rest = unsigned.get(whole..)?;
    if rest.is_empty() {
        return Some(Digits { mantissa, count: whole, decimals: 0, last });
    }
    let behind = rest.strip_prefix(b".")?;
    let (decimals, mantissa) = leading_digits(behind, mantissa);
    let sound = decimals > 0 && decimals == behind.len();
    let count = whole.saturating_add(decimals);
    sound.then_some(Digits { mantissa, count, decimals, last })
}

/// How many digits `bytes` begins with, and those behind `before` as a number. It wraps where there
/// are too many for it to be used.
fn leading_digits(bytes: &[u8], before: u64) -> (usize, u64) {
    let (mut count, mut number) = (0, before);
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    (count, number)
}

/// A number of more digits than are certain to survive: most that there are come from programs that
/// write the shortest form, as `zmij` does.
fn long_number(text: &str, digits: &Digits) -> Option<Number> {
    let number: f64 = text.parse().ok()?;
    // Whole numbers are written with `.0` there, and of two shortest forms that are equally near, which
    // only large numbers have, it may write the other one.
    let plain = (1e-5..1e9).contains(&number.abs()) && digits.decimals > 0 && digits.last != b'0';
    if plain && zmij::Buffer::new().format_finite(number) == text {
        let decimals = digits.decimals;
        return Some(Number { value: number, decimals, general: true, fixed: false });
    }
    slow_number(text, digits.decimals)
}

fn slow_number(text: &str, decimals: usize) -> Option<Number> {
    let typed = cellar_sheet::cell::recognise(text)?;
    let Value::Number(value) = typed.value else {
        return None;
    };
    let general = typed.format.is_none();
    Some(Number { value, decimals, general, fixed: !general })
}

/// `2026-11-21`, `2026/11/21`, `2026-11-21 10:00:00` or `2026-11-21T10:00:00`.
fn date(bytes: &[u8]) -> Option<Recognised> {
    let separator = *bytes.get(4)?;
    if bytes.get(7) != Some(&separator) {
        return None;
    }
    let pair = |at: usize| decimal(bytes.get(at..at.checked_add(2)?)?);
    let (year, month, day) = (decimal(bytes.get(..4)?)?, pair(5)?, pair(8)?);
    let (second_of_day, format) = match (bytes.len(), separator, bytes.get(10)) {
        (10, b'-', None) => (0, "yyyy-mm-dd"),
        (10, b'/', None) => (0, "yyyy/mm/dd"),
        (19, b'-', Some(between)) => {
            let format = match between {
                b' ' => "yyyy-mm-dd hh:mm:ss",
                b'T' => "yyyy-mm-ddThh:mm:ss",
                _ => return None,
            };
            let (hour, minute, second) = (pair(11)?, pair(14)?, pair(17)?);
            let colons = bytes.get(13) == Some(&b':') && bytes.get(16) == Some(&b':');
            if !colons || hour > 23 || minute > 59 || second > 59 {
                return None;
            }
            (hour * 3_600 + minute * 60 + second, format)
        }
        _ => return None,
    };
    let serial = date_serial(year, month, day, second_of_day)?;
    Some(Recognised::Date { serial, format })
}

/// A number of few digits.
fn decimal(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::{TypedText, display};
    use proptest::prelude::*;

    use super::*;

    fn typed(text: &str) -> Option<TypedText> {
        Some(match recognise(text)? {
            Recognised::Bool(value) => TypedText { value: Value::Bool(value), format: None },
            Recognised::Number(number) => TypedText {
                value: Value::Number(number.value),
                format: number.format().map(str::to_owned),
            },
            Recognised::Date { serial, format } => {
                TypedText { value: Value::Number(serial), format: Some(format.to_owned()) }
            }
        })
    }

    fn same(text: &str) {
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
        if let Some(Recognised::Number(number)) = recognise(text)
            && number.fixed
        {
            let format = fixed_format(number.decimals).unwrap();
            assert_eq!(display(&Value::Number(number.value), format), text);
        }
    }

    #[test]
    fn the_same_as_the_rules_in_core() {
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
            same(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_same_for_any_text(
            text in "-?[0-9]{1,20}(\\.[0-9]{1,18})?|-?0\\.0{0,8}[0-9]{1,17}|[-+0-9.eE/: TRUEFALS]{0,20}|\
                     (19|20)[0-9]{2}[-/][0-3][0-9][-/][0-3][0-9]([ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9])?|\\PC{0,20}"
        ) {
            same(&text);
        }

        #[test]
        fn the_same_for_any_number(number: f64, decimals in 0..18_usize) {
            same(&number.to_string());
            same(&format!("{number:.decimals$}"));
            let small = number.abs().ln();
            same(&small.to_string());
            same(&format!("{small:.decimals$}"));
        }
    }
}
