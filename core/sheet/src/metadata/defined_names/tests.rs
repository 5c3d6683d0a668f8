use std::collections::BTreeMap;

use super::*;
use crate::metadata::Tabs;
use crate::operation::{DeleteSpans, InsertBefore, RenameSheet};
use cellar_grid::Spans;

const FIRST: SheetId = SheetId::FIRST;

fn definition(name: &str, formula: &str) -> Operation {
    Operation::SetName(SetName::define(name, formula, &Tabs::default()).unwrap())
}

fn texts(names: &DefinedNames, tabs: &Tabs) -> Vec<String> {
    names.iter().map(|name| format!("{}{}", name.name(), name.formula(tabs))).collect()
}

fn after(operations: &[Operation]) -> Vec<String> {
    let (mut names, mut tabs) = (DefinedNames::default(), Tabs::default());
    for operation in operations {
        names.follow(operation, tabs.numbers());
        if let Operation::RenameSheet(RenameSheet { sheet, name }) = operation {
            tabs.rename(*sheet, name);
        }
    }
    texts(&names, &tabs)
}

#[test]
fn the_later_definition_is_kept_whatever_its_case() {
    let tax = definition("TAX", "=0.19");
    assert_eq!(after(&[tax.clone(), definition("tax", "=0.2")]), ["tax=0.2"]);
    let delete = Operation::SetName(SetName::delete("Tax"));
    assert_eq!(after(&[tax.clone(), delete.clone()]), [""; 0]);
    assert_eq!(after(&[delete, definition("b", "=1"), tax]), ["b=1", "TAX=0.19"]);
}

#[test]
fn references_follow_rows_columns_and_names_of_sheets() {
    let define = definition("x", "=SUM(Sheet1!$A$2:$A$10)");
    let insert = |before| Operation::InsertRows(InsertBefore { sheet: FIRST, before, count: 2 });
    let delete = |first, count| {
        let spans = Spans::one(first, count);
        Operation::DeleteRows(DeleteSpans { sheet: FIRST, spans })
    };
    let columns = Operation::InsertColumns(InsertBefore { sheet: FIRST, before: 0, count: 1 });
    let rename = Operation::RenameSheet(RenameSheet { sheet: FIRST, name: "My data".into() });
    let elsewhere = Operation::InsertRows(InsertBefore { sheet: SheetId(1), before: 0, count: 9 });
    let after = |operation| after(&[define.clone(), operation]).remove(0);
    assert_eq!(after(insert(0)), "x=SUM(Sheet1!$A$4:$A$12)");
    assert_eq!(after(insert(5)), "x=SUM(Sheet1!$A$2:$A$12)");
    assert_eq!(after(insert(10)), "x=SUM(Sheet1!$A$2:$A$10)");
    assert_eq!(after(delete(0, 3)), "x=SUM(Sheet1!$A$1:$A$7)");
    assert_eq!(after(delete(1, 9)), "x=SUM(Sheet1!#REF!)");
    assert_eq!(after(columns), "x=SUM(Sheet1!$B$2:$B$10)");
    assert_eq!(after(rename), "x=SUM('My data'!$A$2:$A$10)");
    assert_eq!(after(elsewhere), "x=SUM(Sheet1!$A$2:$A$10)");
}

#[test]
fn a_range_ends_where_the_order_of_its_changes_says() {
    let define = definition("x", "=Sheet1!$A$2:$A$3");
    let insert = Operation::InsertRows(InsertBefore { sheet: FIRST, before: 2, count: 1 });
    let delete = |row| {
        let spans = Spans::one(row, 1);
        Operation::DeleteRows(DeleteSpans { sheet: FIRST, spans })
    };
    assert_eq!(after(&[define.clone(), insert.clone(), delete(3)]), ["x=Sheet1!$A$2:$A$3"]);
    assert_eq!(after(&[define, delete(2), insert]), ["x=Sheet1!$A$2:$A$2"]);
}

