//! What an editor keeps on disk, and its transitions.

use cellar_core::api::{
    AppendReply, AppendRequest, AppendedMutation, CompleteRequest, EntryView, MutationStatus,
    MutationView, SentMutation, UploadReply,
};
use cellar_core::identity::LogId;
use cellar_core::limits::{MAX_MUTATIONS_PER_REQUEST, MAX_REQUEST_BYTES};
use cellar_core::operation::{Operation, SheetId};
use cellar_core::position::Position;
use serde::{Deserialize, Serialize};

use super::pending::{Body, Pending, What};

/// The version of the file that is written and read.
const STATE_VERSION: u32 = 1;
/// Bytes of a request around its mutations.
const REQUEST_FRAME_BYTES: usize = 4 * 1024;

/// One client's numbering in one spreadsheet, and its edits on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditorState {
    version: u32,
    /// Which cloud: [`crate::Client::identity`]. Older files call it `url`.
    #[serde(alias = "url")]
    cloud: String,
    spreadsheet: LogId,
    /// The client's name: random, so that no two installations share a numbering.
    client: String,
    /// The epoch that `seen` and the bases are of.
    epoch: u32,
    /// The id of the next edit.
    next_id: u64,
    /// The last id known to be in the log.
    ack: u64,
    /// The highest position seen: the base of the next edit.
    pub(super) seen: Position,
    /// The first sheet at `seen`, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) first_sheet: Option<SheetId>,
    /// Edits that were saved and perhaps sent, with consecutive ids from `ack + 1`.
    pub(super) pending: Vec<Pending>,
}

/// The next request that pending edits need.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Next {
    /// Edits that go together.
    Append(AppendRequest),
    /// A large edit.
    Upload(Body),
}

/// An edit that has its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settled {
    pub(super) description: String,
    pub(super) answer: AppendedMutation,
}

impl EditorState {
    /// A client that has not made an edit.
    pub(super) fn fresh(
        (cloud, spreadsheet): (String, LogId),
        client: String,
        epoch: u32,
        seen: Position,
    ) -> Self {
        Self {
            version: STATE_VERSION,
            cloud,
            spreadsheet,
            client,
            epoch,
            next_id: 1,
            ack: 0,
            seen,
            // Nobody can have deleted it before the first entry.
            first_sheet: (seen == Position::FIRST).then_some(SheetId::FIRST),
            pending: Vec::new(),
        }
    }

