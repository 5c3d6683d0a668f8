//! What a column holds: numbers, dates, booleans, or else text.
//!
//! Decided for a whole column, so that one code like `0E8` keeps all the others text too
//! (design `3-snapshots.md` §8). Shown again, every cell is the text of its field, exactly.

use cellar_core::cell::{TypedText, Value, display, recognise};

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
}

/// How a column is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnTyping {
    /// What its cells are.
    pub kind: ColumnKind,
    /// The field in the first row is a heading, and so text.
    pub heading: bool,
}

impl ColumnTyping {
    /// The typing of a column whose fields are all text.
    pub(super) const TEXT: Self = Self { kind: ColumnKind::Text, heading: false };

    /// Types a column: `first` is its field in the first row, if that is not empty, `others` are
    /// its fields below that are not empty. The first is a heading if without it the column has a
    /// type, and with it it has none.
    pub(super) fn of(first: Option<&str>, others: &[&str]) -> Self {
        let all: Vec<&str> = first.into_iter().chain(others.iter().copied()).collect();
        match kind_of(&all) {
            Some(kind) => Self { kind, heading: false },
            None => match kind_of(others) {
                Some(kind) => Self { kind, heading: first.is_some() },
                None => Self::TEXT,
            },
        }
    }

    /// The value and the format of a field.
    pub(super) fn cell(&self, text: &str, in_first_row: bool) -> TypedText {
        let as_text = || TypedText { value: Value::Text(text.to_owned()), format: None };
        if self.kind == ColumnKind::Text || (self.heading && in_first_row) {
            return as_text();
        }
        let Some(typed) = recognise(text) else {
            return as_text();
        };
        match &self.kind {
            ColumnKind::Decimals { format } => {
                TypedText { value: typed.value, format: Some(format.clone()) }
            }
            _ => typed,
        }
    }
}

/// The one kind of all texts; `None` if there is none, or there are no texts.
fn kind_of(texts: &[&str]) -> Option<ColumnKind> {
    let typed: Vec<TypedText> = texts.iter().map(|text| recognise(text)).collect::<Option<_>>()?;
    let first = typed.first()?;
    if typed.iter().all(|typed| matches!(typed.value, Value::Bool(_))) {
        return Some(ColumnKind::Boolean);
    }
    if typed.iter().any(|typed| matches!(typed.value, Value::Bool(_))) {
        return None;
    }
    if let Some(format) = date_format(first) {
        let same = typed.iter().all(|typed| typed.format.as_ref() == Some(format));
        return same.then(|| ColumnKind::Date { format: format.clone() });
    }
    if typed.iter().any(|typed| date_format(typed).is_some()) {
        return None;
    }
    Some(number_kind(texts, &typed))
}

fn date_format(typed: &TypedText) -> Option<&String> {
    typed.format.as_ref().filter(|format| format.starts_with('y'))
}

fn number_kind(texts: &[&str], typed: &[TypedText]) -> ColumnKind {
    if typed.iter().all(|typed| typed.format.is_none()) {
        return ColumnKind::General;
    }
    let decimals = texts.first().and_then(|text| text.split_once('.')).map_or(0, |(_, d)| d.len());
    let format = format!("0.{}", "0".repeat(decimals));
    let fits = |(text, typed): (&&str, &TypedText)| display(&typed.value, &format) == **text;
    if decimals > 0 && texts.iter().zip(typed).all(fits) {
        ColumnKind::Decimals { format }
    } else {
        ColumnKind::MixedNumbers
    }
}

#[cfg(test)]
mod tests {
    use cellar_core::cell::GENERAL;
    use proptest::prelude::*;

    use super::*;

    fn kind(first: &str, others: &[&str]) -> (ColumnKind, bool) {
        let typing = ColumnTyping::of(Some(first).filter(|text| !text.is_empty()), others);
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
        let typing = ColumnTyping::of(Some("2012"), &["2012-01-01"]);
        assert!(typing.heading);
        assert_eq!(typing.cell("2012", true).value, Value::Text("2012".into()));
        assert_eq!(typing.cell("2012-01-01", false).value, Value::Number(40_909.0));
        let years = ColumnTyping::of(Some("2012"), &["5"]);
        assert_eq!(years.cell("2012", true).value, Value::Number(2012.0));
    }

    /// Texts that look like values, or nearly.
    fn texts() -> impl Strategy<Value = Vec<String>> {
        let text = prop_oneof![
            "-?[0-9]{1,4}",
            "-?[0-9]{1,3}\\.[0-9]{1,3}",
            "-?[0-9]\\.[0-9]{2}",
            "20[0-9]{2}-0[1-9]-[0-3][0-9]",
            "TRUE|FALSE",
            "\\PC{1,6}",
        ];
        prop_oneof![
            proptest::collection::vec(text, 1..6),
            proptest::collection::vec("-?[0-9]{1,20}(\\.[0-9]{1,18})?", 1..6),
            proptest::collection::vec("-?[0-9]{1,3}\\.[0-9]{2}", 1..6),
            proptest::collection::vec("20[0-9]{2}/0[1-9]/[0-2][0-9]", 1..6),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn every_cell_shows_as_its_field(texts in texts()) {
            let all: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (first, others) = all.split_first().unwrap();
            for typing in [ColumnTyping::of(Some(*first), others), ColumnTyping::of(None, &all)] {
                for (index, text) in all.iter().enumerate() {
                    let typed = typing.cell(text, index == 0 && typing.heading);
                    let format = typed.format.as_deref().unwrap_or(GENERAL);
                    prop_assert_eq!(display(&typed.value, format), *text);
                }
            }
        }
    }
}
