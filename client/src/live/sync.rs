//! Syncs a live sheet with the server: sends the pending edits, fetches new log entries, and
//! rebases the remaining pending edits.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cellar_api::polling::PollEvent;
use cellar_api::rebase::acknowledged;
use cellar_api::{
    wire::AppendedMutation, wire::EntryKind, wire::EntryView, wire::MutationStatus,
    wire::ProblemKind, wire::ReversalReport,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

use super::canonical::CanonicalState;
use super::{LiveError, LiveSheet, NO_EDIT_ID};
use crate::ClientError;
use crate::outbox::{NextRequest, Recovery, SendError, SentRequest, choose_queued_recovery};

/// Changes since the previous report. They include changes of syncs that failed after making them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SyncReport {
    /// Local edits that were committed or rejected since the previous report.
    pub settled: Vec<Settlement>,
    /// Number of new log entries by other clients.
    pub new_entries: usize,
    /// The canonical position after the sync.
    pub position: Position,
    /// Edits that may have been committed but cannot be resent. The user has to check them.
    pub set_aside: Vec<SetAsideEdits>,
    /// Number of pending edits that were recreated by a new client, for example after the tables
    /// were restored.
    pub reapplied: usize,
}

/// Final result of a local edit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settlement {
    /// Id of the edit.
    pub id: u64,
    /// Position of the log entry that contains the edit, if known.
    pub position: Option<Position>,
    /// Effect of the edit.
    pub outcome: EditOutcome,
    /// Effect of an undo or revert in numbers. `None` for other edits, and if the response was lost.
    pub reversal: Option<ReversalReport>,
}

/// The effect of an edit on the spreadsheet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EditOutcome {
    /// The edit was committed unchanged.
    Unchanged,
    /// The server committed these operations instead of the requested operation. Either the target
    /// was moved by earlier edits of other clients, or the edit is an undo or revert. The list is
    /// empty if the edit had no effect.
    Transformed(Vec<Operation>),
    /// The edit was rejected and had no effect.
    Rejected(Rejection),
    /// The edit was committed, but its effect is unknown because its log entry has not been read.
    Unknown,
}

/// Edits that were moved to a file because they cannot be resent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAsideEdits {
    /// The file that contains the edits.
    pub file: PathBuf,
    /// Number of edits.
    pub edits: usize,
}

/// Results of sent edits whose log entries have not been read yet, by edit id.
pub(super) type Answers = BTreeMap<u64, AppendedMutation>;

enum LogChange {
    Unchanged,
    /// New log entries or a new snapshot root must be fetched.
    NewEntries,
    /// The tables were restored since the canonical state was loaded.
    IncarnationChanged,
}

enum FetchOutcome {
    UpToDate,
    IncarnationChanged,
}

impl SyncReport {
    pub(super) fn empty(position: Position) -> Self {
        Self { settled: Vec::new(), new_entries: 0, position, set_aside: Vec::new(), reapplied: 0 }
    }

    /// Returns whether the report contains any change.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        let own_changes = self.settled.len() + self.set_aside.len() + self.reapplied;
        own_changes > 0 || self.new_entries > 0
    }
}

/// Converts the result of a sync to a polling event, from which the next polling interval is
/// computed ([`cellar_api::polling`]).
#[must_use]
pub fn poll_event(result: &Result<SyncReport, LiveError>) -> PollEvent {
    match result {
        Ok(report) if report.has_changes() => PollEvent::Active,
        Ok(_) => PollEvent::Quiet,
        Err(_) => PollEvent::Failed,
    }
}

impl LiveSheet {
    /// Sends the pending edits, fetches new log entries, and rebases the remaining pending edits.
    /// If there is nothing to send or fetch, this costs as much as one poll.
    ///
    /// # Errors
    ///
    /// Returns a [`LiveError`] if the sync fails. A failed sync can be retried at any time, because
    /// pending edits remain queued. Changes that were made before the failure are reported by the
    /// next successful sync. [`LiveError::is_offline`] returns whether the server was unreachable.
    pub async fn sync(&mut self) -> Result<SyncReport, LiveError> {
        let send_result = match self.send_pending().await {
            Err(error) if error.is_offline() => return Err(error),
            online_result => online_result,
        };
        // Fetch entries even if the server refused the edits, because a user without write access
        // may still be allowed to read.
        self.fetch_new_entries().await?;
        send_result?;
        self.unreported.position = self.position();
        let next_report = SyncReport::empty(self.position());
        Ok(std::mem::replace(&mut self.unreported, next_report))
    }

