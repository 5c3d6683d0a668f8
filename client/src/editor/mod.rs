//! Edits that are committed exactly once, even if the process crashes or a response is lost.
//!
//! An edit is saved on disk before it is sent. Its id and base position never change, however often
//! it is sent. [`Editor`] sends one edit at a time and holds a lock until the result is known, so
//! concurrent commands run one after another. The `outbox` module implements the files, the
//! requests and the recovery.

mod cells;
mod error;
mod names;
mod sheets;
#[cfg(feature = "cli")]
mod waiting;

#[cfg(feature = "cli")]
pub(crate) use cells::CellReference;
pub use error::EditorError;
#[cfg(feature = "cli")]
pub(crate) use waiting::{ChangedEdit, RejectedEdit, SentEdits, SentOutcome};

use std::path::Path;

use cellar_api::{wire::AppendedMutation, wire::MutationStatus, wire::ReversalReport};
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

pub(crate) const FOLDER: &str = "clients";

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
    /// The committed operations, or `None` if they are equal to the requested operation. They
    /// differ if other clients have moved the target of the edit, and for an undo or revert. They
    /// are empty if the edit had no effect.
    pub committed: Option<Vec<Operation>>,
    /// Whether another client may have deleted the sheet before the edit was committed. Only set if
    /// the request that would have determined this failed.
    pub sheet_in_doubt: bool,
    /// Number of unsent edits from interrupted commands that were sent before this edit.
    pub earlier_edits: usize,
    /// Effect of an undo or revert in numbers. `None` for other edits, and if
    /// the edit was committed by an earlier request whose response was lost.
    pub reversal: Option<ReversalReport>,
}

impl Editor {
    /// Creates an editor whose state is stored in `dir/.cellar/clients/`. Each token subject in
    /// each stack ([`crate::Client::identity`]) has its own state, so that edits are never sent as
    /// another subject.
    #[must_use]
    pub fn new(spreadsheet: Spreadsheet, dir: &Path) -> Self {
        let folder = dir.join(STATE_FOLDER).join(FOLDER);
        Self { outbox: Outbox::new(spreadsheet, &folder) }
    }

