//! Tests that a mutation without an effect is never reported as one with an effect.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::entry::{Content, Entry};
use crate::invariants::{MutationId, ReportedEffect, check_effects};
use crate::testing::support::*;
use crate::testing::world::World;
use cellar_base::limits::{MAX_DEFINED_NAMES, MAX_RANGE_FORMATS, MAX_SHEETS};
use cellar_sheet::metadata::StateSummary;
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{
    AddSheet, DeleteSheet, DeleteSpans, Operation, RejectionReason, SetCells, SetFormat, SetName,
    SheetId, Spans,
};

fn on_sheet(number: u32) -> Operation {
    let mut operation = set_text(0, "to a sheet".into());
    if let Operation::SetCells(SetCells { sheet, .. }) = &mut operation {
        *sheet = SheetId(number);
    }
    operation
}

fn delete_sheet(number: u32) -> Operation {
    Operation::DeleteSheet(DeleteSheet { sheet: SheetId(number) })
}

fn add_sheet(number: u32) -> Operation {
    Operation::AddSheet(AddSheet { sheet: SheetId(number), name: "x".into(), before: None })
}

fn asked_by(who: u8, first_id: u64, base: Position, operations: Vec<Operation>) -> Request {
    let mutations = (first_id..).zip(operations);
    let mutations = mutations.map(|(id, operation)| NewMutation { id, base, operation });
    Request::new(log(), client(who), None, INCARNATION, first_id - 1, mutations.collect()).unwrap()
}

/// Returns for each mutation the reason of its rejection, and whether it has no effect.
fn answers(appended: &Appended) -> Vec<(Option<RejectionReason>, bool)> {
    let answer = |result: &MutationResult| {
        (result.rejection.as_ref().map(|rejection| rejection.reason), result.no_effect)
    };
    appended.results.iter().map(answer).collect()
}

const DONE: (Option<RejectionReason>, bool) = (None, false);
const NO_EFFECT: (Option<RejectionReason>, bool) = (None, true);
const NO_SHEET: (Option<RejectionReason>, bool) = (Some(RejectionReason::NoSuchSheet), false);

#[test]
fn edits_of_a_sheet_that_never_existed_are_rejected_also_on_retry() {
    let rows = Spans::one(0, 1);
    let delete = Operation::DeleteRows(DeleteSpans { sheet: SheetId(77), spans: rows });
    let request = asked_by(1, 1, Position::FIRST, vec![on_sheet(77), delete, on_sheet(0)]);
    let mut world = World::new(1);
    for _ in 0..2 {
        let appended = world.append(request.clone(), &[]).unwrap();
        assert_eq!(answers(&appended), [NO_SHEET, NO_SHEET, DONE]);
        let detail = &appended.results[0].rejection.as_ref().unwrap().detail;
        assert_eq!(detail, "sheet 77 does not exist; the sheets are 0");
    }
    assert_eq!((world.puts.len(), world.states_read), (1, 0));
}

#[test]
fn edits_of_a_deleted_sheet_are_rejected_or_have_no_effect() {
    let mut world = World::new(1);
    world.append(asked_by(2, 1, Position::FIRST, vec![add_sheet(1)]), &[]).unwrap();
    world.append(asked_by(2, 2, at(0, 1), vec![delete_sheet(1)]), &[]).unwrap();
    let late = asked_by(1, 1, at(0, 1), vec![on_sheet(1), delete_sheet(1)]);
    for _ in 0..2 {
        assert_eq!(answers(&world.append(late.clone(), &[]).unwrap()), [NO_EFFECT, NO_EFFECT]);
    }
    let later = asked_by(1, 3, at(0, 2), vec![on_sheet(1)]);
    assert_eq!(answers(&world.append(later, &[]).unwrap()), [NO_SHEET]);
}

#[test]
fn sheets_that_cannot_be_added_or_deleted_are_rejected() {
    let most = u32::try_from(MAX_SHEETS).unwrap();
    let mut world = World::new(1);
    let add: Vec<_> = (1..most).map(add_sheet).collect();
    let appended = world.append(asked_by(1, 1, Position::FIRST, add), &[]).unwrap();
    assert!(appended.results.iter().all(|result| result.rejection.is_none()));
    let base = appended.tail;
    let refused = vec![add_sheet(1), add_sheet(most), delete_sheet(3), add_sheet(3)];
    let first_id = u64::from(most);
    let appended = world.append(asked_by(1, first_id, base, refused), &[]).unwrap();
    let reasons = [
        (Some(RejectionReason::TooManySheets), false),
        (Some(RejectionReason::TooManySheets), false),
        DONE,
        (Some(RejectionReason::SheetNumber), false),
    ];
    assert_eq!(answers(&appended), reasons);
    let mut world = World::new(1);
    let appended =
        world.append(asked_by(1, 1, Position::FIRST, vec![delete_sheet(0)]), &[]).unwrap();
    assert_eq!(answers(&appended), [(Some(RejectionReason::LastSheet), false)]);
}

