//! The outbox state that is saved on disk, and its changes.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

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

use super::OutboxKey;
use super::pending_edit::{EditPayload, PendingEdit, UploadBody};
use crate::sheet_deletion::{deleted_sheet, find_possible_deletion};

/// Format version of the state file.
const STATE_VERSION: u32 = 1;
/// Upper bound on the length of a request without its mutations, in bytes.
const REQUEST_FRAME_BYTES: usize = 4 * 1024;

/// The pending edits of a client in a spreadsheet, and the counter that numbers edits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutboxState {
    version: u32,
    /// Identity of the stack ([`crate::Client::identity`]). Older versions called this field `url`.
    #[serde(alias = "url")]
    cloud: String,
    spreadsheet: LogId,
    /// Random id of the client. Edits are numbered separately for each client id, so the numbers of
    /// different installations never conflict.
    #[serde(rename = "client")]
    pub(crate) client_id: String,
    /// Table incarnation to which the position `seen` and the base positions belong. Restoring the
    /// tables starts a new incarnation.
    pub(crate) incarnation: u32,
    /// Id of the next edit.
    next_id: u64,
    /// Id of the newest edit that was committed or rejected and is no longer stored. 0 if there is
    /// no such edit.
    #[serde(rename = "ack")]
    pub(crate) acked_id: u64,
    /// Id of the newest edit to which the server has responded, or 0 if there is none. Answered
    /// edits with a higher id than `acked_id` are kept until their log entries have been read. This
    /// field is not saved, because a resent request has the same response.
    #[serde(skip)]
    answered_id: u64,
    /// Whether the server refuses the newest edit if it would change nothing. Set only for a revert
    /// whose author is waiting for the result. Not saved, so that a resent edit never blocks later
    /// ones.
    #[serde(skip)]
    pub(crate) refuse_unchanged: bool,
    /// Id of the newest edit that may have been committed by a request, or 0 if there is none. Used
    /// only by live sheets.
    #[serde(default, rename = "attempted", skip_serializing_if = "is_zero")]
    pub(crate) attempted_id: u64,
    /// The newest known position, which will be the base of the next edit.
    pub(crate) seen: Position,
    /// The first sheet at position `seen`, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_sheet: Option<SheetId>,
    /// Whether the first sheet is known to be the only sheet at position `seen`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_one_sheet: bool,
    /// Edits that are neither committed nor rejected yet. Their ids are consecutive and start at
    /// `acked_id + 1`.
    pub(crate) pending: Vec<PendingEdit>,
}

/// The id and base of an edit, which never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EditNumber {
    pub(crate) id: u64,
    /// Position that the edit's author had seen.
    pub(crate) base: Position,
}

/// A request that sends one or more pending edits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NextRequest {
    /// Appends one or more small edits.
    Append(AppendRequest),
    /// Uploads one large edit.
    Upload(UploadBody),
}

/// The server's response does not contain exactly one result for each edit that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IncompleteReply;

/// An edit that the server has committed or rejected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettledEdit {
    pub(crate) description: String,
    pub(crate) base: Position,
    /// The sheet that must exist for the edit to have an effect, if known.
    pub(crate) sheet: Option<SheetId>,
    /// Position at which to check whether `sheet` exists. `None` if no other client can have
    /// deleted the sheet.
    pub(crate) possible_deletion: Option<Position>,
    pub(crate) answer: AppendedMutation,
}

impl OutboxState {
    /// Creates the state of a new client without edits.
    pub(crate) fn new(
        OutboxKey { identity, spreadsheet }: OutboxKey,
        client_id: String,
        incarnation: u32,
        seen: Position,
    ) -> Self {
        Self {
            version: STATE_VERSION,
            cloud: identity,
            spreadsheet,
            client_id,
            incarnation,
            next_id: 1,
            acked_id: 0,
            answered_id: 0,
            refuse_unchanged: false,
            attempted_id: 0,
            seen,
            // At the first position, the first sheet cannot have been deleted yet.
            first_sheet: (seen == Position::FIRST).then_some(SheetId::FIRST),
            has_one_sheet: seen == Position::FIRST,
            pending: Vec::new(),
        }
    }

