//! Edits that are committed exactly once, even after crashes and lost responses.
//!
//! An edit is saved to disk before it is sent. Its id and base never change, no matter how often it
//! is sent. The module `outbox` implements the files, the requests and the recovery. [`Editor`]
//! sends one edit and waits for its result. Meanwhile it has a lock, so that concurrent commands
//! run one at a time.

mod error;
mod sheets;

pub use error::EditorError;

use std::path::Path;

use cellar_api::{wire::AppendedMutation, wire::MutationStatus};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, SheetId};

use crate::files::{FileError, STATE_FOLDER};
use crate::outbox::{
    EditPayload, Outbox, OutboxState, Recovery, SendError, SettledEdit, choose_recovery,
    new_client_id,
};
use crate::sheet_deletion::is_deleted_at;
use crate::table::escape;
use crate::{Client, ClientError};

/// Makes edits in one spreadsheet for one subject.
#[derive(Debug)]
pub struct Editor {
    outbox: Outbox,
}

/// The result of a committed edit.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedEdit {
    /// Position of the entry that contains the edit.
    pub position: Position,
    /// The committed operations, if they differ from the requested operation. They differ if
    /// earlier edits by other clients moved the target, or if the edit is an undo. Empty if the
    /// edit has no effect.
    pub committed: Option<Vec<Operation>>,
    /// Set if another client may have deleted the sheet before the edit, but checking this failed.
    pub sheet_in_doubt: bool,
    /// Number of edits of an interrupted run that were sent before this edit.
    pub earlier_edits: usize,
}

impl Editor {
    /// Creates an editor that keeps its state in `dir/.cellar/clients/`. `subject` is the subject
    /// of the client's token ([`crate::subject_of_token`]). Each subject and each
    /// [`Client::identity`] has a separate state, so that edits are never sent as another subject.
    #[must_use]
    pub fn new(client: Client, spreadsheet: LogId, subject: &str, dir: &Path) -> Self {
        let folder = dir.join(STATE_FOLDER).join("clients");
        Self { outbox: Outbox::new(client, spreadsheet, subject, &folder) }
    }

