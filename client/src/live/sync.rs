//! Syncs a live sheet: sends the pending edits, fetches new log entries and rebases the edits that
//! are still pending.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cellar_api::polling::PollEvent;
use cellar_api::rebase::acknowledged;
use cellar_api::{
    wire::AppendReply, wire::AppendedMutation, wire::EntryKind, wire::EntryView,
    wire::MutationStatus, wire::ProblemKind,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

use super::canonical::CanonicalState;
use super::{LiveError, LiveSheet};
use crate::ClientError;
use crate::outbox::{NextRequest, Recovery, SendError, choose_queued_recovery};

/// Changes since the previous report, including those of failed syncs that made some progress.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncReport {
    /// Local edits that were committed or rejected since the previous report.
    pub settled: Vec<Settlement>,
    /// Number of new log entries by other clients.
    pub new_entries: usize,
    /// The canonical position after the sync.
    pub position: Position,
    /// Edits that may have been committed, but cannot be resent. The user has to check them.
    pub set_aside: Vec<SetAsideEdits>,
    /// Number of pending edits that a new client recreated after a table restore.
    pub reapplied: usize,
}

/// Final result of a local edit.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// Id of the edit.
    pub id: u64,
    /// Position of the log entry that contains the edit, if known.
    pub position: Option<Position>,
    /// Effect of the edit.
    pub outcome: EditOutcome,
}

/// The effect of an edit on the spreadsheet.
#[derive(Debug, Clone, PartialEq)]
pub enum EditOutcome {
    /// The edit was committed unchanged.
    Unchanged,
    /// The edit was committed as these operations instead of the requested one: earlier edits by
    /// other clients moved the target, or the edit is an undo. Empty if the edit has no effect.
    Transformed(Vec<Operation>),
    /// The edit was rejected and had no effect.
    Rejected(Rejection),
    /// The edit was committed, but its log entry was not read, so its effect is unknown.
    Unknown,
}

/// Edits that were moved to a file because they cannot be resent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsideEdits {
    /// The file that contains the edits.
    pub file: PathBuf,
    /// Number of edits.
    pub edits: usize,
}

/// Results of sent edits whose log entries have not been read yet, by edit id.
pub(super) type Answers = BTreeMap<u64, AppendedMutation>;

/// Result of a successful fetch of entries.
enum FetchOutcome {
    /// The canonical state is up to date.
    UpToDate,
    /// The tables were restored, so the log and the local state belong to different table
    /// incarnations.
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

/// Converts a sync result to the event that determines the polling interval
/// ([`cellar_api::polling`]).
#[must_use]
pub fn poll_event(result: &Result<SyncReport, LiveError>) -> PollEvent {
    match result {
        Ok(report) if report.has_changes() => PollEvent::Active,
        Ok(_) => PollEvent::Quiet,
        Err(_) => PollEvent::Failed,
    }
}

impl LiveSheet {
    /// Sends the pending edits, fetches new log entries and rebases the edits that are still
    /// pending. Costs one poll if there is nothing to send or fetch.
    ///
    /// # Errors
    ///
    /// Returns a [`LiveError`] if the sync fails. [`LiveError::is_offline`] returns whether the
    /// server was unreachable. Pending edits stay queued, and a failed sync can be retried at any
    /// time. Changes detected before the failure are reported by the next successful sync.
    pub async fn sync(&mut self) -> Result<SyncReport, LiveError> {
        let send_result = match self.send_pending().await {
            Err(error) if error.is_offline() => return Err(error),
            result => result,
        };
        // Fetch even if the server refused the edits: a user without write access may still read.
        self.fetch_new_entries().await?;
        send_result?;
        self.unreported.position = self.position();
        let next_report = SyncReport::empty(self.position());
        Ok(std::mem::replace(&mut self.unreported, next_report))
    }

