//! Tests of references of formulas that follow edits since the base.

use super::super::*;
use super::transform::{asked, edited, external, mutation};
use crate::testing::support::*;
use crate::testing::world::World;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, InsertBefore, Operation, RenameSheet, SetCells, SheetId,
};

fn set_formula(text: &str) -> Operation {
    let (value, formula) = (Some(Value::Empty), Some(text.to_owned()));
    let edit = CellEdit { row: 0, column: 0, value, formula, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

fn rename(name: &str) -> Operation {
    Operation::RenameSheet(RenameSheet { sheet: SheetId(1), name: name.into() })
}

/// Returns a log in which another client has added a sheet, renamed it and inserted a row into it.
fn with_moved_sheet() -> World {
    let mut world = World::new(1);
    let add = AddSheet { sheet: SheetId(1), name: "Data".into(), before: None };
    world.add(edited(at(0, 1), 2, 1, vec![Operation::AddSheet(add)]));
    let insert = InsertBefore { sheet: SheetId(1), before: 0, count: 1 };
    world.add(edited(at(0, 2), 2, 2, vec![rename("Facts"), Operation::InsertRows(insert)]));
    world
}

#[test]
fn references_to_other_sheets_follow_edits_since_the_base() {
    for (base, authored, committed) in [
        (1, "=Data!B3+B3", Some("=Facts!B4+B3")),
        (2, "=Facts!B3", None),
        (1, "=B3", None),
        (1, "=Facts!B3", None),
    ] {
        for warm in [false, true] {
            let mut world = with_moved_sheet();
            let known = if warm { world.all_entries() } else { vec![] };
            let request = asked(vec![mutation(1, at(0, base), set_formula(authored))]);
            let appended = world.append(request, &known).unwrap();
            let expected = committed.map(|text| vec![set_formula(text)]);
            assert_eq!(appended.results[0].committed, expected, "{authored}");
        }
    }
}

#[test]
fn references_to_renamed_own_sheets_have_the_names_that_the_author_has_seen() {
    let mut world = with_moved_sheet();
    let base = at(0, 1);
    let operations = [rename("Mine"), set_formula("=Mine!B3"), set_formula("=Data!B3")];
    let mutations = (1..).zip(operations).map(|(id, op)| mutation(id, base, op)).collect();
    let appended = world.append(asked(mutations), &[]).unwrap();
    assert_eq!(appended.results[1].committed, Some(vec![set_formula("=Mine!B4")]));
    assert_eq!(appended.results[2].committed, None, "the author had renamed the sheet");
}

#[test]
fn an_upload_stores_the_sheets_that_its_formulas_name() {
    let mut world = with_moved_sheet();
    let upload =
        Upload { operations: vec![set_formula("=Data!B3+B3")].into(), ..uploaded(1, at(0, 1)) };
    let request = Request::of_upload(log(), client(1), None, INCARNATION, 0, 1, upload).unwrap();
    world.append(request, &[]).unwrap();
    let external = external(&world).unwrap();
    assert_eq!(external.map.formula_sheets().names().count(), 1);
    let committed = external.committed_operations(&set_formula("=Data!B3+B3"));
    assert_eq!(committed, Some(vec![set_formula("=Facts!B4+B3")]));
}
