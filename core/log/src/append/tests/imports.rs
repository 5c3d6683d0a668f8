//! Tests of the sheets that formulas of imports name.

use std::collections::BTreeMap;

use super::transform::{asked, edited, mutation};
use crate::testing::support::*;
use crate::testing::world::World;
use cellar_base::limits::{
    IMPORTED_FORMULA_BYTES, MAX_ENTRY_BODY_BYTES, MAX_IMPORT_INDEX_BYTES, SNAPSHOT_OUTSIDE_BYTES,
};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::random::import_of;
use cellar_sheet::operation::{AddSheet, DeleteSheet, ImportSheet, Operation, SheetId, TileIndex};

type Numbers = [(&'static str, u32)];

fn import(sheet: u32, named: &Numbers) -> ImportSheet {
    let sheets = named.iter().map(|(name, number)| ((*name).to_owned(), SheetId(*number)));
    let (sheet, name) = (SheetId(sheet), format!("file {sheet}"));
    let (replaces, formulas, sheets) = (None, Some(1), sheets.collect());
    ImportSheet { sheet, name, replaces, formulas, sheets, ..import_of(Extent::default()) }
}

/// Imports sheets that a client without knowledge of other edits has numbered, and returns them as
/// they were committed.
fn committed(world: &mut World, imports: Vec<ImportSheet>) -> Vec<ImportSheet> {
    let mutations = (1..)
        .zip(imports)
        .map(|(id, import)| mutation(id, at(0, 0), Operation::ImportSheet(import)));
    world.append(asked(mutations.collect()), &[]).unwrap();
    let edits = world.entries.values().filter_map(|entry| entry.edits());
    let own = edits.filter(|edits| edits.client == client(1));
    let operations = own.flat_map(|edits| &edits.mutations).map(|one| one.committed_operations());
    let import = |operations: &[Operation]| match operations {
        [Operation::ImportSheet(import)] => import.clone(),
        other => panic!("{other:?}"),
    };
    operations.map(import).collect()
}

fn numbers(import: &ImportSheet) -> (u32, BTreeMap<&str, u32>) {
    let named = import.sheets.iter().map(|(name, number)| (name.as_str(), number.0));
    (import.sheet.0, named.collect())
}

fn with_other_sheets() -> World {
    let mut world = World::new(1);
    let add = |sheet| {
        let name = format!("other {sheet}");
        Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name, before: None })
    };
    world.add(edited(at(0, 1), 2, 1, vec![add(1), add(2)]));
    world
}

#[test]
fn formulas_name_the_sheets_of_their_file_whatever_others_have_added() {
    let all = [("a", 1), ("b", 2), ("c", 3), ("old", 0)];
    let file = || vec![import(1, &all), import(2, &all), import(3, &[("a", 1)])];
    let mut world = with_other_sheets();
    let expected = BTreeMap::from([("a", 3), ("b", 4), ("c", 5), ("old", 0)]);
    let imports = committed(&mut world, file());
    assert_eq!(numbers(&imports[0]), (3, expected.clone()));
    assert_eq!(numbers(&imports[1]), (4, expected));
    assert_eq!(numbers(&imports[2]), (5, BTreeMap::from([("a", 3)])));
    // Without other edits, nothing changes.
    let mut world = World::new(1);
    assert_eq!(committed(&mut world, file()), file());
    let edits = world.entries.values().filter_map(|entry| entry.edits());
    let mut mutations = edits.flat_map(|edits| &edits.mutations);
    assert!(mutations.all(|mutation| mutation.committed.is_none()));
}

#[test]
fn a_name_of_a_sheet_that_is_not_imported_is_left_out() {
    let mut world = World::new(1);
    let imports = committed(&mut world, vec![import(1, &[("a", 1), ("b", 2)])]);
    assert_eq!(numbers(&imports[0]), (1, BTreeMap::from([("a", 1)])));
    // The last sheet is deleted, so that the import of another sheet is rejected or without effect.
    let delete = Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) });
    let mut world = with_other_sheets();
    world.add(edited(at(0, 2), 2, 3, vec![delete]));
    let imports = committed(&mut world, vec![import(1, &[("old", 0)])]);
    assert_eq!(numbers(&imports[0]), (3, BTreeMap::from([("old", 0)])));
}

#[test]
fn names_of_sheets_in_a_later_entry_are_left_out() {
    let long = TileIndex::new(vec![7; MAX_IMPORT_INDEX_BYTES]).unwrap();
    // The numbers of all sheets are committed again, because others have added sheets.
    let count = u32::try_from(MAX_ENTRY_BODY_BYTES / MAX_IMPORT_INDEX_BYTES / 2).unwrap() + 3;
    let named = [("first", 1), ("second", 2), ("last", count)];
    let with_index = |sheet| ImportSheet { tile_index: long.clone(), ..import(sheet, &named) };
    let mut world = with_other_sheets();
    let imports = committed(&mut world, (1..=count).map(with_index).collect());
    let entries = world.entries.values().filter(|entry| entry.edits().is_some()).count();
    assert!(entries > 2, "{entries}");
    assert_eq!(imports.len(), usize::try_from(count).unwrap());
    assert_eq!(numbers(&imports[0]), (3, BTreeMap::from([("first", 3), ("second", 4)])));
    let last = numbers(&imports[imports.len() - 1]);
    assert_eq!(last.1, BTreeMap::from([("first", 3), ("second", 4), ("last", count + 2)]));
}

#[test]
fn the_header_counts_imported_formulas() {
    let with_formulas = |sheet, formulas| ImportSheet { formulas, ..import(sheet, &[]) };
    for (formulas, expected) in [
        ([Some(4_000), Some(96)], SNAPSHOT_OUTSIDE_BYTES),
        ([Some(4_095), None], SNAPSHOT_OUTSIDE_BYTES - IMPORTED_FORMULA_BYTES),
        ([Some(u64::MAX), Some(u64::MAX)], u64::MAX),
    ] {
        let mut world = World::new(1);
        let [first, second] = formulas;
        committed(&mut world, vec![with_formulas(1, first), with_formulas(2, second)]);
        let (_, newest_entry) = world.entries.last_key_value().unwrap();
        assert_eq!(newest_entry.header.outside_bytes, expected);
    }
}
