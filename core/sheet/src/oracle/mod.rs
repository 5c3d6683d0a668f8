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
pub mod intent;
mod sheet;

pub use compare::{display_difference, display_difference_by_name, find_diff_error};

use std::collections::BTreeSet;

pub use sheet::{LINES, LineId, PlainSheet};

use crate::operation::{AddSheet, ImportSheet, Operation, SheetId};
use crate::workbook::Workbook;

/// Identifies a mutation. Tag 0 identifies the initial state.
pub type Tag = u32;

/// Model of a workbook.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainWorkbook {
    pub sheets: Vec<PlainSheet>,
    pub used_numbers: BTreeSet<SheetId>,
}

impl PlainWorkbook {
    pub fn new() -> Self {
        let first = PlainSheet::new(0, SheetId::FIRST, "Sheet1".into());
        Self { sheets: vec![first], used_numbers: BTreeSet::from([SheetId::FIRST]) }
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
            operation_in_sheet => {
                if let Some(number) = operation_in_sheet.sheet()
                    && let Some(sheet) = self.sheets.iter_mut().find(|sheet| sheet.number == number)
                {
                    sheet.apply(operation_in_sheet, tag);
                }
            }
        }
    }

    fn add_sheet(&mut self, add: &AddSheet, tag: Tag) {
        if self.used_numbers.insert(add.sheet) {
            let name = self.unique_name(&add.name, None);
            self.sheets.push(PlainSheet::new(tag, add.sheet, name));
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
            if let Some(difference) = sheet.difference_from(actual_sheet) {
                return Some(format!("{:?}: {difference}", sheet.number));
            }
        }
        None
    }
}
