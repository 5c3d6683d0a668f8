//! Edits that are committed exactly once, even after crashes and lost responses.
//!
//! An edit is persisted before it is sent, and its id and base position never change, no matter how
//! often the edit is sent. The `outbox` module implements files, requests and recovery. [`Editor`]
//! sends one edit at a time and holds a lock until the result is known, so concurrent commands run
//! one after another.

mod cells;
mod error;
mod sheets;

#[cfg(feature = "cli")]
pub(crate) use cells::CellReference;
pub use error::EditorError;

use std::path::Path;

use cellar_api::{wire::AppendedMutation, wire::MutationStatus};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, SheetId};

use crate::files::{FileError, STATE_FOLDER};
use crate::outbox::{
    EditPayload, Outbox, OutboxState, Recovery, SendError, SettledEdit, choose_recovery,
    new_client_id,
};
use crate::sheet_deletion::is_deleted_at;
use crate::text::escape;
use crate::{ClientError, Spreadsheet};

/// Edits one spreadsheet as one subject (user).
#[derive(Debug)]
pub struct Editor {
    outbox: Outbox,
}

/// Result of a committed edit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AppliedEdit {
    /// Position of the log entry that contains the edit.
    pub position: Position,
    /// The committed operations, if they differ from the requested operation: other clients have
    /// moved its target, or it is an undo or revert. Empty if the edit has no effect.
    pub committed: Option<Vec<Operation>>,
    /// Whether another client may have deleted the sheet before the edit was committed. Set only if
    /// the request that checks this failed.
    pub sheet_in_doubt: bool,
    /// Number of edits from an interrupted run that were sent before this edit.
    pub earlier_edits: usize,
}

impl Editor {
    /// Creates an editor with its state in `dir/.cellar/clients/`. State is separate per subject of
    /// the client's token and [`crate::Client::identity`], so that edits are never sent as another
    /// subject.
    #[must_use]
    pub fn new(spreadsheet: Spreadsheet, dir: &Path) -> Self {
        let folder = dir.join(STATE_FOLDER).join("clients");
        Self { outbox: Outbox::new(spreadsheet, &folder) }
    }

