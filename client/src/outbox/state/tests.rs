use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSheet, Rejection, RejectionReason, SetCells, Undo,
};

use super::*;

fn key() -> OutboxKey {
    let spreadsheet = LogId::from_uuid(uuid::Uuid::from_bytes([1; 16]));
    OutboxKey { identity: "http://localhost".into(), spreadsheet }
}

fn at(num: u32) -> Position {
    Position::new(0, num).unwrap()
}

fn set(row: u32) -> EditPayload {
    let value = Some(Value::Bool(true));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    EditPayload::Op(Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] }))
}

fn state() -> OutboxState {
    OutboxState::new(key(), "one".into(), 7, at(3))
}

fn reply(ids: &[u64], head: u32) -> AppendReply {
    let result = |id: &u64| AppendedMutation {
        id: *id,
        status: MutationStatus::Appended,
        position: Some(at(head)),
        rejection: None,
        committed: None,
        no_effect: false,
        reversal: None,
    };
    let results = ids.iter().map(result).collect();
    AppendReply { client_key: None, results, head: at(head), entries: Vec::new(), next: None }
}

fn request(state: &OutboxState) -> AppendRequest {
    match state.next_request() {
        Some(NextRequest::Append(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn undo(num: u32) -> EditPayload {
    EditPayload::Op(Operation::Undo(Undo { position: at(num) }))
}

fn large() -> EditPayload {
    let body = UploadBody {
        sha256: "00".repeat(32),
        bytes: 9,
        description: "9 cells".into(),
        sheet: None,
        grant: None,
        uploaded: false,
        uncertain: false,
    };
    EditPayload::Body(body)
}

#[test]
fn a_request_does_not_change_when_newer_positions_are_seen() {
    let mut state = state();
    state.add_edit(set(0));
    let first = request(&state);
    assert_eq!((first.incarnation, first.acked_id), (7, 0));
    assert_eq!(first.mutations[0].base, at(3));
    assert!(state.record_seen(at(9), 7, None, "two".into()));
    assert!(
        !state.record_seen(at(9), 8, None, "two".into()),
        "a new incarnation waits for pending edits"
    );
    assert_eq!(request(&state), first);
    let json = serde_json::to_string(&state).unwrap();
    let read: OutboxState = serde_json::from_str(&json).unwrap();
    assert_eq!(request(&read), first);
    assert_eq!(read.validate(&key()), Ok(()));
}

#[test]
fn a_reply_settles_edits_and_advances_the_base() {
    let mut state = state();
    state.add_edit(set(0));
    assert_eq!(state.settle_edits(1, &reply(&[2], 4)), Err(IncompleteReply));
    assert_eq!(state.settle_edits(1, &reply(&[], 4)), Err(IncompleteReply));
    assert_eq!(state.settle_edits(1, &reply(&[1, 2], 4)), Err(IncompleteReply));
    let settled = state.settle_edits(1, &reply(&[1], 4)).unwrap();
    assert_eq!((settled.len(), settled[0].answer.position), (1, Some(at(4))));
    assert_eq!(settled[0].description, "A1 = TRUE");
    assert!(state.pending.is_empty());
    state.add_edit(set(1));
    let next = request(&state);
    assert_eq!((next.acked_id, next.mutations[0].id, next.mutations[0].base), (1, 2, at(4)));
    assert_eq!(state.validate(&key()), Ok(()));
}

#[test]
fn undos_and_large_edits_need_their_own_requests() {
    let mut state = state();
    for what in [set(0), set(1), undo(2), set(2), large(), set(3)] {
        state.add_edit(what);
    }
    let mut ids = Vec::new();
    while let Some(next) = state.next_request() {
        let sent: Vec<u64> = match next {
            NextRequest::Append(request) => request.mutations.iter().map(|sent| sent.id).collect(),
            NextRequest::Upload(_) => {
                let completion = state.completion_request().unwrap();
                assert_eq!(
                    (completion.first_id, completion.acked_id, completion.base),
                    (5, 4, at(3))
                );
                vec![completion.first_id]
            }
        };
        state.settle_edits(sent.len(), &reply(&sent, 9)).unwrap();
        assert_eq!(state.validate(&key()), Ok(()));
        ids.push(sent);
    }
    assert_eq!(ids, [vec![1, 2], vec![3], vec![4], vec![5], vec![6]]);
}

#[test]
fn requests_respect_their_limits() {
    let sizes = |what: EditPayload, count: usize| {
        let mut state = state();
        (0..count).for_each(|_| {
            state.add_edit(what.clone());
        });
        request(&state).mutations.len()
    };
    let most = MAX_MUTATIONS_PER_REQUEST;
    assert_eq!((sizes(set(0), most), sizes(set(0), most + 1)), (most, most));
    let value = Some(Value::Text("x".repeat(60_000)));
    let edit = CellEdit { row: 0, column: 0, value, formula: None, format: None };
    let set = SetCells { sheet: SheetId::FIRST, cells: vec![edit] };
    let long = EditPayload::Op(Operation::SetCells(set));
    assert_eq!(sizes(long, 20), 17, "a request has at most 1 MiB");
}

#[test]
fn a_rejected_edit_is_settled_like_any_other() {
    let mut state = state();
    state.add_edit(undo(2));
    let mut rejected = reply(&[1], 4);
    let reason = Rejection::new(RejectionReason::NothingToUndo, "nothing");
    rejected.results[0].status = MutationStatus::Rejected;
    rejected.results[0].rejection = Some(reason.clone());
    let settled = state.settle_edits(1, &rejected).unwrap();
    assert_eq!(settled[0].answer.rejection, Some(reason));
    state.add_edit(set(0));
    assert_eq!((request(&state).acked_id, request(&state).mutations[0].id), (1, 2));
}

#[test]
fn an_upload_is_saved_and_can_be_abandoned() {
    let mut state = state();
    state.add_edit(large());
    let grant = UploadReply {
        upload_id: uuid::Uuid::from_bytes([3; 16]),
        method: "PUT".into(),
        url: "http://h/a".into(),
        headers: std::collections::BTreeMap::new(),
        expires_s: 1,
    };
    state.set_upload_grant(grant.clone());
    state.mark_uploaded();
    let json = serde_json::to_string(&state).unwrap();
    let mut state: OutboxState = serde_json::from_str(&json).unwrap();
    let Some(NextRequest::Upload(body)) = state.next_request() else { panic!("no upload") };
    assert_eq!((body.grant, body.uploaded), (Some(grant), true));
    state.abandon_upload(false);
    assert!(!state.is_uncertain());
    state.abandon_upload(true);
    state.abandon_upload(false);
    let Some(NextRequest::Upload(body)) = state.next_request() else { panic!("no upload") };
    assert_eq!((body.grant, body.uploaded, body.uncertain), (None, false, true));
    assert!(state.is_uncertain());
}

#[test]
fn the_first_sheet_is_known_until_it_may_be_deleted() {
    let fresh = |seen| OutboxState::new(key(), "one".into(), 7, seen);
    assert_eq!(fresh(at(0)).first_sheet, Some(SheetId::FIRST));
    assert_eq!(fresh(at(1)).first_sheet, None);
    let first = Some(SheetId::FIRST);
    let mut state = fresh(at(0));
    assert!(!state.record_seen(at(0), 7, None, "two".into()));
    assert!(state.record_seen(at(2), 7, first, "two".into()) && state.first_sheet == first);
    assert!(!state.record_seen(at(1), 7, Some(SheetId(9)), "two".into()));
    assert!(state.record_seen(at(3), 7, None, "two".into()) && state.first_sheet.is_none());

    let delete = Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST });
    let after = |what: EditPayload, change: &dyn Fn(&mut AppendReply)| {
        let mut state = fresh(at(0));
        state.add_edit(what);
        let mut reply = reply(&[1], 4);
        change(&mut reply);
        state.settle_edits(1, &reply).unwrap();
        state.first_sheet
    };
    assert_eq!(after(set(0), &|_| {}), first);
    assert_eq!(after(EditPayload::Op(delete.clone()), &|_| {}), None);
    assert_eq!(after(undo(1), &|reply| reply.results[0].committed = Some(vec![])), first);
    let committed = Some(vec![delete]);
    assert_eq!(after(undo(1), &|r| r.results[0].committed.clone_from(&committed)), None);
    let lost = |reply: &mut AppendReply| reply.results[0].status = MutationStatus::Duplicate;
    assert_eq!(after(undo(1), &lost), None);
    assert_eq!(after(set(0), &|reply| reply.next = Some(at(2))), None);
}

#[test]
fn the_first_sheet_is_the_only_one_until_another_may_be_added() {
    let fresh = |seen| OutboxState::new(key(), "one".into(), 7, seen);
    assert!(fresh(at(0)).has_one_sheet && !fresh(at(1)).has_one_sheet);
    let mut read = fresh(at(0));
    assert!(read.record_seen(at(2), 7, Some(SheetId::FIRST), "two".into()) && !read.has_one_sheet);
    let add = AddSheet { sheet: SheetId(2), name: "Notes".into(), before: None };
    for (edit, is_known) in [(set(0), true), (EditPayload::Op(Operation::AddSheet(add)), false)] {
        let mut state = fresh(at(0));
        state.add_edit(edit);
        state.settle_edits(1, &reply(&[1], 4)).unwrap();
        assert_eq!(state.has_one_sheet, is_known);
    }
}

#[test]
fn a_withdrawn_edit_leaves_no_gap() {
    let mut state = state();
    state.add_edit(set(0));
    state.remove_newest_edit();
    state.add_edit(set(1));
    assert_eq!(request(&state).mutations[0].id, 1);
    assert_eq!(state.validate(&key()), Ok(()));
}

#[test]
fn start_over_makes_the_same_edits_as_a_new_client() {
    let mut state = state();
    state.add_edit(set(0));
    state.settle_edits(1, &reply(&[1], 4)).unwrap();
    state.add_edit(set(5));
    state.recreate_edits_as_new_client("two".into(), 8, at(1));
    let request = request(&state);
    assert_eq!((request.client_id.as_str(), request.incarnation, request.acked_id), ("two", 8, 0));
    let edit = &request.mutations[0];
    assert_eq!((edit.id, edit.base, EditPayload::Op(edit.op.clone())), (1, at(1), set(5)));
    assert_eq!(state.validate(&key()), Ok(()));
}

#[test]
fn a_new_incarnation_starts_a_new_client_if_no_edits_are_pending() {
    let mut state = state();
    assert!(state.record_seen(at(1), 8, None, "two".into()));
    assert_eq!((state.client_id.as_str(), state.seen), ("two", at(1)));
    assert!(!state.record_seen(at(0), 8, None, "three".into()));
    assert_eq!(state.seen, at(1));
}

#[test]
fn reads_a_state_with_the_old_field_url() {
    let json = serde_json::to_string(&state()).unwrap().replace("\"cloud\"", "\"url\"");
    assert_eq!(serde_json::from_str::<OutboxState>(&json).unwrap(), state());
}

#[test]
fn rejects_inconsistent_states() {
    let mut gap = state();
    gap.add_edit(set(0));
    gap.pending[0].id = 2;
    assert!(gap.validate(&key()).is_err());
    let other = OutboxKey { identity: "http://other".into(), ..key() };
    assert!(state().validate(&other).is_err());
    assert!(OutboxState { version: 2, ..state() }.validate(&key()).is_err());
    assert!(OutboxState { next_id: 9, ..state() }.validate(&key()).is_err());
}

#[test]
fn added_sheets_are_renumbered_after_a_restore() {
    let add = |sheet| {
        let name = "Costs".to_owned();
        EditPayload::Op(Operation::AddSheet(cellar_sheet::operation::AddSheet {
            sheet,
            name,
            before: None,
        }))
    };
    let mut state = state();
    state.add_edit(set(0));
    assert!(!state.adds_a_sheet());
    state.add_edit(add(SheetId(3)));
    state.add_edit(add(SheetId(4)));
    assert!(state.adds_a_sheet());
    state.recreate_edits_as_new_client("two".into(), 8, at(1));
    state.renumber_added_sheets(SheetId(9));
    let request = request(&state);
    let numbers = request.mutations.iter().filter_map(|sent| match &sent.op {
        Operation::AddSheet(add) => Some(add.sheet.0),
        _ => None,
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [9, 10]);
}
