use std::collections::BTreeSet;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{TypedText, Value, typed_cell};
use cellar_sheet::operation::{CellEdit, Operation, SetCells};

use super::args;
use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::formula_warnings::FormulaNames;
use super::output::Output;
use crate::describe::{describe_operations, join_first};
use crate::editor::CellReference;

const USAGE: &str =
    "pass pairs of a cell and a value: cellar set A1 hello, or cellar set A1 1 B1 2";

#[derive(Debug, Default)]
struct ParsedPairs {
    edits: Vec<CellEdit>,
    /// The sheet name in each cell reference, or `None` for references without a sheet name.
    sheets: Vec<Option<String>>,
}

pub(super) async fn set_cells(
    context: &Context,
    output: &Output,
    args: args::Set,
) -> Result<(), CliError> {
    let ParsedPairs { edits, sheets } = parse_pairs(&args.pairs, args.text)?;
    let sheet_name = find_common_sheet(args.sheet.as_deref(), &sheets)?;
    check_no_duplicates(&edits)?;
    let editor = CommandEditor::open(context)?;
    let (sheet, names) = editor.sheet_and_names(output, sheet_name.as_deref()).await?;
    let operation_texts = if args.text { Vec::new() } else { texts_like_numbers(&edits) };
    let formula_names = FormulaNames::of(&edits);
    let operation = Operation::SetCells(SetCells { sheet, cells: edits });
    let description = describe_operations(std::iter::once(&operation), &names);
    editor.apply_and_print(output, operation, &description).await?;
    print_texts_note(output, &operation_texts);
    formula_names.print_notes(&editor, output).await;
    Ok(())
}

/// Returns the cells whose text looks like a number or date, such as `5,000` or `12%`.
fn texts_like_numbers(edits: &[CellEdit]) -> Vec<CellName> {
    let is_like_a_number = |text: &str| {
        let unsigned = text.trim_start_matches(['+', '-', '(', '$', '€', '£', '.', ' ']);
        unsigned.starts_with(|first: char| first.is_ascii_digit())
    };
    let texts = edits
        .iter()
        .filter(|edit| matches!(&edit.value, Some(Value::Text(text)) if is_like_a_number(text)));
    texts.map(|edit| CellName { row: edit.row, column: edit.column }).collect()
}

/// In a table, such a text looks like a number.
fn print_texts_note(output: &Output, texts: &[CellName]) {
    if texts.is_empty() {
        return;
    }
    let names = join_first(texts.iter().map(ToString::to_string), texts.len());
    output.print_note(format!(
        "Stored as text, because only numbers such as 5000.50 and dates such as 2026-12-24 are recognized: {names}"
    ));
}

fn parse_pairs(pairs: &[String], as_text: bool) -> Result<ParsedPairs, CliError> {
    let mut parsed = ParsedPairs::default();
    for pair in pairs.chunks(2) {
        let [cell, value] = pair else {
            let cell = pair.concat();
            return Err(CliError::usage(format!("cell `{cell}` has no value"), USAGE));
        };
        let (cell_name, sheet) = parse_cell(cell)?;
        parsed.edits.push(CellEdit::typed(cell_name, parse_value(value, as_text)));
        parsed.sheets.push(sheet);
    }
    Ok(parsed)
}

fn parse_value(value_text: &str, as_text: bool) -> TypedText {
    if !as_text {
        return typed_cell(value_text);
    }
    TypedText::of_value(match value_text {
        "" => Value::Empty,
        text => Value::Text(text.to_owned()),
    })
}