    /// Returns the highest position at which this spreadsheet was read or edited. Returns `None` if
    /// there is no saved state.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    pub fn seen_position(&self) -> Result<Option<Position>, FileError> {
        Ok(self.outbox.read()?.map(|state| state.seen))
    }

    /// Returns the number of saved edits that are not known to be committed.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    pub fn count_unsent_edits(&self) -> Result<usize, FileError> {
        Ok(self.outbox.read()?.map_or(0, |state| state.pending.len()))
    }

    /// Records that the spreadsheet was read at `position`, and the first sheet at that position if
    /// it is known. Later edits are based on this position, and later reads are at or after it. If
    /// another process is sending an edit, this method fails instead of waiting. That is harmless,
    /// because the response to the edit contains a newer position.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state is locked, or if it cannot be read or written.
    pub fn record_seen(
        &self,
        position: Position,
        incarnation: u32,
        first_sheet: Option<SheetId>,
    ) -> Result<(), FileError> {
        let _lock = self.outbox.try_lock()?;
        let saved = self.outbox.read()?;
        let is_new = saved.is_none();
        let mut state = match saved {
            Some(state) => state,
            None => OutboxState::new(self.outbox.key(), new_client_id(), incarnation, position),
        };
        let is_changed = state.record_seen(position, incarnation, first_sheet, new_client_id());
        if is_changed || is_new { self.outbox.write(&state) } else { Ok(()) }
    }

    /// Makes one edit. Edits of an interrupted run are first sent unchanged.
    ///
    /// # Errors
    ///
    /// Returns an [`EditorError`]. Each variant states whether the edit was committed, was not
    /// committed, or may have been committed.
    pub async fn apply(&self, operation: Operation) -> Result<AppliedEdit, EditorError> {
        let operation = operation.validated().map_err(|fault| EditorError::Invalid { fault })?;
        let (payload, object) =
            EditPayload::choose(operation).map_err(|fault| EditorError::TooLarge { fault })?;
        let _lock = self.outbox.lock().await?;
        let mut state = self.load_or_create_state().await?;
        let sheet_known_at = state.seen;
        let earlier_edits = self.send_earlier_edits(&mut state).await?;
        self.outbox.add_edit(&mut state, payload, object)?;
        let settled = self.send_newest_edit(&mut state).await?;
        if let Some(rejection) = &settled.answer.rejection {
            let rejection = escape_rejection(rejection);
            return Err(EditorError::Rejected { edit: settled.description, rejection });
        }
        let position = settled.answer.position.unwrap_or(state.seen);
        let sheet_deleted = self.was_sheet_deleted(&settled, sheet_known_at).await;
        let committed = if matches!(sheet_deleted, Ok(true)) {
            Some(Vec::new())
        } else {
            self.committed_operations(&settled.answer).await
        };
        let sheet_in_doubt = sheet_deleted.is_err();
        Ok(AppliedEdit { position, committed, sheet_in_doubt, earlier_edits })
    }

    /// Sends the only pending edit and returns its result.
    async fn send_newest_edit(&self, state: &mut OutboxState) -> Result<SettledEdit, EditorError> {
        let mut settled = Vec::new();
        if let Err(error) = self.outbox.send_all(state, &mut settled).await {
            self.handle_send_failure(state, error, &mut settled).await?;
        }
        settled.pop().ok_or_else(|| self.outbox.incomplete_reply_error().into())
    }

    /// Returns whether another client deleted the sheet of an edit before the edit was committed.
    /// The sheet existed at position `known_at`.
    async fn was_sheet_deleted(
        &self,
        settled: &SettledEdit,
        known_at: Position,
    ) -> Result<bool, ClientError> {
        let Some(sheet) = settled.sheet else { return Ok(false) };
        // If the edit has another base than `known_at`, the responses omit the entries in between.
        // The sheet is therefore also checked at the base.
        let check_at = match settled.possible_deletion {
            Some(position) => position,
            None if settled.base != known_at => settled.base,
            None => return Ok(false),
        };
        is_deleted_at(&self.outbox.client, self.outbox.spreadsheet, sheet, check_at).await
    }

    /// Returns the committed operations of an edit if they differ from the requested operation. If
    /// the original response was lost, reads the operations from the entry.
    async fn committed_operations(&self, answer: &AppendedMutation) -> Option<Vec<Operation>> {
        if answer.status != MutationStatus::Duplicate {
            return answer.committed.clone();
        }
        let history = self
            .outbox
            .client
            .history(self.outbox.spreadsheet, Some(answer.position?), Some(1))
            .await;
        let entry = history.ok()?.entries.into_iter().next()?;
        let own = entry.mutations.into_iter().find(|mutation| mutation.id == answer.id)?;
        own.committed
    }

    async fn load_or_create_state(&self) -> Result<OutboxState, EditorError> {
        if let Some(state) = self.outbox.read()? {
            return Ok(state);
        }
        let head = self.outbox.client.head(self.outbox.spreadsheet, None).await?;
        Ok(OutboxState::new(self.outbox.key(), new_client_id(), head.incarnation, head.head))
    }

    /// Sends the edits of an interrupted run unchanged, and returns their number.
    async fn send_earlier_edits(&self, state: &mut OutboxState) -> Result<usize, EditorError> {
        let earlier_edits = state.pending.len();
        if earlier_edits == 0 {
            return Ok(0);
        }
        let mut settled = Vec::new();
        let sent = self.outbox.send_all(state, &mut settled).await;
        // Report a rejection now: the rejected edit is settled, so no later run can report it.
        for SettledEdit { description: edit, answer, .. } in settled {
            if let Some(rejection) = answer.rejection {
                let rejection = escape_rejection(&rejection);
                return Err(EditorError::EarlierRejected { edit, rejection });
            }
        }
        match sent {
            Ok(()) => Ok(earlier_edits),
            Err(SendError::File(error)) => Err(error.into()),
            Err(SendError::Client(error)) => {
                let sent_before = true;
                match choose_recovery(&error, sent_before) {
                    Recovery::SetAside => Err(self.set_aside(state, error)?),
                    Recovery::Keep | Recovery::Withdraw | Recovery::StartOver => {
                        let edits = state.describe_pending();
                        Err(EditorError::EarlierKept { edits, source: Box::new(error) })
                    }
                }
            }
        }
    }

    /// Handles a failure of the first attempt to send a new edit.
    async fn handle_send_failure(
        &self,
        state: &mut OutboxState,
        error: SendError,
        settled: &mut Vec<SettledEdit>,
    ) -> Result<(), EditorError> {
        let error = match error {
            SendError::Client(error) => error,
            SendError::File(error) => return Err(error.into()),
        };
        let sent_before = state.is_uncertain();
        match choose_recovery(&error, sent_before) {
            Recovery::Keep => Err(kept_error(state, error)),
            Recovery::SetAside => Err(self.set_aside(state, error)?),
            Recovery::Withdraw => Err(self.withdraw(state, error)),
            Recovery::StartOver => self.start_over(state, error, settled).await,
        }
    }

    /// Makes the edit again as a new client, based on the newest position. This is tried only once.
    /// The edit must certainly not be committed. Returns `error` if the newest position cannot be
    /// read.
    async fn start_over(
        &self,
        state: &mut OutboxState,
        error: ClientError,
        settled: &mut Vec<SettledEdit>,
    ) -> Result<(), EditorError> {
        if self.become_new_client(state).await.is_err() {
            return Err(self.withdraw(state, error));
        }
        self.outbox.write(state)?;
        match self.outbox.send_all(state, settled).await {
            Ok(()) => Ok(()),
            Err(SendError::File(error)) => Err(error.into()),
            Err(SendError::Client(error))
                if error.certainly_not_done() && !state.is_uncertain() =>
            {
                Err(self.withdraw(state, error))
            }
            Err(SendError::Client(error)) => Err(kept_error(state, error)),
        }
    }

    /// Transfers the pending edits to a new client that is based on the newest position.
    async fn become_new_client(&self, state: &mut OutboxState) -> Result<(), ClientError> {
        let Outbox { client, spreadsheet, .. } = &self.outbox;
        if state.adds_a_sheet() {
            // At the new base, another sheet may already use the number of the added sheet.
            let sheets = client.sheets(*spreadsheet, None, None).await?;
            state.start_over(new_client_id(), sheets.incarnation, sheets.position);
            state.renumber_added_sheets(sheets.next_sheet);
        } else {
            let head = client.head(*spreadsheet, None).await?;
            state.start_over(new_client_id(), head.incarnation, head.head);
        }
        Ok(())
    }

    /// Removes the newest edit, and returns the error to report. The edit must certainly not be
    /// committed.
    fn withdraw(&self, state: &mut OutboxState, error: ClientError) -> EditorError {
        match self.outbox.withdraw_newest(state) {
            Ok(()) => EditorError::Client(Box::new(error)),
            Err(_) => kept_error(state, error),
        }
    }

    /// Moves the pending edits to a separate file, because they may have been committed but cannot
    /// be resent. Returns the error to report.
    fn set_aside(
        &self,
        state: &mut OutboxState,
        error: ClientError,
    ) -> Result<EditorError, FileError> {
        let edits = state.describe_pending();
        let file = self.outbox.write_set_aside_file(&state.pending)?;
        self.outbox.delete()?;
        Ok(EditorError::SetAside { edits, file, source: Box::new(error) })
    }
}

/// Escapes the control characters of a rejection, because they could control the terminal when
/// printed.
fn escape_rejection(rejection: &Rejection) -> Rejection {
    Rejection { reason: rejection.reason, detail: escape(&rejection.detail) }
}

fn kept_error(state: &OutboxState, error: ClientError) -> EditorError {
    EditorError::Kept { edits: state.describe_pending(), source: Box::new(error) }
}
