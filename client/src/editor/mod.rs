//! Edits that survive a crash and happen at most once.
//!
//! An edit keeps its id and its base, however often it is sent, and both are on disk before it is
//! sent. What is on disk, how it is sent and what a failure means is the
//! `outbox`'s; here is the order of steps between them for one edit whose author waits for it, under a
//! lock that keeps two commands at once apart.

mod error;
mod sheets;

pub use error::EditorError;

use std::path::Path;

use cellar_api::{wire::AppendedMutation, wire::MutationStatus};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, SheetId};

use crate::files::{FileError, STATE_FOLDER};
use crate::outbox::{Outbox, OutboxState, Settled, Unsent, Verdict, What, new_name, verdict};
use crate::sheet_loss::is_gone;
use crate::table::escape;
use crate::{Client, ClientError};

/// Makes edits in one spreadsheet, as one subject.
#[derive(Debug)]
pub struct Editor {
    outbox: Outbox,
}

/// What became of an edit.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The version of the spreadsheet that has the edit.
    pub position: Position,
    /// What it was committed as, if that is not what was asked for: others had moved what it is
    /// about, or it is an undo. Nothing if nothing of it was left to do.
    pub committed: Option<Vec<Operation>>,
    /// Others may have deleted its sheet before, and the server could not be asked.
    pub sheet_in_doubt: bool,
    /// How many edits of an interrupted run were sent before it.
    pub earlier: usize,
}

impl Editor {
    /// An editor that keeps its state in `dir/.cellar/clients/`. `subject` says whose token the
    /// client has ([`crate::subject_of_token`]): edits are never sent as somebody else. The state
    /// belongs to [`Client::identity`].
    #[must_use]
    pub fn new(client: Client, spreadsheet: LogId, subject: &str, dir: &Path) -> Self {
        let folder = dir.join(STATE_FOLDER).join("clients");
        Self { outbox: Outbox::new(client, spreadsheet, subject, &folder) }
    }

    /// The highest position that was seen of this spreadsheet, if any is known.
    ///
    /// # Errors
    /// [`FileError`] if the state cannot be read.
    pub fn seen(&self) -> Result<Option<Position>, FileError> {
        Ok(self.outbox.read()?.map(|state| state.seen))
    }

    /// How many edits are kept that are not known to be in the spreadsheet.
    ///
    /// # Errors
    /// [`FileError`] if the state cannot be read.
    pub fn unsent(&self) -> Result<usize, FileError> {
        Ok(self.outbox.read()?.map_or(0, |state| state.pending.len()))
    }

    /// Remembers that the spreadsheet was seen at a position, and its first sheet there if that
    /// was seen, too: the base of later edits, and what later reads are never older than. Does not
    /// wait for an edit on its way: that edit's answer says where the log ends anyway.
    ///
    /// # Errors
    /// [`FileError`] if the state is in use, or cannot be read or written.
    pub fn saw(
        &self,
        position: Position,
        incarnation: u32,
        first_sheet: Option<SheetId>,
    ) -> Result<(), FileError> {
        let _lock = self.outbox.try_lock()?;
        let fresh = || OutboxState::fresh(self.outbox.key(), new_name(), incarnation, position);
        let (mut state, is_new) = match self.outbox.read()? {
            Some(state) => (state, false),
            None => (fresh(), true),
        };
        let changed = state.saw(position, incarnation, first_sheet, new_name());
        if changed || is_new { self.outbox.write(&state) } else { Ok(()) }
    }

    /// Makes one edit. Edits of an interrupted run are sent first, unchanged.
    ///
    /// # Errors
    /// [`EditorError`]: each variant says whether the edit was made, was not, or may have been.
    pub async fn apply(&self, operation: Operation) -> Result<Applied, EditorError> {
        let operation = operation.validated().map_err(|fault| EditorError::Invalid { fault })?;
        let (what, object) =
            What::choose(operation).map_err(|fault| EditorError::TooLarge { fault })?;
        let _lock = self.outbox.lock().await?;
        let mut state = self.load_or_begin().await?;
        // Its sheet was looked up here.
        let known = state.seen;
        let earlier = self.send_earlier(&mut state).await?;
        self.outbox.author(&mut state, what, object)?;
        let mut settled = Vec::new();
        if let Err(error) = self.outbox.send(&mut state, &mut settled).await {
            self.refused(&mut state, error, &mut settled).await?;
        }
        let settled = settled.pop().ok_or_else(|| self.outbox.not_answered())?;
        if let Some(rejection) = &settled.answer.rejection {
            let rejection = shown(rejection);
            return Err(EditorError::Rejected { edit: settled.description, rejection });
        }
        let position = settled.answer.position.unwrap_or(state.seen);
        let lost = self.has_lost_its_sheet(&settled, known).await;
        let committed = match lost {
            Ok(true) => Some(Vec::new()),
            Ok(false) | Err(_) => self.committed(&settled.answer).await,
        };
        Ok(Applied { position, committed, sheet_in_doubt: lost.is_err(), earlier })
    }

