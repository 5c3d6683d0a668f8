//! What the columns of csv were taken for, in words.

use cellar_sheet::a1::column_name;
use serde_json::{Value, json};

use crate::import::{ColumnKind, ColumnTyping, Survey, TypeChoice};
use crate::table::escape;

/// Groups of columns that a line shows.
const SHOWN_GROUPS: usize = 8;

/// `A:E text, F:G numbers`; nothing for a workbook, which says itself what its cells are.
pub(super) fn for_people(survey: Option<&Survey>) -> Option<String> {
    let mut groups: Vec<(usize, usize, &'static str)> = Vec::new();
    for (column, typing) in survey?.typings.iter().enumerate() {
        let kind = words(typing);
        match groups.last_mut() {
            Some((_, last, of)) if *of == kind => *last = column,
            _ => groups.push((column, column, kind)),
        }
    }
    let shown = groups.iter().take(SHOWN_GROUPS).map(|(first, last, kind)| {
        let (first, last) = (name(*first), name(*last));
        let columns = if first == last { first } else { format!("{first}:{last}") };
        format!("{columns} {kind}")
    });
    let mut shown: Vec<String> = shown.collect();
    if groups.len() > SHOWN_GROUPS {
        shown.push("…".to_owned());
    }
    Some(format!("Columns: {}", shown.join(", ")))
}

/// Each column with its type.
pub(super) fn for_programs(survey: Option<&Survey>) -> Value {
    let Some(survey) = survey else { return Value::Null };
    let column = |(column, typing): (usize, &ColumnTyping)| {
        let format = match &typing.kind {
            ColumnKind::Date { format } | ColumnKind::Decimals { format } => Some(format),
            _ => None,
        };
        let (column, kind) = (name(column), words(typing));
        json!({ "column": column, "kind": kind, "heading": typing.heading, "format": format })
    };
    survey.typings.iter().enumerate().map(column).collect()
}

fn words(typing: &ColumnTyping) -> &'static str {
    match &typing.kind {
        ColumnKind::Text | ColumnKind::Chosen(TypeChoice::Text) => "text",
        ColumnKind::Boolean | ColumnKind::Chosen(TypeChoice::Boolean) => "booleans",
        ColumnKind::Date { .. } | ColumnKind::Chosen(TypeChoice::Date) => "dates",
        ColumnKind::General
        | ColumnKind::Decimals { .. }
        | ColumnKind::MixedNumbers
        | ColumnKind::Chosen(TypeChoice::Number) => "numbers",
    }
}

fn name(column: usize) -> String {
    column_name(u32::try_from(column).unwrap_or(u32::MAX))
}

/// A name as a shell takes it.
pub(super) fn quoted(name: &str) -> String {
    let name = escape(name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !name.is_empty() && name.bytes().all(plain) && !name.starts_with('-') {
        name
    } else {
        format!("'{}'", name.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(kinds: Vec<ColumnKind>) -> Survey {
        let typing = |kind| ColumnTyping { kind, heading: true };
        let typings: Vec<ColumnTyping> = kinds.into_iter().map(typing).collect();
        let columns = u32::try_from(typings.len()).unwrap();
        Survey { rows: 1, columns, cells: 1, first_row: 0, typings }
    }

    #[test]
    fn neighbours_of_one_kind_are_one_group() {
        let survey = survey(vec![
            ColumnKind::Text,
            ColumnKind::General,
            ColumnKind::Decimals { format: "0.0".into() },
            ColumnKind::Date { format: "yyyy-mm-dd".into() },
            ColumnKind::Chosen(TypeChoice::Boolean),
        ]);
        let line = for_people(Some(&survey)).unwrap();
        assert_eq!(line, "Columns: A text, B:C numbers, D dates, E booleans");
        assert_eq!(for_programs(Some(&survey))[3]["format"], "yyyy-mm-dd");
        assert_eq!((for_people(None), for_programs(None)), (None, Value::Null));
    }

    #[test]
    fn however_many_groups_there_are_it_is_a_line() {
        let kinds = [ColumnKind::Text, ColumnKind::General];
        let survey = survey(kinds.iter().cycle().take(10_000).cloned().collect());
        let line = for_people(Some(&survey)).unwrap();
        assert!(line.ends_with("H numbers, …"), "{line}");
    }

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        for (name, expected) in
            [("Costs", "Costs"), ("My costs", "'My costs'"), ("it's", "'it'\\''s'"), ("-x", "'-x'")]
        {
            assert_eq!(quoted(name), expected);
        }
    }
}
