//! Edits on their way: numbered, on disk before they are sent, and sent unchanged until they are
//! answered.
//!
//! What is on disk is `state`, with the objects of large edits in `bodies`; what became of an attempt is
//! decided in `decide`; `send` sends. [`crate::editor`] makes one edit after the other with it,
//! [`crate::live`] keeps many waiting.

mod bodies;
mod decide;
mod pending;
mod send;
mod state;

pub(crate) use decide::{Verdict, verdict, waiting_verdict};
pub(crate) use pending::{Pending, What};
pub(crate) use send::Unsent;
pub(crate) use state::{Next, OutboxState, Settled};

use std::path::{Path, PathBuf};

use cellar_api::wire::SentMutation;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::decode_external_body;

use crate::files::{FileError, FileLock, read_json, write_json};
use crate::{Client, ClientError};

/// Where the edits of one subject in one spreadsheet are kept, and whereto they are sent.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(crate) client: Client,
    pub(crate) spreadsheet: LogId,
    path: PathBuf,
}

impl Outbox {
    /// An outbox with its files in `folder`. `subject` says whose token the client has: edits are never
    /// sent as somebody else. The files belong to [`Client::identity`].
    pub(crate) fn new(client: Client, spreadsheet: LogId, subject: &str, folder: &Path) -> Self {
        let key = format!("{}\n{spreadsheet}\n{subject}", client.identity());
        let name: String = blake3::hash(key.as_bytes()).to_hex().chars().take(32).collect();
        Self { client, spreadsheet, path: folder.join(format!("{name}.json")) }
    }

    /// Which cloud and which spreadsheet the edits are for.
    pub(crate) fn key(&self) -> (String, LogId) {
        (self.client.identity().to_owned(), self.spreadsheet)
    }

    /// The file of another kind beside the edits'.
    pub(crate) fn beside(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }

    /// What is kept; `None` if nothing is.
    pub(crate) fn read(&self) -> Result<Option<OutboxState>, FileError> {
        let advice = "it holds edits that may not have been sent: look into it, then move it away";
        let Some(state) = read_json::<OutboxState>(&self.path, advice)? else {
            return Ok(None);
        };
        match state.fault(&self.key()) {
            None => Ok(Some(state)),
            Some(why) => Err(FileError::Malformed {
                path: self.path.clone(),
                why: why.to_owned(),
                advice: advice.to_owned(),
            }),
        }
    }

    /// Keeps the state, durably.
    pub(crate) fn write(&self, state: &OutboxState) -> Result<(), FileError> {
        write_json(&self.path, state)
    }

    /// Waits until no other process has the outbox.
    pub(crate) async fn lock(&self) -> Result<FileLock, FileError> {
        let path = self.path.with_extension("lock");
        let waiting = tokio::task::spawn_blocking(move || FileLock::wait(&path));
        waiting.await.unwrap_or_else(|error| {
            let source = std::io::Error::other(error);
            Err(FileError::Unwritable { path: self.path.clone(), source })
        })
    }

    /// Takes the outbox unless another process has it.
    pub(crate) fn try_lock(&self) -> Result<FileLock, FileError> {
        FileLock::take(&self.path.with_extension("lock"))
    }

    /// Adds an edit, durably: its object first, if it has one. Gives its id and its base. If it cannot be
    /// kept, there is no edit.
    pub(crate) fn author(
        &self,
        state: &mut OutboxState,
        what: What,
        object: Option<Vec<u8>>,
    ) -> Result<(u64, Position), FileError> {
        let authored = self.author_unsaved(state, what, object)?;
        self.write(state).inspect_err(|_| state.withdraw_newest())?;
        Ok(authored)
    }

    /// As [`Outbox::author`], for a state that is written later: only the object is on disk then.
    pub(crate) fn author_unsaved(
        &self,
        state: &mut OutboxState,
        what: What,
        object: Option<Vec<u8>>,
    ) -> Result<(u64, Position), FileError> {
        if let (What::Body(body), Some(object)) = (&what, object) {
            bodies::write(&self.path, body, &object)?;
        }
        Ok(state.author(what))
    }

    /// Takes the newest edit, which has certainly not got through, back. If that cannot be kept, the
    /// edit stays.
    pub(crate) fn withdraw(&self, state: &mut OutboxState) -> Result<(), FileError> {
        let before = state.clone();
        state.withdraw_newest();
        match self.write(state) {
            Ok(()) => {
                self.sweep(state);
                Ok(())
            }
            Err(error) => {
                *state = before;
                Err(error)
            }
        }
    }

    /// Writes edits that can never be sent again, but may have got through, to a file of their own.
    /// They are still in the state.
    pub(crate) fn set_aside(&self, edits: &[Pending]) -> Result<PathBuf, FileError> {
        let aside = self.path.with_extension(format!("{}.aside.json", new_name()));
        let whole = edits.iter().map(|edit| self.whole(edit));
        write_json(&aside, &whole.collect::<Result<Vec<_>, _>>()?)?;
        Ok(aside)
    }

    /// Removes the state: the next edit is a new client's.
    pub(crate) fn forget(&self) -> Result<(), FileError> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => {
                bodies::sweep(&self.path, std::iter::empty());
                Ok(())
            }
            Err(source) => Err(FileError::Unwritable { path: self.path.clone(), source }),
        }
    }

    /// Removes the objects of edits that are not pending any more.
    pub(crate) fn sweep(&self, state: &OutboxState) {
        bodies::sweep(&self.path, state.bodies());
    }

    /// An edit with what it does, also if that is in a file of its own.
    pub(crate) fn whole(&self, edit: &Pending) -> Result<SentMutation, FileError> {
        let Pending { id, base, what } = edit;
        let body = match what {
            What::Op(op) => return Ok(SentMutation { id: *id, base: *base, op: op.clone() }),
            What::Body(body) => body,
        };
        let operations = decode_external_body(&bodies::read(&self.path, body)?);
        match operations.map(|operations| operations.into_iter().next()) {
            Ok(Some(op)) => Ok(SentMutation { id: *id, base: *base, op }),
            other => Err(FileError::Malformed {
                path: self.path.clone(),
                why: format!("the large edit in it cannot be read: {other:?}"),
                advice: "another version of cellar wrote it: use that one".to_owned(),
            }),
        }
    }

    /// An answer that is none.
    pub(crate) fn not_answered(&self) -> ClientError {
        let why = "it does not say what became of every edit".to_owned();
        ClientError::NotUnderstood { url: self.client.url().to_owned(), why }
    }
}

/// A name that no other client has.
pub(crate) fn new_name() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
