//! The tabs of a workbook: which sheets there are, in which order, and what they are called.

use std::collections::BTreeMap;

use super::names::Names;
use super::{SheetNumbers, SheetSet};
use crate::operation::{AddSheet, FIRST_SHEET_NAME, ImportSheet, SheetId, Spans};

/// The sheets that there are, without what they hold.
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
    /// Tabs from left to right, with every number that was ever used: as many as there are, and
    /// those of the tabs. Of two with one number or name, the first.
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

    /// The sheets in the order of their tabs.
    #[must_use]
    pub fn order(&self) -> &[SheetId] {
        &self.order
    }

    /// Every number that a sheet ever had.
    #[must_use]
    pub fn used(&self) -> &SheetNumbers {
        self.numbers.used()
    }

    /// The numbers of the existing and of the deleted sheets.
    #[must_use]
    pub fn numbers(&self) -> &SheetSet {
        &self.numbers
    }

    /// The name of a sheet, if it exists.
    #[must_use]
    pub fn name(&self, sheet: SheetId) -> Option<&str> {
        self.titles.get(&sheet).map(String::as_str)
    }

    /// The sheet with a name, whatever the case of its letters.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SheetId> {
        self.names.get(name)
    }

    /// The number that a new sheet would get: above every one that was ever used.
    #[must_use]
    pub fn next_sheet(&self) -> SheetId {
        self.used().next()
    }

    /// The name, or with a number behind it if another sheet than `own` has it.
    #[must_use]
    pub fn free_name(&self, name: &str, own: Option<SheetId>) -> String {
        self.names.free(name, own)
    }

    /// Adds a sheet; false if it cannot be added. A number is used once: a sheet that was there
    /// before is not touched. A workbook has at most `MAX_SHEETS` sheets, and nobody uses up the
    /// numbers by a leap.
    pub fn add(&mut self, add: &AddSheet) -> bool {
        if self.numbers.add(add.sheet).is_err() {
            return false;
        }
        let name = self.free_name(&add.name, None);
        self.push(add.sheet, name);
        true
    }

    /// Adds an imported sheet, in the place and, if it has the same, with the name of the one that it
    /// replaces, if that exists; false, as [`Tabs::add`], if it cannot be added: then nothing changes.
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

    /// Gives a sheet another name, if it exists.
    pub fn rename(&mut self, sheet: SheetId, name: &str) {
        let name = self.free_name(name, Some(sheet));
        if let Some(title) = self.titles.get_mut(&sheet) {
            self.names.remove(title);
            self.names.insert(&name, sheet);
            *title = name;
        }
    }

    /// Takes a sheet out; false if it does not exist or is the last, which stays.
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