    /// Returns the newest position at which this spreadsheet was read or edited. Returns `None` if
    /// no state is stored on disk.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    pub fn seen_position(&self) -> Result<Option<Position>, FileError> {
        Ok(self.outbox.read()?.map(|state| state.seen))
    }

    /// Returns the number of edits on disk that are not known to be committed.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    pub fn count_unsent_edits(&self) -> Result<usize, FileError> {
        Ok(self.outbox.read()?.map_or(0, |state| state.pending.len()))
    }

    /// Records that the spreadsheet was read at `position`. `first_sheet` is the first sheet at
    /// that position, if known. Later edits are based on this position, and later reads never
    /// return an older state.
    ///
    /// If another process is sending an edit, this method fails immediately. This is harmless,
    /// because the server's response to that edit contains a newer position.
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

    /// Commits an edit. Edits that were left over from interrupted commands are resent first. An undo or
    /// revert that would change nothing is refused and leaves no entry.
    ///
    /// # Errors
    ///
    /// Returns an [`EditorError`] whose variant states whether the edit was committed, was not
    /// committed, or may have been committed.
    pub async fn apply(&self, operation: Operation) -> Result<AppliedEdit, EditorError> {
        let operation = operation.validated().map_err(|fault| EditorError::Invalid { fault })?;
        let is_reversal = matches!(operation, Operation::Undo(_) | Operation::Revert(_));
        let (payload, object) =
            EditPayload::encode(operation).map_err(|fault| EditorError::TooLarge { fault })?;
        let _lock = self.outbox.lock().await?;
        let mut state = self.load_or_create_state().await?;
        let sheet_known_at = state.seen;
        let earlier_edits = self.send_earlier_edits(&mut state).await?;
        self.outbox.add_edit(&mut state, payload, object)?;
        state.refuse_unchanged = is_reversal;
        let settled = self.send_newest_edit(&mut state).await?;
        if let Some(rejection) = &settled.answer.rejection {
            let rejection = escape_rejection(rejection);
            return Err(EditorError::Rejected { edit: settled.description, rejection });
        }
        let position = settled.answer.position.unwrap_or(state.seen);
        let deletion_check = self.was_sheet_deleted(&settled, sheet_known_at).await;
        let committed = match deletion_check {
            // If the sheet was deleted, the edit had no effect.
            Ok(true) => Some(Vec::new()),
            Ok(false) | Err(_) => self.committed_operations(&settled.answer).await,
        };
        let sheet_in_doubt = deletion_check.is_err();
        let reversal = settled.answer.reversal;
        Ok(AppliedEdit { position, committed, sheet_in_doubt, earlier_edits, reversal })
    }

    async fn send_newest_edit(&self, state: &mut OutboxState) -> Result<SettledEdit, EditorError> {
        let mut settled = Vec::new();
        if let Err(error) = self.outbox.send_all(state, &mut settled).await {
            self.handle_send_failure(state, error, &mut settled).await?;
        }
        settled.pop().ok_or_else(|| self.outbox.incomplete_reply_error().into())
    }

    /// The sheet existed at position `known_at`.
    async fn was_sheet_deleted(
        &self,
        settled: &SettledEdit,
        known_at: Position,
    ) -> Result<bool, ClientError> {
        let Some(sheet) = settled.sheet else { return Ok(false) };
        // The response rules out a deletion after the edit's base. If the sheet is only known to
        // exist at another position, check whether it existed at the base.
        let check_at = match settled.possible_deletion {
            Some(position) => position,
            None if settled.base != known_at => settled.base,
            None => return Ok(false),
        };
        is_deleted_at(&self.outbox.spreadsheet, sheet, check_at).await
    }

    /// Returns the committed operations of an edit if they differ from the requested operation. The
    /// response to a resent edit does not contain them, so they are read from the log entry.
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

    async fn send_earlier_edits(&self, state: &mut OutboxState) -> Result<usize, EditorError> {
        let earlier_edits = state.pending.len();
        if earlier_edits == 0 {
            return Ok(0);
        }
        let mut settled = Vec::new();
        let send_result = self.outbox.send_all(state, &mut settled).await;
        // Report a rejection now, because a rejected edit is no longer pending and cannot be
        // reported later.
        check_none_rejected(settled)?;
        let error = match send_result {
            Ok(()) => return Ok(earlier_edits),
            Err(SendError::File(error)) => return Err(error.into()),
            Err(SendError::Client(error)) => error,
        };
        let sent_before = true;
        if choose_recovery(&error, sent_before) == Recovery::MoveToFile {
            return Err(self.move_edits_to_file(state, error));
        }
        let edits = state.describe_pending();
        Err(EditorError::EarlierKept { edits, source: Box::new(error) })
    }

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
            Recovery::MoveToFile => Err(self.move_edits_to_file(state, error)),
            Recovery::RemoveFromOutbox => Err(self.remove_newest_edit(state, error)),
            Recovery::RecreateAsNewClient => self.resend_as_new_client(state, error, settled).await,
        }
    }

    /// Must be called only if the edit was certainly not committed. If the newest position cannot
    /// be read, removes the edit and returns `error`.
    async fn resend_as_new_client(
        &self,
        state: &mut OutboxState,
        error: ClientError,
        settled: &mut Vec<SettledEdit>,
    ) -> Result<(), EditorError> {
        if self.recreate_edits_as_new_client(state).await.is_err() {
            return Err(self.remove_newest_edit(state, error));
        }
        self.outbox.write(state)?;
        match self.outbox.send_all(state, settled).await {
            Ok(()) => Ok(()),
            Err(SendError::File(error)) => Err(error.into()),
            Err(SendError::Client(error))
                if error.certainly_not_done() && !state.is_uncertain() =>
            {
                Err(self.remove_newest_edit(state, error))
            }
            Err(SendError::Client(error)) => Err(kept_error(state, error)),
        }
    }

    /// Recreates the pending edits under a new client id, with the newest position as their base.
    async fn recreate_edits_as_new_client(
        &self,
        state: &mut OutboxState,
    ) -> Result<(), ClientError> {
        let spreadsheet = &self.outbox.spreadsheet;
        if state.adds_a_sheet() {
            // Renumber the added sheet, because its number may already be used at the new base.
            let sheets = spreadsheet.sheets().await?;
            state.recreate_edits_as_new_client(
                new_client_id(),
                sheets.incarnation,
                sheets.position,
            );
            state.renumber_added_sheets(sheets.next_sheet);
        } else {
            let head = spreadsheet.head().await?;
            state.recreate_edits_as_new_client(new_client_id(), head.incarnation, head.head);
        }
        Ok(())
    }

    /// The edit must certainly not have been committed. Returns the error to report.
    fn remove_newest_edit(&self, state: &mut OutboxState, error: ClientError) -> EditorError {
        match self.outbox.remove_newest_edit(state) {
            Ok(()) => EditorError::of_uncommitted(error),
            Err(_) => kept_error(state, error),
        }
    }

    /// The edits may have been committed but cannot be resent. Returns the error to report.
    fn move_edits_to_file(&self, state: &OutboxState, error: ClientError) -> EditorError {
        let move_result = self
            .outbox
            .write_set_aside_file(&state.pending)
            .and_then(|file| self.outbox.delete().map(|()| file));
        match move_result {
            Ok(file) => {
                let edits = state.describe_pending();
                EditorError::SetAside { edits, file, source: Box::new(error) }
            }
            Err(file_error) => file_error.into(),
        }
    }
}

fn check_none_rejected(settled: Vec<SettledEdit>) -> Result<(), EditorError> {
    for SettledEdit { description: edit, answer, .. } in settled {
        if let Some(rejection) = answer.rejection {
            let rejection = escape_rejection(&rejection);
            return Err(EditorError::EarlierRejected { edit, rejection });
        }
    }
    Ok(())
}

/// Escapes control characters in the text of a rejection, because they could manipulate the
/// terminal.
fn escape_rejection(rejection: &Rejection) -> Rejection {
    Rejection { reason: rejection.reason, detail: escape(&rejection.detail) }
}

fn kept_error(state: &OutboxState, error: ClientError) -> EditorError {
    EditorError::Kept { edits: state.describe_pending(), source: Box::new(error) }
}
