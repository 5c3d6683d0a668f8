//! Places of sheets among all other sheets, also among deleted ones.

use std::collections::BTreeMap;

use super::Tabs;
use crate::operation::Operation;
use cellar_base::position::Position;
use cellar_grid::SheetId;

/// The order that the sheets would have if none had been deleted. A deleted sheet comes back at its
/// place in this order.
///
/// A restored sheet has a new number and takes the place of the sheet that it restores. The order of
/// the tabs therefore does not depend on which sheet is restored first.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetPlaces {
    /// Without the deleted sheets, these are the tabs.
    order: Vec<SheetId>,
    tabs: Tabs,
    /// The sheets that got each name, from oldest to newest, and when they got it.
    named: BTreeMap<String, Vec<(Position, SheetId)>>,
}

impl SheetPlaces {
    /// Starts with the tabs at a position. Sheets that were deleted earlier have no place.
    #[must_use]
    pub fn at(position: Position, tabs: &Tabs) -> Self {
        let mut named = BTreeMap::<String, Vec<(Position, SheetId)>>::new();
        for sheet in tabs.order() {
            let name = tabs.name(*sheet).unwrap_or_default().to_owned();
            named.entry(name).or_default().push((position, *sheet));
        }
        Self { order: tabs.order().to_vec(), tabs: tabs.clone(), named }
    }

    /// Returns whether the place of a sheet is known.
    #[must_use]
    pub fn contains(&self, sheet: SheetId) -> bool {
        self.order.contains(&sheet)
    }

    /// Applies the operations that a mutation committed at a position. The sheets that an undo or revert
    /// adds are restored sheets. An imported sheet takes the place of the sheet that it replaces.
    pub fn apply(&mut self, position: Position, authored: &Operation, committed: &[Operation]) {
        for operation in committed {
            let (sheet, place) = match operation {
                Operation::AddSheet(add) => (add.sheet, self.restored_sheet(authored, &add.name)),
                Operation::ImportSheet(import) => (import.sheet, import.replaces),
                Operation::RenameSheet(rename) => (rename.sheet, None),
                _ => {
                    self.tabs.apply(operation);
                    continue;
                }
            };
            let is_new = self.tabs.name(sheet).is_none();
            self.tabs.apply(operation);
            let Some(name) = self.tabs.name(sheet).map(str::to_owned) else { continue };
            self.named.entry(name).or_default().push((position, sheet));
            if is_new {
                self.insert(sheet, place);
            }
        }
    }

    /// Gives a restored sheet the place of the sheet that it restores.
    pub fn restore(&mut self, sheet: SheetId, restored: SheetId) {
        self.order.retain(|other| *other != restored);
        self.insert_before(restored, Some(sheet));
    }

    /// Returns the sheet of `order` before which a sheet belongs: after the nearest of its
    /// predecessors. Returns `None` if it becomes the last sheet.
    #[must_use]
    pub fn next_sheet(&self, sheet: SheetId, order: &[SheetId]) -> Option<SheetId> {
        let predecessors = self.order.iter().take_while(|other| **other != sheet);
        let index = |other: &SheetId| order.iter().position(|existing| existing == other);
        let next_index = predecessors.filter_map(index).last().map_or(0, |index| index + 1);
        order.get(next_index).copied()
    }

    /// Returns the sheet that had a name in the state that an undo or revert restores.
    fn restored_sheet(&self, authored: &Operation, name: &str) -> Option<SheetId> {
        let is_in_restored_state = |(named_at, _): &&(Position, SheetId)| match authored {
            Operation::Undo(undo) => *named_at < undo.position,
            Operation::Revert(revert) => *named_at <= revert.position,
            _ => false,
        };
        let newest_first = self.named.get(name)?.iter().rev();
        newest_first.copied().find(|named| is_in_restored_state(&named)).map(|(_, sheet)| sheet)
    }

    /// Inserts a sheet that the tabs already contain at the place of another one, unless the tabs
    /// have it elsewhere.
    fn insert(&mut self, sheet: SheetId, place: Option<SheetId>) {
        let mut following_tabs = self.tabs.order().iter().skip_while(|other| **other != sheet);
        let next_tab = following_tabs.nth(1).copied();
        self.insert_before(sheet, place.or(next_tab));
        let is_tab = |other: &&SheetId| self.tabs.name(**other).is_some();
        if !self.order.iter().filter(is_tab).eq(self.tabs.order()) {
            self.order.retain(|other| *other != sheet);
            self.insert_before(sheet, next_tab);
        }
    }

