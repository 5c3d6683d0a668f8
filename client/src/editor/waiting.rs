//! Sends the edits of interrupted commands without making a new one.

use std::collections::BTreeSet;
use std::path::Path;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

use super::{Editor, EditorError, FOLDER, escape_rejection};
use crate::Client;
use crate::files::{FileError, STATE_FOLDER};
use crate::outbox::{Recovery, SendError, SettledEdit, choose_recovery, find_waiting};

/// Edits that were sent although no program waits for their results.
#[derive(Debug, Default)]
pub(crate) struct SentEdits {
    /// Number of edits that the server has committed.
    pub(crate) committed: usize,
    /// Position of the newest of these edits, if known.
    pub(crate) position: Option<Position>,
    pub(crate) rejected: Vec<RejectedEdit>,
    /// Committed edits whose effect is not the one that was requested, because others had changed the
    /// sheet.
    pub(crate) changed: Vec<ChangedEdit>,
}

#[derive(Debug)]
pub(crate) struct ChangedEdit {
    pub(crate) description: String,
    /// Empty if the edit had no effect.
    pub(crate) committed: Vec<Operation>,
}

/// The answer of the server to an edit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SentOutcome<'a> {
    Rejected(&'a Rejection),
    /// The operations that were committed, if they differ from the edit.
    Committed(Option<&'a [Operation]>),
}

#[derive(Debug)]
pub(crate) struct RejectedEdit {
    pub(crate) description: String,
    /// Control characters are escaped.
    pub(crate) rejection: Rejection,
}

impl SentEdits {
    pub(crate) fn record(
        &mut self,
        description: String,
        position: Option<Position>,
        outcome: SentOutcome<'_>,
    ) {
        let committed = match outcome {
            SentOutcome::Rejected(rejection) => {
                let rejection = escape_rejection(rejection);
                self.rejected.push(RejectedEdit { description, rejection });
                return;
            }
            SentOutcome::Committed(committed) => committed,
        };
        self.committed += 1;
        self.position = self.position.max(position);
        if let Some(committed) = committed {
            let committed = committed.to_vec();
            self.changed.push(ChangedEdit { description, committed });
        }
    }

    pub(crate) fn has_edit_without_effect(&self) -> bool {
        self.changed.iter().any(|edit| edit.committed.is_empty())
    }
}

impl Editor {
    /// Returns the spreadsheets with edits of interrupted commands.
    pub(crate) fn find_waiting(client: &Client, dir: &Path) -> Result<BTreeSet<LogId>, FileError> {
        find_waiting(client, &dir.join(STATE_FOLDER).join(FOLDER))
    }

    /// Adds the results to `sent`, even if a later request fails. The edits that were not sent are
    /// kept.
    pub(crate) async fn send_waiting(&self, sent: &mut SentEdits) -> Result<(), EditorError> {
        let _lock = self.outbox.lock().await?;
        let Some(mut state) = self.outbox.read()? else { return Ok(()) };
        let mut settled = Vec::new();
        let result = self.outbox.send_all(&mut state, &mut settled).await;
        for SettledEdit { description, answer, .. } in settled {
            let outcome = match &answer.rejection {
                Some(rejection) => SentOutcome::Rejected(rejection),
                None => SentOutcome::Committed(answer.committed.as_deref()),
            };
            sent.record(description, answer.position, outcome);
        }
        let error = match result {
            Ok(()) => return Ok(()),
            Err(SendError::File(error)) => return Err(error.into()),
            Err(SendError::Client(error)) => error,
        };
        let sent_before = true;
        if choose_recovery(&error, sent_before) == Recovery::MoveToFile {
            return Err(self.move_edits_to_file(&state, error));
        }
        let edits = state.describe_pending();
        Err(EditorError::Waiting { edits, source: Box::new(error) })
    }
}
