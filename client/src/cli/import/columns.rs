//! Describes the detected column types of a CSV file.

use cellar_sheet::a1::column_name;
use serde_json::{Value, json};

use crate::import::{ColumnKind, ColumnTyping, Survey, TypeChoice};
use crate::text::escape;

/// Maximum number of column groups in a description.
const MAX_GROUPS: usize = 8;

/// Describes the column types, such as `Columns: A:E text, F:G numbers`. Returns `None` for a
/// workbook.
pub(super) fn describe_types(survey: Option<&Survey>) -> Option<String> {
    let mut groups: Vec<(usize, usize, &'static str)> = Vec::new();
    for (column, typing) in survey?.typings.iter().enumerate() {
        let kind = kind_name(typing);
        match groups.last_mut() {
            Some((_, last, last_kind)) if *last_kind == kind => *last = column,
            _ => groups.push((column, column, kind)),
        }
    }
    let listed = groups.iter().take(MAX_GROUPS).map(|(first, last, kind)| {
        let (first, last) = (letters(*first), letters(*last));
        let columns = if first == last { first } else { format!("{first}:{last}") };
        format!("{columns} {kind}")
    });
    let mut listed: Vec<String> = listed.collect();
    if groups.len() > MAX_GROUPS {
        listed.push("…".to_owned());
    }
    Some(format!("Columns: {}", listed.join(", ")))
}

/// Returns each column's type for `--json`.
pub(super) fn types_as_json(survey: Option<&Survey>) -> Value {
    let Some(survey) = survey else { return Value::Null };
    let to_json = |(column, typing): (usize, &ColumnTyping)| {
        let format = match &typing.kind {
            ColumnKind::Date { format } | ColumnKind::Decimals { format } => Some(format),
            _ => None,
        };
        let (column, kind) = (letters(column), kind_name(typing));
        json!({ "column": column, "kind": kind, "heading": typing.heading, "format": format })
    };
    survey.typings.iter().enumerate().map(to_json).collect()
}

fn kind_name(typing: &ColumnTyping) -> &'static str {
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

fn letters(column: usize) -> String {
    column_name(u32::try_from(column).unwrap_or(u32::MAX))
}

/// Quotes a name for a shell if necessary.
pub(super) fn shell_quoted(name: &str) -> String {
    let name = escape(name);
    let needs_no_quotes = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !name.is_empty() && name.bytes().all(needs_no_quotes) && !name.starts_with('-') {
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
    fn groups_adjacent_columns_of_one_type() {
        let survey = survey(vec![
            ColumnKind::Text,
            ColumnKind::General,
            ColumnKind::Decimals { format: "0.0".into() },
            ColumnKind::Date { format: "yyyy-mm-dd".into() },
            ColumnKind::Chosen(TypeChoice::Boolean),
        ]);
        let line = describe_types(Some(&survey)).unwrap();
        assert_eq!(line, "Columns: A text, B:C numbers, D dates, E booleans");
        assert_eq!(types_as_json(Some(&survey))[3]["format"], "yyyy-mm-dd");
        assert_eq!((describe_types(None), types_as_json(None)), (None, Value::Null));
    }

    #[test]
    fn limits_the_number_of_groups() {
        let kinds = [ColumnKind::Text, ColumnKind::General];
        let survey = survey(kinds.iter().cycle().take(10_000).cloned().collect());
        let line = describe_types(Some(&survey)).unwrap();
        assert!(line.ends_with("H numbers, …"), "{line}");
    }

    #[test]
    fn quotes_names_only_if_necessary() {
        for (name, expected) in
            [("Costs", "Costs"), ("My costs", "'My costs'"), ("it's", "'it'\\''s'"), ("-x", "'-x'")]
        {
            assert_eq!(shell_quoted(name), expected);
        }
    }
}
