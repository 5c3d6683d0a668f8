//! Tests that each check finds the violations for which it is meant.

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

/// Creates a log with one edit per entry. Each edit is given by its id and the number of rows that
/// it inserts.
fn log(edits: &[(u64, u32)]) -> Log {
    let edits: Vec<_> = edits.iter().map(|(id, count)| (*id, operation(*count))).collect();
    log_of(&edits)
}

fn log_of(edits: &[(u64, Operation)]) -> Log {
    let first = Content::Snapshot { root: None, trimmed_s: None };
    let edit = |(id, operation): &(u64, Operation)| {
        let authored = operation.clone();
        let mutations = vec![Mutation { base: Position::FIRST, authored, committed: None }];
        Content::Edits(Edits { client: KEY, name: None, merged: None, first_id: *id, mutations })
    };
    let contents = std::iter::once(first).chain(edits.iter().map(edit));
    let entry = |(number, content)| {
        let (position, header) = (at(number), Header::first(0));
        Arc::new(Entry { log: log_id(), position, created_s: 0, author: None, header, content })
    };
    let entries = (0..).zip(contents).map(entry);
    Log { id: log_id(), entries: entries.collect() }
}

/// Creates an author of edits that insert 1, 2, 3, … rows, with the known outcome of each edit.
fn author(known: &[KnownOutcome]) -> Author {
    let intents =
        (1..).zip(known).map(|(n, known)| Intent { operation: operation(n), known: *known });
    let (name, intents) = ("writer".to_owned(), intents.collect());
    Author { name, spreadsheet: log_id(), key: KEY, intents }
}

fn violations(edits: &[(u64, u32)], known: &[KnownOutcome]) -> String {
    let mut found = CheckResults::default();
    found.check(&log(edits), &[author(known)]);
    found.violations.join("\n")
}

fn acknowledged_at(number: u32) -> KnownOutcome {
    KnownOutcome::InTheLog(Some(at(number)))
}

#[test]
fn a_consistent_log_has_no_violations() {
    let known = [
        acknowledged_at(1),
        KnownOutcome::InTheLog(None),
        KnownOutcome::Unanswered,
        KnownOutcome::Unanswered,
    ];
    let mut found = CheckResults::default();
    found.check(&log(&[(1, 1), (2, 2), (3, 3)]), &[author(&known)]);
    assert_eq!(found.violations, [""; 0]);
    assert_eq!((found.entries, found.acknowledged), (4, 2));
    assert_eq!((found.unknown_in_the_log, found.unknown_and_absent), (1, 1));
}

#[test]
fn an_acknowledged_edit_that_is_not_there_is_lost() {
    assert!(
        violations(&[(1, 1)], &[acknowledged_at(1), acknowledged_at(2)])
            .contains("edit 2 was acknowledged and is lost")
    );
    let wrong = violations(&[(1, 1), (2, 2)], &[acknowledged_at(2), KnownOutcome::Unanswered]);
    assert!(wrong.contains("but is at"), "{wrong}");
}

#[test]
fn an_edit_that_was_sent_again_under_a_new_id_is_found() {
    // The first edit succeeded and was sent again as the second edit.
    let wrong = violations(&[(1, 1), (2, 1)], &[acknowledged_at(1), acknowledged_at(2)]);
    assert!(wrong.contains("differs from the edit that was sent"), "{wrong}");
    let wrong = violations(&[(1, 1), (2, 1)], &[acknowledged_at(1)]);
    assert!(wrong.contains("edit 2 was never sent"), "{wrong}");
}

#[test]
fn duplicated_and_reordered_edits_are_found() {
    let wrong = violations(&[(1, 1), (1, 1)], &[acknowledged_at(1)]);
    assert!(wrong.contains("twice"), "{wrong}");
    let wrong = violations(&[(2, 2), (1, 1)], &[acknowledged_at(2), acknowledged_at(1)]);
    assert!(wrong.contains("does not follow"), "{wrong}");
    let mut found = CheckResults::default();
    found.check(&log(&[(1, 1)]), &[]);
    assert!(found.violations.join("").contains("edits of an unknown client"));
}

#[test]
fn a_read_that_differs_from_a_replay_is_found() {
    let mut found = CheckResults::default();
    let cells = vec![((0, 0), cellar_sheet::cell::Cell::default())];
    found.compare("client 1", at(3), &cells, &cells.clone());
    assert_eq!((found.compared, found.violations.len()), (1, 0));
    found.compare("client 1", at(3), &cells, &Cells::new());
    assert!(found.violations.join("").contains("client 1 read cells at"));
}

#[test]
fn a_text_that_occurs_twice_is_found() {
    let set = |text: &str| {
        let value = Some(Value::Text(text.to_owned()));
        let cell = CellEdit { row: 0, column: 0, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
    };
    let log = log_of(&[(1, set("first")), (2, set("first"))]);
    // The client sent the edit again under a second id and counts two edits.
    let known = KnownOutcome::InTheLog(None);
    let intents = vec![Intent { operation: set("first"), known }; 2];
    let author = Author { intents, ..author(&[]) };
    let mut found = CheckResults::default();
    found.check(&log, &[author]);
    assert!(found.violations.join("").contains("\"first\" took effect twice"), "{found:?}");
}
