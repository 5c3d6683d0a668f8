//! A cost as a response header: a dictionary of numbers (structured fields, RFC 9651).

use std::fmt::Write as _;

use super::Cost;
use cellar_base::limits::MAX_COST_COUNT;

/// The header that tells a request's cost, on every answer but 404: `rr=0.5, wr=1, tables=2`. `rr`
/// and `wr` are always there, everything else if it is not zero.
///
/// | key | what |
/// |---|---|
/// | `rr` | read request units, in halves |
/// | `wr` | write request units |
/// | `tables` | requests to tables |
/// | `puts`, `gets`, `tags`, `deletes` | requests to the object store |
/// | `sent`, `received` | bytes of objects |
/// | `queues` | requests to queues |
///
/// Readers skip keys that they do not know, so that there can be more; the values of all are numbers
/// that are not negative, without parameters.
pub const HEADER: &str = "cellar-cost";

const READ_UNITS: &str = "rr";
const WRITE_UNITS: &str = "wr";

/// A whole number of a cost.
type Field = fn(&mut Cost) -> &mut u64;

/// The whole numbers, in the order in which they are sent.
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

/// Digits of an integer, and of a decimal before and after its point (RFC 9651 §3.3.1, §3.3.2).
const INTEGER_DIGITS: usize = 15;
const WHOLE_DIGITS: usize = 12;
const FRACTION_DIGITS: usize = 3;

/// A header that is not a cost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{member}` is not part of a cost, {why}: a cost looks like rr=0.5, wr=1")]
pub struct InvalidCost {
    /// The part of the header that is wrong.
    pub member: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Cost {
    /// The header's value. Numbers above `MAX_COST_COUNT` are sent as that.
    #[must_use]
    pub fn to_header(mut self) -> String {
        let halves = self.read_half_units.min(MAX_COST_COUNT);
        let half = if halves.is_multiple_of(2) { "" } else { ".5" };
        let mut text = format!("{READ_UNITS}={}{half}", halves / 2);
        for (key, field) in COUNTS {
            let count = (*field(&mut self)).min(MAX_COST_COUNT);
            if count > 0 || key == WRITE_UNITS {
                // Writing to a String cannot fail.
                let _ = write!(text, ", {key}={count}");
            }
        }
        text
    }

    /// The cost that a header's value tells. As in every dictionary the last of equal keys counts,
    /// and an empty one is the cost of nothing.
    ///
    /// # Errors
    /// [`InvalidCost`] if it is no dictionary of such numbers.
    pub fn from_header(text: &str) -> Result<Self, InvalidCost> {
        let mut cost = Self::default();
        let text = text.trim_matches(' ');
        if text.is_empty() {
            return Ok(cost);
        }
        for member in text.split(',') {
            let member = member.trim_matches([' ', '\t']);
            read_member(&mut cost, member)
                .map_err(|why| InvalidCost { member: member.to_owned(), why })?;
        }
        Ok(cost)
    }
}

fn read_member(cost: &mut Cost, member: &str) -> Result<(), &'static str> {
    let (key, value) = member.split_once('=').ok_or("it is not key=number")?;
    if !is_key(key) {
        return Err("its key is not one of a dictionary");
    }
    let thousandths = thousandths(value).ok_or("its value is not a number")?;
    let (count, divisor) = if key == READ_UNITS {
        (&mut cost.read_half_units, 500)
    } else if let Some((_, field)) = COUNTS.iter().find(|(name, _)| *name == key) {
        (field(cost), 1_000)
    } else {
        return Ok(());
    };
    if !thousandths.is_multiple_of(divisor) {
        return Err("it is a fraction");
    }
    let number = thousandths / divisor;
    if number > MAX_COST_COUNT {
        return Err("it is too large");
    }
    *count = number;
    Ok(())
}

fn is_key(key: &str) -> bool {
    let first = key.starts_with(|first: char| first.is_ascii_lowercase() || first == '*');
    let rest =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte);
    first && key.bytes().all(rest)
}

/// An integer or decimal that is not negative, in thousandths: below 10¹⁸.
fn thousandths(text: &str) -> Option<u64> {
    let is_digits = |digits: &str, most: usize| {
        (1..=most).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    let Some((whole, fraction)) = text.split_once('.') else {
        return is_digits(text, INTEGER_DIGITS).then(|| format!("{text}000").parse().ok())?;
    };
    let valid = is_digits(whole, WHOLE_DIGITS) && is_digits(fraction, FRACTION_DIGITS);
    valid.then(|| format!("{whole}{fraction:0<FRACTION_DIGITS$}").parse().ok())?
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
    fn zeros_are_left_out_but_for_the_units() {
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
    fn what_a_dictionary_may_look_like_is_read() {
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
    fn what_is_no_dictionary_of_numbers_is_refused() {
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
    fn numbers_are_bounded() {
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
        fn a_cost_reads_back(cost in costs(MAX_COST_COUNT)) {
            prop_assert_eq!(Cost::from_header(&cost.to_header()), Ok(cost));
        }

        #[test]
        fn any_text_is_a_cost_or_an_error(
            text in prop_oneof![any::<String>(), "([rw]{0,2}[=., 0-9a]{0,8}){0,4}"],
        ) {
            if let Ok(cost) = Cost::from_header(&text) {
                prop_assert_eq!(Cost::from_header(&cost.to_header()), Ok(cost));
            }
        }
    }
}
