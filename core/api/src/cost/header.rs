//! The response header that contains the cost of a request, as a structured field dictionary of
//! numbers (RFC 9651).

use std::fmt::Write as _;

use super::Cost;
use cellar_base::limits::MAX_COST_COUNT;

/// Name of the response header with the cost of the request, for example `rr=0.5, wr=1, tables=2`.
/// Every response except 404 includes the header. `rr` and `wr` are always present; every other key
/// is omitted if its value is zero.
///
/// | key | meaning |
/// |---|---|
/// | `rr` | read request units, in halves |
/// | `wr` | write request units |
/// | `tables` | table requests |
/// | `puts`, `gets`, `tags`, `deletes` | object store requests |
/// | `sent`, `received` | bytes of objects |
/// | `queues` | queue requests |
///
/// Keys may be added in the future, so readers must ignore unknown keys. All values are
/// non-negative numbers without parameters.
pub const HEADER: &str = "cellar-cost";

const READ_UNITS: &str = "rr";
const WRITE_UNITS: &str = "wr";

/// Gives mutable access to an integer field of a cost.
type Field = fn(&mut Cost) -> &mut u64;

/// The dictionary keys of the integer fields, in the order in which they are sent.
const COUNTS: [(&str, Field); 9] = [
    (WRITE_UNITS, |cost| &mut cost.write_units),
    ("tables", |cost| &mut cost.table_requests),
    ("puts", |cost| &mut cost.object_puts),
    ("gets", |cost| &mut cost.object_gets),
    ("tags", |cost| &mut cost.object_tags),
    ("deletes", |cost| &mut cost.object_deletes),
    ("sent", |cost| &mut cost.object_bytes_sent),
    ("received", |cost| &mut cost.object_bytes_received),
    ("queues", |cost| &mut cost.queue_requests),
];

/// Maximum number of digits of an integer (RFC 9651 §3.3.1).
const INTEGER_DIGITS: usize = 15;
/// Maximum number of digits before the decimal point (RFC 9651 §3.3.2).
const WHOLE_DIGITS: usize = 12;
/// Maximum number of digits after the decimal point (RFC 9651 §3.3.2).
const FRACTION_DIGITS: usize = 3;

const THOUSANDTHS_PER_HALF: u64 = 500;
const THOUSANDTHS_PER_UNIT: u64 = 1_000;

/// An invalid cost header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{member}` is not a valid member of a cost header: {reason}; expected numbers such as rr=0.5, wr=1"
)]
pub struct InvalidCost {
    /// The invalid member of the header.
    pub member: String,
    /// Reason.
    pub reason: &'static str,
}

impl Cost {
    /// Formats the cost as a header value. Numbers are limited to `MAX_COST_COUNT`.
    #[must_use]
    pub fn to_header(mut self) -> String {
        let half_units = self.read_half_units.min(MAX_COST_COUNT);
        let fraction = if half_units.is_multiple_of(2) { "" } else { ".5" };
        let mut header = format!("{READ_UNITS}={}{fraction}", half_units / 2);
        for (key, field) in COUNTS {
            let count = (*field(&mut self)).min(MAX_COST_COUNT);
            if count > 0 || key == WRITE_UNITS {
                // Writing to a String cannot fail.
                let _ = write!(header, ", {key}={count}");
            }
        }
        header
    }

    /// Parses a header value. If a key occurs more than once, the last value is used. An empty
    /// string is a cost of zero.
    ///
    /// # Errors
    /// Returns [`InvalidCost`] if the value is not a dictionary of non-negative numbers.
    pub fn from_header(text: &str) -> Result<Self, InvalidCost> {
        let mut cost = Self::default();
        let text = text.trim_matches(' ');
        if text.is_empty() {
            return Ok(cost);
        }
        for member in text.split(',') {
            let member = member.trim_matches([' ', '\t']);
            parse_member(&mut cost, member)
                .map_err(|reason| InvalidCost { member: member.to_owned(), reason })?;
        }
        Ok(cost)
    }
}

/// Parses a dictionary member `key=number` and sets the corresponding field of `cost`. Unknown keys
/// are ignored.
fn parse_member(cost: &mut Cost, member: &str) -> Result<(), &'static str> {
    let (key, value) = member.split_once('=').ok_or("not of the form key=number")?;
    if !is_key(key) {
        return Err("invalid key");
    }
    let thousandths = parse_thousandths(value).ok_or("the value is not a non-negative number")?;
    if key == READ_UNITS {
        cost.read_half_units = count_of(thousandths, THOUSANDTHS_PER_HALF)?;
    } else if let Some((_, field)) = COUNTS.iter().find(|(name, _)| *name == key) {
        *field(cost) = count_of(thousandths, THOUSANDTHS_PER_UNIT)?;
    }
    Ok(())
}