    /// Sends the pending edits in as few requests as possible.
    async fn send_pending(&mut self) -> Result<(), LiveError> {
        while let Some(request) = self.state.next_request() {
            let Some((first_id, last_id)) = self.edit_ids(&request) else { break };
            let attempted_id_before = self.state.attempted_id;
            self.save_attempt(last_id)?;
            // An abandoned upload may still have committed a large edit.
            let may_have_been_sent = attempted_id_before >= first_id || self.state.is_uncertain();
            match self.outbox.send_request(&mut self.state, request).await {
                Ok((edit_count, reply)) => self.record_reply(edit_count, reply)?,
                Err(SendError::File(error)) => return Err(error.into()),
                Err(SendError::Client(error)) => {
                    if error.certainly_not_done() {
                        self.state.attempted_id = attempted_id_before;
                    }
                    return self.handle_send_failure(error, may_have_been_sent, last_id).await;
                }
            }
        }
        Ok(())
    }

    /// Persists that the edits up to `last_id` are about to be sent.
    fn save_attempt(&mut self, last_id: u64) -> Result<(), LiveError> {
        if last_id > self.state.attempted_id {
            self.state.attempted_id = last_id;
            self.outbox.write(&self.state)?;
        }
        Ok(())
    }

    /// Records the results of a request with `edit_count` edits.
    fn record_reply(&mut self, edit_count: usize, reply: AppendReply) -> Result<(), LiveError> {
        if self.state.record_reply(edit_count, &reply).is_none() {
            return Err(self.outbox.incomplete_reply_error().into());
        }
        for answer in reply.results {
            if let Some(position) = answer.position {
                self.own.add_position(position);
            }
            self.answers.insert(answer.id, answer);
        }
        Ok(())
    }

    /// Handles a failed request with edits up to `last_id`. Depending on the error, the pending
    /// edits are kept, recreated by a new client or moved to a file.
    async fn handle_send_failure(
        &mut self,
        error: ClientError,
        may_have_been_sent: bool,
        last_id: u64,
    ) -> Result<(), LiveError> {
        match choose_queued_recovery(&error, may_have_been_sent) {
            Recovery::StartOver => self.start_over(0).await,
            // The refusal is permanent, so none of the request's edits may be resent.
            Recovery::SetAside => self.start_over(last_id).await,
            Recovery::Keep | Recovery::Withdraw => Err(error.into()),
        }
    }

    /// Returns the first and last edit id in a request.
    fn edit_ids(&self, request: &NextRequest) -> Option<(u64, u64)> {
        match request {
            NextRequest::Append(append) => {
                Some((append.mutations.first()?.id, append.mutations.last()?.id))
            }
            NextRequest::Upload(_) => {
                let id = self.state.unanswered().first()?.id;
                Some((id, id))
            }
        }
    }

    /// Fetches and applies any log entries after the canonical position.
    async fn fetch_new_entries(&mut self) -> Result<(), LiveError> {
        let position = Some(self.position());
        let own_entries_missing = self.answers.values().any(|answer| answer.position > position);
        if !own_entries_missing && !self.canonical.needs_newer_root() {
            let known = self.canonical.head();
            let newest = self.outbox.spreadsheet.head_if_changed(known).await?;
            match newest {
                None => return self.settle_answered_edits().await,
                Some(newest) if newest.incarnation != known.incarnation => {
                    return self.start_over(0).await;
                }
                Some(_) => {}
            }
        }
        let fetched = self.apply_new_entries().await;
        // Settle even after an error, because the entries before the failure were applied.
        self.settle_answered_edits().await?;
        match fetched? {
            FetchOutcome::UpToDate => Ok(()),
            FetchOutcome::IncarnationChanged => self.start_over(0).await,
        }
    }