    fn insert_before(&mut self, sheet: SheetId, next: Option<SheetId>) {
        let next_index = self.order.iter().position(|other| Some(*other) == next);
        self.order.insert(next_index.unwrap_or(self.order.len()), sheet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{AddSheet, DeleteSheet, ImportSheet, RenameSheet, Revert, Undo};

    fn at(number: u32) -> Position {
        Position::new(0, number).unwrap()
    }

    fn add(sheet: u32, name: &str, before: Option<u32>) -> Operation {
        let (sheet, before) = (SheetId(sheet), before.map(SheetId));
        Operation::AddSheet(AddSheet { sheet, name: name.to_owned(), before })
    }

    fn delete(sheet: u32) -> Operation {
        Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) })
    }

    fn undo(number: u32) -> Operation {
        Operation::Undo(Undo { position: at(number) })
    }

    /// Applies each mutation, from 0.1 on. Operations are committed as they are authored, unless the
    /// mutation is an undo or revert.
    fn places(mutations: &[(Operation, &[Operation])]) -> SheetPlaces {
        let mut places = SheetPlaces::at(Position::FIRST, &Tabs::default());
        for (number, (authored, committed)) in (1..).zip(mutations) {
            let own = std::slice::from_ref(authored);
            let committed = if committed.is_empty() { own } else { *committed };
            places.apply(at(number), authored, committed);
        }
        places
    }

    fn order(places: &SheetPlaces) -> Vec<u32> {
        places.order.iter().map(|sheet| sheet.0).collect()
    }

    #[test]
    fn a_restored_sheet_takes_the_place_of_the_one_that_it_restores() {
        let places = places(&[
            (add(1, "B", None), &[]),
            (add(2, "C", None), &[]),
            (delete(0), &[]),
            (delete(1), &[]),
            (undo(3), &[add(3, "Sheet1", Some(2))]),
        ]);
        assert_eq!(order(&places), [3, 0, 1, 2]);
        assert_eq!(places.next_sheet(SheetId(1), &[SheetId(3), SheetId(2)]), Some(SheetId(2)));
        assert_eq!(places.next_sheet(SheetId(0), &[SheetId(2)]), Some(SheetId(2)));
        assert_eq!(places.next_sheet(SheetId(2), &[SheetId(3)]), None);
        assert!(places.contains(SheetId(1)) && !places.contains(SheetId(4)));
    }

    #[test]
    fn a_restored_sheet_is_found_by_its_name_in_the_restored_state() {
        let rename = |sheet, name: &str| {
            Operation::RenameSheet(RenameSheet { sheet: SheetId(sheet), name: name.to_owned() })
        };
        // Sheets 1 and 3 have both been called B, and sheet 1 later X.
        let edits = [
            (add(1, "B", Some(0)), &[][..]),
            (add(2, "C", None), &[]),
            (rename(1, "X"), &[]),
            (delete(1), &[]),
            (add(3, "B", None), &[]),
            (delete(3), &[]),
        ];
        let after = |authored, name: &str, before| {
            let restored = [add(4, name, before)];
            order(&places(&[&edits[..], &[(authored, &restored)]].concat()))
        };
        assert_eq!(after(undo(6), "B", None), [1, 0, 2, 4, 3]);
        assert_eq!(after(undo(4), "X", Some(0)), [4, 1, 0, 2, 3]);
        assert_eq!(after(Operation::Revert(Revert::whole(at(2))), "B", Some(0)), [4, 1, 0, 2, 3]);
        assert_eq!(after(Operation::Revert(Revert::whole(at(5))), "B", None), [1, 0, 2, 4, 3]);
    }

    #[test]
    fn an_imported_sheet_takes_the_place_of_the_one_that_it_replaces() {
        let import = crate::operation::random::import_of(crate::metadata::Extent::default());
        let import = Operation::ImportSheet(ImportSheet { sheet: SheetId(3), ..import });
        let edits = [
            (add(1, "B", None), &[][..]),
            (add(2, "C", None), &[]),
            (delete(1), &[]),
            (import, &[]),
        ];
        assert_eq!(order(&places(&edits)), [3, 0, 1, 2]);
    }

    #[test]
    fn the_tabs_decide_if_a_sheet_was_restored_elsewhere() {
        let mutations = [
            (add(1, "B", None), &[][..]),
            (delete(0), &[]),
            (undo(2), &[add(2, "Sheet1", None)]),
            (add(3, "C", Some(2)), &[]),
        ];
        assert_eq!(order(&places(&mutations)), [0, 1, 3, 2]);
    }
}