fn count_of(thousandths: u64, thousandths_per_count: u64) -> Result<u64, &'static str> {
    if !thousandths.is_multiple_of(thousandths_per_count) {
        return Err("too many decimals");
    }
    let count = thousandths / thousandths_per_count;
    if count > MAX_COST_COUNT { Err("the number is too large") } else { Ok(count) }
}

/// Returns whether a string is a valid dictionary key.
fn is_key(key: &str) -> bool {
    let has_valid_start = key.starts_with(|first: char| first.is_ascii_lowercase() || first == '*');
    let is_valid =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte);
    has_valid_start && key.bytes().all(is_valid)
}

/// Parses a non-negative number with up to three decimals. Returns the value in thousandths.
fn parse_thousandths(text: &str) -> Option<u64> {
    let (whole_digits, fraction_digits) = match text.split_once('.') {
        Some((whole_digits, fraction_digits)) => {
            let is_decimal = has_digits(whole_digits, WHOLE_DIGITS)
                && has_digits(fraction_digits, FRACTION_DIGITS);
            if !is_decimal {
                return None;
            }
            (whole_digits, fraction_digits)
        }
        None if has_digits(text, INTEGER_DIGITS) => (text, ""),
        None => return None,
    };
    format!("{whole_digits}{fraction_digits:0<FRACTION_DIGITS$}").parse().ok()
}

/// Returns whether a string consists of 1 to `max_digits` digits.
fn has_digits(text: &str, max_digits: usize) -> bool {
    (1..=max_digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::costs;
    use super::*;

    fn units(read_half_units: u64, write_units: u64) -> Cost {
        Cost { read_half_units, write_units, ..Cost::default() }
    }

    #[test]
    fn omits_zeros_except_units() {
        assert_eq!(Cost::default().to_header(), "rr=0, wr=0");
        let append = Cost { table_requests: 2, ..units(1, 1) };
        assert_eq!(append.to_header(), "rr=0.5, wr=1, tables=2");
        let all = Cost {
            object_puts: 1,
            object_gets: 2,
            object_tags: 3,
            object_deletes: 4,
            object_bytes_sent: 5,
            object_bytes_received: 6,
            queue_requests: 7,
            ..append
        };
        let expected = "rr=0.5, wr=1, tables=2, puts=1, gets=2, tags=3, deletes=4, sent=5, received=6, queues=7";
        assert_eq!(all.to_header(), expected);
    }

    #[test]
    fn parses_valid_dictionaries() {
        for (text, cost) in [
            ("", Cost::default()),
            ("rr=0.5,wr=3", units(1, 3)),
            (" wr=3 ,\t rr=1.50 ", units(3, 3)),
            ("rr=7, rr=2.0", units(4, 0)),
            ("wr=1, *new-kind_0.x=12.125", units(0, 1)),
        ] {
            assert_eq!(Cost::from_header(text), Ok(cost), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_dictionaries() {
        for text in [
            "rr",
            "rr=",
            "=1",
            "rr=1,",
            ",",
            "rr=1,,wr=1",
            "rr=-1",
            "rr=+1",
            "rr=1.",
            "rr=.5",
            "rr=0.25",
            "wr=0.5",
            "rr=1;x=2",
            "rr=\"1\"",
            "RR=1",
            "r r=1",
            "rr= 1",
            "rr=١",
            "rr=1.0000",
            "rr=1234567890123.5",
            "wr=1234567890123456",
            "x=?1",
            "ä=1",
            "0=1",
        ] {
            let error = Cost::from_header(text).unwrap_err();
            assert!(error.to_string().contains("rr=0.5, wr=1"), "{text}: {error}");
        }
    }

    #[test]
    fn limits_numbers() {
        let most = units(MAX_COST_COUNT, MAX_COST_COUNT);
        assert_eq!(Cost::from_header(&most.to_header()), Ok(most));
        let more = units(MAX_COST_COUNT + 1, u64::MAX);
        assert_eq!(Cost::from_header(&more.to_header()), Ok(most));
        assert!(Cost::from_header(&format!("wr={MAX_COST_COUNT}")).is_ok());
        assert!(Cost::from_header(&format!("wr={}", MAX_COST_COUNT + 1)).is_err());
        assert!(Cost::from_header(&format!("rr={}.5", MAX_COST_COUNT / 2)).is_ok());
        assert!(Cost::from_header(&format!("rr={}", MAX_COST_COUNT / 2 + 1)).is_err());
    }

    proptest! {
        #[test]
        fn round_trips_costs(cost in costs(MAX_COST_COUNT)) {
            prop_assert_eq!(Cost::from_header(&cost.to_header()), Ok(cost));
        }

        #[test]
        fn parsing_any_text_does_not_panic(
            text in prop_oneof![any::<String>(), "([rw]{0,2}[=., 0-9a]{0,8}){0,4}"],
        ) {
            if let Ok(cost) = Cost::from_header(&text) {
                prop_assert_eq!(Cost::from_header(&cost.to_header()), Ok(cost));
            }
        }
    }
}
