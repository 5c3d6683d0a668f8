//! Tests each invariant on a valid log and on corrupted logs.

use super::*;
use crate::entry::{Content, Edits, Entry, Header, Mutation};
use crate::segment::Segment;
use crate::testing::support::{
    at, client, edits_entry, edits_of, end_entry, set_text, snapshot_entry,
};
use cellar_base::identity::LogId;
use cellar_sheet::operation::{
    AddSheet, ClearRange, DeleteSheet, DeleteSpans, InsertBefore, Operation, Rejection,
    RejectionReason, RenameSheet, SetCells, SetFormat, SheetId, Spans, Undo,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a valid log with two segments: `S E1 E2 X`, `S E3`.
fn valid_log() -> Vec<Arc<Entry>> {
    vec![
        snapshot_entry(at(0, 0)),
        edits_entry(at(0, 1), 1, 1),
        edits_entry(at(0, 2), 1, 2),
        end_entry(at(0, 3)),
        snapshot_entry(at(1, 0)),
        edits_entry(at(1, 1), 1, 3),
    ]
}

fn segments(nums: &[u32]) -> Vec<Segment> {
    let log = LogId::from_uuid(uuid::Uuid::from_bytes([9; 16]));
    let segment = |num| Segment {
        log,
        num,
        created_s: 0,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    };
    nums.iter().copied().map(segment).collect()
}

fn marked(entry: &Arc<Entry>) -> Arc<Entry> {
    let content = Content::Snapshot { root: None, trimmed_s: Some(1) };
    Arc::new(Entry { content, ..Entry::clone(entry) })
}

fn without(index: usize) -> Vec<Arc<Entry>> {
    let mut log = valid_log();
    log.remove(index);
    log
}

fn mutation(id: u64) -> MutationId {
    MutationId { client: client(1), id }
}

/// Returns the valid log after a trim of segment 0.
fn trimmed() -> Vec<Arc<Entry>> {
    let log = valid_log();
    vec![marked(&log[0]), Arc::clone(&log[3]), Arc::clone(&log[4]), Arc::clone(&log[5])]
}

#[test]
fn allows_a_gap_only_in_a_trimmed_segment() {
    assert_eq!(check_no_gap(&valid_log()), Ok(()));
    assert_eq!(check_no_gap(&[]), Ok(()));
    assert_eq!(check_no_gap(&trimmed()), Ok(()));
    for (index, missing) in [(0, at(0, 0)), (1, at(0, 1)), (2, at(0, 2)), (4, at(0, 4))] {
        assert_eq!(check_no_gap(&without(index)), Err(Violation::Gap { at: missing }));
    }
    let mut unmarked = trimmed();
    unmarked[0] = snapshot_entry(at(0, 0));
    assert_eq!(check_no_gap(&unmarked), Err(Violation::Gap { at: at(0, 1) }));
    let doubled = [valid_log(), vec![edits_entry(at(1, 1), 2, 1)]].concat();
    assert_eq!(check_no_gap(&doubled), Err(Violation::Gap { at: at(1, 2) }));
    let skipped = [valid_log(), vec![snapshot_entry(at(3, 0))]].concat();
    assert_eq!(check_no_gap(&skipped), Err(Violation::Gap { at: at(1, 2) }));
}

#[test]
fn segments_are_linked_by_one_end_segment() {
    let both = segments(&[0, 1]);
    assert_eq!(check_links(&valid_log(), &both), Ok(()));
    assert_eq!(check_links(&trimmed(), &both), Ok(()));
    let not_linked = |segment| Err(Violation::NotLinked { segment });
    assert_eq!(check_links(&without(3), &both), not_linked(1), "no End Segment");
    assert_eq!(check_links(&without(4), &both), not_linked(1), "no Snapshot entry");
    assert_eq!(check_links(&valid_log(), &segments(&[0])), not_linked(1), "no record");
    assert_eq!(
        check_links(&valid_log(), &segments(&[0, 1, 2])),
        not_linked(2),
        "a record too many"
    );
    assert_eq!(check_links(&valid_log()[..4], &segments(&[0])), not_linked(1), "no next segment");
    let mut behind = valid_log();
    behind.insert(4, edits_entry(at(0, 4), 2, 1));
    assert_eq!(check_links(&behind, &both), Err(Violation::AfterEnd { at: at(0, 4) }));
    behind[4] = end_entry(at(0, 4));
    assert_eq!(check_links(&behind, &both), Err(Violation::AfterEnd { at: at(0, 4) }));
}

#[test]
fn detects_changes_of_read_entries() {
    let log = valid_log();
    for count in 0..=log.len() {
        assert_eq!(check_prefix(&log[..count], &log), Ok(()));
    }
    assert_eq!(check_prefix(&log, &complete_history(&trimmed(), &log[..4])), Ok(()));
    let changed = |at| Err(Violation::PrefixChanged { at });
    assert_eq!(check_prefix(&log, &log[..5]), changed(at(1, 1)));
    assert_eq!(check_prefix(&log, &complete_history(&trimmed(), &[])), changed(at(0, 1)));
    let mut other = valid_log();
    other[2] = edits_entry(at(0, 2), 2, 1);
    assert_eq!(check_prefix(&log, &other), changed(at(0, 2)));
    assert_eq!(check_prefix(&log[..2], &other), Ok(()));
    let dead = edits_entry(at(0, 2), 2, 1);
    let mut table = trimmed();
    table.insert(1, dead);
    assert_eq!(check_prefix(&log[..3], &complete_history(&table, &log[..4])), changed(at(0, 2)));
}

#[test]
fn detects_a_mutation_that_takes_effect_twice() {
    assert_eq!(check_once(&valid_log()), Ok(()));
    let again = [valid_log(), vec![edits_entry(at(1, 2), 1, 2)]].concat();
    let (first, last) = (at(0, 2), at(1, 2));
    let twice = Err(Violation::Twice { mutation: mutation(2), first, again: last });
    assert_eq!(check_once(&again), twice);
    let table = [trimmed(), vec![edits_entry(at(1, 2), 1, 2)]].concat();
    assert_eq!(
        check_once(&complete_history(&table, &valid_log()[..4])),
        twice,
        "trimmed entries count"
    );
    let other = [valid_log(), vec![edits_entry(at(1, 2), 2, 2)]].concat();
    assert_eq!(check_once(&other), Ok(()), "another client's");
    let refused = [valid_log(), vec![rejected(at(1, 2), 2)]].concat();
    assert_eq!(check_once(&refused), Ok(()), "the second was rejected");
}

fn rejected(position: Position, first_id: u64) -> Arc<Entry> {
    let authored = Operation::Rejected(Rejection::new(RejectionReason::BaseGone, "gone"));
    let mutations = vec![Mutation { base: Position::FIRST, authored, committed: None }];
    let content =
        Content::Edits(Edits { client: client(1), name: None, merged: None, first_id, mutations });
    let entry = Entry::clone(&snapshot_entry(position));
    Arc::new(Entry { header: Header::first(0), content, ..entry })
}

#[test]
fn detects_mutations_out_of_order() {
    assert_eq!(check_order(&valid_log()), Ok(()));
    let out_of_order = |id, at| Err(Violation::OutOfOrder { mutation: mutation(id), at });
    assert_eq!(check_order(&without(1)), out_of_order(2, at(0, 2)));
    let earlier = [valid_log(), vec![edits_entry(at(1, 2), 1, 1)]].concat();
    assert_eq!(check_order(&earlier), out_of_order(1, at(1, 2)));
    let kept = [valid_log(), vec![rejected(at(1, 2), 4), edits_entry(at(1, 3), 1, 5)]].concat();
    assert_eq!(check_order(&kept), Ok(()), "a rejected mutation keeps its id");
}

#[test]
fn detects_lost_mutations() {
    let all = || (1..=3).map(mutation);
    assert_eq!(check_acknowledged(&valid_log(), all()), Ok(()));
    assert_eq!(check_acknowledged(&readable_entries(&trimmed(), &valid_log()[..4]), all()), Ok(()));
    let lost = |id| Err(Violation::Lost { mutation: mutation(id) });
    assert_eq!(check_acknowledged(&readable_entries(&trimmed(), &[]), all()), lost(1));
    assert_eq!(check_acknowledged(&without(2), all()), lost(2));
    let refused = [valid_log(), vec![rejected(at(1, 2), 4)]].concat();
    assert_eq!(check_acknowledged(&refused, [mutation(4)]), lost(4));
}

#[test]
fn a_reader_sees_linked_entries() {
    assert_eq!(readable_entries(&valid_log(), &[]), valid_log());
    assert_eq!(readable_entries(&trimmed(), &valid_log()[..4]), valid_log());
    assert_eq!(readable_entries(&without(2), &[]), valid_log()[..2], "nothing after a gap");
    let mut behind = valid_log();
    behind.insert(4, edits_entry(at(0, 4), 2, 1));
    assert_eq!(readable_entries(&behind, &[]), valid_log(), "nothing after an End Segment");
    let mut dead = trimmed();
    dead.insert(1, edits_entry(at(0, 2), 2, 1));
    assert_eq!(
        readable_entries(&dead, &valid_log()[..4]),
        valid_log(),
        "no entry that was put into a trimmed segment"
    );
}

#[test]
fn attempts_end_at_their_limits() {
    let failed_read = AppendEvent::ReadFailed { temporary: true };
    for (event, limit) in
        [(AppendEvent::PutUnknown, MAX_PUT_ATTEMPTS), (failed_read, MAX_READ_ATTEMPTS)]
    {
        let mut attempts = Attempts::default();
        (0..limit).for_each(|_| attempts.record(&event));
        assert_eq!(attempts.check(), Ok(()));
        attempts.record(&event);
        assert_eq!(attempts.check(), Err(Violation::TooManyAttempts { tried: limit + 1, limit }));
        attempts.record(&AppendEvent::PutAccepted);
        assert_eq!(attempts.check().is_ok(), event == AppendEvent::PutUnknown);
    }
}

#[test]
fn detects_mutations_with_a_wrongly_reported_effect() {
    let log = valid_log();
    let reports = |effect: ReportedEffect| {
        (1..=3).map(move |id| (MutationId { client: client(1), id }, effect))
    };
    assert_eq!(check_effects(&log, &reports(ReportedEffect::Appended).collect()), Ok(()));
    let mutation = MutationId { client: client(1), id: 1 };
    assert_eq!(
        check_effects(&log, &reports(ReportedEffect::NoEffect).collect()),
        Err(Violation::Effect { mutation })
    );
    for operation in without_effect() {
        let edits = edits_of(
            at(0, 1),
            1,
            vec![Mutation { base: Position::FIRST, authored: operation.clone(), committed: None }],
        );
        let log = [snapshot_entry(at(0, 0)), edits];
        let reported = |effect| BTreeMap::from([(mutation, effect)]);
        let lost = Err(Violation::WithoutEffect { mutation });
        assert_eq!(check_effects(&log, &reported(ReportedEffect::Appended)), lost, "{operation:?}");
        assert_eq!(
            check_effects(&log, &reported(ReportedEffect::NoEffect)),
            Ok(()),
            "{operation:?}"
        );
        assert_eq!(check_effects(&log, &BTreeMap::new()), Ok(()), "{operation:?}");
    }
}

/// Returns operations that change nothing in a new spreadsheet.
fn without_effect() -> Vec<Operation> {
    let (sheet, name) = (SheetId(77), "x".to_owned());
    let (rows, columns) = (Spans::one(0, 1), Spans::one(0, 1));
    let insert = InsertBefore { sheet, before: 0, count: 1 };
    let delete = DeleteSpans { sheet, spans: rows.clone() };
    let set = set_text(0, "x".to_owned());
    let cells = if let Operation::SetCells(set) = set { set.cells } else { Vec::new() };
    let format = "0.0".to_owned();
    let clear = ClearRange { sheet, rows: rows.clone(), columns: columns.clone() };
    vec![
        Operation::SetCells(SetCells { sheet, cells }),
        Operation::ClearRange(clear),
        Operation::SetFormat(SetFormat { sheet, rows, columns, format }),
        Operation::InsertRows(insert),
        Operation::InsertColumns(insert),
        Operation::DeleteRows(delete.clone()),
        Operation::DeleteColumns(delete),
        Operation::RenameSheet(RenameSheet { sheet, name: name.clone() }),
        Operation::DeleteSheet(DeleteSheet { sheet }),
        Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST }),
        Operation::AddSheet(AddSheet { sheet: SheetId::FIRST, name, before: None }),
        Operation::Undo(Undo { position: Position::FIRST }),
    ]
}