    /// What is wrong with a state that was read, if anything is.
    pub(super) fn fault(&self, key: &(String, LogId)) -> Option<&'static str> {
        if self.version != STATE_VERSION {
            return Some("another version of cellar wrote it");
        }
        if (&self.cloud, self.spreadsheet) != (&key.0, key.1) {
            return Some("it is about another spreadsheet");
        }
        let ids = (self.ack.saturating_add(1)..).zip(&self.pending);
        let numbered = ids.clone().all(|(id, edit)| edit.id == id);
        let pending = u64::try_from(self.pending.len()).unwrap_or(u64::MAX);
        if !numbered || self.next_id != self.ack.saturating_add(pending).saturating_add(1) {
            return Some("its edits are not numbered without gaps");
        }
        None
    }

    /// Adds an edit: its id and its base never change from here on.
    pub(super) fn author(&mut self, what: What) {
        self.pending.push(Pending { id: self.next_id, base: self.seen, what });
        self.next_id = self.next_id.saturating_add(1);
    }

    /// The next request, the same whenever it is sent; `None` if no edit is pending.
    pub(super) fn next_request(&self) -> Option<Next> {
        let first = self.pending.first()?;
        if let Some(body) = first.body() {
            return Some(Next::Upload(body.clone()));
        }
        let together = if first.what.goes_alone() { 1 } else { MAX_MUTATIONS_PER_REQUEST };
        let (mut mutations, mut bytes) = (Vec::<SentMutation>::new(), REQUEST_FRAME_BYTES);
        for edit in self.pending.iter().take(together) {
            let Some(sent) = edit.sent() else { break };
            // Plain data always encodes.
            bytes = bytes.saturating_add(serde_json::to_vec(&sent).map_or(0, |json| json.len()));
            let full = bytes > MAX_REQUEST_BYTES || edit.what.goes_alone();
            if full && !mutations.is_empty() {
                break;
            }
            mutations.push(sent);
        }
        let (client, epoch, ack) = (self.client.clone(), self.epoch, self.ack);
        Some(Next::Append(AppendRequest { client, epoch, ack, mutations }))
    }

    /// What makes an uploaded object the entry of the first pending edit.
    pub(super) fn completion(&self) -> Option<CompleteRequest> {
        let first = self.pending.first()?;
        let body = first.body()?;
        Some(CompleteRequest {
            client: self.client.clone(),
            epoch: self.epoch,
            ack: self.ack,
            first: first.id,
            base: first.base,
            bytes: body.bytes,
            sha256: body.sha256.clone(),
        })
    }

    /// Takes note of how the first pending edit may be uploaded.
    pub(super) fn granted(&mut self, grant: UploadReply) {
        self.change_upload(|body| body.grant = Some(grant));
    }

    /// Takes note that the store has the object of the first pending edit.
    pub(super) fn uploaded(&mut self) {
        self.change_upload(|body| body.uploaded = true);
    }

    /// Gives up an upload: the object is not there, and its URL has been used or has ended.
    pub(super) fn forget_upload(&mut self, uncertain: bool) {
        self.change_upload(|body| {
            (body.grant, body.uploaded) = (None, false);
            body.uncertain |= uncertain;
        });
    }

    fn change_upload(&mut self, change: impl FnOnce(&mut Body)) {
        if let Some(Pending { what: What::Body(body), .. }) = self.pending.first_mut() {
            change(body);
        }
    }

    /// Whether a pending edit may have got through by an upload that was given up.
    pub(super) fn is_uncertain(&self) -> bool {
        self.bodies().any(|body| body.uncertain)
    }

    /// The objects of the pending edits.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.pending.iter().filter_map(Pending::body)
    }

    /// Takes the answer to the next request: everything that was sent is in the log, perhaps as
    /// rejected. `None` if the answer is not about these edits.
    pub(super) fn acknowledge(&mut self, sent: usize, reply: &AppendReply) -> Option<Vec<Settled>> {
        let ids = self.pending.iter().take(sent).map(|edit| edit.id);
        if reply.results.len() != sent || !ids.eq(reply.results.iter().map(|result| result.id)) {
            return None;
        }
        self.ack = reply.results.last()?.id;
        let settled: Vec<Pending> = self.pending.drain(..sent).collect();
        let settled = settled.into_iter().zip(&reply.results);
        if settled.clone().any(|(edit, answer)| may_delete_a_sheet(&edit.what, answer))
            || reply.next.is_some()
            || reply.entries.iter().any(deletes_a_sheet)
        {
            self.first_sheet = None;
        }
        self.seen = self.seen.max(reply.head);
        let settle = |(edit, answer): (Pending, &AppendedMutation)| Settled {
            description: edit.what.describe(),
            answer: answer.clone(),
        };
        Some(settled.map(settle).collect())
    }

    /// Takes back the newest edit, which is certainly not in the log: its id is free again.
    pub(super) fn withdraw_newest(&mut self) {
        if let Some(edit) = self.pending.pop() {
            self.next_id = edit.id;
        }
    }

    /// Becomes a new client that makes the pending edits again, on a new base. Only for edits
    /// that are certainly not in the log.
    pub(super) fn start_over(&mut self, client: String, epoch: u32, seen: Position) {
        let edits = std::mem::take(&mut self.pending);
        let key = (std::mem::take(&mut self.cloud), self.spreadsheet);
        *self = Self::fresh(key, client, epoch, seen);
        for edit in edits {
            self.author(edit.what);
        }
    }

    /// Takes note of a position that was seen, and of its first sheet if that is known; says
    /// whether that changed anything. A new epoch begins a new client, unless edits of the old
    /// one are still on their way.
    pub(super) fn saw(
        &mut self,
        position: Position,
        epoch: u32,
        first_sheet: Option<SheetId>,
        new_client: String,
    ) -> bool {
        if epoch != self.epoch {
            if !self.pending.is_empty() {
                return false;
            }
            self.start_over(new_client, epoch, position);
            self.first_sheet = first_sheet.or(self.first_sheet);
            return true;
        }
        let before = (self.seen, self.first_sheet);
        if position > self.seen {
            (self.seen, self.first_sheet) = (position, first_sheet);
        } else if position == self.seen {
            self.first_sheet = first_sheet.or(self.first_sheet);
        }
        before != (self.seen, self.first_sheet)
    }

    /// The pending edits, for a person: `B2 = "new", 3 cells A1:C1`.
    pub(super) fn describe_pending(&self) -> String {
        let edits: Vec<String> = self.pending.iter().map(|edit| edit.what.describe()).collect();
        edits.join(", ")
    }
}

