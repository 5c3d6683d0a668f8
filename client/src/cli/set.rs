//! `cellar set`

use std::collections::BTreeSet;

use cellar_core::a1::{CellName, Range};
use cellar_core::cell::{TypedText, Value, typed_or_text};
use cellar_core::operation::{CellEdit, FIRST_SHEET_NAME, Operation, SetCells, SheetId};

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use crate::describe;

const HOW: &str = "write it as: cellar set A1 hello, or several at once: cellar set A1 1 B1 2";

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Set,
) -> Result<(), CliError> {
    let cells = if args.clear { clears(&args.pairs)? } else { sets(&args.pairs, args.text)? };
    refuse_repeated(&cells)?;
    let operation = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
    let what = describe::operation(&operation);
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let applied = context.editor(&client, spreadsheet).apply(operation).await?;
    if applied.earlier > 0 {
        let edits = u64::try_from(applied.earlier).unwrap_or(u64::MAX);
        let edits = count(edits, "edit", "edits");
        output.note(format!("{edits} of an interrupted run went first."));
    }
    let result = serde_json::json!({
        "spreadsheet": spreadsheet,
        "position": applied.position,
        "earlier": applied.earlier,
    });
    output.result(&result)?;
    output.say(format!("{what}   at {}", applied.position))?;
    Ok(())
}

fn sets(pairs: &[String], text: bool) -> Result<Vec<CellEdit>, CliError> {
    let edit = |pair: &[String]| match pair {
        [cell, value] => {
            let typed = match text {
                true if value.is_empty() => TypedText { value: Value::Empty, format: None },
                true => TypedText { value: Value::Text(value.clone()), format: None },
                false => typed_or_text(value),
            };
            Ok(edit(cell_name(cell)?, typed))
        }
        [cell, ..] => Err(CliError::usage(format!("`{cell}` has no value"), HOW)),
        [] => Err(CliError::usage("there is nothing to set", HOW)),
    };
    pairs.chunks(2).map(edit).collect()
}

fn clears(cells: &[String]) -> Result<Vec<CellEdit>, CliError> {
    let nothing = || TypedText { value: Value::Empty, format: None };
    cells.iter().map(|cell| Ok(edit(cell_name(cell)?, nothing()))).collect()
}

/// Of a cell that is named twice only one value would stay: that is a slip, not an order.
fn refuse_repeated(edits: &[CellEdit]) -> Result<(), CliError> {
    let mut named = BTreeSet::new();
    match edits.iter().find(|edit| !named.insert((edit.row, edit.column))) {
        None => Ok(()),
        Some(CellEdit { row, column, .. }) => {
            let name = CellName { row: *row, column: *column };
            Err(CliError::usage(format!("{name} is named twice"), "name every cell once"))
        }
    }
}

fn edit(name: CellName, typed: TypedText) -> CellEdit {
    CellEdit {
        row: name.row,
        column: name.column,
        value: Some(typed.value),
        formula: None,
        format: typed.format,
    }
}

/// One cell, perhaps with the name of the first sheet, the only one there is so far.
fn cell_name(text: &str) -> Result<CellName, CliError> {
    let range: Range = text.parse().map_err(|fault: cellar_core::a1::NotARange| {
        CliError::usage(format!("`{text}` is not a cell: {}", fault.why), HOW)
    })?;
    if range.sheet.as_deref().is_some_and(|sheet| sheet != FIRST_SHEET_NAME) {
        return Err(CliError::usage(
            format!("`{text}`: there is no such sheet"),
            format!("the first sheet is called {FIRST_SHEET_NAME}"),
        ));
    }
    if range.rectangle.first != range.rectangle.last {
        return Err(CliError::usage(format!("`{text}` is a range, not one cell"), HOW));
    }
    Ok(range.rectangle.first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn pairs_are_typed_and_formats_go_along() {
        let edits = sets(&words("A1 1 $B$2 2.50 Sheet1!C3 hello"), false).unwrap();
        let values: Vec<_> = edits.iter().map(|e| (e.row, e.column, e.value.clone())).collect();
        let expected = [
            (0, 0, Some(Value::Number(1.0))),
            (1, 1, Some(Value::Number(2.5))),
            (2, 2, Some(Value::Text("hello".into()))),
        ];
        assert_eq!(values, expected);
        assert_eq!(edits[1].format.as_deref(), Some("0.00"));
        let text = sets(&words("A1 1"), true).unwrap();
        assert_eq!(text[0].value, Some(Value::Text("1".into())));
        let empty = vec!["A1".to_owned(), String::new()];
        for as_text in [false, true] {
            assert_eq!(sets(&empty, as_text).unwrap()[0].value, Some(Value::Empty));
        }
        assert_eq!(clears(&words("A1 B1")).unwrap().len(), 2);
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for line in ["A1", "A1 1 B1", "A1:B2 1", "A:A 1", "Sheet9!A1 1", "x 1", "A0 1"] {
            let error = sets(&words(line), false).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE, "{line}");
        }
        assert!(clears(&words("A1 hello")).is_err());
    }

    #[test]
    fn a_cell_named_twice_is_a_usage_error_that_names_it() {
        for line in ["A1 1 A1 2", "B2 1 A1 1 Sheet1!$A$1 1"] {
            let error = refuse_repeated(&sets(&words(line), false).unwrap()).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE);
            assert!(error.to_string().contains("A1 is named twice"), "{error}");
        }
        assert!(refuse_repeated(&clears(&words("A1 A1")).unwrap()).is_err());
        assert!(refuse_repeated(&sets(&words("A1 1 B1 1 A2 1"), false).unwrap()).is_ok());
    }
}
