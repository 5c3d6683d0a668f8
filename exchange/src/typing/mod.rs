//! Detects the types of csv columns: numbers, dates, booleans or text.
//!
//! A column only has a type if all of its fields match this type. For example, if one product code
//! in a column is `AB12`, another code `0E8` stays text and does not become a number. Every cell is
//! displayed exactly like its field.

mod choice;
mod column;
mod evidence;
mod recognise;
mod short_number;

pub use choice::{ColumnTypes, NotColumnTypes, TypeChoice};
pub use column::{ColumnKind, ColumnTyping};
pub(crate) use evidence::{Evidence, ExaminedField};
pub(crate) use recognise::{Number, RecognisedValue};
pub(crate) use short_number::{WORD_BYTES, parse_short_number};

#[cfg(test)]
mod tests {
    use super::recognise::recognise;
    use super::*;

    fn typing(first: &str, others: &[&str]) -> ColumnTyping {
        let mut evidence = Evidence::default();
        if !first.is_empty() {
            evidence.examine_field(first, true);
        }
        for text in others {
            evidence.examine_field(text, false);
        }
        let before = evidence;
        let changed =
            others.iter().any(|text| evidence.examine_field(text, false).changed_evidence);
        assert_eq!((changed, evidence), (false, before), "all fields were examined before");
        evidence.typing()
    }

    fn kind(first: &str, others: &[&str]) -> (ColumnKind, bool) {
        let typing = typing(first, others);
        (typing.kind, typing.heading)
    }

    fn decimals(format: &str) -> ColumnKind {
        ColumnKind::Decimals { format: format.into() }
    }

    fn date(format: &str) -> ColumnKind {
        ColumnKind::Date { format: format.into() }
    }

    #[test]
    fn columns_of_one_kind() {
        for (first, others, expected) in [
            ("n", &["1", "2.5", "-3"][..], (ColumnKind::General, true)),
            ("1", &["2", "3"], (ColumnKind::General, false)),
            ("t", &["12.8", "5.0", "-0.0"], (decimals("0.0"), true)),
            ("t", &["12.80", "5", "0.5"], (ColumnKind::MixedNumbers, true)),
            ("t", &["1.500000000000000", "12.123456789012346"], (ColumnKind::MixedNumbers, true)),
            ("ok", &["TRUE", "FALSE"], (ColumnKind::Boolean, true)),
            ("day", &["2012/01/01", "2012/01/02"], (date("yyyy/mm/dd"), true)),
            ("", &["1.0"], (decimals("0.0"), false)),
        ] {
            assert_eq!(kind(first, others), expected, "{first} {others:?}");
        }
    }

    #[test]
    fn columns_of_mixed_types_are_text() {
        for (first, others) in [
            ("iata", &["00M", "0E8"][..]),
            ("code", &["1", "007"]),
            ("day", &["2012/01/01", "2012-01-02"]),
            ("mixed", &["TRUE", "1"]),
            ("mixed", &["1", "TRUE"]),
            ("mixed", &["1", "2012-01-01"]),
            ("mixed", &["2012-01-01", "1"]),
            ("only a heading", &[]),
            ("error", &["#N/A"]),
        ] {
            assert_eq!(kind(first, others), (ColumnKind::Text, false), "{first} {others:?}");
        }
    }

    #[test]
    fn a_heading_is_text_even_if_it_is_a_number() {
        let dates = typing("2012", &["2012-01-01"]);
        assert!(dates.heading);
        assert_eq!(dates.value_of_field(recognise("2012"), true), None);
        let is_date = matches!(
            dates.value_of_field(recognise("2012-01-01"), false),
            Some(RecognisedValue::Date { .. })
        );
        assert!(is_date);
        let years = typing("2012", &["5"]);
        assert!(matches!(
            years.value_of_field(recognise("2012"), true),
            Some(RecognisedValue::Number(_))
        ));
    }
}
