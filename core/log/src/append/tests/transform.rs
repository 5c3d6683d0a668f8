//! Tests of the transform of a request's mutations past the scanned entries.

use super::super::*;
use crate::entry::{Content, Edits, ExternalEdits, Header, Mutation};
use crate::testing::support::*;
use crate::testing::world::{Fault, World};
use cellar_base::limits::{
    MAX_BASES_PER_ENTRY, MAX_COMMITTED_OPERATIONS, MAX_MOVED_SHEETS, MAX_MUTATIONS_PER_REQUEST,
    MAX_REPLY_BYTES, MAX_SPANS, MAX_TRANSFORM_CHANGES,
};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{
    ClearRange, DeleteSpans, InsertBefore, Operation, RejectionReason, Revert, SheetId, Span,
    Spans, Undo,
};

fn insert(before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 1 })
}

fn delete(spans: Spans) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

/// Returns every second row, from the second row on.
fn every_second(count: usize) -> Spans {
    let rows = (0..u32::try_from(count).unwrap()).map(|row| 2 * row + 1);
    Spans::from_sorted(rows.map(|first| Span { first, count: 1 }).collect())
}

pub(super) fn edited(
    position: Position,
    who: u8,
    first_id: u64,
    operations: Vec<Operation>,
) -> Arc<Entry> {
    let mutation = |authored| Mutation { base: Position::FIRST, authored, committed: None };
    let mutations = operations.into_iter().map(mutation).collect();
    let content = Content::Edits(Edits {
        client: client(who),
        name: None,
        merged: None,
        first_id,
        mutations,
    });
    let header = Header::first(INCARNATION);
    Arc::new(Entry { log: log(), position, created_s: 0, author: None, header, content })
}

pub(super) fn mutation(id: u64, base: Position, operation: Operation) -> NewMutation {
    NewMutation { id, base, operation }
}

pub(super) fn asked(mutations: Vec<NewMutation>) -> Request {
    Request::new(log(), client(1), None, INCARNATION, 0, mutations).unwrap()
}

fn upload(count: u32, base: Position) -> Request {
    Request::of_upload(log(), client(1), None, INCARNATION, 0, 1, uploaded(count, base)).unwrap()
}

/// Returns the mutations of a client in the log.
fn mutations_of(world: &World, who: u8) -> Vec<Mutation> {
    let edits = world.entries.values().filter_map(|entry| entry.edits());
    edits.filter(|edits| edits.client == client(who)).flat_map(|e| e.mutations.clone()).collect()
}

pub(super) fn external(world: &World) -> Option<&ExternalEdits> {
    world.entries.values().find_map(|entry| match &entry.content {
        Content::External(external) => Some(external),
        _ => None,
    })
}

/// Returns a log in which another client has inserted a row before the first row.
fn moved() -> World {
    let mut world = World::new(1);
    world.add(edited(at(0, 1), 2, 1, vec![insert(0)]));
    world
}

#[test]
fn edits_are_transformed_past_cached_read_and_returned_entries() {
    let request = || asked(vec![mutation(1, Position::FIRST, set_text(4, "x".into()))]);
    let expected = |rows| Some(vec![set_text(4 + rows, "x".into())]);
    for warm in [false, true] {
        let mut world = moved();
        let known = if warm { world.all_entries() } else { vec![] };
        let appended = world.append(request(), &known).unwrap();
        assert_eq!(appended.results[0].committed, expected(1));
    }
    // The entries come from refused puts; after three losses, the last entry is read.
    for losses in [1, 3] {
        let mut world = moved();
        let winner = |num| edited(at(0, num), 2, u64::from(num), vec![insert(0)]);
        world.faults.extend((2..2 + losses).map(|num| Fault::LosesTo(winner(num))));
        let appended = world.append(request(), &world.all_entries()).unwrap();
        assert_eq!(appended.results[0].committed, expected(1 + losses));
        assert_eq!(world.reads.is_empty(), losses == 1);
    }
}

#[test]
fn an_edit_is_not_shifted_twice_by_its_own_insert() {
    for split in [false, true] {
        let mut world = moved();
        let first = mutation(1, Position::FIRST, insert(0));
        let second = mutation(2, Position::FIRST, set_text(0, "mine".into()));
        match split {
            false => drop(world.append(asked(vec![first, second]), &[]).unwrap()),
            true => {
                world.append(asked(vec![first.clone()]), &[]).unwrap();
                world.append(asked(vec![first, second]), &[]).unwrap();
            }
        }
        let mine = mutations_of(&world, 1);
        // The author's row follows the other client's row and contains the text.
        assert_eq!(mine[0].committed_operations(), [insert(1)]);
        assert_eq!(mine[1].committed_operations(), [set_text(1, "mine".into())]);
    }
}

