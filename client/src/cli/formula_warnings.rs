//! Notes on formulas that were set, but refer to sheets, names or functions that do not exist.

use std::collections::BTreeSet;

use cellar_api::wire::SheetsReply;
use cellar_formula::Formula;
use cellar_formula::reference::{NoSheets, ReferenceSheet};
use cellar_sheet::a1::{CellName, parse_column};
use cellar_sheet::operation::CellEdit;

use super::edit::CommandEditor;
use super::output::Output;
use crate::describe::join_first;
use crate::sheet_deletion::list_sheet_names;
use crate::text::escape;

/// A last row that other programs understand too.
const LAST_ROW_OF_EXCEL: u32 = 1_048_576;

/// Sheets, names and unknown functions to which the formulas of one edit refer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FormulaNames {
    /// Names of sheets, each with a cell whose formula refers to it.
    sheets: BTreeSet<(String, CellName)>,
    /// Ranges without a last row, such as `B2:B`, each with a cell whose formula contains it. They are
    /// read as a cell, a colon and a name.
    open_ranges: BTreeSet<(String, CellName)>,
    /// Names of cells and values, each with a cell whose formula contains it.
    names: BTreeSet<(String, CellName)>,
    /// Functions that do not exist, each with a cell whose formula calls it.
    unknown_functions: BTreeSet<(String, CellName)>,
}

impl FormulaNames {
    pub(super) fn of(edits: &[CellEdit]) -> Self {
        let functions: BTreeSet<&str> = cellar_functions::function_names().into_iter().collect();
        let mut names = Self::default();
        for edit in edits {
            let Some(text) = &edit.formula else { continue };
            let Ok(formula) = Formula::parse(text, &NoSheets) else { continue };
            let cell = CellName { row: edit.row, column: edit.column };
            for placed in formula.references() {
                if let ReferenceSheet::Unknown(name) = &placed.reference.sheet {
                    names.sheets.insert((name.clone(), cell));
                }
            }
            names.add_names_and_functions(text, &formula, cell, &functions);
        }
        names
    }

    /// `LET` and `LAMBDA` name values and functions in the formula itself.
    fn add_names_and_functions(
        &mut self,
        text: &str,
        formula: &Formula,
        cell: CellName,
        functions: &BTreeSet<&str>,
    ) {
        let called = formula.functions().map(|name| name.trim_start_matches("_XLFN.").to_owned());
        let called: BTreeSet<String> = called.collect();
        if called.contains("LET") || called.contains("LAMBDA") {
            return;
        }
        for name in formula.names() {
            match open_range(text, name) {
                Some(range) => self.open_ranges.insert((range, cell)),
                None => self.names.insert((name.to_owned(), cell)),
            };
        }
        let unknown = called.into_iter().filter(|name| !functions.contains(name.as_str()));
        self.unknown_functions.extend(unknown.map(|name| (name, cell)));
    }

    /// Prints notes. The sheets and names are read only if a formula contains one, and errors are
    /// ignored.
    pub(super) async fn print_notes(&self, editor: &CommandEditor, output: &Output) {
        for (name, cell) in &self.unknown_functions {
            output.print_note(format!(
                "{cell}: there is no function {}; the cell shows #NAME?. The formula is stored as typed.",
                escape(name)
            ));
        }
        let needs_no_list =
            self.sheets.is_empty() && self.names.is_empty() && self.open_ranges.is_empty();
        if needs_no_list || output.json {
            return;
        }
        let Ok(reply) = editor.list_sheets().await else { return };
        self.print_open_ranges(&reply, output);
        self.print_unknown_names(&reply, output);
        self.print_unknown_sheets(&reply, output);
    }

    fn print_open_ranges(&self, reply: &SheetsReply, output: &Output) {
        for (range, cell) in &self.open_ranges {
            if !is_defined(reply, end_of(range)) {
                output.print_note(open_range_note(range, *cell));
            }
        }
    }

    fn print_unknown_names(&self, reply: &SheetsReply, output: &Output) {
        for (name, cell) in &self.names {
            if !is_defined(reply, name) {
                let name = escape(name);
                output.print_note(format!(
                    "{cell}: there is no name {name}; the cell shows #NAME?. Define it with: cellar names set {name} CELLS"
                ));
            }
        }
    }

