//! Each check finds what it is for.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry, Header, Mutation};
use cellar_sheet::operation::{CellEdit, InsertBefore, Operation, SetCells, SheetId};

use super::*;
use crate::client::Intent;

const KEY: ClientKey = ClientKey([7; 8]);

fn operation(count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before: 0, count })
}

fn at(number: u32) -> Position {
    Position::new(0, number).unwrap()
}

fn log_id() -> LogId {
    LogId::from_uuid(uuid::Uuid::nil())
}

/// A log whose entries each have one edit: its id, and what it does.
fn log(edits: &[(u64, u32)]) -> Log {
    let edits: Vec<_> = edits.iter().map(|(id, count)| (*id, operation(*count))).collect();
    log_of(&edits)
}

fn log_of(edits: &[(u64, Operation)]) -> Log {
    let first = Content::Snapshot { root: None, trimmed_s: None };
    let edit = |(id, operation): &(u64, Operation)| {
        let authored = operation.clone();
        let mutations = vec![Mutation { base: Position::FIRST, authored, committed: None }];
        Content::Edits(Edits { client: KEY, name: None, first_id: *id, mutations })
    };
    let contents = std::iter::once(first).chain(edits.iter().map(edit));
    let entry = |(number, content)| {
        let (position, header) = (at(number), Header::first(0));
        Arc::new(Entry { log: log_id(), position, created_s: 0, author: None, header, content })
    };
    let entries = (0..).zip(contents).map(entry);
    Log { id: log_id(), entries: entries.collect() }
}

/// An author of edits that do 1, 2, 3, …, and what it was told of each.
fn author(known: &[Known]) -> Author {
    let intents =
        (1..).zip(known).map(|(n, known)| Intent { operation: operation(n), known: *known });
    let (name, intents) = ("writer".to_owned(), intents.collect());
    Author { name, spreadsheet: log_id(), key: KEY, intents }
}

fn violations(edits: &[(u64, u32)], known: &[Known]) -> String {
    let mut found = Found::default();
    found.check(&log(edits), &[author(known)]);
    found.violations.join("\n")
}

fn told(number: u32) -> Known {
    Known::InTheLog(Some(at(number)))
}

#[test]
fn what_is_as_it_was_said_is_well() {
    let known = [told(1), Known::InTheLog(None), Known::Nothing, Known::Nothing];
    let mut found = Found::default();
    found.check(&log(&[(1, 1), (2, 2), (3, 3)]), &[author(&known)]);
    assert_eq!(found.violations, [""; 0]);
    assert_eq!((found.entries, found.acknowledged), (4, 2));
    assert_eq!((found.unknown_in_the_log, found.unknown_and_absent), (1, 1));
}

#[test]
fn an_acknowledged_edit_that_is_not_there_is_lost() {
    assert!(
        violations(&[(1, 1)], &[told(1), told(2)]).contains("edit 2 was acknowledged and is lost")
    );
    let wrong = violations(&[(1, 1), (2, 2)], &[told(2), Known::Nothing]);
    assert!(wrong.contains("was said to be at"), "{wrong}");
}

#[test]
fn an_edit_under_a_new_number_is_another_than_was_made() {
    // The first edit got through, and was sent again as the second.
    let wrong = violations(&[(1, 1), (2, 1)], &[told(1), told(2)]);
    assert!(wrong.contains("as edit 2, is another than was made"), "{wrong}");
    let wrong = violations(&[(1, 1), (2, 1)], &[told(1)]);
    assert!(wrong.contains("edit 2 was never made"), "{wrong}");
}

#[test]
fn what_is_there_twice_or_out_of_order_is_found() {
    let wrong = violations(&[(1, 1), (1, 1)], &[told(1)]);
    assert!(wrong.contains("twice"), "{wrong}");
    let wrong = violations(&[(2, 2), (1, 1)], &[told(2), told(1)]);
    assert!(wrong.contains("does not follow"), "{wrong}");
    let mut found = Found::default();
    found.check(&log(&[(1, 1)]), &[]);
    assert!(found.violations.join("").contains("edits of nobody"));
}

#[test]
fn a_read_that_is_no_replay_is_found() {
    let mut found = Found::default();
    let cells = vec![((0, 0), cellar_sheet::cell::Cell::default())];
    found.compare("client 1", at(3), &cells, &cells.clone());
    assert_eq!((found.compared, found.violations.len()), (1, 0));
    found.compare("client 1", at(3), &cells, &Cells::new());
    assert!(found.violations.join("").contains("client 1 reads at"));
}

#[test]
fn a_text_that_is_there_twice_took_effect_twice() {
    let set = |text: &str| {
        let value = Some(Value::Text(text.to_owned()));
        let cell = CellEdit { row: 0, column: 0, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
    };
    let log = log_of(&[(1, set("first")), (2, set("first"))]);
    // Its client numbered it anew, and believes that it made two.
    let known = Known::InTheLog(None);
    let intents = vec![Intent { operation: set("first"), known }; 2];
    let author = Author { intents, ..author(&[]) };
    let mut found = Found::default();
    found.check(&log, &[author]);
    assert!(found.violations.join("").contains("\"first\" took effect twice"), "{found:?}");
}