#[test]
fn an_edit_is_kept_if_the_own_delete_before_it_has_no_effect() {
    for split in [false, true] {
        let mut world = World::new(1);
        world.add(edited(at(0, 1), 2, 1, vec![delete(Spans::one(2, 1))]));
        let first = mutation(1, Position::FIRST, delete(Spans::one(2, 1)));
        let second = mutation(2, Position::FIRST, set_text(2, "was 3".into()));
        match split {
            false => drop(world.append(asked(vec![first, second]), &[]).unwrap()),
            true => {
                world.append(asked(vec![first.clone()]), &[]).unwrap();
                world.append(asked(vec![first, second]), &[]).unwrap();
            }
        }
        let mine = mutations_of(&world, 1);
        assert_eq!(mine[0].committed_operations(), []);
        assert_eq!(mine[1].committed_operations(), [set_text(2, "was 3".into())]);
    }
}

#[test]
fn an_own_insert_on_a_lower_base_is_read_from_that_base() {
    let mut world = moved();
    world.append(asked(vec![mutation(1, Position::FIRST, insert(0))]), &[]).unwrap();
    // The author has seen the other client's row, but not that its own insert was committed.
    let request = asked(vec![
        mutation(1, Position::FIRST, insert(0)),
        mutation(2, at(0, 1), set_text(1, "mine".into())),
    ]);
    world.reads.clear();
    world.append(request, &[]).unwrap();
    assert_eq!(mutations_of(&world, 1)[1].committed_operations(), [set_text(1, "mine".into())]);

    let alone = || {
        let second = mutation(3, at(0, 1), set_text(1, "mine".into()));
        Request::new(log(), client(1), None, INCARNATION, 2, vec![second]).unwrap()
    };
    let known = world.all_entries();
    for known in [&known[1..], &[]] {
        let mut world = World { entries: world.entries.clone(), ..World::new(1) };
        world.append(alone(), known).unwrap();
        assert_eq!(mutations_of(&world, 1)[2].committed_operations(), [set_text(1, "mine".into())]);
        assert!(
            world.reads.contains(&(Position::FIRST, ReadConsistency::Eventual)),
            "{:?}",
            world.reads
        );
    }
}

#[test]
fn a_chain_of_lower_bases_is_read_in_a_few_steps() {
    let mut world = World::new(1);
    // The author of each mutation has not seen the preceding mutation.
    for id in 1..200_u32 {
        let base = at(0, id.saturating_sub(2));
        let mutation = Mutation { base, authored: insert(0), committed: None };
        let edits = Edits {
            client: client(1),
            name: None,
            merged: None,
            first_id: u64::from(id),
            mutations: vec![mutation],
        };
        let entry = edited(at(0, id), 1, 1, vec![insert(0)]);
        world.add(Arc::new(Entry { content: Content::Edits(edits), ..(*entry).clone() }));
    }
    let last = mutation(200, at(0, 198), set_text(0, "x".into()));
    let request = Request::new(log(), client(1), None, INCARNATION, 199, vec![last]).unwrap();
    world.append(request, &[]).unwrap();
    // With two entries per page, the number of reads is linear in the length of the log.
    assert!(world.reads.len() < 300, "{}", world.reads.len());
}

/// Returns a log whose first segment was trimmed.
fn trimmed() -> World {
    let mut world = World::new(1);
    let content = Content::Snapshot { root: None, trimmed_s: Some(9) };
    let first = Entry { content, ..(*snapshot_entry(Position::FIRST)).clone() };
    world.add(Arc::new(first));
    world.add(end_entry(at(0, 5)));
    world.add(snapshot_entry(at(1, 0)));
    world.add(edits_entry(at(1, 1), 2, 1));
    world
}

#[test]
fn mutations_on_a_trimmed_base_are_rejected_and_keep_their_ids() {
    for base in [Position::FIRST, at(0, 3)] {
        let mut world = trimmed();
        let insert = mutation(7, base, insert(3));
        let fresh = mutation(8, at(1, 1), set_text(0, "x".into()));
        let appended = world.append(asked(vec![insert, fresh]), &[]).unwrap();
        let rejections: Vec<_> =
            appended.results.iter().map(|r| r.rejection.as_ref().map(|r| r.reason)).collect();
        // The second mutation was written on top of the first, which cannot be transformed.
        assert_eq!(rejections, [Some(RejectionReason::BaseGone); 2], "{base}");
        assert!(appended.results.iter().all(|r| r.position == Some(at(1, 2))));
        let next = mutation(9, at(1, 2), set_text(0, "y".into()));
        let next = Request::new(log(), client(1), None, INCARNATION, 8, vec![next]).unwrap();
        let appended = world.append(next, &[]).unwrap();
        assert_eq!(
            (appended.results[0].position, &appended.results[0].rejection),
            (Some(at(1, 3)), &None)
        );
    }
    let mut world = trimmed();
    let unknown = asked(vec![mutation(1, at(1, 7), set_text(0, "x".into()))]);
    assert_eq!(world.append(unknown, &[]), Err(Refusal::UnknownBase { base: at(1, 7) }));
}