    async fn send_pending(&mut self) -> Result<(), LiveError> {
        while let Some(request) = self.outbox_state.next_request() {
            let Some((first_id, last_id)) = self.first_and_last_id(&request) else { break };
            let previously_attempted_id = self.outbox_state.attempted_id;
            self.save_attempt(last_id)?;
            // If an upload was abandoned, the large edit may have been committed nevertheless.
            let may_have_been_sent =
                previously_attempted_id >= first_id || self.outbox_state.is_uncertain();
            match self.outbox.send_request(&mut self.outbox_state, request).await {
                Ok(sent_request) => self.record_reply(sent_request)?,
                Err(SendError::File(error)) => return Err(error.into()),
                Err(SendError::Client(error)) => {
                    if error.certainly_not_done() {
                        self.outbox_state.attempted_id = previously_attempted_id;
                    }
                    return self.handle_send_failure(error, may_have_been_sent, last_id).await;
                }
            }
        }
        Ok(())
    }

    /// Must be called before the edits are sent, because the client may crash while it is sending
    /// them.
    fn save_attempt(&mut self, last_id: u64) -> Result<(), LiveError> {
        if last_id > self.outbox_state.attempted_id {
            self.outbox_state.attempted_id = last_id;
            self.outbox.write(&self.outbox_state)?;
        }
        Ok(())
    }

    fn record_reply(&mut self, sent_request: SentRequest) -> Result<(), LiveError> {
        let SentRequest { edit_count, reply } = sent_request;
        if self.outbox_state.record_reply(edit_count, &reply).is_err() {
            return Err(self.outbox.incomplete_reply_error().into());
        }
        for answer in reply.results {
            if let Some(position) = answer.position {
                self.own_entries.add_position(position);
            }
            self.answers.insert(answer.id, answer);
        }
        Ok(())
    }

    /// `last_id` is the id of the last edit in the request.
    async fn handle_send_failure(
        &mut self,
        error: ClientError,
        may_have_been_sent: bool,
        last_id: u64,
    ) -> Result<(), LiveError> {
        match choose_queued_recovery(&error, may_have_been_sent) {
            Recovery::RecreateAsNewClient => self.start_over(NO_EDIT_ID).await,
            // The server refuses these edits permanently, so they must not be resent.
            Recovery::MoveToFile => self.start_over(last_id).await,
            Recovery::KeepAndResend | Recovery::RemoveFromOutbox => Err(error.into()),
        }
    }

    fn first_and_last_id(&self, request: &NextRequest) -> Option<(u64, u64)> {
        match request {
            NextRequest::Append(append) => {
                Some((append.mutations.first()?.id, append.mutations.last()?.id))
            }
            NextRequest::Upload(_) => {
                let id = self.outbox_state.unanswered().first()?.id;
                Some((id, id))
            }
        }
    }

    async fn fetch_new_entries(&mut self) -> Result<(), LiveError> {
        match self.detect_log_change().await? {
            LogChange::Unchanged => return self.settle_answered_edits().await,
            LogChange::IncarnationChanged => return self.start_over(NO_EDIT_ID).await,
            LogChange::NewEntries => {}
        }
        let fetch_result = self.apply_new_entries().await;
        // Remove the committed edits even after an error, because some entries may have been
        // applied before the error.
        self.settle_answered_edits().await?;
        match fetch_result? {
            FetchOutcome::UpToDate => Ok(()),
            FetchOutcome::IncarnationChanged => self.start_over(NO_EDIT_ID).await,
        }
    }

    /// Sends no request if a fetch is needed in any case.
    async fn detect_log_change(&self) -> Result<LogChange, LiveError> {
        if self.is_fetch_needed() {
            return Ok(LogChange::NewEntries);
        }
        let known_head = self.canonical.head();
        Ok(match self.outbox.spreadsheet.head_if_changed(known_head).await? {
            None => LogChange::Unchanged,
            Some(newest) if newest.incarnation != known_head.incarnation => {
                LogChange::IncarnationChanged
            }
            Some(_) => LogChange::NewEntries,
        })
    }

    /// Returns whether a fetch is needed in any case, either because log entries of answered edits
    /// are missing or because a newer snapshot root must be loaded.
    fn is_fetch_needed(&self) -> bool {
        let position = Some(self.position());
        let own_entries_missing = self.answers.values().any(|answer| answer.position > position);
        own_entries_missing || self.canonical.needs_newer_root()
    }

    /// If there are too many entries, loads a newer snapshot root instead.
    async fn apply_new_entries(&mut self) -> Result<FetchOutcome, LiveError> {
        let mut pages = self.outbox.spreadsheet.entry_pages(self.position());
        while !self.canonical.needs_newer_root() {
            let page = match pages.try_next().await {
                Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => break,
                result => result?,
            };
            let Some(page) = page else { return Ok(FetchOutcome::UpToDate) };
            if page.incarnation != self.canonical.incarnation() {
                return Ok(FetchOutcome::IncarnationChanged);
            }
            for entry in page.entries {
                self.canonical.apply_entry(&self.source, entry.clone()).await?;
                self.acknowledge_entry(&entry);
            }
        }
        self.load_newer_root().await
    }