    /// Whether others had deleted the sheet of an edit, which was there at `known`, before the edit.
    async fn has_lost_its_sheet(
        &self,
        settled: &Settled,
        known: Position,
    ) -> Result<bool, ClientError> {
        // What was committed between `known` and another base is in no answer.
        let at = settled.doubt.or((settled.base != known).then_some(settled.base));
        match (settled.sheet, at) {
            (Some(sheet), Some(at)) => {
                is_gone(&self.outbox.client, self.outbox.spreadsheet, sheet, at).await
            }
            _ => Ok(false),
        }
    }

    /// What an edit was committed as. The answer that said so may have been lost: the entry still
    /// says it.
    async fn committed(&self, answer: &AppendedMutation) -> Option<Vec<Operation>> {
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

    async fn load_or_begin(&self) -> Result<OutboxState, EditorError> {
        if let Some(state) = self.outbox.read()? {
            return Ok(state);
        }
        let head = self.outbox.client.head(self.outbox.spreadsheet, None).await?;
        Ok(OutboxState::fresh(self.outbox.key(), new_name(), head.incarnation, head.head))
    }

    /// Sends what an interrupted run left, unchanged.
    async fn send_earlier(&self, state: &mut OutboxState) -> Result<usize, EditorError> {
        let earlier = state.pending.len();
        if earlier == 0 {
            return Ok(0);
        }
        let mut settled = Vec::new();
        let sent = self.outbox.send(state, &mut settled).await;
        // It will not be sent again: nobody else can say so later.
        for Settled { description: edit, answer, .. } in settled {
            if let Some(rejection) = answer.rejection {
                return Err(EditorError::EarlierRejected { edit, rejection: shown(&rejection) });
            }
        }
        match sent {
            Ok(()) => Ok(earlier),
            Err(Unsent::File(error)) => Err(error.into()),
            Err(Unsent::Client(error)) => match verdict(&error, true) {
                Verdict::SetAside => Err(self.set_aside(state, error)?),
                Verdict::Keep | Verdict::Withdraw | Verdict::StartOver => {
                    let edits = state.describe_pending();
                    Err(EditorError::EarlierKept { edits, source: Box::new(error) })
                }
            },
        }
    }

    /// Decides what a failed first attempt of a new edit means.
    async fn refused(
        &self,
        state: &mut OutboxState,
        error: Unsent,
        settled: &mut Vec<Settled>,
    ) -> Result<(), EditorError> {
        let error = match error {
            Unsent::Client(error) => error,
            Unsent::File(error) => return Err(error.into()),
        };
        match verdict(&error, state.is_uncertain()) {
            Verdict::Keep => Err(kept(state, error)),
            Verdict::SetAside => Err(self.set_aside(state, error)?),
            Verdict::Withdraw => Err(self.withdraw(state, error)),
            Verdict::StartOver => self.start_over(state, error, settled).await,
        }
    }

    /// The base is gone, and the edit has certainly not got through: it is made again, once, as a
    /// new client on a base that was read just now.
    async fn start_over(
        &self,
        state: &mut OutboxState,
        error: ClientError,
        settled: &mut Vec<Settled>,
    ) -> Result<(), EditorError> {
        // A new sheet needs a number that nobody has there.
        if state.adds_a_sheet() {
            let Ok(sheets) = self.outbox.client.sheets(self.outbox.spreadsheet, None, None).await
            else {
                return Err(self.withdraw(state, error));
            };
            state.start_over(new_name(), sheets.incarnation, sheets.position);
            state.number_new_sheets(sheets.next_sheet);
        } else {
            let Ok(head) = self.outbox.client.head(self.outbox.spreadsheet, None).await else {
                return Err(self.withdraw(state, error));
            };
            state.start_over(new_name(), head.incarnation, head.head);
        }
        self.outbox.write(state)?;
        match self.outbox.send(state, settled).await {
            Ok(()) => Ok(()),
            Err(Unsent::File(error)) => Err(error.into()),
            Err(Unsent::Client(error)) if error.certainly_not_done() && !state.is_uncertain() => {
                Err(self.withdraw(state, error))
            }
            Err(Unsent::Client(error)) => Err(kept(state, error)),
        }
    }

    /// Takes the newest edit, which has certainly not got through, back.
    fn withdraw(&self, state: &mut OutboxState, error: ClientError) -> EditorError {
        match self.outbox.withdraw(state) {
            Ok(()) => EditorError::Client(Box::new(error)),
            Err(_) => kept(state, error),
        }
    }

    /// Moves what can never be sent again, but may have got through, out of the way.
    fn set_aside(
        &self,
        state: &mut OutboxState,
        error: ClientError,
    ) -> Result<EditorError, FileError> {
        let edits = state.describe_pending();
        let file = self.outbox.set_aside(&state.pending)?;
        self.outbox.forget()?;
        Ok(EditorError::SetAside { edits, file, source: Box::new(error) })
    }
}

/// A rejection that cannot control the terminal it is shown on.
fn shown(rejection: &Rejection) -> Rejection {
    Rejection { reason: rejection.reason, detail: escape(&rejection.detail) }
}

fn kept(state: &OutboxState, error: ClientError) -> EditorError {
    EditorError::Kept { edits: state.describe_pending(), source: Box::new(error) }
}