    /// Checks that a state that was read from disk is valid and belongs to `key`. The error states
    /// why it is invalid.
    pub(crate) fn validate(&self, key: &OutboxKey) -> Result<(), &'static str> {
        if self.version != STATE_VERSION {
            return Err("another version of cellar wrote the file");
        }
        if self.cloud != key.identity || self.spreadsheet != key.spreadsheet {
            return Err("the file belongs to another spreadsheet");
        }
        let first_id = self.acked_id.saturating_add(1);
        let has_consecutive_ids = (first_id..).zip(&self.pending).all(|(id, edit)| edit.id == id);
        let pending_count = u64::try_from(self.pending.len()).unwrap_or(u64::MAX);
        if !has_consecutive_ids || self.next_id != first_id.saturating_add(pending_count) {
            return Err("the edits are not numbered consecutively");
        }
        if self.attempted_id >= self.next_id {
            return Err("the field `attempted` exceeds the id of the newest edit");
        }
        Ok(())
    }

    /// Adds an edit. Its base is the newest known position.
    pub(crate) fn add_edit(&mut self, payload: EditPayload) -> EditNumber {
        let number = EditNumber { id: self.next_id, base: self.seen };
        self.pending.push(PendingEdit { id: number.id, base: number.base, payload });
        self.next_id = self.next_id.saturating_add(1);
        number
    }

    /// Returns the next request to send. Returns `None` if the server has responded to all pending
    /// edits. Repeated calls return equal requests until a response is recorded.
    pub(crate) fn next_request(&self) -> Option<NextRequest> {
        let first_edit = self.unanswered().first()?;
        if let Some(body) = first_edit.body() {
            return Some(NextRequest::Upload(body.clone()));
        }
        Some(NextRequest::Append(AppendRequest {
            client_id: self.client_id.clone(),
            incarnation: self.incarnation,
            acked_id: self.last_answered_id(),
            refuse_unchanged: self.refuse_unchanged,
            mutations: self.next_mutations(),
        }))
    }

    /// Returns the unanswered edits for the next append request: as many as fit, in order, and at
    /// least one. Large edits are not included. An undo or revert is sent alone.
    fn next_mutations(&self) -> Vec<SentMutation> {
        let mut mutations = Vec::<SentMutation>::new();
        let mut request_bytes = REQUEST_FRAME_BYTES;
        for edit in self.unanswered().iter().take(MAX_MUTATIONS_PER_REQUEST) {
            let Some(mutation) = edit.mutation() else { break };
            // Encoding plain data cannot fail.
            let mutation_bytes = serde_json::to_vec(&mutation).map_or(0, |json| json.len());
            request_bytes = request_bytes.saturating_add(mutation_bytes);
            let needs_own_request = edit.payload.needs_own_request();
            let is_full = request_bytes > MAX_REQUEST_BYTES || needs_own_request;
            if is_full && !mutations.is_empty() {
                break;
            }
            mutations.push(mutation);
            if needs_own_request {
                break;
            }
        }
        mutations
    }

    /// Returns the request that commits the first unanswered edit, which must be a large edit. Its
    /// object must be uploaded first.
    pub(crate) fn completion_request(&self) -> Option<CompleteRequest> {
        let edit = self.unanswered().first()?;
        let body = edit.body()?;
        Some(CompleteRequest {
            client_id: self.client_id.clone(),
            incarnation: self.incarnation,
            acked_id: self.last_answered_id(),
            first_id: edit.id,
            base: edit.base,
            bytes: body.bytes,
            sha256: body.sha256.clone(),
        })
    }

    /// Stores the upload URL of the first unanswered edit.
    pub(crate) fn set_upload_grant(&mut self, grant: UploadReply) {
        self.change_first_body(|body| body.grant = Some(grant));
    }

    /// Marks the object of the first unanswered edit as uploaded.
    pub(crate) fn mark_uploaded(&mut self) {
        self.change_first_body(|body| body.uploaded = true);
    }

    /// Abandons the upload of the first unanswered edit. The next attempt uses a new URL.
    pub(crate) fn abandon_upload(&mut self, may_be_committed: bool) {
        self.change_first_body(|body| {
            body.grant = None;
            body.uploaded = false;
            body.uncertain = body.uncertain || may_be_committed;
        });
    }

    fn change_first_body(&mut self, change: impl FnOnce(&mut UploadBody)) {
        let last_answered_id = self.last_answered_id();
        let first_unanswered = self.pending.iter_mut().find(|edit| edit.id > last_answered_id);
        if let Some(PendingEdit { payload: EditPayload::Body(body), .. }) = first_unanswered {
            change(body);
        }
    }

    /// Returns whether a pending edit may have been committed by an upload that was abandoned.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.bodies().any(|body| body.uncertain)
    }

    /// Returns descriptions of the objects that belong to pending edits.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &UploadBody> {
        self.pending.iter().filter_map(PendingEdit::body)
    }

    /// Returns the pending edits to which the server has not responded.
    pub(crate) fn unanswered(&self) -> &[PendingEdit] {
        let first_unanswered = self.count_up_to(self.last_answered_id());
        self.pending.get(first_unanswered..).unwrap_or_default()
    }

    fn last_answered_id(&self) -> u64 {
        self.acked_id.max(self.answered_id)
    }

    /// Records that the server has responded to the first `edit_count` unanswered edits, but keeps
    /// the edits. Fails if the response does not contain exactly these edits.
    pub(crate) fn record_reply(
        &mut self,
        edit_count: usize,
        reply: &AppendReply,
    ) -> Result<(), IncompleteReply> {
        let sent_ids = self.unanswered().iter().take(edit_count).map(|edit| edit.id);
        let result_ids = reply.results.iter().map(|result| result.id);
        if reply.results.len() != edit_count || !sent_ids.eq(result_ids) {
            return Err(IncompleteReply);
        }
        let last_result = reply.results.last().ok_or(IncompleteReply)?;
        self.answered_id = last_result.id;
        Ok(())
    }

    /// Removes and returns the pending edits up to `id`. All of them must have been committed or
    /// rejected.
    pub(crate) fn drop_up_to(&mut self, id: u64) -> Vec<PendingEdit> {
        let dropped_count = self.count_up_to(id);
        let dropped_edits: Vec<PendingEdit> = self.pending.drain(..dropped_count).collect();
        if let Some(last_dropped) = dropped_edits.last() {
            self.acked_id = last_dropped.id;
        }
        if self.answered_id <= self.acked_id {
            self.answered_id = 0;
        }
        if self.attempted_id <= self.acked_id {
            self.attempted_id = 0;
        }
        dropped_edits
    }

    /// Removes and returns the first `edit_count` unanswered edits, which were committed or
    /// rejected according to the response. Fails if the response does not contain exactly these
    /// edits.
    pub(crate) fn settle_edits(
        &mut self,
        edit_count: usize,
        reply: &AppendReply,
    ) -> Result<Vec<SettledEdit>, IncompleteReply> {
        self.record_reply(edit_count, reply)?;
        let answered_edits = self.drop_up_to(self.answered_id);
        let mut settled_edits = Vec::with_capacity(answered_edits.len());
        let is_entry_missing = reply.next.is_some();
        let mut may_have_changed_sheets =
            is_entry_missing || reply.entries.iter().any(has_changed_sheets);
        for (edit, answer) in answered_edits.iter().zip(&reply.results) {
            if may_have_changed_sheets_by(&edit.payload, answer) {
                may_have_changed_sheets = true;
            }
            settled_edits.push(SettledEdit::of_edit(edit, answer, reply));
        }
        if may_have_changed_sheets {
            (self.first_sheet, self.has_one_sheet) = (None, false);
        }
        self.seen = self.seen.max(reply.head);
        Ok(settled_edits)
    }

    /// Removes the newest edit. Must be called only if the edit was certainly not committed,
    /// because the next edit reuses its id.
    pub(crate) fn remove_newest_edit(&mut self) {
        if let Some(edit) = self.pending.pop() {
            self.next_id = edit.id;
        }
    }

    /// Starts a new client and recreates the pending edits with the base `seen`. Must be called
    /// only if none of the edits was committed. Otherwise, an edit would take effect twice.
    pub(crate) fn recreate_edits_as_new_client(
        &mut self,
        client_id: String,
        incarnation: u32,
        seen: Position,
    ) {
        let uncommitted_edits = std::mem::take(&mut self.pending);
        let key = OutboxKey { identity: self.cloud.clone(), spreadsheet: self.spreadsheet };
        *self = Self::new(key, client_id, incarnation, seen);
        for edit in uncommitted_edits {
            self.add_edit(edit.payload);
        }
    }

    /// Returns the pending edits up to `id`.
    pub(crate) fn pending_up_to(&self, id: u64) -> &[PendingEdit] {
        self.pending.get(..self.count_up_to(id)).unwrap_or_default()
    }

    fn count_up_to(&self, id: u64) -> usize {
        self.pending.partition_point(|edit| edit.id <= id)
    }

    /// Returns whether a pending edit adds a sheet.
    pub(crate) fn adds_a_sheet(&self) -> bool {
        let mut payloads = self.pending.iter().map(|edit| &edit.payload);
        payloads.any(|payload| matches!(payload, EditPayload::Op(Operation::AddSheet(_))))
    }

    /// Renumbers the sheets that pending edits add, starting with the number `next_sheet`. Must be
    /// called before any of these edits is sent.
    pub(crate) fn renumber_added_sheets(&mut self, next_sheet: SheetId) {
        let mut next_number = next_sheet.0;
        for edit in &mut self.pending {
            if let EditPayload::Op(Operation::AddSheet(add)) = &mut edit.payload {
                add.sheet = SheetId(next_number);
                next_number = next_number.saturating_add(1);
            }
        }
    }

    /// Records that the spreadsheet was read at a position, and which sheet was the first one, if
    /// known. If the table incarnation has changed, starts a new client, unless edits are pending.
    /// Returns whether the state has changed.
    pub(crate) fn record_seen(
        &mut self,
        position: Position,
        incarnation: u32,
        first_sheet: Option<SheetId>,
        new_client_id: String,
    ) -> bool {
        if incarnation != self.incarnation {
            if !self.pending.is_empty() {
                return false;
            }
            self.recreate_edits_as_new_client(new_client_id, incarnation, position);
            self.first_sheet = first_sheet.or(self.first_sheet);
            return true;
        }
        match position.cmp(&self.seen) {
            Ordering::Less => false,
            Ordering::Equal if first_sheet.is_none() || first_sheet == self.first_sheet => false,
            Ordering::Equal | Ordering::Greater => {
                self.seen = position;
                (self.first_sheet, self.has_one_sheet) = (first_sheet, false);
                true
            }
        }
    }

    #[cfg(feature = "cli")]
    pub(crate) fn spreadsheet(&self) -> LogId {
        self.spreadsheet
    }

    /// Identity of the stack ([`crate::Client::identity`]).
    pub(crate) fn identity(&self) -> &str {
        &self.cloud
    }

    /// Describes the pending edits for a message, such as `B2 = "new", 3 cells A1:C1`.
    pub(crate) fn describe_pending(&self) -> String {
        let edits: Vec<String> = self.pending.iter().map(|edit| edit.payload.describe()).collect();
        edits.join(", ")
    }
}

