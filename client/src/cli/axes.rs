//! The commands `cellar rows` and `cellar columns`.

use cellar_sheet::a1::{Range, Rectangle, column_name};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, SheetId, Span, Spans};

use super::args::{AxisArguments, AxisCommand};
use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::output::Output;
use crate::describe::{describe_operations, inserted_count, row_number, span_name};

pub(super) async fn edit_axis(
    context: &Context,
    output: &Output,
    axis: Axis,
    args: AxisArguments,
) -> Result<(), CliError> {
    let change = AxisChange::parse(axis, &args.command)?;
    let editor = CommandEditor::open(context)?;
    let sheet_name = args.command.sheet_name();
    let (sheet, names) = editor.sheet_and_names(output, sheet_name).await?;
    let operation = change.into_operation(axis, sheet);
    print_truncation_note(output, axis, &operation);
    let description = describe_operations(std::iter::once(&operation), &names);
    editor.apply_and_print(output, operation, &description).await
}

enum AxisChange {
    Insert { before: u32, count: u32 },
    Delete { spans: Spans },
}

impl AxisChange {
    fn parse(axis: Axis, command: &AxisCommand) -> Result<Self, CliError> {
        match command {
            AxisCommand::Insert { before, count, .. } => {
                let before = parse_single_index(axis, before)?;
                Ok(Self::Insert { before, count: *count })
            }
            AxisCommand::Delete { spans, .. } => {
                Ok(Self::Delete { spans: parse_spans(axis, spans)? })
            }
        }
    }

    fn into_operation(self, axis: Axis, sheet: SheetId) -> Operation {
        match self {
            Self::Insert { before, count } => {
                insert_operation(axis, InsertBefore { sheet, before, count })
            }
            Self::Delete { spans } => delete_operation(axis, DeleteSpans { sheet, spans }),
        }
    }
}

fn insert_operation(axis: Axis, insert: InsertBefore) -> Operation {
    match axis {
        Axis::Rows => Operation::InsertRows(insert),
        Axis::Columns => Operation::InsertColumns(insert),
    }
}

fn delete_operation(axis: Axis, delete: DeleteSpans) -> Operation {
    match axis {
        Axis::Rows => Operation::DeleteRows(delete),
        Axis::Columns => Operation::DeleteColumns(delete),
    }
}

fn print_truncation_note(output: &Output, axis: Axis, operation: &Operation) {
    if let Operation::InsertRows(insertion) | Operation::InsertColumns(insertion) = operation
        && inserted_count(axis, *insertion) < insertion.count
    {
        let names = axis_name(axis);
        output.print_note(format!(
            "Not all {names} fit, because the sheet has reached its maximum size."
        ));
    }
}

fn axis_name(axis: Axis) -> &'static str {
    match axis {
        Axis::Rows => "rows",
        Axis::Columns => "columns",
    }
}

fn parse_single_index(axis: Axis, text: &str) -> Result<u32, CliError> {
    let span = parse_span(axis, text)?;
    if span.count != 1 {
        let names = axis_name(axis);
        return Err(CliError::usage(
            format!("`{text}` is a range of {names}, but only one is allowed"),
            format!("insert several {names} with --count"),
        ));
    }
    Ok(span.first)
}

fn parse_spans(axis: Axis, texts: &[String]) -> Result<Spans, CliError> {
    let mut spans = Vec::with_capacity(texts.len());
    for text in texts {
        spans.push(parse_span(axis, text)?);
    }
    spans.sort_by_key(|span| span.first);
    Ok(Spans::from_sorted(spans))
}

/// Parses `3` or `3:5` as rows, or `C` or `C:E` as columns.
fn parse_span(axis: Axis, text: &str) -> Result<Span, CliError> {
    let advice = match axis {
        Axis::Rows => "write rows as 3 or 3:5",
        Axis::Columns => "write columns as C or C:E",
    };
    try_parse_span(axis, text).ok_or_else(|| {
        CliError::usage(format!("`{text}` is not a range of {}", axis_name(axis)), advice)
    })
}

fn try_parse_span(axis: Axis, text: &str) -> Option<Span> {
    // Returns an error for cells such as A1, absolute references such as $A, and references with a
    // sheet name.
    if !text.chars().all(|character| is_span_character(axis, character)) {
        return None;
    }
    let range_text = if text.contains(':') { text.to_owned() } else { format!("{text}:{text}") };
    let Rectangle { first, last } = range_text.parse::<Range>().ok()?.rectangle;
    let (first, last) = match axis {
        Axis::Rows => (first.row, last.row),
        Axis::Columns => (first.column, last.column),
    };
    Some(Span { first, count: last - first + 1 })
}

fn is_span_character(axis: Axis, character: char) -> bool {
    match axis {
        Axis::Rows => character.is_ascii_digit() || character == ':',
        Axis::Columns => character.is_ascii_alphabetic() || character == ':',
    }
}

/// Formats a list of rows or columns, such as `3:5, 9` or `C:E, I`.
pub(super) fn list_spans(axis: Axis, spans: &Spans) -> String {
    let span_names: Vec<String> = match axis {
        Axis::Rows => spans.iter().map(|span| span_name(span, row_number)).collect(),
        Axis::Columns => spans.iter().map(|span| span_name(span, column_name)).collect(),
    };
    span_names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(axis: Axis, text: &str) -> Option<(u32, u32)> {
        parse_span(axis, text).ok().map(|span| (span.first, span.count))
    }

    #[test]
    fn parses_rows_and_columns() {
        assert_eq!(span(Axis::Rows, "3"), Some((2, 1)));
        assert_eq!(span(Axis::Rows, "5:3"), Some((2, 3)));
        assert_eq!(span(Axis::Columns, "C"), Some((2, 1)));
        assert_eq!(span(Axis::Columns, "c:aa"), Some((2, 25)));
        for text in ["", "0", "C", "A1", "3:", "3:C", "-1", "1,2", "1073741825", "x!3:4"] {
            assert_eq!(span(Axis::Rows, text), None, "{text}");
        }
        for text in ["", "3", "A1", "A:1", "C:", "ZZZZZZ", "$A"] {
            assert_eq!(span(Axis::Columns, text), None, "{text}");
        }
        let error = parse_span(Axis::Rows, "C").unwrap_err();
        assert_eq!(error.exit_code(), super::super::EXIT_USAGE);
    }

    #[test]
    fn lists_rows_and_columns() {
        let spans = Spans::of([2, 3, 4, 8]);
        assert_eq!(list_spans(Axis::Rows, &spans), "3:5, 9");
        assert_eq!(list_spans(Axis::Columns, &spans), "C:E, I");
    }
}