#[test]
fn edits_of_an_own_sheet_that_was_not_added_are_rejected() {
    let mut world = World::new(1);
    let own = vec![add_sheet(200_000), on_sheet(200_000)];
    let appended = world.append(asked_by(1, 1, Position::FIRST, own), &[]).unwrap();
    assert_eq!(answers(&appended), [(Some(RejectionReason::SheetNumber), false), NO_SHEET]);
}

/// Returns a format of a range that overlaps no other range.
fn format(row: u32) -> Operation {
    let (rows, columns) = (Spans::one(row, 1), Spans::one(0, 1));
    let (sheet, format) = (SheetId::FIRST, "0.0".to_owned());
    Operation::SetFormat(SetFormat { sheet, rows, columns, format })
}

#[test]
fn formats_above_the_limit_are_rejected_and_only_then_the_state_is_read() {
    let most = u32::try_from(MAX_RANGE_FORMATS).unwrap();
    let mut world = World::new(1);
    let mut base = Position::FIRST;
    for (batch, first) in (0..).zip((0..most - 1).step_by(1_000)) {
        let formats = (first..(first + 1_000).min(most - 1)).map(format).collect();
        let first_id = u64::from(first) + 1;
        let appended = world.append(asked_by(1, first_id, base, formats), &[]).unwrap();
        assert!(appended.results.iter().all(|result| result.rejection.is_none()));
        // Each format has one span of rows and one span of columns.
        assert_eq!(world.states_read, u32::saturating_sub(batch, 4), "{batch}");
        base = appended.tail;
    }
    let first_id = u64::from(most);
    let last = vec![format(most - 1), format(most), format(7), on_sheet(0)];
    let appended = world.append(asked_by(1, first_id, base, last), &[]).unwrap();
    let too_many = (Some(RejectionReason::TooManyFormats), false);
    assert_eq!(answers(&appended), [DONE, too_many, DONE, DONE]);
}

fn name(number: usize, sheet: u32) -> Operation {
    let sheets = [("Data".to_owned(), SheetId(sheet))].into_iter().collect();
    let formula = Some("=Data!$A$1".to_owned());
    Operation::SetName(SetName { name: format!("n_{number}"), formula, sheets })
}

#[test]
fn names_above_the_limit_are_rejected() {
    let mut world = World::new(1);
    let mut base = Position::FIRST;
    for first in (0..MAX_DEFINED_NAMES).step_by(1_000) {
        let names = (first..(first + 1_000).min(MAX_DEFINED_NAMES)).map(|n| name(n, 0)).collect();
        let first_id = u64::try_from(first).unwrap() + 1;
        let appended = world.append(asked_by(1, first_id, base, names), &[]).unwrap();
        assert!(appended.results.iter().all(|result| result.rejection.is_none()));
        base = appended.tail;
    }
    let read = world.states_read;
    let delete = Operation::SetName(SetName::delete("N_3"));
    let last = vec![name(MAX_DEFINED_NAMES, 0), name(7, 0), delete, name(MAX_DEFINED_NAMES, 0)];
    let first_id = u64::try_from(MAX_DEFINED_NAMES).unwrap() + 1;
    let appended = world.append(asked_by(1, first_id, base, last), &[]).unwrap();
    let too_many = (Some(RejectionReason::TooManyNames), false);
    assert_eq!(answers(&appended), [too_many, DONE, DONE, DONE]);
    assert_eq!(world.states_read, read + 1);
    let detail = &appended.results[0].rejection.as_ref().unwrap().detail;
    assert!(detail.ends_with("delete names that are not used"), "{detail}");
}

