//! What a column of a csv file holds: numbers, dates, booleans, or else text.
//!
//! Decided for a whole column, so that one code like `0E8` keeps all the others text too. Shown again, every cell is the text of its field, exactly.

mod choice;
mod evidence;
mod recognise;

pub use choice::{ColumnTypes, NotColumnTypes, TypeChoice};
pub(crate) use evidence::{Evidence, Looked};
pub(crate) use recognise::Recognised;
use recognise::recognise;

/// What the cells of a column are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text, as it is.
    Text,
    /// `TRUE` and `FALSE`.
    Boolean,
    /// Dates, all written the same way.
    Date {
        /// How they are written.
        format: String,
    },
    /// Numbers, all in their shortest form.
    General,
    /// Numbers, all with the same number of decimals.
    Decimals {
        /// `0.0`, `0.00`, …
        format: String,
    },
    /// Numbers, written in different ways: each has its own format.
    MixedNumbers,
    /// What the caller says it is ([`ColumnTypes`]); a field that is not stays text.
    Chosen(TypeChoice),
}

/// How a column is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnTyping {
    /// What its cells are.
    pub kind: ColumnKind,
    /// The field in the first row that has any is a heading, and so text.
    pub heading: bool,
}

impl ColumnTyping {
    /// The typing of a column whose fields are all text.
    pub(crate) const TEXT: Self = Self { kind: ColumnKind::Text, heading: false };

    /// The value of a field, of which it is known what it is, if it is more than text here.
    pub(crate) fn value(
        &self,
        found: Option<Recognised>,
        in_first_row: bool,
    ) -> Option<Recognised> {
        let is_text = self.kind == ColumnKind::Text || (self.heading && in_first_row);
        // A number with fewer decimals than the column's others is shown with theirs.
        found.filter(|_| !is_text)
    }

    /// The one format that all values of the column have, if they have one.
    pub(crate) fn format(&self) -> Option<&str> {
        match &self.kind {
            ColumnKind::Decimals { format } => Some(format),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typing(first: &str, others: &[&str]) -> ColumnTyping {
        let mut evidence = Evidence::default();
        if !first.is_empty() {
            evidence.look(first, true);
        }
        for text in others {
            evidence.look(text, false);
        }
        let before = evidence;
        let news = others.iter().any(|text| evidence.look(text, false).news);
        assert_eq!((news, evidence), (false, before), "all of it is known");
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
    fn columns_that_stay_text() {
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
        assert_eq!(dates.value(recognise("2012"), true), None);
        let is_date =
            matches!(dates.value(recognise("2012-01-01"), false), Some(Recognised::Date { .. }));
        assert!(is_date);
        let years = typing("2012", &["5"]);
        assert!(matches!(years.value(recognise("2012"), true), Some(Recognised::Number(_))));
    }
}