#[test]
fn an_upload_is_one_entry_with_the_map_to_its_position() {
    let mut world = moved();
    let appended = world.append(upload(3, Position::FIRST), &[]).unwrap();
    let stored = external(&world).unwrap();
    assert_eq!((stored.first_id, stored.last_id()), (1, 3));
    let committed = stored.committed_operations(&set_text(4, "x".into()));
    assert_eq!(committed, Some(vec![set_text(5, "x".into())]));
    assert!(appended.results.iter().all(|r| r.position == Some(at(0, 2)) && !r.duplicate));
    let again = world.append(upload(3, Position::FIRST), &[]).unwrap();
    assert!(again.results.iter().all(|r| r.position == Some(at(0, 2)) && r.duplicate));
    let more = world.append(upload(4, Position::FIRST), &[]);
    assert_eq!(more, Err(Refusal::Overlap { last_id: 3 }));
    assert_eq!(world.entries.len(), 3);
}

#[test]
fn an_upload_too_far_behind_is_rejected_completely() {
    for (sheets, fits) in [(MAX_MOVED_SHEETS, true), (MAX_MOVED_SHEETS + 1, false)] {
        let mut world = World::new(1);
        let insert = |sheet| InsertBefore { sheet: SheetId(sheet), before: 0, count: 1 };
        let inserts = (1..=u32::try_from(sheets).unwrap()).map(insert);
        world.add(edited(at(0, 1), 2, 1, inserts.map(Operation::InsertRows).collect()));
        let appended = world.append(upload(2, Position::FIRST), &[]).unwrap();
        assert_eq!(external(&world).is_some(), fits);
        let rejected = appended.results.iter().filter(|result| result.rejection.is_some()).count();
        assert_eq!(rejected, if fits { 0 } else { 2 });
    }
    let count = u32::try_from(MAX_MUTATIONS_PER_REQUEST).unwrap() + 1;
    let upload = uploaded(count, Position::FIRST);
    let many = Request::of_upload(log(), client(1), None, INCARNATION, 0, 1, upload);
    assert_eq!(many, Err(InvalidRequest::TooManyMutations { count: count as usize }));
}

#[test]
fn limits_the_bases_of_an_entry() {
    for (bases, entries) in [(MAX_BASES_PER_ENTRY, 1), (MAX_BASES_PER_ENTRY + 1, 2)] {
        let mut world = World::new(40);
        let mutations = (1..=bases as u64)
            .map(|id| mutation(id, at(0, u32::try_from(id).unwrap()), set_text(0, "x".into())));
        world.append(asked(mutations.collect()), &[]).unwrap();
        assert_eq!(world.puts.len(), entries);
    }
}

#[test]
fn limits_the_changes_since_a_base() {
    for (more, rejected) in [(0, false), (1, true)] {
        let mut world = World::new(1);
        let mut inserts = vec![insert(9); MAX_TRANSFORM_CHANGES - 10 + more];
        // Each span of the delete counts.
        inserts.push(delete(every_second(10)));
        world.add(edited(at(0, 1), 2, 1, inserts));
        let request = asked(vec![mutation(1, Position::FIRST, set_text(0, "x".into()))]);
        let appended = world.append(request, &[]).unwrap();
        let reason = appended.results[0].rejection.as_ref().map(|rejection| rejection.reason);
        assert_eq!(reason, rejected.then_some(RejectionReason::TooFarBehind));
    }
}