    async fn load_newer_root(&mut self) -> Result<FetchOutcome, LiveError> {
        let newest_state = match CanonicalState::load(&self.source, Some(self.position())).await {
            Ok(newest_state) => newest_state,
            // If the tables were restored, loading may fail because the log has become shorter than
            // the local position.
            Err(_) if self.has_incarnation_changed().await => {
                return Ok(FetchOutcome::IncarnationChanged);
            }
            Err(error) => return Err(error.into()),
        };
        if newest_state.incarnation() != self.canonical.incarnation() {
            return Ok(FetchOutcome::IncarnationChanged);
        }
        self.canonical = newest_state;
        self.acknowledge_known_entries();
        Ok(FetchOutcome::UpToDate)
    }

    /// Returns `false` if the request fails.
    async fn has_incarnation_changed(&self) -> bool {
        let head = self.outbox.spreadsheet.head().await;
        head.is_ok_and(|head| head.incarnation != self.canonical.incarnation())
    }

    pub(super) fn acknowledge_known_entries(&mut self) {
        let known_entries = self.canonical.entries().iter();
        let own_entries: Vec<EntryView> =
            known_entries.filter(|entry| self.own_entries.contains(entry)).cloned().collect();
        for entry in &own_entries {
            self.acknowledge_entry(entry);
        }
    }

    /// If this client has appended `entry`, removes and reports the pending edits that the entry
    /// contains. Otherwise, only counts the entry.
    fn acknowledge_entry(&mut self, entry: &EntryView) {
        if !self.own_entries.contains(entry) {
            if entry.kind == EntryKind::Edits {
                self.unreported.new_entries += 1;
            }
            return;
        }
        let committed_edits: Vec<_> = acknowledged(entry, self.outbox_state.acked_id).collect();
        for edit in committed_edits {
            // The rejection of a large edit is known only from the response, because the log entry
            // does not contain it.
            let answered_rejection =
                self.answers.get(&edit.id).and_then(|answer| answer.rejection.clone());
            let rejection = edit.rejection.or(answered_rejection);
            let outcome = EditOutcome::new(rejection, edit.committed);
            self.settle_up_to(edit.id, Some(edit.position), &outcome);
        }
    }

    /// The log entries of answered edits may be unknown if the snapshot root already includes them.
    /// If anything has changed, saves the state on disk and rebases the remaining edits.
    async fn settle_answered_edits(&mut self) -> Result<(), LiveError> {
        let position = Some(self.position());
        let answers_in_order = self.answers.values();
        let reached_answers: Vec<AppendedMutation> =
            answers_in_order.take_while(|answer| answer.position <= position).cloned().collect();
        for answer in &reached_answers {
            self.settle_up_to(answer.id, answer.position, &EditOutcome::of_answer(answer));
        }
        if !reached_answers.is_empty() || self.canonical.has_unsaved_changes() {
            self.save_and_rebase().await?;
        }
        Ok(())
    }

    /// `position` and `outcome` belong to the edit `last_id`. The outcomes of earlier edits are
    /// taken from the server's answers. Without an answer, an outcome is unknown.
    fn settle_up_to(&mut self, last_id: u64, position: Option<Position>, outcome: &EditOutcome) {
        for edit in self.outbox_state.drop_up_to(last_id) {
            let answer = self.answers.remove(&edit.id);
            let of_answer = Settlement::of_answer(edit.id, answer.as_ref());
            let settlement = if edit.id == last_id {
                Settlement { position, outcome: outcome.clone(), ..of_answer }
            } else {
                of_answer
            };
            self.unreported.settled.push(settlement);
        }
        self.answers.remove(&last_id);
        self.pending.retain(|edit| edit.id > last_id);
    }
}

impl Settlement {
    fn of_answer(id: u64, answer: Option<&AppendedMutation>) -> Self {
        match answer {
            Some(answer) => Self {
                id,
                position: answer.position,
                outcome: EditOutcome::of_answer(answer),
                reversal: answer.reversal,
            },
            None => Self { id, position: None, outcome: EditOutcome::Unknown, reversal: None },
        }
    }
}

impl EditOutcome {
    fn new(rejection: Option<Rejection>, committed: Option<Vec<Operation>>) -> Self {
        match (rejection, committed) {
            (Some(rejection), _) => Self::Rejected(rejection),
            (None, Some(committed)) => Self::Transformed(committed),
            (None, None) => Self::Unchanged,
        }
    }

    /// If the edit was resent, the answer omits the committed operations, so it is unknown whether
    /// they differ from the requested operation.
    fn of_answer(answer: &AppendedMutation) -> Self {
        let outcome = Self::new(answer.rejection.clone(), answer.committed.clone());
        if outcome == Self::Unchanged && answer.status == MutationStatus::Duplicate {
            return Self::Unknown;
        }
        outcome
    }
}
