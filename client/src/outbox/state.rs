//! What an outbox keeps on disk, and its transitions.

#[cfg(test)]
mod tests;

use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::AppendedMutation, wire::CompleteRequest,
    wire::EntryView, wire::MutationStatus, wire::MutationView, wire::SentMutation,
    wire::UploadReply,
};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_MUTATIONS_PER_REQUEST, MAX_REQUEST_BYTES};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};
use serde::{Deserialize, Serialize};

use super::pending::{Body, Pending, What};
use crate::sheet_loss::{deleted_sheet, doubt};

/// The version of the file that is written and read.
const STATE_VERSION: u32 = 1;
/// Bytes of a request around its mutations.
const REQUEST_FRAME_BYTES: usize = 4 * 1024;

/// One client's numbering in one spreadsheet, and its edits on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutboxState {
    version: u32,
    /// Which cloud: [`crate::Client::identity`]. Older files call it `url`.
    #[serde(alias = "url")]
    cloud: String,
    spreadsheet: LogId,
    /// The client's name: random, so that no two installations share a numbering.
    pub(crate) client: String,
    /// The incarnation that `seen` and the bases are of.
    pub(crate) incarnation: u32,
    /// The id of the next edit.
    next_id: u64,
    /// The last id known to be in the log, of which nothing is kept any more.
    pub(crate) ack: u64,
    /// The last id that an answer says is in the log, if that is above `ack`: those edits are kept
    /// until their entries were read. Not on disk: asked again, the server says it again.
    #[serde(skip)]
    answered: u64,
    /// The last id that was in a request which may have got through, where that is kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) attempted: u64,
    /// The highest position seen: the base of the next edit.
    pub(crate) seen: Position,
    /// The first sheet at `seen`, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_sheet: Option<SheetId>,
    /// Edits that were saved and perhaps sent, with consecutive ids from `ack + 1`.
    pub(crate) pending: Vec<Pending>,
}

/// The next request that pending edits need.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Next {
    /// Edits that go together.
    Append(AppendRequest),
    /// A large edit.
    Upload(Body),
}

/// An edit that has its answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settled {
    pub(crate) description: String,
    pub(crate) base: Position,
    /// The sheet that it needs to have any effect, if it needs one and that is known.
    pub(crate) sheet: Option<SheetId>,
    /// Where to look whether others had deleted that sheet, if there is reason to.
    pub(crate) doubt: Option<Position>,
    pub(crate) answer: AppendedMutation,
}

impl OutboxState {
    /// A client that has not made an edit.
    pub(crate) fn fresh(
        (cloud, spreadsheet): (String, LogId),
        client: String,
        incarnation: u32,
        seen: Position,
    ) -> Self {
        Self {
            version: STATE_VERSION,
            cloud,
            spreadsheet,
            client,
            incarnation,
            next_id: 1,
            ack: 0,
            answered: 0,
            attempted: 0,
            seen,
            // Nobody can have deleted it before the first entry.
            first_sheet: (seen == Position::FIRST).then_some(SheetId::FIRST),
            pending: Vec::new(),
        }
    }

