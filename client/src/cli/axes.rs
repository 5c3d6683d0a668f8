//! `cellar rows` and `cellar columns`

use cellar_sheet::a1::{Range, column_name};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, Span, Spans};

use super::args::{ColumnsCommand, Inserted, RowsCommand};
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::Output;
use super::warnings;
use crate::describe::{describe_operation, inserted_count};

/// An edit of rows or columns, as given on the command line.
pub(super) struct AxisEdit {
    axis: Axis,
    change: AxisChange,
}

enum AxisChange {
    Insert { before: String, inserted: Inserted },
    Delete { which: Vec<String>, sheet: Option<String> },
}

impl From<RowsCommand> for AxisEdit {
    fn from(command: RowsCommand) -> Self {
        let change = match command {
            RowsCommand::Insert { before, inserted } => AxisChange::Insert { before, inserted },
            RowsCommand::Delete { rows, sheet } => AxisChange::Delete { which: rows, sheet },
        };
        Self { axis: Axis::Rows, change }
    }
}

impl From<ColumnsCommand> for AxisEdit {
    fn from(command: ColumnsCommand) -> Self {
        let change = match command {
            ColumnsCommand::Insert { before, inserted } => AxisChange::Insert { before, inserted },
            ColumnsCommand::Delete { columns, sheet } => {
                AxisChange::Delete { which: columns, sheet }
            }
        };
        Self { axis: Axis::Columns, change }
    }
}

pub(super) async fn run(
    context: &Context,
    output: &Output,
    edit: AxisEdit,
) -> Result<(), CliError> {
    let AxisEdit { axis, change } = edit;
    let operation = match change {
        AxisChange::Insert { before, inserted: Inserted { count, sheet } } => {
            let span = one_span(axis, &before)?;
            if span.count != 1 {
                return Err(CliError::usage(
                    format!("`{before}` is more than one of the {}", names(axis)),
                    "name the one before which to insert; --count says how many",
                ));
            }
            let edit = Edit::new(context)?;
            let sheet = edit.sheet(sheet.as_deref()).await?;
            let inserted = InsertBefore { sheet, before: span.first, count };
            if inserted_count(axis, inserted) < count {
                output.note(format!("No more {} fit: the sheet ends there.", names(axis)));
            }
            (edit, insert(axis, inserted))
        }
        AxisChange::Delete { which, sheet } => {
            let spans = which.iter().map(|text| one_span(axis, text));
            let mut spans = spans.collect::<Result<Vec<_>, _>>()?;
            spans.sort_by_key(|span| span.first);
            let edit = Edit::new(context)?;
            let sheet = edit.sheet(sheet.as_deref()).await?;
            (edit, delete(axis, DeleteSpans { sheet, spans: Spans::from_sorted(spans) }))
        }
    };
    let (edit, operation) = operation;
    let what = describe_operation(&operation);
    let warnings = [warnings::LINES_MOVED.to_owned()];
    let more = serde_json::json!({ "warnings": warnings });
    edit.apply_with(output, operation, &what, more).await?;
    output.warn(&warnings);
    Ok(())
}

fn insert(axis: Axis, insert: InsertBefore) -> Operation {
    match axis {
        Axis::Rows => Operation::InsertRows(insert),
        Axis::Columns => Operation::InsertColumns(insert),
    }
}

fn delete(axis: Axis, delete: DeleteSpans) -> Operation {
    match axis {
        Axis::Rows => Operation::DeleteRows(delete),
        Axis::Columns => Operation::DeleteColumns(delete),
    }
}

fn names(axis: Axis) -> &'static str {
    match axis {
        Axis::Rows => "rows",
        Axis::Columns => "columns",
    }
}

/// `3` or `3:5` of rows, `C` or `C:E` of columns.
fn one_span(axis: Axis, text: &str) -> Result<Span, CliError> {
    let how = match axis {
        Axis::Rows => "write rows as 3 or 3:5, counted from 1",
        Axis::Columns => "write columns as C or C:E",
    };
    let fault = || CliError::usage(format!("`{text}` does not name {}", names(axis)), how);
    let range = if text.contains(':') { text.to_owned() } else { format!("{text}:{text}") };
    let range: Range = range.parse().map_err(|_| fault())?;
    let (rows, columns) = super::edit::spans(range.rectangle);
    let (wanted, other) = match axis {
        Axis::Rows => (rows, columns.is_all(Axis::Columns)),
        Axis::Columns => (columns, rows.is_all(Axis::Rows)),
    };
    // Letters and digits together name cells.
    let plain = text.chars().all(|c| match axis {
        Axis::Rows => c.is_ascii_digit() || c == ':',
        Axis::Columns => c.is_ascii_alphabetic() || c == ':',
    });
    wanted.iter().next().filter(|_| other && plain && range.sheet.is_none()).ok_or_else(fault)
}

/// The rows or columns of spans, for people: `3:5, 9` or `C:E, I`; how many more there are.
pub(super) fn named(axis: Axis, spans: &Spans) -> String {
    let name = |index: u32| match axis {
        Axis::Rows => (u64::from(index) + 1).to_string(),
        Axis::Columns => column_name(index),
    };
    let one = |span: Span| match span.count {
        1 => name(span.first),
        _ => format!("{}:{}", name(span.first), name(span.end().saturating_sub(1))),
    };
    spans.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(axis: Axis, text: &str) -> Option<(u32, u32)> {
        one_span(axis, text).ok().map(|span| (span.first, span.count))
    }

    #[test]
    fn rows_are_counted_from_one_and_columns_have_letters() {
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
        let error = one_span(Axis::Rows, "C").unwrap_err();
        assert_eq!(error.exit_code(), super::super::EXIT_USAGE);
    }

    #[test]
    fn spans_are_named_for_people() {
        let spans = Spans::of([2, 3, 4, 8]);
        assert_eq!(named(Axis::Rows, &spans), "3:5, 9");
        assert_eq!(named(Axis::Columns, &spans), "C:E, I");
    }
}
