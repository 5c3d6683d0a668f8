//! Tests of the limits of each rule, on both sides.

use super::super::*;
use crate::append::commit::Committer;
use crate::append::request::{BODY_FRAME_BYTES, RequestMutation};
use crate::append::scan::operations_bytes;
use crate::entry::{Mutation, encoded_mutation_bytes};
use crate::testing::support::*;
use crate::testing::world::World;
use crate::viewpoint::Viewpoint;
use cellar_base::identity::ClientName;
use cellar_base::limits::{
    MAX_ENTRY_BODY_BYTES, MAX_MUTATIONS_PER_REQUEST, MAX_REPLY_BYTES, MAX_SPANS, MAX_TEXT_BYTES,
};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{
    ClearRange, DeleteSpans, InsertBefore, Operation, RejectionReason, Revert, SetFormat, SheetId,
    Span, Spans, Undo,
};

const INPUTS: Inputs = Inputs { now_s: 0, random: 0 };

fn asked(operations: Vec<Operation>) -> Request {
    let mutations = (1..).zip(operations);
    let mutations =
        mutations.map(|(id, operation)| NewMutation { id, base: Position::FIRST, operation });
    Request::new(log(), client(1), None, INCARNATION, 0, mutations.collect()).unwrap()
}

#[test]
fn mutations_fill_an_entry_up_to_its_size() {
    let bytes = |operations: &[Operation]| -> usize {
        let mutation = |authored: &Operation| Mutation {
            base: Position::FIRST,
            authored: authored.clone(),
            committed: None,
        };
        let each = operations.iter().map(|o| encoded_mutation_bytes(&mutation(o)).unwrap());
        BODY_FRAME_BYTES + each.sum::<usize>()
    };
    let texts = |last: usize| -> Vec<Operation> {
        let lengths = [MAX_TEXT_BYTES; 4].into_iter().chain([last]);
        (0..).zip(lengths).map(|(row, bytes)| set_text(row, "x".repeat(bytes))).collect()
    };
    let some = MAX_TEXT_BYTES / 2;
    let most = some + MAX_ENTRY_BODY_BYTES - bytes(&texts(some));
    assert_eq!(bytes(&texts(most)), MAX_ENTRY_BODY_BYTES);
    for (last, entries) in [(most, 1), (most + 1, 2)] {
        let mut world = World::new(1);
        world.append(asked(texts(last)), &[]).unwrap();
        assert_eq!(world.puts.len(), entries);
    }
}

#[test]
fn spans_of_ranges_are_limited_on_both_axes() {
    let rows = u32::try_from(MAX_SPANS).unwrap();
    let spans = || {
        let spans = (0..rows).map(|row| Span { first: 3 * row, count: 2 });
        Spans::from_sorted(spans.collect())
    };
    let (sheet, one, format) = (SheetId::FIRST, || Spans::one(0, 1), "0.00".to_owned());
    let in_rows = [
        Operation::ClearRange(ClearRange { sheet, rows: spans(), columns: one() }),
        Operation::SetFormat(SetFormat {
            sheet,
            rows: spans(),
            columns: one(),
            format: format.clone(),
        }),
        Operation::DeleteRows(DeleteSpans { sheet, spans: spans() }),
    ];
    let in_columns = [
        Operation::ClearRange(ClearRange { sheet, rows: one(), columns: spans() }),
        Operation::SetFormat(SetFormat { sheet, rows: one(), columns: spans(), format }),
    ];
    let insert = |before| InsertBefore { sheet, before, count: 1 };
    for (operations, insert_lines) in [
        (&in_rows[..], Operation::InsertRows as fn(InsertBefore) -> Operation),
        (&in_columns[..], Operation::InsertColumns),
    ] {
        for operation in operations {
            // Others insert before all spans, or inside the second to last span.
            for (before, rejected) in [(0, false), (3 * (rows - 2) + 1, true)] {
                let mut world = World::new(1);
                let other = Mutation {
                    base: Position::FIRST,
                    authored: insert_lines(insert(before)),
                    committed: None,
                };
                world.add(edits_of(at(0, 1), 2, vec![other]));
                let appended = world.append(asked(vec![operation.clone()]), &[]).unwrap();
                let reason = appended.results[0].rejection.as_ref().map(|r| r.reason);
                // A format includes rows that are inserted inside one of its spans.
                let expected = rejected && !matches!(operation, Operation::SetFormat(_));
                assert_eq!(reason, expected.then_some(RejectionReason::TooLarge), "{operation:?}");
            }
        }
    }
}