#[test]
fn a_deleted_sheet_gives_an_error_value() {
    let names = DefinedNames::from_stored([("x".into(), "=\u{1}9!R0C0\u{2}*2".into())]).unwrap();
    assert_eq!(texts(&names, &Tabs::default()), ["x=#REF!*2"]);
}

#[test]
fn the_number_of_names_is_limited() {
    let mut names = DefinedNames::default();
    let sheets = Tabs::default().numbers().clone();
    let name = |number: usize| format!("name_{number}");
    for number in 0..MAX_DEFINED_NAMES {
        names.follow(&definition(&name(number), "=1"), &sheets);
    }
    assert_eq!(names.len(), MAX_DEFINED_NAMES);
    let one_more = SetName::define("more", "=1", &Tabs::default()).unwrap();
    assert!(!names.has_room_for(&one_more));
    let full = names.clone();
    names.follow(&Operation::SetName(one_more.clone()), &sheets);
    assert_eq!(names, full);
    let again = SetName::define("NAME_7", "=2", &Tabs::default()).unwrap();
    assert!(names.has_room_for(&again) && names.has_room_for(&SetName::delete("more")));
    names.follow(&Operation::SetName(SetName::delete(&name(3))), &sheets);
    assert!(names.has_room_for(&one_more));
}

#[test]
fn the_bytes_of_names_are_limited_by_their_longest_form() {
    let sheets = Tabs::default().numbers().clone();
    let mut names = DefinedNames::default();
    let formula = format!("={}1", "Sheet1!$A$1+".repeat(100));
    let mut number = 0;
    while names
        .has_room_for(&SetName::define(&format!("n{number}_"), &formula, &Tabs::default()).unwrap())
    {
        names.follow(&definition(&format!("n{number}_"), &formula), &sheets);
        number += 1;
    }
    // Use all of the remaining bytes. The frame, the name and the `=` take up 19 of them.
    let rest = MAX_DEFINED_NAMES_BYTES - names.bytes;
    let digits = |bytes: usize| format!("={}", "1".repeat(bytes - 19));
    let define = |bytes: usize| SetName {
        name: "xx".into(),
        formula: Some(digits(bytes)),
        sheets: BTreeMap::new(),
    };
    assert!(names.has_room_for(&define(rest)) && !names.has_room_for(&define(rest + 1)));
    names.follow(&Operation::SetName(define(rest)), &sheets);
    assert_eq!(names.bytes, MAX_DEFINED_NAMES_BYTES);
    // Moving references does not change the counted size, and the stored form stays within it.
    let before = names.bytes;
    let far = InsertBefore { sheet: FIRST, before: 0, count: 1 << 20 };
    (0..1_000).for_each(|_| names.follow(&Operation::InsertRows(far), &sheets));
    let stored: usize =
        names.iter().map(|name| name.name.len() + name.template.encoded().len()).sum();
    assert!(stored <= MAX_DEFINED_NAMES_BYTES, "{stored}");
    let again = DefinedNames::from_stored(stored_parts(&names)).unwrap();
    assert_eq!((again.bytes, again), (before, names));
}

fn stored_parts(names: &DefinedNames) -> Vec<(String, String)> {
    names.iter().map(|name| (name.name.clone(), name.template.encoded().to_owned())).collect()
}

#[test]
fn invalid_stored_names_are_refused() {
    let read = |parts: &[(&str, &str)]| {
        let parts = parts.iter().map(|(name, formula)| ((*name).into(), (*formula).into()));
        DefinedNames::from_stored(parts)
    };
    assert!(read(&[("a", "=1"), ("B", "=\u{1}x\u{2}"), ("d", "=\u{1}0!R0C0\u{2}")]).is_ok());
    for bad in [
        &[("A1", "=1")][..],
        &[("a", "1")],
        &[("a", "=1"), ("A", "=1")],
        &[("b", "=1"), ("a", "=1")],
        &[("a", "=\u{1}R0C0\u{2}")],
        &[("a", "=\u{1}0!r0C0\u{2}")],
        &[("a", "=\u{1}'x'!R0C0\u{2}")],
    ] {
        assert!(read(bad).is_err(), "{bad:?}");
    }
}