    fn print_unknown_sheets(&self, reply: &SheetsReply, output: &Output) {
        let exists = |name: &str| {
            reply.sheets.iter().any(|sheet| sheet.name.to_lowercase() == name.to_lowercase())
        };
        let unknown: Vec<&(String, CellName)> =
            self.sheets.iter().filter(|(name, _)| !exists(name)).collect();
        if unknown.is_empty() {
            return;
        }
        let named = unknown.iter().map(|(name, cell)| format!("{cell}: `{}`", escape(name)));
        output.print_note(format!(
            "Formulas refer to sheets that do not exist, so they show #REF!: {}. The sheets are: {}",
            join_first(named, unknown.len()),
            list_sheet_names(&reply.sheets)
        ));
    }
}

fn is_defined(reply: &SheetsReply, name: &str) -> bool {
    reply.names.iter().any(|view| view.name.to_lowercase() == name.to_lowercase())
}

fn end_of(range: &str) -> &str {
    range.rsplit(':').next().unwrap_or_default()
}

/// Returns the range whose end is the column `name`, such as `B2:B`, as other programs write it.
fn open_range(formula: &str, name: &str) -> Option<String> {
    parse_column(name)?;
    let is_of_word = |character: char| character.is_alphanumeric() || "_.".contains(character);
    let end = format!(":{}", name.to_uppercase());
    let formula = formula.to_uppercase();
    formula.match_indices(&end).find_map(|(at, _)| {
        let (before, after) = (formula.get(..at)?, formula.get(at + end.len()..)?);
        let start = before.rfind(|character: char| !is_of_word(character) && character != '$');
        let first = before.get(start.map_or(0, |start| start + 1)..)?;
        let is_range = first.parse::<CellName>().is_ok() && !after.starts_with(is_of_word);
        is_range.then(|| format!("{first}{end}"))
    })
}

fn open_range_note(range: &str, cell: CellName) -> String {
    let column = end_of(range);
    format!("{cell}: {range} is not a range; write {range}{LAST_ROW_OF_EXCEL} or {column}:{column}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(formula: &str) -> (Vec<String>, Vec<String>) {
        let formula = Some(formula.to_owned());
        let edit = CellEdit { row: 0, column: 0, value: None, formula, format: None };
        let FormulaNames { sheets, unknown_functions, .. } = FormulaNames::of(&[edit]);
        let names = |set: BTreeSet<(String, CellName)>| set.into_iter().map(|(name, _)| name);
        (names(sheets).collect(), names(unknown_functions).collect())
    }

    #[test]
    fn finds_names_but_no_variables() {
        let names = |formula: &str| {
            let formula = Some(formula.to_owned());
            let edit = CellEdit { row: 0, column: 0, value: None, formula, format: None };
            FormulaNames::of(&[edit]).names.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names("=A3*Tax+SUM(Prices)+TRUE"), ["Prices", "Tax"]);
        assert!(names("=LET(x,1,x)").is_empty() && names("=A1").is_empty());
    }

    #[test]
    fn a_range_without_a_last_row_is_no_name() {
        let of = |formula: &str| {
            let formula = Some(formula.to_owned());
            let edit = CellEdit { row: 0, column: 0, value: None, formula, format: None };
            let FormulaNames { open_ranges, names, .. } = FormulaNames::of(&[edit]);
            let notes = open_ranges.iter().map(|(range, cell)| open_range_note(range, *cell));
            (notes.collect::<Vec<_>>(), names.len())
        };
        let note = "A1: B2:B is not a range; write B2:B1048576 or B:B".to_owned();
        assert_eq!(of("=SUM(b2:B)"), (vec![note.clone()], 0));
        assert_eq!(of("=SUM(Notes!B2:B)"), (vec![note], 0));
        assert_eq!(of("=SUM(B2:Total)+B"), (vec![], 2));
    }

    #[test]
    fn finds_sheets_and_unknown_functions() {
        assert_eq!(names_of("=SUM(Nope!A1)"), (vec!["Nope".to_owned()], vec![]));
        assert_eq!(names_of("=nosuch(1)+SUM(A1)"), (vec![], vec!["NOSUCH".to_owned()]));
        assert_eq!(names_of("=LET(f,LAMBDA(x,x),f(1))"), (vec![], vec![]));
        assert_eq!(names_of("=_xlfn.XLOOKUP(1,A:A,B:B)"), (vec![], vec![]));
    }
}