/// Returns the name of the sheet that contains all cells, or `None` for the first sheet. `--sheet`
/// applies to cell references without a sheet name. Fails if the cells are in different sheets,
/// because one edit changes cells of one sheet only.
fn find_common_sheet(
    sheet_option: Option<&str>,
    cell_sheets: &[Option<String>],
) -> Result<Option<String>, CliError> {
    let first_named_sheet = cell_sheets.iter().flatten().next();
    let Some(common_sheet) = sheet_option.or(first_named_sheet.map(String::as_str)) else {
        return Ok(None);
    };
    let is_in_common_sheet = |cell_sheet: &Option<String>| match cell_sheet {
        Some(cell_sheet) => cell_sheet.to_lowercase() == common_sheet.to_lowercase(),
        None => sheet_option.is_some(),
    };
    if !cell_sheets.iter().all(is_in_common_sheet) {
        return Err(CliError::usage(
            "the cells are in different sheets",
            "use one command for each sheet, and name the sheet in every cell or with --sheet",
        ));
    }
    Ok(Some(common_sheet.to_owned()))
}

/// Fails if a cell is set twice, because the first value would be lost.
fn check_no_duplicates(edits: &[CellEdit]) -> Result<(), CliError> {
    let mut seen_cells = BTreeSet::new();
    for CellEdit { row, column, .. } in edits {
        let is_first_occurrence = seen_cells.insert((row, column));
        if !is_first_occurrence {
            let duplicate = CellName { row: *row, column: *column };
            return Err(CliError::usage(
                format!("cell {duplicate} occurs more than once"),
                "pass each cell once",
            ));
        }
    }
    Ok(())
}

fn parse_cell(text: &str) -> Result<(CellName, Option<String>), CliError> {
    let reference = CellReference::parse(text)
        .map_err(|why| CliError::usage(format!("`{text}` is {why}"), USAGE))?;
    Ok((reference.cell, reference.sheet))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn parses_values_and_their_formats() {
        let ParsedPairs { edits, sheets } =
            parse_pairs(&words("A1 1 $B$2 2.50 Sheet1!C3 hello"), false).unwrap();
        assert_eq!(sheets, [None, None, Some("Sheet1".to_owned())]);
        let values: Vec<_> = edits.iter().map(|e| (e.row, e.column, e.value.clone())).collect();
        let expected = [
            (0, 0, Some(Value::Number(1.0))),
            (1, 1, Some(Value::Number(2.5))),
            (2, 2, Some(Value::Text("hello".into()))),
        ];
        assert_eq!(values, expected);
        assert_eq!(edits[1].format.as_deref(), Some("0.00"));
        let text = parse_pairs(&words("A1 1"), true).unwrap();
        assert_eq!(text.edits[0].value, Some(Value::Text("1".into())));
        for (as_text, value, formula) in
            [(false, Value::Empty, Some("=B1*2")), (true, Value::Text("=B1*2".into()), None)]
        {
            let edit = &parse_pairs(&words("A1 =B1*2"), as_text).unwrap().edits[0];
            assert_eq!((edit.value.clone(), edit.formula.as_deref()), (Some(value), formula));
        }
        let empty = vec!["A1".to_owned(), String::new()];
        for as_text in [false, true] {
            assert_eq!(parse_pairs(&empty, as_text).unwrap().edits[0].value, Some(Value::Empty));
        }
    }

    #[test]
    fn rejects_invalid_pairs() {
        for line in ["A1", "A1 1 B1", "A1:B2 1", "A:A 1", "x 1", "A0 1"] {
            let error = parse_pairs(&words(line), false).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE, "{line}");
        }
    }

    #[test]
    fn rejects_a_cell_that_occurs_twice() {
        for line in ["A1 1 A1 2", "B2 1 A1 1 Sheet1!$A$1 1"] {
            let error =
                check_no_duplicates(&parse_pairs(&words(line), false).unwrap().edits).unwrap_err();
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE);
            assert!(error.to_string().contains("A1 occurs more than once"), "{error}");
        }
        assert!(
            check_no_duplicates(&parse_pairs(&words("A1 1 B1 1 A2 1"), false).unwrap().edits)
                .is_ok()
        );
    }

    #[test]
    fn all_cells_must_be_in_one_sheet() {
        let of = |flag: Option<&str>, cells: &[&str]| {
            let name = |text: &&str| Some((*text).to_owned()).filter(|text| !text.is_empty());
            find_common_sheet(flag, &cells.iter().map(name).collect::<Vec<_>>())
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