    /// Applies the log entries after the canonical position. If there are too many, loads a newer
    /// root instead.
    async fn apply_new_entries(&mut self) -> Result<FetchOutcome, LiveError> {
        let mut pages = self.outbox.spreadsheet.entry_pages(self.position());
        while !self.canonical.needs_newer_root() {
            let page = match pages.try_next().await {
                Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => break,
                page => page?,
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

    /// Replaces the canonical state with the newest state.
    async fn load_newer_root(&mut self) -> Result<FetchOutcome, LiveError> {
        let newest = match CanonicalState::load(&self.source, Some(self.position())).await {
            Ok(newest) => newest,
            Err(error) => {
                // Loading also fails if the restored table's log is shorter than the local
                // position.
                if self.has_incarnation_changed().await {
                    return Ok(FetchOutcome::IncarnationChanged);
                }
                return Err(error.into());
            }
        };
        if newest.incarnation() != self.canonical.incarnation() {
            return Ok(FetchOutcome::IncarnationChanged);
        }
        self.canonical = newest;
        self.acknowledge_known_entries();
        Ok(FetchOutcome::UpToDate)
    }

    /// Asks the server whether the table incarnation has changed. Returns `false` if the server
    /// does not respond.
    async fn has_incarnation_changed(&self) -> bool {
        let head = self.outbox.spreadsheet.head(None).await;
        head.is_ok_and(|head| head.incarnation != self.canonical.incarnation())
    }

    /// Settles the pending edits that are contained in the known entries.
    pub(super) fn acknowledge_known_entries(&mut self) {
        let own = self.canonical.entries().iter().filter(|entry| self.own.contains(entry));
        let own: Vec<EntryView> = own.cloned().collect();
        for entry in &own {
            self.acknowledge_entry(entry);
        }
    }

    /// Settles the pending edits in an entry by this client. Entries by other clients are only
    /// counted.
    fn acknowledge_entry(&mut self, entry: &EntryView) {
        if !self.own.contains(entry) {
            self.unreported.new_entries += usize::from(entry.kind == EntryKind::Edits);
            return;
        }
        let committed_edits: Vec<_> = acknowledged(entry, self.state.acked_id).collect();
        for edit in committed_edits {
            // A large edit's entry does not record a rejection; only the response does.
            let reply = self.answers.get(&edit.id);
            let rejection =
                edit.rejection.or_else(|| reply.and_then(|answer| answer.rejection.clone()));
            let outcome = EditOutcome::new(rejection, edit.committed);
            self.settle_up_to(edit.id, Some(edit.position), &outcome);
        }
    }

    /// Settles the answered edits up to the canonical position. Their entries may be part of the
    /// root and thus missing from the known entries. Persists and rebases if anything changed.
    async fn settle_answered_edits(&mut self) -> Result<(), LiveError> {
        let position = Some(self.position());
        let reached = self.answers.values().take_while(|answer| answer.position <= position);
        let reached: Vec<AppendedMutation> = reached.cloned().collect();
        for answer in &reached {
            self.settle_up_to(answer.id, answer.position, &EditOutcome::of_answer(answer));
        }
        if !reached.is_empty() || self.canonical.has_unsaved_changes() {
            self.save_and_rebase().await?;
        }
        Ok(())
    }

    /// Drops the pending edits up to `id` and reports them as settled.
    fn settle_up_to(&mut self, id: u64, position: Option<Position>, outcome: &EditOutcome) {
        for dropped in self.state.drop_up_to(id) {
            let answer = self.answers.remove(&dropped.id);
            let (position, outcome) = if dropped.id == id {
                (position, outcome.clone())
            } else if let Some(answer) = answer {
                (answer.position, EditOutcome::of_answer(&answer))
            } else {
                (None, EditOutcome::Unknown)
            };
            self.unreported.settled.push(Settlement { id: dropped.id, position, outcome });
        }
        self.answers.remove(&id);
        self.pending.retain(|pending| pending.id > id);
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

    /// Returns an edit's outcome from the response. The response to a duplicate request omits the
    /// committed operations, so missing operations do not mean that the edit was committed
    /// unchanged.
    fn of_answer(answer: &AppendedMutation) -> Self {
        let outcome = Self::new(answer.rejection.clone(), answer.committed.clone());
        if outcome == Self::Unchanged && answer.status == MutationStatus::Duplicate {
            return Self::Unknown;
        }
        outcome
    }
}
