//! Order and names of the sheets of a workbook.

use std::collections::BTreeMap;

use super::names::Names;
use super::{SheetFault, SheetNumbers, SheetSet};
use crate::operation::{AddSheet, ImportSheet, Operation};
use cellar_formula::reference::SheetNames;
use cellar_grid::{FIRST_SHEET_NAME, SheetId, Spans};

/// Order and names of a workbook's sheets.
#[derive(Debug, Clone, PartialEq)]
pub struct Tabs {
    order: Vec<SheetId>,
    names_by_sheet: BTreeMap<SheetId, String>,
    numbers: SheetSet,
    sheets_by_name: Names,
}

impl Default for Tabs {
    fn default() -> Self {
        let sheet_names = vec![(SheetId::FIRST, FIRST_SHEET_NAME.to_owned())];
        Self::from_parts(sheet_names, SheetNumbers::default())
    }
}

impl SheetNames for Tabs {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.named(name)
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        Self::name(self, sheet)
    }
}

impl Tabs {
    /// Creates tabs in the order of `sheet_names`. If several sheets have the same number or name,
    /// only the first one is kept. `used_numbers` contains the numbers of deleted sheets, and may
    /// also contain existing numbers.
    #[must_use]
    pub fn from_parts(sheet_names: Vec<(SheetId, String)>, used_numbers: SheetNumbers) -> Self {
        let mut tabs = Self {
            order: Vec::new(),
            names_by_sheet: BTreeMap::new(),
            numbers: SheetSet::new(Spans::default(), SheetNumbers::default()),
            sheets_by_name: Names::default(),
        };
        for (sheet, name) in sheet_names {
            let is_duplicate = tabs.name(sheet).is_some() || tabs.named(&name).is_some();
            if !is_duplicate {
                tabs.push(sheet, name);
            }
        }
        let live_numbers = Spans::of(tabs.names_by_sheet.keys().map(|sheet| sheet.0));
        tabs.numbers = SheetSet::new(live_numbers, used_numbers);
        tabs
    }

    /// Returns the sheets in tab order.
    #[must_use]
    pub fn order(&self) -> &[SheetId] {
        &self.order
    }

    /// Returns the numbers of all sheets that ever existed.
    #[must_use]
    pub fn used(&self) -> &SheetNumbers {
        self.numbers.used()
    }

    /// Returns the numbers of the existing sheets and of all sheets that ever existed.
    #[must_use]
    pub fn numbers(&self) -> &SheetSet {
        &self.numbers
    }

    /// Returns the name of a sheet, or `None` if the sheet does not exist.
    #[must_use]
    pub fn name(&self, sheet: SheetId) -> Option<&str> {
        self.names_by_sheet.get(&sheet).map(String::as_str)
    }

    /// Returns the sheet with this name, ignoring case.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SheetId> {
        self.sheets_by_name.get(name)
    }

    /// Returns the number for the next new sheet: one more than the highest number ever used.
    #[must_use]
    pub fn next_sheet(&self) -> SheetId {
        self.used().next()
    }

    /// Returns `name`. A number is appended if a sheet other than `named_sheet` has this name.
    #[must_use]
    pub fn unique_name(&self, name: &str, named_sheet: Option<SheetId>) -> String {
        self.sheets_by_name.unique_name(name, named_sheet)
    }

    /// Adds a sheet before the sheet that `add` names. If it names none or that sheet does not exist,
    /// the new sheet is added after the last sheet.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the sheet cannot be added.
    pub fn add(&mut self, add: &AddSheet) -> Result<(), SheetFault> {
        self.numbers.add(add.sheet)?;
        let name = self.unique_name(&add.name, None);
        let next_index = self.order.iter().position(|sheet| Some(*sheet) == add.before);
        self.insert(next_index.unwrap_or(self.order.len()), add.sheet, name);
        Ok(())
    }

    /// Adds an imported sheet in place of the sheet that it replaces, whose name it may have. If
    /// that sheet does not exist, the imported sheet is added after the last sheet.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the sheet cannot be added.
    pub fn import(&mut self, import: &ImportSheet) -> Result<(), SheetFault> {
        self.numbers.import(import.sheet, import.replaces)?;
        let replaced_index = self.order.iter().position(|sheet| Some(*sheet) == import.replaces);
        let tab_index = replaced_index.unwrap_or(self.order.len());
        if let Some(replaced_sheet) = import.replaces {
            self.remove(replaced_sheet);
        }
        let name = self.unique_name(&import.name, None);
        self.insert(tab_index, import.sheet, name);
        Ok(())
    }

    /// Applies a committed operation. An operation that does not fit changes nothing.
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::AddSheet(add) => self.add(add).unwrap_or_default(),
            Operation::ImportSheet(import) => self.import(import).unwrap_or_default(),
            Operation::DeleteSheet(delete) => self.delete(delete.sheet).unwrap_or_default(),
            Operation::RenameSheet(rename) => self.rename(rename.sheet, &rename.name),
            _ => {}
        }
    }

    fn push(&mut self, sheet: SheetId, name: String) {
        self.insert(self.order.len(), sheet, name);
    }

    fn insert(&mut self, tab_index: usize, sheet: SheetId, name: String) {
        self.sheets_by_name.insert(&name, sheet);
        self.names_by_sheet.insert(sheet, name);
        self.order.insert(tab_index, sheet);
    }

    fn remove(&mut self, sheet: SheetId) {
        if let Some(name) = self.names_by_sheet.remove(&sheet) {
            self.sheets_by_name.remove(&name);
        }
        self.order.retain(|other| *other != sheet);
    }

    /// Renames a sheet if it exists. A number is appended if another sheet has the new name.
    pub fn rename(&mut self, sheet: SheetId, name: &str) {
        let new_name = self.unique_name(name, Some(sheet));
        if let Some(current_name) = self.names_by_sheet.get_mut(&sheet) {
            self.sheets_by_name.remove(current_name);
            self.sheets_by_name.insert(&new_name, sheet);
            *current_name = new_name;
        }
    }

    /// Deletes a sheet.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the sheet does not exist or is the only sheet.
    pub fn delete(&mut self, sheet: SheetId) -> Result<(), SheetFault> {
        self.numbers.delete(sheet)?;
        self.remove(sheet);
        Ok(())
    }
}
