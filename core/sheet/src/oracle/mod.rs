//! Reference implementation of a workbook, with which tests compare [`crate::workbook`].
//!
//! Rows, columns and sheets have ids, and each axis is a list of ids. The id of an inserted row or
//! column consists of the tag of the mutation and a number, so it does not depend on where the
//! mutation is committed. The implementation is slow and deliberately different, so that both
//! implementations are unlikely to have the same bug.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::new_without_default,
    reason = "used only in tests, with small numbers"
)]

mod compare;
mod formula;
pub mod intent;
mod replaced;
mod sheet;

pub use compare::{
    display_difference, display_difference_by_name, display_difference_of_sheets, find_diff_error,
};

use std::collections::{BTreeMap, BTreeSet};

pub use sheet::{LINES, LineId, PlainSheet};

use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{AddSheet, ImportSheet, Operation, SetCells, SheetId, Spans};
use crate::workbook::Workbook;
use formula::PlainFormula;

/// Identifies a mutation. Tag 0 identifies the initial state.
pub type Tag = u32;

/// Model of a workbook.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainWorkbook {
    pub sheets: Vec<PlainSheet>,
    pub used_numbers: BTreeSet<SheetId>,
    /// Formulas that the workbook had when [`PlainWorkbook::remember_formulas`] was called, with the
    /// references that they would have now.
    remembered: BTreeMap<(SheetId, CellId), PlainFormula>,
}

/// Row and column of a cell.
type CellId = (LineId, LineId);

impl PlainWorkbook {
    pub fn new() -> Self {
        let first = PlainSheet::new(0, SheetId::FIRST, "Sheet1".into());
        let used_numbers = BTreeSet::from([SheetId::FIRST]);
        Self { sheets: vec![first], used_numbers, remembered: BTreeMap::new() }
    }

    pub fn sheet(&self, number: SheetId) -> Option<&PlainSheet> {
        self.sheets.iter().find(|sheet| sheet.number == number)
    }

    fn sheet_with_tag(&self, tag: Tag) -> Option<&PlainSheet> {
        self.sheets.iter().find(|sheet| sheet.tag == tag)
    }

    fn free_number_from(&self, number: SheetId) -> SheetId {
        let mut numbers = (number.0..).map(SheetId);
        numbers.find(|number| !self.used_numbers.contains(number)).unwrap()
    }

    /// Applies an operation to the current state.
    pub fn apply(&mut self, operation: &Operation, tag: Tag) {
        match operation {
            Operation::AddSheet(add) => self.add_sheet(add, tag),
            Operation::ImportSheet(import) => self.import_sheet(import, tag),
            Operation::DeleteSheet(delete) => self.delete_sheet(delete.sheet),
            Operation::RenameSheet(rename) => self.rename_sheet(rename.sheet, &rename.name),
            Operation::DeleteRows(delete) => {
                self.delete_lines(delete.sheet, Axis::Rows, &delete.spans);
            }
            Operation::DeleteColumns(delete) => {
                self.delete_lines(delete.sheet, Axis::Columns, &delete.spans);
            }
            Operation::SetCells(set) => self.set_cells(set),
            operation_in_sheet => {
                if let Some(number) = operation_in_sheet.sheet()
                    && let Some(sheet) = self.sheets.iter_mut().find(|sheet| sheet.number == number)
                {
                    sheet.apply(operation_in_sheet, tag);
                }
            }
        }
    }

    /// Keeps the formulas that the workbook has now, to compare them with those of later states.
    pub fn remember_formulas(&mut self) {
        self.remembered = BTreeMap::new();
        for sheet in &self.sheets {
            for (id, formula) in &sheet.formulas {
                self.remembered.insert((sheet.number, *id), formula.clone());
            }
        }
    }

    /// Returns whether the formula of a cell, or the lack of a formula, is the remembered one with
    /// references that have moved since.
    fn formula_only_moved(&self, sheet: &PlainSheet, id: CellId) -> bool {
        sheet.formulas.get(&id) == self.remembered.get(&(sheet.number, id))
    }

    /// Returns a cell as it is displayed, with the text of its formula.
    pub fn displayed_cell(&self, sheet: &PlainSheet, (row, column): CellId) -> Cell {
        let formula = sheet.formulas.get(&(row, column));
        let formula = formula.map(|formula| formula.text(sheet.number, self));
        Cell { formula, ..sheet.displayed_cell(row, column) }
    }