#[test]
fn a_delete_with_too_many_spans_is_rejected_and_later_edits_stay_correct() {
    let rows = u32::try_from(MAX_SPANS).unwrap();
    // Others insert inside spans, which splits each of these spans.
    for (others, rejected) in [(0, false), (1, true)] {
        let mut world = World::new(1);
        world.add(edited(at(0, 1), 2, 1, vec![insert(3 * (rows - 1) + 1); others]));
        let spans = (0..rows).map(|row| Span { first: 3 * row, count: 2 }).collect();
        let delete = mutation(1, Position::FIRST, delete(Spans::from_sorted(spans)));
        let set = mutation(2, Position::FIRST, set_text(1, "was 5".into()));
        let appended = world.append(asked(vec![delete, set]), &[]).unwrap();
        let reason = appended.results[0].rejection.as_ref().map(|rejection| rejection.reason);
        assert_eq!(reason, rejected.then_some(RejectionReason::TooLarge));
        let row = if rejected { 5 } else { 1 };
        assert_eq!(
            mutations_of(&world, 1)[1].committed_operations(),
            [set_text(row, "was 5".into())]
        );
        // An edit in a later request is also correct.
        let later = mutation(3, Position::FIRST, set_text(1, "was 5".into()));
        let later = Request::new(log(), client(1), None, INCARNATION, 2, vec![later]).unwrap();
        world.append(later, &[]).unwrap();
        assert_eq!(
            mutations_of(&world, 1)[2].committed_operations(),
            [set_text(row, "was 5".into())]
        );
    }
}

#[test]
fn invalid_mutations_do_not_stop_their_neighbours() {
    let mut world = World::new(1);
    let none = Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before: 0, count: 0 });
    let operations = [set_text(0, "a".into()), none, set_text(1, "b".into())];
    let mutations = (1..).zip(operations);
    let mutations = mutations.map(|(id, o)| mutation(id, Position::FIRST, o)).collect();
    let appended = world.append(asked(mutations), &[]).unwrap();
    let reasons: Vec<_> =
        appended.results.iter().map(|r| r.rejection.as_ref().map(|r| r.reason)).collect();
    assert_eq!(reasons, [None, Some(RejectionReason::Invalid), None]);
    assert_eq!(world.puts.len(), 1);
    let effective: Vec<_> =
        mutations_of(&world, 1).iter().map(|m| m.committed_operations().to_vec()).collect();
    assert_eq!(effective[2], [set_text(1, "b".into())]);
}

#[test]
fn an_undo_is_put_only_directly_after_its_resolved_state() {
    let operation = Operation::Undo(Undo { position: Position::FIRST });
    let asked =
        || asked(vec![NewMutation { id: 1, base: Position::FIRST, operation: operation.clone() }]);
    let operations = vec![insert(4), set_text(5, "x".into())];
    let resolved = |at| asked().with_resolution(Resolution::new(at, operations.clone()));
    for warm in [false, true] {
        let mut world = moved();
        let known = if warm { world.all_entries() } else { vec![] };
        let newest = at(0, 1);
        let stale = world.append(resolved(Position::FIRST), &known);
        assert_eq!(stale, Err(Refusal::StaleResolution { newest }));
        // Another client wins the race for the key.
        world.faults.push_back(Fault::LosesTo(edited(at(0, 2), 3, 1, vec![insert(0)])));
        let stale = world.append(resolved(newest), &known);
        assert_eq!(stale, Err(Refusal::StaleResolution { newest: at(0, 2) }));
        let appended = world.append(resolved(at(0, 2)), &known).unwrap();
        assert_eq!(appended.results[0].committed, Some(operations.clone()));
        // A retry finds the committed undo, even with another resolution.
        let again = world.append(resolved(Position::FIRST), &[]).unwrap();
        assert!(again.results[0].duplicate);
        assert_eq!(world.entries.len(), 4);
    }
}

#[test]
fn an_undo_without_operations_is_rejected_and_stored() {
    let undo = Operation::Undo(Undo { position: Position::FIRST });
    let asked = || asked(vec![mutation(1, Position::FIRST, undo.clone())]);
    let nothing = Resolution::new(Position::FIRST, vec![]);
    let reason = Rejection::new(RejectionReason::ChangedSince, "it was changed");
    let with_reason = Resolution { rejection: Some(reason), ..nothing.clone() };
    for (request, reason) in [
        (asked(), RejectionReason::TooLarge),
        (asked().with_resolution(nothing), RejectionReason::NothingToUndo),
        (asked().with_resolution(with_reason), RejectionReason::ChangedSince),
    ] {
        let mut world = World::new(1);
        let appended = world.append(request, &[]).unwrap();
        let rejection = appended.results[0].rejection.clone().unwrap();
        assert_eq!(rejection.reason, reason);
        assert_eq!(mutations_of(&world, 1)[0].authored, undo);
    }
}