impl SettledEdit {
    fn of_edit(edit: &PendingEdit, answer: &AppendedMutation, reply: &AppendReply) -> Self {
        Self {
            description: edit.payload.describe(),
            base: edit.base,
            sheet: edit.payload.needed_sheet(),
            possible_deletion: possible_deletion(&edit.payload, answer, reply),
            answer: answer.clone(),
        }
    }
}

/// Returns a position at which to check whether an edit's sheet still existed. The check is
/// necessary if another client may have deleted the sheet before the edit was committed. Returns
/// `None` if the response rules this out.
fn possible_deletion(
    payload: &EditPayload,
    answer: &AppendedMutation,
    reply: &AppendReply,
) -> Option<Position> {
    let edit_position = answer.position.unwrap_or(reply.head);
    let deletion = find_possible_deletion(reply, payload.needed_sheet()?, edit_position)?;
    // If the edit itself may have deleted the sheet, a missing sheet does not imply an earlier
    // deletion.
    let deletes_sheet = match payload {
        EditPayload::Op(operation) => deleted_sheet(operation).is_some(),
        _ => false,
    };
    if deletes_sheet && deletion == edit_position {
        return None;
    }
    Some(deletion)
}

fn is_zero(id: &u64) -> bool {
    *id == 0
}

fn has_changed_sheets(entry: &EntryView) -> bool {
    entry.mutations.iter().flat_map(MutationView::committed_operations).any(adds_or_deletes_a_sheet)
}

fn adds_or_deletes_a_sheet(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::AddSheet(_) | Operation::ImportSheet(_) | Operation::DeleteSheet(_)
    )
}

/// Returns whether an edit may have added or deleted a sheet, according to the server's response.
fn may_have_changed_sheets_by(payload: &EditPayload, answer: &AppendedMutation) -> bool {
    if let Some(committed) = &answer.committed {
        return committed.iter().any(adds_or_deletes_a_sheet);
    }
    // A large edit only sets cells.
    let EditPayload::Op(operation) = payload else { return false };
    // The response to a duplicate undo or revert omits the committed operations.
    let is_unknown_undo =
        operation.is_resolved_on_append() && answer.status == MutationStatus::Duplicate;
    is_unknown_undo || adds_or_deletes_a_sheet(operation)
}
