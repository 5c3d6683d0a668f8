//! The tabs of a workbook: its sheets, their order and their names.

use std::collections::BTreeMap;

use super::names::Names;
use super::{SheetNumbers, SheetSet};
use crate::operation::{AddSheet, ImportSheet};
use crate::sheet_id::{FIRST_SHEET_NAME, SheetId};
use crate::spans::Spans;

/// Sheets without content.
#[derive(Debug, Clone, PartialEq)]
pub struct Tabs {
    order: Vec<SheetId>,
    titles: BTreeMap<SheetId, String>,
    numbers: SheetSet,
    names: Names,
}

impl Default for Tabs {
    fn default() -> Self {
        let tabs = vec![(SheetId::FIRST, FIRST_SHEET_NAME.to_owned())];
        Self::from_parts(tabs, SheetNumbers::default())
    }
}

impl Tabs {
    /// Creates tabs from left to right, with every number ever used. If the input is inconsistent,
    /// the numbers of the tabs count as used; of two tabs with the same number or name, the first
    /// is kept.
    #[must_use]
    pub fn from_parts(tabs: Vec<(SheetId, String)>, used: SheetNumbers) -> Self {
        let (order, titles, names) = (Vec::new(), BTreeMap::new(), Names::default());
        let numbers = SheetSet::new(Spans::default(), SheetNumbers::default());
        let mut all = Self { order, titles, numbers, names };
        for (sheet, name) in tabs {
            if !all.titles.contains_key(&sheet) && all.names.get(&name).is_none() {
                all.push(sheet, name);
            }
        }
        let live = Spans::of(all.titles.keys().map(|sheet| sheet.0));
        all.numbers = SheetSet::new(live, used);
        all
    }

    /// Returns the sheets in tab order.
    #[must_use]
    pub fn order(&self) -> &[SheetId] {
        &self.order
    }

    /// Returns every number ever used.
    #[must_use]
    pub fn used(&self) -> &SheetNumbers {
        self.numbers.used()
    }

    /// Returns the numbers of existing and deleted sheets.
    #[must_use]
    pub fn numbers(&self) -> &SheetSet {
        &self.numbers
    }

    /// Returns the name of a sheet, if it exists.
    #[must_use]
    pub fn name(&self, sheet: SheetId) -> Option<&str> {
        self.titles.get(&sheet).map(String::as_str)
    }

    /// Returns the sheet with a name, ignoring case.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SheetId> {
        self.names.get(name)
    }

    /// Returns the number of the next new sheet: above every number ever used.
    #[must_use]
    pub fn next_sheet(&self) -> SheetId {
        self.used().next()
    }

    /// Returns the name, with a number appended if another sheet than `own` has it.
    #[must_use]
    pub fn free_name(&self, name: &str, own: Option<SheetId>) -> String {
        self.names.free(name, own)
    }

    /// Adds a sheet; returns `false` if it cannot be added, as [`SheetSet::add`].
    pub fn add(&mut self, add: &AddSheet) -> bool {
        if self.numbers.add(add.sheet).is_err() {
            return false;
        }
        let name = self.free_name(&add.name, None);
        self.push(add.sheet, name);
        true
    }

    /// Adds an imported sheet at the place of the replaced one, if that exists, and with its name
    /// if they are equal. Returns `false`, without a change, if it cannot be added.
    pub fn import(&mut self, import: &ImportSheet) -> bool {
        if self.numbers.import(import.sheet, import.replaces).is_err() {
            return false;
        }
        let place = self.order.iter().position(|sheet| Some(*sheet) == import.replaces);
        if let Some(replaced) = place.map(|place| self.order.remove(place))
            && let Some(title) = self.titles.remove(&replaced)
        {
            self.names.remove(&title);
        }
        let name = self.free_name(&import.name, None);
        self.push(import.sheet, name);
        if let Some(place) = place {
            self.order.pop();
            self.order.insert(place, import.sheet);
        }
        true
    }

    fn push(&mut self, sheet: SheetId, name: String) {
        self.names.insert(&name, sheet);
        self.titles.insert(sheet, name);
        self.order.push(sheet);
    }

    /// Renames a sheet, if it exists.
    pub fn rename(&mut self, sheet: SheetId, name: &str) {
        let name = self.free_name(name, Some(sheet));
        if let Some(title) = self.titles.get_mut(&sheet) {
            self.names.remove(title);
            self.names.insert(&name, sheet);
            *title = name;
        }
    }

    /// Deletes a sheet; returns `false` if it does not exist or is the last one.
    pub fn delete(&mut self, sheet: SheetId) -> bool {
        if self.numbers.delete(sheet).is_err() {
            return false;
        }
        if let Some(name) = self.titles.remove(&sheet) {
            self.names.remove(&name);
        }
        self.order.retain(|other| *other != sheet);
        true
    }
}