#[test]
fn spans_of_resolved_operations_are_limited() {
    let format = |spans: usize| {
        let spans = (0..u32::try_from(spans).unwrap()).map(|row| Span { first: 2 * row, count: 1 });
        let (rows, columns) = (Spans::from_sorted(spans.collect()), Spans::one(0, 1));
        let (sheet, format) = (SheetId::FIRST, "0.00".to_owned());
        Operation::SetFormat(SetFormat { sheet, rows, columns, format })
    };
    for (spans, reason) in [(MAX_SPANS, None), (MAX_SPANS + 1, Some(RejectionReason::TooLarge))] {
        let undo = asked(vec![Operation::Undo(Undo { position: Position::FIRST })]);
        let resolved = Resolution::new(Position::FIRST, vec![format(spans)]);
        let appended = World::new(1).append(undo.with_resolution(resolved), &[]).unwrap();
        assert_eq!(appended.results[0].rejection.as_ref().map(|r| r.reason), reason);
    }
}

#[test]
fn returns_the_imports_that_are_not_acknowledged() {
    let import = cellar_sheet::operation::random::import_of(Extent { rows: 27, columns: 128 });
    let operations = vec![set_text(0, "x".into()), Operation::ImportSheet(import.clone())];
    let asked = asked(operations);
    let named: Vec<_> = asked.imports().map(|asked| (asked.id, asked.import.clone())).collect();
    assert_eq!(named, [(2, import)]);
    let acknowledged = Request { acknowledged_id: 2, ..asked };
    assert_eq!(acknowledged.imports().count(), 0);
}

#[test]
fn an_undo_that_is_too_large_is_rejected_with_advice() {
    let undo = Operation::Undo(Undo { position: Position::FIRST });
    let operations = (0..6).map(|row| set_text(row, "x".repeat(MAX_TEXT_BYTES))).collect();
    let request = asked(vec![undo]).with_resolution(Resolution::new(Position::FIRST, operations));
    let appended = World::new(1).append(request, &[]).unwrap();
    let rejection = appended.results[0].rejection.clone().unwrap();
    assert!(
        rejection.detail.contains("read the cells at an earlier position"),
        "{}",
        rejection.detail
    );
}

#[test]
fn returns_the_undo_or_revert_to_resolve() {
    let (id, position) = (1, at(0, 3));
    let asked_of = |operation| asked(vec![operation]).resolution_request();
    let resolution = |target| ResolutionRequest { client: client(1), id, base: at(0, 0), target };
    let undo = Operation::Undo(Undo { position });
    assert_eq!(asked_of(undo), Some(resolution(Target::Entry(position))));
    let revert = Operation::Revert(Revert::whole(position));
    assert_eq!(asked_of(revert), Some(resolution(Target::After(Revert::whole(position)))));
    assert_eq!(asked_of(set_text(0, "x".into())), None);
}

#[test]
fn an_upload_may_have_as_many_mutations_as_a_request() {
    let count = u32::try_from(MAX_MUTATIONS_PER_REQUEST).unwrap();
    let upload = uploaded(count, Position::FIRST);
    assert!(Request::of_upload(log(), client(1), None, INCARNATION, 0, 1, upload).is_ok());
}

#[test]
fn a_sync_client_is_refused_if_its_base_was_trimmed() {
    let mut world = World::new(1);
    let content = crate::entry::Content::Snapshot { root: None, trimmed_s: Some(9) };
    world.add(Arc::new(Entry { content, ..(*snapshot_entry(Position::FIRST)).clone() }));
    world.add(end_entry(at(0, 5)));
    world.add(snapshot_entry(at(1, 0)));
    let base = at(0, 3);
    let named =
        request(1, 0, &[7], base).with_client_name(ClientName::new("group", "tab").unwrap());
    assert_eq!(world.append(named, &[]), Err(Refusal::BaseGone { base }));
    assert!(world.append(request(1, 0, &[7], base), &[]).is_ok());
}

#[test]
fn a_gap_in_a_stale_page_is_read_again_consistently() {
    let asked = || request(1, 0, &[1], Position::FIRST);
    let (append, _) = Append::begin(asked(), &[], INPUTS);
    let entries = vec![snapshot_entry(at(0, 0)), edits_entry(at(0, 2), 2, 2)];
    let (append, action) = append.step(AppendEvent::Page { entries, has_more: false }, INPUTS);
    assert_eq!(action, AppendAction::Read { from: at(0, 1), consistency: ReadConsistency::Strong });
    let entries = vec![edits_entry(at(0, 1), 2, 1), edits_entry(at(0, 2), 2, 2)];
    let (_, action) = append.step(AppendEvent::Page { entries, has_more: false }, INPUTS);
    assert!(matches!(action, AppendAction::Put { entry } if entry.position == at(0, 3)));
}

