//! A plain workbook for tests: per axis a list of ids, everything else keyed by ids.
//!
//! Slow and simple on purpose, and built differently from [`crate::workbook`]: what both say of the
//! same operations is likely to be true. An inserted line's id is the tag of the mutation that
//! inserted it and its number there, so that it is the same line wherever it is committed.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::new_without_default,
    reason = "for tests alone, whose numbers are small"
)]

mod compare;
pub mod intent;
mod sheet;

pub use compare::{looks_different, looks_different_by_name, wrong_diff};

use std::collections::BTreeSet;

pub use sheet::{LINES, LineId, PlainSheet};

use crate::operation::{ImportSheet, Operation, SheetId};
use crate::workbook::Workbook;

/// What a mutation is known by; 0 is the beginning.
pub type Tag = u32;

/// A workbook of plain lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    pub sheets: Vec<PlainSheet>,
    pub used: BTreeSet<SheetId>,
}

impl Plain {
    pub fn new() -> Self {
        let first = PlainSheet::new(0, SheetId::FIRST, "Sheet1".into());
        Self { sheets: vec![first], used: BTreeSet::from([SheetId::FIRST]) }
    }

    pub fn sheet(&mut self, number: SheetId) -> Option<&mut PlainSheet> {
        self.sheets.iter_mut().find(|sheet| sheet.number == number)
    }

    /// Applies an operation in this state's coordinates.
    pub fn apply(&mut self, operation: &Operation, tag: Tag) {
        match operation {
            Operation::SetCells(set) => self.on(set.sheet, |sheet| {
                set.cells.iter().for_each(|edit| {
                    let ids =
                        (sheet.rows[edit.row as usize].id, sheet.columns[edit.column as usize].id);
                    sheet.set(ids, edit);
                });
            }),
            Operation::ClearRange(clear) => self.on(clear.sheet, |sheet| {
                let (rows, columns) =
                    (sheet.rows_of(&clear.rows), sheet.columns_of(&clear.columns));
                sheet.clear(&rows, &columns);
            }),
            Operation::SetFormat(set) => self.on(set.sheet, |sheet| {
                let (rows, columns) = (sheet.rows_of(&set.rows), sheet.columns_of(&set.columns));
                sheet.format(rows, columns, set);
            }),
            Operation::InsertRows(i) => {
                self.on(i.sheet, |s| s.insert(true, i.before, i.count, tag));
            }
            Operation::InsertColumns(i) => {
                self.on(i.sheet, |s| s.insert(false, i.before, i.count, tag));
            }
            Operation::DeleteRows(delete) => self.on(delete.sheet, |sheet| {
                let rows = sheet.rows_of(&delete.spans);
                sheet.delete(true, &rows);
            }),
            Operation::DeleteColumns(delete) => self.on(delete.sheet, |sheet| {
                let columns = sheet.columns_of(&delete.spans);
                sheet.delete(false, &columns);
            }),
            Operation::AddSheet(add) => {
                if self.used.insert(add.sheet) {
                    let name = self.free_name(&add.name, None);
                    self.sheets.push(PlainSheet::new(tag, add.sheet, name));
                }
            }
            Operation::RenameSheet(rename) => {
                let name = self.free_name(&rename.name, Some(rename.sheet));
                self.on(rename.sheet, |sheet| sheet.name = name);
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

    /// Without cells: whoever tests those, sets them.
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

    fn on(&mut self, number: SheetId, change: impl FnOnce(&mut PlainSheet)) {
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

    /// What is different in the workbook, if anything is.
    pub fn differs(&self, workbook: &Workbook) -> Option<String> {
        let plain: Vec<_> = self.sheets.iter().map(|s| (s.number, s.name.as_str())).collect();
        let real: Vec<_> = workbook
            .tabs()
            .order()
            .iter()
            .filter_map(|id| Some((*id, workbook.tabs().name(*id)?)))
            .collect();
        if plain != real {
            return Some(format!("sheets {plain:?}, not {real:?}"));
        }
        self.sheets.iter().find_map(|sheet| {
            let real = workbook.sheet(sheet.number)?;
            sheet.differs(real).map(|what| format!("{:?}: {what}", sheet.number))
        })
    }
}