    /// Returns the highest position at which this spreadsheet was read or edited, or `None` if
    /// there is no persisted state.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    pub fn seen_position(&self) -> Result<Option<Position>, FileError> {
        Ok(self.outbox.read()?.map(|state| state.seen))
    }

    /// Returns the number of persisted edits that are not known to be committed.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    pub fn count_unsent_edits(&self) -> Result<usize, FileError> {
        Ok(self.outbox.read()?.map_or(0, |state| state.pending.len()))
    }

    /// Records that the spreadsheet was read at `position`, and which sheet was first at that
    /// position, if known. Later edits are based on this position, and later reads are at or after
    /// it. Fails at once while another process is sending an edit, which is harmless, because the
    /// response to that edit contains a newer position.
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

    /// Commits one edit. Edits from an interrupted run are first resent unchanged.
    ///
    /// # Errors
    ///
    /// Returns an [`EditorError`] whose variant states whether the edit was committed, was not
    /// committed, or may have been committed.
    pub async fn apply(&self, operation: Operation) -> Result<AppliedEdit, EditorError> {
        let operation = operation.validated().map_err(|fault| EditorError::Invalid { fault })?;
        let (payload, object) =
            EditPayload::encode(operation).map_err(|fault| EditorError::TooLarge { fault })?;
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
        let committed = match sheet_deleted {
            // An edit of a deleted sheet has no effect.
            Ok(true) => Some(Vec::new()),
            Ok(false) | Err(_) => self.committed_operations(&settled.answer).await,
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

    /// Returns whether another client deleted an edit's sheet before the edit was committed. The
    /// sheet existed at position `known_at`.
    async fn was_sheet_deleted(
        &self,
        settled: &SettledEdit,
        known_at: Position,
    ) -> Result<bool, ClientError> {
        let Some(sheet) = settled.sheet else { return Ok(false) };
        // The response contains only entries after the edit's base. If `known_at` is another
        // position, check the sheet at the base.
        let check_at = match settled.possible_deletion {
            Some(position) => position,
            None if settled.base != known_at => settled.base,
            None => return Ok(false),
        };
        is_deleted_at(&self.outbox.spreadsheet, sheet, check_at).await
    }

    /// Returns an edit's committed operations if they differ from the requested operation. If the
    /// original response was lost, reads the operations from the log entry.
    async fn committed_operations(&self, answer: &AppendedMutation) -> Option<Vec<Operation>> {
        if answer.status != MutationStatus::Duplicate {
            return answer.committed.clone();
        }
        let history = self.outbox.spreadsheet.history_page(Some(answer.position?), Some(1)).await;
        let entry = history.ok()?.entries.into_iter().next()?;
        let own = entry.mutations.into_iter().find(|mutation| mutation.id == answer.id)?;
        own.committed
    }

    async fn load_or_create_state(&self) -> Result<OutboxState, EditorError> {
        if let Some(state) = self.outbox.read()? {
            return Ok(state);
        }
        let head = self.outbox.spreadsheet.head().await?;
        Ok(OutboxState::new(self.outbox.key(), new_client_id(), head.incarnation, head.head))
    }

    /// Resends the edits from an interrupted run unchanged. Returns their number.
    async fn send_earlier_edits(&self, state: &mut OutboxState) -> Result<usize, EditorError> {
        let earlier_edits = state.pending.len();
        if earlier_edits == 0 {
            return Ok(0);
        }
        let mut settled = Vec::new();
        let send_result = self.outbox.send_all(state, &mut settled).await;
        // Report a rejection now. A rejected edit is no longer pending, so a later run cannot
        // report it.
        check_none_rejected(settled)?;
        let error = match send_result {
            Ok(()) => return Ok(earlier_edits),
            Err(SendError::File(error)) => return Err(error.into()),
            Err(SendError::Client(error)) => error,
        };
        let sent_before = true;
        if choose_recovery(&error, sent_before) == Recovery::MoveToFile {
            return Err(self.set_aside(state, error)?);
        }
        let edits = state.describe_pending();
        Err(EditorError::EarlierKept { edits, source: Box::new(error) })
    }

    /// Handles a failed first attempt to send a new edit.
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
            Recovery::KeepAndResend => Err(kept_error(state, error)),
            Recovery::MoveToFile => Err(self.set_aside(state, error)?),
            Recovery::RemoveFromOutbox => Err(self.withdraw(state, error)),
            Recovery::RecreateAsNewClient => self.start_over(state, error, settled).await,
        }
    }

    /// Recreates an edit under a new client id, based on the newest position, and sends it once.
    /// Must be called only if the edit was certainly not committed. If the newest position cannot
    /// be read, removes the edit and returns `error`.
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

    /// Recreates the pending edits under a new client id, based on the newest position.
    async fn become_new_client(&self, state: &mut OutboxState) -> Result<(), ClientError> {
        let spreadsheet = &self.outbox.spreadsheet;
        if state.adds_a_sheet() {
            // At the new base, the added sheet's number may already be in use.
            let sheets = spreadsheet.sheets().await?;
            state.start_over(new_client_id(), sheets.incarnation, sheets.position);
            state.renumber_added_sheets(sheets.next_sheet);
        } else {
            let head = spreadsheet.head().await?;
            state.start_over(new_client_id(), head.incarnation, head.head);
        }
        Ok(())
    }

    /// Removes the newest edit and returns the error to report. Must be called only if the edit was
    /// certainly not committed.
    fn withdraw(&self, state: &mut OutboxState, error: ClientError) -> EditorError {
        match self.outbox.withdraw_newest(state) {
            Ok(()) => EditorError::Client(Box::new(error)),
            Err(_) => kept_error(state, error),
        }
    }

    /// Moves pending edits to a separate file, because they may have been committed but cannot be
    /// resent. Returns the error to report.
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

/// Fails if the server rejected one of the edits from an earlier run.
fn check_none_rejected(settled: Vec<SettledEdit>) -> Result<(), EditorError> {
    for SettledEdit { description: edit, answer, .. } in settled {
        if let Some(rejection) = answer.rejection {
            let rejection = escape_rejection(&rejection);
            return Err(EditorError::EarlierRejected { edit, rejection });
        }
    }
    Ok(())
}

/// Escapes control characters in a rejection, because they could manipulate the terminal.
fn escape_rejection(rejection: &Rejection) -> Rejection {
    Rejection { reason: rejection.reason, detail: escape(&rejection.detail) }
}

fn kept_error(state: &OutboxState, error: ClientError) -> EditorError {
    EditorError::Kept { edits: state.describe_pending(), source: Box::new(error) }
}