    fn set_cells(&mut self, set: &SetCells) {
        let Some(index) = self.sheets.iter().position(|sheet| sheet.number == set.sheet) else {
            return;
        };
        for edit in &set.cells {
            let formula = edit.formula.as_deref();
            let formula = formula.map(|text| PlainFormula::parse(text, set.sheet, self));
            self.sheets[index].set_cell(edit, formula);
        }
    }

    fn delete_lines(&mut self, number: SheetId, axis: Axis, spans: &Spans) {
        let Some(index) = self.sheets.iter().position(|sheet| sheet.number == number) else {
            return;
        };
        for id in self.sheets[index].line_ids(axis, spans) {
            let before = self.sheets[index].clone();
            for sheet in &mut self.sheets {
                for formula in sheet.formulas.values_mut() {
                    formula.before_deletion(sheet.number, &before, axis, id);
                }
            }
            for ((own, _), formula) in &mut self.remembered {
                formula.before_deletion(*own, &before, axis, id);
            }
            self.sheets[index].delete_line(axis, id);
        }
    }

    fn add_sheet(&mut self, add: &AddSheet, tag: Tag) {
        if self.used_numbers.insert(add.sheet) {
            let name = self.unique_name(&add.name, None);
            let next_index = self.sheets.iter().position(|sheet| Some(sheet.number) == add.before);
            let index = next_index.unwrap_or(self.sheets.len());
            self.sheets.insert(index, PlainSheet::new(tag, add.sheet, name));
        }
    }

    fn delete_sheet(&mut self, number: SheetId) {
        if self.sheets.len() > 1 {
            self.sheets.retain(|sheet| sheet.number != number);
        }
    }

    fn rename_sheet(&mut self, number: SheetId, name: &str) {
        let unique_name = self.unique_name(name, Some(number));
        if let Some(sheet) = self.sheets.iter_mut().find(|sheet| sheet.number == number) {
            sheet.name = unique_name;
        }
    }

    /// Adds an imported sheet without cells.
    fn import_sheet(&mut self, import: &ImportSheet, tag: Tag) {
        if !self.used_numbers.insert(import.sheet) {
            return;
        }
        let replaced_index =
            self.sheets.iter().position(|sheet| Some(sheet.number) == import.replaces);
        if let Some(replaced_index) = replaced_index {
            self.sheets.remove(replaced_index);
        }
        let name = self.unique_name(&import.name, None);
        let sheet = PlainSheet::new(tag, import.sheet, name);
        self.sheets.insert(replaced_index.unwrap_or(self.sheets.len()), sheet);
    }

    fn unique_name(&self, name: &str, named_sheet: Option<SheetId>) -> String {
        let other_sheets = self.sheets.iter().filter(|sheet| Some(sheet.number) != named_sheet);
        let taken_names: Vec<String> =
            other_sheets.map(|sheet| sheet.name.to_lowercase()).collect();
        let mut candidate = name.to_owned();
        let mut appended_number = 2;
        while taken_names.contains(&candidate.to_lowercase()) {
            candidate = format!("{name} ({appended_number})");
            appended_number += 1;
        }
        candidate
    }

    /// Describes the first difference from a workbook. Returns `None` if there is none.
    pub fn difference_from(&self, workbook: &Workbook) -> Option<String> {
        let expected_tabs: Vec<(SheetId, &str)> =
            self.sheets.iter().map(|sheet| (sheet.number, sheet.name.as_str())).collect();
        let tabs = workbook.tabs();
        let actual_tabs: Vec<(SheetId, &str)> =
            tabs.order().iter().filter_map(|id| Some((*id, tabs.name(*id)?))).collect();
        if expected_tabs != actual_tabs {
            return Some(format!("expected sheets {expected_tabs:?}, got {actual_tabs:?}"));
        }
        for sheet in &self.sheets {
            let actual_sheet = workbook.sheet(sheet.number)?;
            if let Some(difference) = sheet.difference_from(actual_sheet, self) {
                return Some(format!("{:?}: {difference}", sheet.number));
            }
        }
        None
    }
}