    /// What is wrong with a state that was read, if anything is.
    pub(crate) fn fault(&self, key: &(String, LogId)) -> Option<&'static str> {
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
        if self.attempted >= self.next_id {
            return Some("it knows of edits that it does not have");
        }
        None
    }

    /// Adds an edit, and gives its id and its base, which never change from here on.
    pub(crate) fn author(&mut self, what: What) -> (u64, Position) {
        let (id, base) = (self.next_id, self.seen);
        self.pending.push(Pending { id, base, what });
        self.next_id = self.next_id.saturating_add(1);
        (id, base)
    }

    /// The next request, the same whenever it is sent; `None` if no edit is pending.
    pub(crate) fn next_request(&self) -> Option<Next> {
        let unanswered = self.unanswered();
        let first = unanswered.first()?;
        if let Some(body) = first.body() {
            return Some(Next::Upload(body.clone()));
        }
        let together = if first.what.goes_alone() { 1 } else { MAX_MUTATIONS_PER_REQUEST };
        let (mut mutations, mut bytes) = (Vec::<SentMutation>::new(), REQUEST_FRAME_BYTES);
        for edit in unanswered.iter().take(together) {
            let Some(sent) = edit.sent() else { break };
            // Plain data always encodes.
            bytes = bytes.saturating_add(serde_json::to_vec(&sent).map_or(0, |json| json.len()));
            let full = bytes > MAX_REQUEST_BYTES || edit.what.goes_alone();
            if full && !mutations.is_empty() {
                break;
            }
            mutations.push(sent);
        }
        let (client, incarnation, ack) =
            (self.client.clone(), self.incarnation, self.last_answered());
        Some(Next::Append(AppendRequest {
            client_id: client,
            incarnation,
            acked_id: ack,
            mutations,
        }))
    }

    /// What makes an uploaded object the entry of the first pending edit.
    pub(crate) fn completion(&self) -> Option<CompleteRequest> {
        let first = self.unanswered().first()?;
        let body = first.body()?;
        Some(CompleteRequest {
            client_id: self.client.clone(),
            incarnation: self.incarnation,
            acked_id: self.last_answered(),
            first_id: first.id,
            base: first.base,
            bytes: body.bytes,
            sha256: body.sha256.clone(),
        })
    }

    /// Takes note of how the first pending edit may be uploaded.
    pub(crate) fn granted(&mut self, grant: UploadReply) {
        self.change_upload(|body| body.grant = Some(grant));
    }

    /// Takes note that the store has the object of the first pending edit.
    pub(crate) fn uploaded(&mut self) {
        self.change_upload(|body| body.uploaded = true);
    }

    /// Gives up an upload: the object is not there, and its URL has been used or has ended.
    pub(crate) fn forget_upload(&mut self, uncertain: bool) {
        self.change_upload(|body| {
            (body.grant, body.uploaded) = (None, false);
            body.uncertain |= uncertain;
        });
    }

    fn change_upload(&mut self, change: impl FnOnce(&mut Body)) {
        let answered = self.last_answered();
        let first = self.pending.iter_mut().find(|edit| edit.id > answered);
        if let Some(Pending { what: What::Body(body), .. }) = first {
            change(body);
        }
    }

    /// Whether a pending edit may have got through by an upload that was given up.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.bodies().any(|body| body.uncertain)
    }

    /// The objects of the pending edits.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.pending.iter().filter_map(Pending::body)
    }

    /// The edits that no answer is about yet.
    pub(crate) fn unanswered(&self) -> &[Pending] {
        let answered = self.last_answered();
        let from = self.pending.partition_point(|edit| edit.id <= answered);
        self.pending.get(from..).unwrap_or_default()
    }

    fn last_answered(&self) -> u64 {
        self.ack.max(self.answered)
    }

    /// Takes the answer to the next request, and keeps the edits: everything that was sent is in the
    /// log, perhaps as rejected. Gives the last id; `None` if the answer is not about these edits.
    pub(crate) fn answer(&mut self, sent: usize, reply: &AppendReply) -> Option<u64> {
        let ids = self.unanswered().iter().take(sent).map(|edit| edit.id);
        if reply.results.len() != sent || !ids.eq(reply.results.iter().map(|result| result.id)) {
            return None;
        }
        self.answered = reply.results.last()?.id;
        Some(self.answered)
    }

    /// Drops the edits up to an id: what is known to be in the log, and was read there.
    pub(crate) fn drop_up_to(&mut self, id: u64) -> Vec<Pending> {
        let count = self.pending.partition_point(|edit| edit.id <= id);
        let dropped: Vec<Pending> = self.pending.drain(..count).collect();
        self.ack = dropped.last().map_or(self.ack, |last| last.id);
        // What is not above it says nothing any more.
        self.answered = Some(self.answered).filter(|answered| *answered > self.ack).unwrap_or(0);
        self.attempted = Some(self.attempted).filter(|sent| *sent > self.ack).unwrap_or(0);
        dropped
    }

    /// Takes the answer to the next request: everything that was sent is in the log, perhaps as
    /// rejected. `None` if the answer is not about these edits.
    pub(crate) fn acknowledge(&mut self, sent: usize, reply: &AppendReply) -> Option<Vec<Settled>> {
        let answered = self.answer(sent, reply)?;
        let settled = self.drop_up_to(answered);
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
            base: edit.base,
            sheet: edit.what.needed_sheet(),
            doubt: doubt_of(&edit.what, answer, reply),
            answer: answer.clone(),
        };
        Some(settled.map(settle).collect())
    }

    /// Takes back the newest edit, which is certainly not in the log: its id is free again.
    pub(crate) fn withdraw_newest(&mut self) {
        if let Some(edit) = self.pending.pop() {
            self.next_id = edit.id;
        }
    }

    /// Becomes a new client that makes the pending edits again, on a new base. Only for edits
    /// that are certainly not in the log.
    pub(crate) fn start_over(&mut self, client: String, incarnation: u32, seen: Position) {
        let edits = std::mem::take(&mut self.pending);
        let key = (std::mem::take(&mut self.cloud), self.spreadsheet);
        *self = Self::fresh(key, client, incarnation, seen);
        for edit in edits {
            self.author(edit.what);
        }
    }

    /// Takes the edits up to `id` out, to be kept elsewhere: nobody knows what became of them.
    pub(crate) fn take_up_to(&mut self, id: u64) -> Vec<Pending> {
        let count = self.pending.partition_point(|edit| edit.id <= id);
        self.pending.drain(..count).collect()
    }

    /// Whether a pending edit adds a sheet.
    pub(crate) fn adds_a_sheet(&self) -> bool {
        let adds = |edit: &Pending| matches!(edit.what, What::Op(Operation::AddSheet(_)));
        self.pending.iter().any(adds)
    }

    /// Gives the sheets that are added these numbers, from `next` on. They were not sent yet.
    pub(crate) fn number_new_sheets(&mut self, next: SheetId) {
        let added = self.pending.iter_mut().filter_map(|edit| match &mut edit.what {
            What::Op(Operation::AddSheet(add)) => Some(add),
            _ => None,
        });
        for (number, add) in (next.0..=u32::MAX).zip(added) {
            add.sheet = SheetId(number);
        }
    }

    /// Takes note of a position that was seen, and of its first sheet if that is known; says
    /// whether that changed anything. A new incarnation begins a new client, unless edits of the old
    /// one are still on their way.
    pub(crate) fn saw(
        &mut self,
        position: Position,
        incarnation: u32,
        first_sheet: Option<SheetId>,
        new_client: String,
    ) -> bool {
        if incarnation != self.incarnation {
            if !self.pending.is_empty() {
                return false;
            }
            self.start_over(new_client, incarnation, position);
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
    pub(crate) fn describe_pending(&self) -> String {
        let edits: Vec<String> = self.pending.iter().map(|edit| edit.what.describe()).collect();
        edits.join(", ")
    }
}

/// Where to look whether the sheet of an edit was deleted behind its base.
fn doubt_of(what: &What, answer: &AppendedMutation, reply: &AppendReply) -> Option<Position> {
    let until = answer.position.unwrap_or(reply.head);
    let doubt = doubt(reply, what.needed_sheet()?, until)?;
    // Where an edit has deleted the sheet itself, it tells nothing that the sheet is gone.
    let deletes = matches!(what, What::Op(operation) if is_delete_sheet(operation));
    Some(doubt).filter(|at| !deletes || *at != until)
}

fn is_zero(id: &u64) -> bool {
    *id == 0
}

fn deletes_a_sheet(entry: &EntryView) -> bool {
    entry.mutations.iter().flat_map(MutationView::effective).any(is_delete_sheet)
}

fn is_delete_sheet(operation: &Operation) -> bool {
    deleted_sheet(operation).is_some()
}

/// Whether an edit of ours may have deleted a sheet, as far as its answer tells.
fn may_delete_a_sheet(what: &What, answer: &AppendedMutation) -> bool {
    match (what, &answer.committed, answer.status) {
        (_, Some(committed), _) => committed.iter().any(is_delete_sheet),
        // What it was committed as was in the answer that was lost.
        (What::Op(operation), None, status) => {
            let unknown = operation.is_resolved_on_append() && status == MutationStatus::Duplicate;
            unknown || is_delete_sheet(operation)
        }
        (What::Body(_), None, _) => false,
    }
}