#[test]
fn a_revert_is_rejected_with_a_reason() {
    let revert = Operation::Revert(Revert::whole(Position::FIRST));
    let asked = || asked(vec![mutation(1, Position::FIRST, revert.clone())]);
    let nothing = Resolution::new(Position::FIRST, vec![]);
    let parts = vec![set_text(0, "a".into()); MAX_COMMITTED_OPERATIONS + 1];
    let many = Resolution::new(Position::FIRST, parts.clone());
    for (request, reason, detail) in [
        (asked(), RejectionReason::TooLarge, "fork the spreadsheet at 0.0"),
        (
            asked().with_resolution(nothing),
            RejectionReason::NothingToRevert,
            "position 0.0 does not exist",
        ),
        (asked().with_resolution(many), RejectionReason::TooLarge, "fork the spreadsheet at 0.0"),
    ] {
        let mut world = World::new(1);
        let appended = world.append(request, &[]).unwrap();
        let rejection = appended.results[0].rejection.clone().unwrap();
        assert_eq!(rejection.reason, reason);
        assert!(rejection.detail.contains(detail), "{}", rejection.detail);
        assert_eq!(mutations_of(&world, 1)[0].authored, revert);
    }
    let operations = parts[1..].to_vec();
    let most = asked().with_resolution(Resolution::new(Position::FIRST, operations.clone()));
    let appended = World::new(1).append(most, &[]).unwrap();
    assert_eq!(appended.results[0].committed, Some(operations));
}

#[test]
fn an_undo_or_revert_must_be_the_only_mutation() {
    let undo = Operation::Undo(Undo { position: Position::FIRST });
    let revert = Operation::Revert(Revert::whole(Position::FIRST));
    let set = set_text(0, "a".into());
    let pairs = [
        [undo.clone(), set.clone()],
        [set.clone(), undo],
        [revert.clone(), set.clone()],
        [set, revert],
    ];
    for operations in pairs {
        let mutations = (1..).zip(operations).map(|(id, o)| mutation(id, Position::FIRST, o));
        let request = Request::new(log(), client(1), None, INCARNATION, 0, mutations.collect());
        assert_eq!(request, Err(InvalidRequest::ResolutionNotAlone));
    }
}

#[test]
fn limits_the_committed_operations_of_a_request() {
    let mut world = World::new(1);
    // Others insert a row after each row that the client saw.
    let inserts = (0..2_000).map(|row| insert(2 * row + 1));
    world.add(edited(at(0, 1), 2, 1, inserts.collect()));
    let clear = Operation::ClearRange(ClearRange {
        sheet: SheetId::FIRST,
        rows: Spans::all(Axis::Rows),
        columns: Spans::all(Axis::Columns),
    });
    let count = 100;
    let clears = (1..=count).map(|id| mutation(id, Position::FIRST, clear.clone()));
    let appended = world.append(asked(clears.collect()), &[]).unwrap();
    let reply: usize = appended
        .results
        .iter()
        .filter_map(|result| result.committed.as_ref())
        .map(|operations| serde_json::to_string(operations).unwrap().len())
        .sum();
    assert!(reply > MAX_REPLY_BYTES / 4 && reply <= MAX_REPLY_BYTES, "{reply}");
    let refused = appended.results.iter().filter(|result| result.rejection.is_some()).count();
    assert!(refused > 0 && refused < appended.results.len(), "{refused}");
    assert_eq!(
        world.mutation_ids_of(1),
        (1..=count).collect::<Vec<_>>(),
        "rejected mutations keep their ids"
    );
}

/// A row that the author inserted is moved below a row that others inserted below it, because its
/// neighbour was deleted.
#[test]
fn cells_that_changed_their_order_are_stored_in_order() {
    let mut world = World::new(1);
    world.add(edited(at(0, 1), 2, 1, vec![insert(2)]));
    world.add(edited(at(0, 2), 2, 2, vec![delete(Spans::one(1, 1))]));
    let Operation::SetCells(mut both) = set_text(1, "own".into()) else { panic!() };
    let Operation::SetCells(other) = set_text(3, "others'".into()) else { panic!() };
    both.cells.extend(other.cells);
    let mutations = vec![
        mutation(1, Position::FIRST, insert(1)),
        mutation(2, at(0, 1), Operation::SetCells(both)),
    ];
    world.append(asked(mutations), &[]).unwrap();
    let entry = world.entries.values().last().unwrap();
    let stored = crate::records::entry::encode(entry).unwrap();
    assert_eq!(&crate::records::entry::decode(&stored).unwrap(), &**entry);
    let mutations = mutations_of(&world, 1);
    let [Operation::SetCells(set)] = mutations[1].committed_operations() else { panic!() };
    let rows: Vec<_> = set.cells.iter().map(|edit| (edit.row, edit.value.clone())).collect();
    let text = |text: &str| Some(cellar_sheet::cell::Value::Text(text.into()));
    assert_eq!(rows, [(1, text("others'")), (2, text("own"))]);
}
