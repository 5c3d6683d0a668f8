//! Describes the column types that were detected in a CSV file.

use cellar_sheet::a1::column_name;
use serde_json::{Value, json};

use crate::import::{ColumnKind, ColumnTyping, Survey, TypeChoice};

const MAX_GROUPS: usize = 8;

/// Describes the column types, such as `Columns: A:E text, F:G numbers`. Returns `None` for
/// workbooks.
pub(super) fn describe_types(survey: Option<&Survey>) -> Option<String> {
    let groups = group_by_kind(&survey?.typings);
    let mut phrases: Vec<String> =
        groups.iter().take(MAX_GROUPS).map(ColumnGroup::describe).collect();
    if groups.len() > MAX_GROUPS {
        phrases.push("…".to_owned());
    }
    Some(format!("Columns: {}", phrases.join(", ")))
}

struct ColumnGroup {
    first_column: usize,
    last_column: usize,
    kind: &'static str,
}

impl ColumnGroup {
    /// Describes columns of the same type, such as `A:E text` or `F numbers`.
    fn describe(&self) -> String {
        let Self { first_column, last_column, kind } = *self;
        if first_column == last_column {
            return format!("{} {kind}", letters(first_column));
        }
        format!("{}:{} {kind}", letters(first_column), letters(last_column))
    }
}

fn group_by_kind(typings: &[ColumnTyping]) -> Vec<ColumnGroup> {
    let mut groups: Vec<ColumnGroup> = Vec::new();
    for (column, typing) in typings.iter().enumerate() {
        let kind = kind_name(typing);
        match groups.last_mut() {
            Some(last_group) if last_group.kind == kind => last_group.last_column = column,
            _ => groups.push(ColumnGroup { first_column: column, last_column: column, kind }),
        }
    }
    groups
}

/// Returns null for workbooks.
pub(super) fn types_as_json(survey: Option<&Survey>) -> Value {
    let Some(survey) = survey else { return Value::Null };
    let mut columns = Vec::with_capacity(survey.typings.len());
    for (column, typing) in survey.typings.iter().enumerate() {
        let format = match &typing.kind {
            ColumnKind::Date { format } | ColumnKind::Decimals { format } => Some(format),
            _ => None,
        };
        columns.push(json!({
            "column": letters(column),
            "kind": kind_name(typing),
            "heading": typing.heading,
            "format": format,
        }));
    }
    Value::Array(columns)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(kinds: Vec<ColumnKind>) -> Survey {
        let typing = |kind| ColumnTyping { kind, heading: true };
        let typings: Vec<ColumnTyping> = kinds.into_iter().map(typing).collect();
        let columns = u32::try_from(typings.len()).unwrap();
        let (delimiter, encoding) = (b',', crate::import::TextEncoding::UTF_8);
        Survey { rows: 1, columns, cells: 1, first_row: 0, typings, delimiter, encoding }
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
}
