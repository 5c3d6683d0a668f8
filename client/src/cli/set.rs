//! `cellar set`

use std::collections::BTreeSet;

use cellar_sheet::a1::{CellName, Range};
use cellar_sheet::cell::{TypedText, Value, typed_or_text};
use cellar_sheet::operation::{CellEdit, Operation, SetCells};

use super::args;
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::Output;
use crate::describe::describe_operation;

const HOW: &str = "write it as: cellar set A1 hello, or several at once: cellar set A1 1 B1 2";

/// The cells of a command line, and the sheet that each names if it does.
type Cells = (Vec<CellEdit>, Vec<Option<String>>);

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Set,
) -> Result<(), CliError> {
    let (cells, sheets) = sets(&args.pairs, args.text)?;
    refuse_repeated(&cells)?;
    let sheet = one_sheet(args.sheet.as_deref(), &sheets)?;
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(sheet.as_deref()).await?;
    let operation = Operation::SetCells(SetCells { sheet, cells });
    let what = describe_operation(&operation);
    edit.apply(output, operation, &what).await
}

fn sets(pairs: &[String], text: bool) -> Result<Cells, CliError> {
    let edit = |pair: &[String]| match pair {
        [cell, value] => {
            let typed = match text {
                true if value.is_empty() => TypedText { value: Value::Empty, format: None },
                true => TypedText { value: Value::Text(value.clone()), format: None },
                false => typed_or_text(value),
            };
            let (name, sheet) = cell_name(cell)?;
            Ok((edit(name, typed), sheet))
        }
        [cell, ..] => Err(CliError::usage(format!("`{cell}` has no value"), HOW)),
        [] => Err(CliError::usage("there is nothing to set", HOW)),
    };
    pairs.chunks(2).map(edit).collect()
}

/// The sheet of all the cells: they are one edit. One that is named by --sheet is also the sheet
/// of the cells that name none.
fn one_sheet(flag: Option<&str>, cells: &[Option<String>]) -> Result<Option<String>, CliError> {
    let wanted = flag.map(str::to_owned).or_else(|| cells.iter().flatten().next().cloned());
    let same = |cell: &Option<String>| match (cell, &wanted) {
        (Some(cell), Some(wanted)) => cell.to_lowercase() == wanted.to_lowercase(),
        (None, Some(_)) => flag.is_some(),
        (_, None) => true,
    };
    if cells.iter().all(same) {
        return Ok(wanted);
    }
    Err(CliError::usage(
        "the cells are not all of one sheet",
        "name the sheet with every cell or once with --sheet, and use a command for each sheet",
    ))
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

/// One cell, perhaps with the name of its sheet.
fn cell_name(text: &str) -> Result<(CellName, Option<String>), CliError> {
    let range: Range = text.parse().map_err(|fault: cellar_sheet::a1::NotARange| {
        CliError::usage(format!("`{text}` is not a cell: {}", fault.why), HOW)
    })?;
    if range.rectangle.first != range.rectangle.last {
        return Err(CliError::usage(format!("`{text}` is a range, not one cell"), HOW));
    }
    Ok((range.rectangle.first, range.sheet))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn pairs_are_typed_and_formats_go_along() {
        let (edits, sheets) = sets(&words("A1 1 $B$2 2.50 Sheet1!C3 hello"), false).unwrap();
        assert_eq!(sheets, [None, None, Some("Sheet1".to_owned())]);
        let values: Vec<_> = edits.iter().map(|e| (e.row, e.column, e.value.clone())).collect();
        let expected = [
            (0, 0, Some(Value::Number(1.0))),
            (1, 1, Some(Value::Number(2.5))),
            (2, 2, Some(Value::Text("hello".into()))),
        ];
        assert_eq!(values, expected);
        assert_eq!(edits[1].format.as_deref(), Some("0.00"));
        let (text, _) = sets(&words("A1 1"), true).unwrap();
        assert_eq!(text[0].value, Some(Value::Text("1".into())));
        let empty = vec!["A1".to_owned(), String::new()];
        for as_text in [false, true] {
            assert_eq!(sets(&empty, as_text).unwrap().0[0].value, Some(Value::Empty));
        }
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for line in ["A1", "A1 1 B1", "A1:B2 1", "A:A 1", "x 1", "A0 1"] {
            let error = sets(&words(line), false).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE, "{line}");
        }
    }

    #[test]
    fn a_cell_named_twice_is_a_usage_error_that_names_it() {
        for line in ["A1 1 A1 2", "B2 1 A1 1 Sheet1!$A$1 1"] {
            let error = refuse_repeated(&sets(&words(line), false).unwrap().0).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE);
            assert!(error.to_string().contains("A1 is named twice"), "{error}");
        }
        assert!(refuse_repeated(&sets(&words("A1 1 B1 1 A2 1"), false).unwrap().0).is_ok());
    }

    #[test]
    fn all_cells_are_of_one_sheet() {
        let of = |flag: Option<&str>, cells: &[&str]| {
            let name = |text: &&str| Some((*text).to_owned()).filter(|text| !text.is_empty());
            one_sheet(flag, &cells.iter().map(name).collect::<Vec<_>>())
        };
        assert_eq!(of(None, &["", ""]).unwrap(), None);
        assert_eq!(of(None, &["Costs", "costs"]).unwrap().as_deref(), Some("Costs"));
        assert_eq!(of(Some("Costs"), &["", "COSTS"]).unwrap().as_deref(), Some("Costs"));
        for (flag, cells) in [(None, ["a", "b"]), (None, ["a", ""]), (Some("b"), ["a", "b"])] {
            let error = of(flag, &cells).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE, "{cells:?}");
        }
    }
}
