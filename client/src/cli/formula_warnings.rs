//! Notes on formulas that were set, but refer to sheets, names or functions that do not exist.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::wire::SheetsReply;
use cellar_formula::Formula;
use cellar_formula::reference::{NoSheets, ReferenceSheet};
use cellar_formula::syntax::{Token, TokenKind};
use cellar_sheet::a1::{CellName, parse_column};
use cellar_sheet::operation::CellEdit;

use super::edit::CommandEditor;
use super::output::Output;
use crate::describe::join_first;
use crate::sheet_deletion::list_sheet_names;
use crate::text::escape;

/// The last row of a sheet of a workbook file. Programs that read exported files refuse larger ones.
const LAST_FILE_ROW: u32 = 1_048_576;

/// Sheets, names and unknown functions to which the formulas of one edit refer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FormulaNames {
    /// Names of sheets, each with a cell whose formula refers to it.
    sheets: BTreeSet<(String, CellName)>,
    /// Names of cells and values, each with a cell whose formula contains it.
    names: BTreeSet<(String, CellName)>,
    /// Names that end a range without a last row, such as the second `B` of `B2:B`.
    open_ranges: BTreeMap<(String, CellName), OpenRange>,
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
            names.add_names_and_functions(&formula, cell, &functions);
        }
        names
    }

    /// `LET` and `LAMBDA` name values and functions in the formula itself.
    fn add_names_and_functions(
        &mut self,
        formula: &Formula,
        cell: CellName,
        functions: &BTreeSet<&str>,
    ) {
        let called = formula.functions().map(|name| name.trim_start_matches("_XLFN.").to_owned());
        let called: BTreeSet<String> = called.collect();
        if called.contains("LET") || called.contains("LAMBDA") {
            return;
        }
        self.names.extend(formula.names().map(|name| (name.to_owned(), cell)));
        let open_ranges =
            formula.tokens().windows(3).filter_map(|tokens| OpenRange::of(formula, tokens));
        self.open_ranges.extend(open_ranges.map(|(name, range)| ((name, cell), range)));
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
        if (self.sheets.is_empty() && self.names.is_empty()) || output.json {
            return;
        }
        let Ok(reply) = editor.list_sheets().await else { return };
        self.print_unknown_names(&reply, output);
        self.print_unknown_sheets(&reply, output);
    }

    fn print_unknown_names(&self, reply: &SheetsReply, output: &Output) {
        for (name, cell) in &self.names {
            let is_defined =
                reply.names.iter().any(|view| view.name.to_lowercase() == name.to_lowercase());
            if !is_defined {
                output.print_note(self.note_on_unknown_name(name, *cell));
            }
        }
    }

    fn note_on_unknown_name(&self, name: &str, cell: CellName) -> String {
        if let Some(range) = self.open_ranges.get(&(name.to_owned(), cell)) {
            let OpenRange { written, to_last_row, columns } = range;
            return format!(
                "{cell}: the range {} has no last row; the cell shows #NAME?. Write {} or {}",
                escape(written),
                escape(to_last_row),
                escape(columns)
            );
        }
        let name = escape(name);
        format!(
            "{cell}: there is no name {name}; the cell shows #NAME?. Define it with: cellar names set {name} CELLS"
        )
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

/// A range from a cell to the end of a column, such as `B2:B`, which other programs accept.
#[derive(Debug, PartialEq, Eq)]
struct OpenRange {
    written: String,
    /// The same range with its last row, such as `B2:B1048576`.
    to_last_row: String,
    /// The whole columns, such as `B:B`.
    columns: String,
}

impl OpenRange {
    /// Returns the range and the name at its end.
    fn of(formula: &Formula, tokens: &[Token]) -> Option<(String, Self)> {
        let [first, colon, last] = tokens else { return None };
        let text = |token: &Token| formula.text().get(token.span.clone()).unwrap_or_default();
        let (first_cell, last_column) = (text(first), text(last));
        let is_range = matches!(first.kind, TokenKind::Reference(_))
            && !first_cell.contains(':')
            && text(colon) == ":"
            && last.kind == TokenKind::Name
            && parse_column(last_column.trim_start_matches('$')).is_some();
        if !is_range {
            return None;
        }
        let is_of_row = |character: char| character.is_ascii_digit() || character == '$';
        let first_column = first_cell.trim_end_matches(is_of_row);
        let range = Self {
            written: format!("{first_cell}:{last_column}"),
            to_last_row: format!("{first_cell}:{last_column}{LAST_FILE_ROW}"),
            columns: format!("{first_column}:{last_column}"),
        };
        Some((last_column.to_owned(), range))
    }
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
    fn a_note_on_a_range_without_a_last_row_says_what_to_write() {
        let note = |formula: &str| {
            let formula = Some(formula.to_owned());
            let edit = CellEdit { row: 0, column: 0, value: None, formula, format: None };
            let names = FormulaNames::of(&[edit]);
            let (name, cell) = names.names.first().unwrap();
            names.note_on_unknown_name(name, *cell)
        };
        for (formula, written, whole, columns) in [
            ("=SUM(B2:B)", "B2:B", "B2:B1048576", "B:B"),
            ("=SUM(b2:c)", "b2:c", "b2:c1048576", "b:c"),
            ("=SUM(Costs!B2:B)", "Costs!B2:B", "Costs!B2:B1048576", "Costs!B:B"),
        ] {
            let expected = format!(
                "A1: the range {written} has no last row; the cell shows #NAME?. Write {whole} or {columns}"
            );
            assert_eq!(note(formula), expected);
        }
        assert!(note("=SUM(B2:Prices)").starts_with("A1: there is no name Prices;"));
        assert!(note("=B2+B").starts_with("A1: there is no name B;"));
    }

    #[test]
    fn finds_sheets_and_unknown_functions() {
        assert_eq!(names_of("=SUM(Nope!A1)"), (vec!["Nope".to_owned()], vec![]));
        assert_eq!(names_of("=nosuch(1)+SUM(A1)"), (vec![], vec!["NOSUCH".to_owned()]));
        assert_eq!(names_of("=LET(f,LAMBDA(x,x),f(1))"), (vec![], vec![]));
        assert_eq!(names_of("=_xlfn.XLOOKUP(1,A:A,B:B)"), (vec![], vec![]));
    }
}