fn deletes_a_sheet(entry: &EntryView) -> bool {
    entry.mutations.iter().flat_map(MutationView::effective).any(is_delete_sheet)
}

fn is_delete_sheet(operation: &Operation) -> bool {
    matches!(operation, Operation::DeleteSheet(_))
}

/// Whether an edit of ours may have deleted a sheet, as far as its answer tells.
fn may_delete_a_sheet(what: &What, answer: &AppendedMutation) -> bool {
    match (what, &answer.committed, answer.status) {
        (_, Some(committed), _) => committed.iter().any(is_delete_sheet),
        // What it was committed as was in the answer that was lost.
        (What::Op(Operation::Undo(_)), None, MutationStatus::Duplicate) => true,
        (What::Op(operation), None, _) => is_delete_sheet(operation),
        (What::Body(_), None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use cellar_core::cell::Value;
    use cellar_core::operation::{
        CellEdit, DeleteSheet, Rejection, RejectionReason, SetCells, Undo,
    };

    use super::*;

    fn key() -> (String, LogId) {
        ("http://localhost".into(), LogId::from_uuid(uuid::Uuid::from_bytes([1; 16])))
    }

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn set(row: u32) -> What {
        let value = Some(Value::Bool(true));
        let edit = CellEdit { row, column: 0, value, formula: None, format: None };
        What::Op(Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] }))
    }

    fn state() -> EditorState {
        EditorState::fresh(key(), "one".into(), 7, at(3))
    }

    fn reply(ids: &[u64], head: u32) -> AppendReply {
        let result = |id: &u64| AppendedMutation {
            id: *id,
            status: MutationStatus::Appended,
            position: Some(at(head)),
            rejection: None,
            committed: None,
        };
        let results = ids.iter().map(result).collect();
        AppendReply { results, head: at(head), entries: Vec::new(), next: None }
    }

    fn request(state: &EditorState) -> AppendRequest {
        match state.next_request() {
            Some(Next::Append(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    fn undo(num: u32) -> What {
        What::Op(Operation::Undo(Undo { position: at(num) }))
    }

    fn large() -> What {
        let body = Body {
            sha256: "00".repeat(32),
            bytes: 9,
            description: "9 cells".into(),
            grant: None,
            uploaded: false,
            uncertain: false,
        };
        What::Body(body)
    }

    #[test]
    fn an_edit_is_sent_the_same_whatever_is_seen_meanwhile() {
        let mut state = state();
        state.author(set(0));
        let first = request(&state);
        assert_eq!((first.epoch, first.ack), (7, 0));
        assert_eq!(first.mutations[0].base, at(3));
        assert!(state.saw(at(9), 7, None, "two".into()));
        assert!(!state.saw(at(9), 8, None, "two".into()), "a new epoch waits for pending edits");
        assert_eq!(request(&state), first);
        let json = serde_json::to_string(&state).unwrap();
        let read: EditorState = serde_json::from_str(&json).unwrap();
        assert_eq!(request(&read), first);
        assert_eq!(read.fault(&key()), None);
    }

    #[test]
    fn an_answer_drops_what_is_in_the_log_and_moves_the_base() {
        let mut state = state();
        state.author(set(0));
        assert_eq!(state.acknowledge(1, &reply(&[2], 4)), None);
        assert_eq!(state.acknowledge(1, &reply(&[], 4)), None);
        assert_eq!(state.acknowledge(1, &reply(&[1, 2], 4)), None);
        let settled = state.acknowledge(1, &reply(&[1], 4)).unwrap();
        assert_eq!((settled.len(), settled[0].answer.position), (1, Some(at(4))));
        assert_eq!(settled[0].description, "A1 = TRUE");
        assert!(state.pending.is_empty());
        state.author(set(1));
        let next = request(&state);
        assert_eq!((next.ack, next.mutations[0].id, next.mutations[0].base), (1, 2, at(4)));
        assert_eq!(state.fault(&key()), None);
    }

    #[test]
    fn an_undo_and_a_large_edit_go_alone_and_the_numbering_goes_on() {
        let mut state = state();
        for what in [set(0), set(1), undo(2), set(2), large(), set(3)] {
            state.author(what);
        }
        let mut ids = Vec::new();
        while let Some(next) = state.next_request() {
            let sent: Vec<u64> = match next {
                Next::Append(request) => request.mutations.iter().map(|sent| sent.id).collect(),
                Next::Upload(_) => {
                    let completion = state.completion().unwrap();
                    assert_eq!((completion.first, completion.ack, completion.base), (5, 4, at(3)));
                    vec![completion.first]
                }
            };
            state.acknowledge(sent.len(), &reply(&sent, 9)).unwrap();
            assert_eq!(state.fault(&key()), None);
            ids.push(sent);
        }
        assert_eq!(ids, [vec![1, 2], vec![3], vec![4], vec![5], vec![6]]);
    }

    #[test]
    fn requests_end_at_their_limits() {
        let sizes = |what: What, count: usize| {
            let mut state = state();
            (0..count).for_each(|_| state.author(what.clone()));
            request(&state).mutations.len()
        };
        let most = MAX_MUTATIONS_PER_REQUEST;
        assert_eq!((sizes(set(0), most), sizes(set(0), most + 1)), (most, most));
        let value = Some(Value::Text("x".repeat(60_000)));
        let edit = CellEdit { row: 0, column: 0, value, formula: None, format: None };
        let set = SetCells { sheet: SheetId::FIRST, cells: vec![edit] };
        let long = What::Op(Operation::SetCells(set));
        assert_eq!(sizes(long, 20), 17, "a request has 1 MiB");
    }

    #[test]
    fn a_rejected_edit_is_settled_like_any_other() {
        let mut state = state();
        state.author(undo(2));
        let mut rejected = reply(&[1], 4);
        let reason = Rejection::new(RejectionReason::NothingToUndo, "nothing");
        rejected.results[0].status = MutationStatus::Rejected;
        rejected.results[0].rejection = Some(reason.clone());
        let settled = state.acknowledge(1, &rejected).unwrap();
        assert_eq!(settled[0].answer.rejection, Some(reason));
        state.author(set(0));
        assert_eq!((request(&state).ack, request(&state).mutations[0].id), (1, 2));
    }

    #[test]
    fn an_upload_is_remembered_and_given_up() {
        let mut state = state();
        state.author(large());
        let grant = UploadReply {
            upload: uuid::Uuid::from_bytes([3; 16]),
            method: "PUT".into(),
            url: "http://h/a".into(),
            headers: std::collections::BTreeMap::new(),
            expires: 1,
        };
        state.granted(grant.clone());
        state.uploaded();
        let json = serde_json::to_string(&state).unwrap();
        let mut state: EditorState = serde_json::from_str(&json).unwrap();
        let Some(Next::Upload(body)) = state.next_request() else { panic!("no upload") };
        assert_eq!((body.grant, body.uploaded), (Some(grant), true));
        state.forget_upload(false);
        assert!(!state.is_uncertain());
        state.forget_upload(true);
        state.forget_upload(false);
        let Some(Next::Upload(body)) = state.next_request() else { panic!("no upload") };
        assert_eq!((body.grant, body.uploaded, body.uncertain), (None, false, true));
        assert!(state.is_uncertain());
    }

    #[test]
    fn the_first_sheet_is_known_until_somebody_may_have_deleted_it() {
        let fresh = |seen| EditorState::fresh(key(), "one".into(), 7, seen);
        assert_eq!(fresh(at(0)).first_sheet, Some(SheetId::FIRST));
        assert_eq!(fresh(at(1)).first_sheet, None);
        let first = Some(SheetId::FIRST);
        let mut state = fresh(at(0));
        assert!(!state.saw(at(0), 7, None, "two".into()));
        assert!(state.saw(at(2), 7, first, "two".into()) && state.first_sheet == first);
        assert!(!state.saw(at(1), 7, Some(SheetId(9)), "two".into()));
        assert!(state.saw(at(3), 7, None, "two".into()) && state.first_sheet.is_none());

        let delete = Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST });
        let after = |what: What, change: &dyn Fn(&mut AppendReply)| {
            let mut state = fresh(at(0));
            state.author(what);
            let mut reply = reply(&[1], 4);
            change(&mut reply);
            state.acknowledge(1, &reply).unwrap();
            state.first_sheet
        };
        assert_eq!(after(set(0), &|_| {}), first);
        assert_eq!(after(What::Op(delete.clone()), &|_| {}), None);
        assert_eq!(after(undo(1), &|reply| reply.results[0].committed = Some(vec![])), first);
        let committed = Some(vec![delete]);
        assert_eq!(after(undo(1), &|r| r.results[0].committed.clone_from(&committed)), None);
        let lost = |reply: &mut AppendReply| reply.results[0].status = MutationStatus::Duplicate;
        assert_eq!(after(undo(1), &lost), None);
        assert_eq!(after(set(0), &|reply| reply.next = Some(at(2))), None);
    }

    #[test]
    fn a_withdrawn_edit_leaves_no_gap() {
        let mut state = state();
        state.author(set(0));
        state.withdraw_newest();
        state.author(set(1));
        assert_eq!(request(&state).mutations[0].id, 1);
        assert_eq!(state.fault(&key()), None);
    }

    #[test]
    fn starting_over_makes_the_same_edits_as_a_new_client() {
        let mut state = state();
        state.author(set(0));
        state.acknowledge(1, &reply(&[1], 4)).unwrap();
        state.author(set(5));
        state.start_over("two".into(), 8, at(1));
        let request = request(&state);
        assert_eq!((request.client.as_str(), request.epoch, request.ack), ("two", 8, 0));
        let edit = &request.mutations[0];
        assert_eq!((edit.id, edit.base, What::Op(edit.op.clone())), (1, at(1), set(5)));
        assert_eq!(state.fault(&key()), None);
    }

    #[test]
    fn a_new_epoch_begins_a_new_client_if_nothing_is_on_its_way() {
        let mut state = state();
        assert!(state.saw(at(1), 8, None, "two".into()));
        assert_eq!((state.client.as_str(), state.seen), ("two", at(1)));
        assert!(!state.saw(at(0), 8, None, "three".into()));
        assert_eq!(state.seen, at(1));
    }

    #[test]
    fn a_state_that_calls_its_cloud_url_is_read() {
        let json = serde_json::to_string(&state()).unwrap().replace("\"cloud\"", "\"url\"");
        assert_eq!(serde_json::from_str::<EditorState>(&json).unwrap(), state());
    }

    #[test]
    fn a_state_that_does_not_fit_is_found() {
        let mut gap = state();
        gap.author(set(0));
        gap.pending[0].id = 2;
        assert!(gap.fault(&key()).is_some());
        let other = ("http://other".into(), key().1);
        assert!(state().fault(&other).is_some());
        assert!(EditorState { version: 2, ..state() }.fault(&key()).is_some());
        assert!(EditorState { next_id: 9, ..state() }.fault(&key()).is_some());
    }
}