#[test]
fn cached_entries_are_used_up_to_a_gap() {
    let known = [snapshot_entry(at(0, 0)), edits_entry(at(0, 2), 2, 2)];
    let (_, action) = Append::begin(request(1, 0, &[1], Position::FIRST), &known, INPUTS);
    assert_eq!(
        action,
        AppendAction::Read { from: at(0, 1), consistency: ReadConsistency::Eventual }
    );
}

#[test]
fn limits_the_committed_operations_of_a_reply() {
    let operations = vec![set_text(0, "x".into())];
    let room = MAX_REPLY_BYTES - operations_bytes(&operations);
    for (before, fits) in [(room, true), (room + 1, false)] {
        let mut committer =
            Committer::new(Viewpoint::new(client(1)), Position::FIRST, at(0, 1), before);
        let undo = RequestMutation {
            base: Position::FIRST,
            authored: Operation::Undo(Undo { position: Position::FIRST }),
            resolution: Some(Resolution::new(Position::FIRST, operations.clone())),
            origin: None,
        };
        assert_eq!(committer.commit(&undo).rejection().is_none(), fits);
    }
}

/// An inserted row of the author is moved after a later row of others, because its neighbour was
/// deleted. The map in an external entry cannot represent a changed order.
#[test]
fn an_upload_whose_rows_changed_their_order_is_rejected() {
    let sheet = SheetId::FIRST;
    let insert = |before| InsertBefore { sheet, before, count: 1 };
    let delete = || DeleteSpans { sheet, spans: Spans::one(1, 1) };
    let rows = (Operation::InsertRows as fn(_) -> _, Operation::DeleteRows as fn(_) -> _);
    let columns = (Operation::InsertColumns as fn(_) -> _, Operation::DeleteColumns as fn(_) -> _);
    for (insert_lines, delete_lines) in [rows, columns] {
        let of = |authored| vec![Mutation { base: Position::FIRST, authored, committed: None }];
        let mut world = World::new(1);
        world.add(edits_of(at(0, 1), 2, of(insert_lines(insert(2)))));
        let deleted = edits_of(at(0, 2), 3, of(delete_lines(delete())));
        world.add(deleted);
        world.append(asked(vec![insert_lines(insert(1))]), &[]).unwrap();
        let upload = uploaded(2, at(0, 1));
        let upload = Request::of_upload(log(), client(1), None, INCARNATION, 1, 2, upload).unwrap();
        let appended = world.append(upload, &[]).unwrap();
        let reason = appended.results[0].rejection.as_ref().map(|rejection| rejection.reason);
        assert_eq!(reason, Some(RejectionReason::TooFarBehind));
    }
}

/// A pending insert is moved in one step from the base on which it was written. If it were moved
/// from base to base, it could lose the row before which it inserts.
#[test]
fn a_pending_insert_is_moved_in_one_step_from_its_base() {
    let sheet = SheetId::FIRST;
    let insert = |before| Operation::InsertRows(InsertBefore { sheet, before, count: 1 });
    let delete = Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(1, 1) });
    let of = |authored| vec![Mutation { base: Position::FIRST, authored, committed: None }];
    let mut world = World::new(1);
    world.add(edits_of(at(0, 1), 2, of(insert(2))));
    world.add(edits_of(at(0, 2), 3, of(delete)));
    let own = |id, base, before| NewMutation { id, base, operation: insert(before) };
    // The first insert is before row 1, which is deleted. It is committed before row 2 and
    // therefore after the row that another client inserted there. The third insert is before that
    // row.
    let mutations = vec![own(1, at(0, 0), 1), own(2, at(0, 1), 0), own(3, at(0, 2), 2)];
    let request = Request::new(log(), client(1), None, INCARNATION, 0, mutations).unwrap();
    world.append(request, &[]).unwrap();
    let edits = world.entries.values().filter_map(|entry| entry.edits());
    let own = edits.filter(|edits| edits.client == client(1));
    let effective: Vec<_> = own
        .flat_map(|edits| edits.mutations.iter().map(|m| m.committed_operations().to_vec()))
        .collect();
    assert_eq!(effective, [vec![insert(2)], vec![insert(0)], vec![insert(2)]]);
}