#[test]
fn names_of_missing_sheets_are_rejected_unless_the_sheet_was_deleted_after_the_base() {
    let mut world = World::new(1);
    world.append(asked_by(2, 1, Position::FIRST, vec![add_sheet(1)]), &[]).unwrap();
    world.append(asked_by(2, 2, at(0, 1), vec![delete_sheet(1)]), &[]).unwrap();
    let late = asked_by(1, 1, at(0, 1), vec![name(1, 1), name(2, 77)]);
    assert_eq!(answers(&world.append(late, &[]).unwrap()), [DONE, NO_SHEET]);
    let own = vec![add_sheet(200_000), name(3, 200_000)];
    let appended = world.append(asked_by(1, 3, at(0, 2), own), &[]).unwrap();
    assert_eq!(answers(&appended), [(Some(RejectionReason::SheetNumber), false), NO_SHEET]);
}

#[test]
fn reads_the_state_once_after_an_entry_without_a_summary() {
    let mut world = World::new(1);
    let first = (*snapshot_entry(Position::FIRST)).clone();
    let header = crate::entry::Header::of_segment(INCARNATION, None);
    world.entries.insert(Position::FIRST, Arc::new(Entry { header, ..first }));
    let appended = world.append(asked_by(1, 1, Position::FIRST, vec![on_sheet(77)]), &[]).unwrap();
    assert_eq!((answers(&appended), world.states_read), (vec![NO_SHEET], 1));
    let appended = world.append(asked_by(1, 2, at(0, 1), vec![on_sheet(0)]), &[]).unwrap();
    assert_eq!((answers(&appended), world.states_read), (vec![DONE], 1));
}

#[test]
fn uploads_to_missing_or_deleted_sheets_are_reported() {
    let upload = |first_id, base, sheets: &[u32]| {
        let operations = sheets.iter().map(|sheet| on_sheet(*sheet)).collect();
        let upload = Upload { operations, ..uploaded(1, base) };
        Request::of_upload(log(), client(1), None, INCARNATION, first_id - 1, first_id, upload)
            .unwrap()
    };
    let mut world = World::new(1);
    let never = world.append(upload(1, Position::FIRST, &[0, 77]), &[]).unwrap();
    assert_eq!(answers(&never), [NO_SHEET, NO_SHEET]);
    world.append(asked_by(2, 1, Position::FIRST, vec![add_sheet(1)]), &[]).unwrap();
    world.append(asked_by(2, 2, at(0, 2), vec![delete_sheet(1)]), &[]).unwrap();
    let late = upload(3, at(0, 2), &[0, 1]);
    for _ in 0..2 {
        assert_eq!(answers(&world.append(late.clone(), &[]).unwrap()), [DONE, NO_EFFECT]);
    }
    let object = world.entries.values().any(|e| matches!(e.content, Content::External(_)));
    assert!(object);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn appended_mutations_have_an_effect_or_are_reported_without(
        steps in vec((0..3_u8, 0..4_u32, vec(any_operation(), 1..4)), 1..14),
    ) {
        let mut world = World::new(1);
        let mut next_ids = [1_u64; 3];
        let mut answered = BTreeMap::new();
        for (who, behind, operations) in steps {
            let resolved = |operation: &Operation| operation.is_resolved_on_append();
            let operations: Vec<_> = operations.into_iter().filter(|o| !resolved(o)).collect();
            if operations.is_empty() {
                continue;
            }
            let head = u32::try_from(world.entries.len()).unwrap() - 1;
            let (id, base) = (&mut next_ids[usize::from(who)], at(0, head.saturating_sub(behind)));
            let request = asked_by(who, *id, base, operations);
            *id = request.last_id() + 1;
            let first = world.append(request.clone(), &[]).unwrap();
            let again = world.append(request, &[]).unwrap();
            prop_assert_eq!(answers(&first), answers(&again));
            for result in first.results.iter().filter(|result| result.rejection.is_none()) {
                let mutation = MutationId { client: client(who), id: result.id };
                answered.insert(mutation, if result.no_effect { ReportedEffect::NoEffect } else { ReportedEffect::Appended });
            }
        }
        prop_assert_eq!(check_effects(&world.all_entries(), &answered), Ok(()));
        // The summaries in the headers match the states.
        for entry in world.all_entries() {
            let metadata = world.state(entry.position);
            let summary = entry.header.summary.clone().unwrap();
            prop_assert_eq!(&summary.sheets, metadata.tabs.numbers());
            prop_assert!(summary.format_spans >= StateSummary::of(&metadata).format_spans);
        }
    }
}
