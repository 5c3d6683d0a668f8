//! Reference model of a workbook for model-based tests. Each axis is a list of ids, and everything
//! else is keyed by ids.
//!
//! The model is slow and deliberately implemented differently from [`crate::workbook`], so that the
//! two are unlikely to share a bug. A line is a row or a column. The id of an inserted line
//! consists of a number and the tag of the mutation that inserted it, and does not depend on the
//! position at which the mutation is committed.

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

use crate::axis_map::Axis;
use crate::operation::{ImportSheet, Operation, SheetId};
use crate::workbook::Workbook;

/// Tag that identifies a mutation; 0 identifies the initial state.
pub type Tag = u32;

/// Model of a workbook.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainWorkbook {
    pub sheets: Vec<PlainSheet>,
    pub used: BTreeSet<SheetId>,
}

impl PlainWorkbook {
    pub fn new() -> Self {
        let first = PlainSheet::new(0, SheetId::FIRST, "Sheet1".into());
        Self { sheets: vec![first], used: BTreeSet::from([SheetId::FIRST]) }
    }

    pub fn sheet(&mut self, number: SheetId) -> Option<&mut PlainSheet> {
        self.sheets.iter_mut().find(|sheet| sheet.number == number)
    }

    /// Applies an operation whose coordinates refer to the current state.
    pub fn apply(&mut self, operation: &Operation, tag: Tag) {
        match operation {
            Operation::SetCells(set) => self.change_sheet(set.sheet, |sheet| {
                set.cells.iter().for_each(|edit| {
                    let ids =
                        (sheet.rows[edit.row as usize].id, sheet.columns[edit.column as usize].id);
                    sheet.set(ids, edit);
                });
            }),
            Operation::ClearRange(clear) => self.change_sheet(clear.sheet, |sheet| {
                let (rows, columns) =
                    (sheet.rows_of(&clear.rows), sheet.columns_of(&clear.columns));
                sheet.clear(&rows, &columns);
            }),
            Operation::SetFormat(set) => self.change_sheet(set.sheet, |sheet| {
                let (rows, columns) = (sheet.rows_of(&set.rows), sheet.columns_of(&set.columns));
                sheet.format(rows, columns, set);
            }),
            Operation::InsertRows(insert) => {
                self.change_sheet(insert.sheet, |sheet| {
                    sheet.insert(Axis::Rows, insert.before, insert.count, tag);
                });
            }
            Operation::InsertColumns(insert) => {
                self.change_sheet(insert.sheet, |sheet| {
                    sheet.insert(Axis::Columns, insert.before, insert.count, tag);
                });
            }
            Operation::DeleteRows(delete) => self.change_sheet(delete.sheet, |sheet| {
                let rows = sheet.rows_of(&delete.spans);
                sheet.delete(Axis::Rows, &rows);
            }),
            Operation::DeleteColumns(delete) => self.change_sheet(delete.sheet, |sheet| {
                let columns = sheet.columns_of(&delete.spans);
                sheet.delete(Axis::Columns, &columns);
            }),
            Operation::AddSheet(add) => {
                if self.used.insert(add.sheet) {
                    let name = self.free_name(&add.name, None);
                    self.sheets.push(PlainSheet::new(tag, add.sheet, name));
                }
            }
            Operation::RenameSheet(rename) => {
                let name = self.free_name(&rename.name, Some(rename.sheet));
                self.change_sheet(rename.sheet, |sheet| sheet.name = name);
            }
            Operation::DeleteSheet(delete) => {
                if self.sheets.len() > 1 {
                    self.sheets.retain(|sheet| sheet.number != delete.sheet);
                }
            }
            Operation::ImportSheet(import) => self.import(import, tag),
            Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
        }
    }

    /// Adds an imported sheet without its cells.
    fn import(&mut self, import: &ImportSheet, tag: Tag) {
        if !self.used.insert(import.sheet) {
            return;
        }
        let place = self.sheets.iter().position(|sheet| Some(sheet.number) == import.replaces);
        if let Some(place) = place {
            self.sheets.remove(place);
        }
        let name = self.free_name(&import.name, None);
        let sheet = PlainSheet::new(tag, import.sheet, name);
        self.sheets.insert(place.unwrap_or(self.sheets.len()), sheet);
    }

    fn change_sheet(&mut self, number: SheetId, change: impl FnOnce(&mut PlainSheet)) {
        if let Some(sheet) = self.sheet(number) {
            change(sheet);
        }
    }

    fn free_name(&self, name: &str, own: Option<SheetId>) -> String {
        let mut others = self.sheets.iter().filter(|sheet| Some(sheet.number) != own);
        let names: Vec<String> = others.by_ref().map(|sheet| sheet.name.to_lowercase()).collect();
        let mut candidate = name.to_owned();
        let mut number = 2;
        while names.contains(&candidate.to_lowercase()) {
            candidate = format!("{name} ({number})");
            number += 1;
        }
        candidate
    }

    /// Describes the first difference between the model and a workbook, or returns `None` if they
    /// are equal.
    pub fn difference_from(&self, workbook: &Workbook) -> Option<String> {
        let expected: Vec<_> = self.sheets.iter().map(|s| (s.number, s.name.as_str())).collect();
        let actual: Vec<_> = workbook
            .tabs()
            .order()
            .iter()
            .filter_map(|id| Some((*id, workbook.tabs().name(*id)?)))
            .collect();
        if expected != actual {
            return Some(format!("expected sheets {expected:?}, got {actual:?}"));
        }
        self.sheets.iter().find_map(|sheet| {
            let actual = workbook.sheet(sheet.number)?;
            sheet.difference_from(actual).map(|what| format!("{:?}: {what}", sheet.number))
        })
    }
}
