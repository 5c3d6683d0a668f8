//! Edits that survive a crash and happen at most once.
//!
//! An edit keeps its id and its base, however often it is sent, and both are on disk before it is
//! sent (design `2-log.md` §2). What became of an attempt is decided in `decide`; what is on
//! disk is `state`; here is the order of steps between them, under a lock that keeps two
//! commands at once apart.

mod decide;
mod error;
mod state;

pub use error::EditorError;

use std::path::{Path, PathBuf};

use cellar_core::api::AppendReply;
use cellar_core::identity::LogId;
use cellar_core::operation::Operation;
use cellar_core::position::Position;

use crate::files::{FileError, FileLock, STATE_FOLDER, read_json, write_json};
use crate::{Client, ClientError};
use decide::{Verdict, verdict};
use state::EditorState;

/// Makes edits in one spreadsheet, as one subject.
#[derive(Debug)]
pub struct Editor {
    client: Client,
    spreadsheet: LogId,
    path: PathBuf,
}

/// What became of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The version of the spreadsheet that has the edit.
    pub position: Position,
    /// How many edits of an interrupted run were sent before it.
    pub earlier: usize,
}

impl Editor {
    /// An editor that keeps its state in `dir/.cellar/clients/`. `subject` says whose token the
    /// client has ([`crate::subject_of_token`]): edits are never sent as somebody else. The state
    /// belongs to [`Client::identity`].
    #[must_use]
    pub fn new(client: Client, spreadsheet: LogId, subject: &str, dir: &Path) -> Self {
        let key = format!("{}\n{spreadsheet}\n{subject}", client.identity());
        let name: String = blake3::hash(key.as_bytes()).to_hex().chars().take(32).collect();
        let path = dir.join(STATE_FOLDER).join("clients").join(format!("{name}.json"));
        Self { client, spreadsheet, path }
    }

    /// The highest position that was seen of this spreadsheet, if any is known.
    ///
    /// # Errors
    /// [`FileError`] if the state cannot be read.
    pub fn seen(&self) -> Result<Option<Position>, FileError> {
        Ok(self.read()?.map(|state| state.seen))
    }

    /// How many edits are kept that are not known to be in the spreadsheet.
    ///
    /// # Errors
    /// [`FileError`] if the state cannot be read.
    pub fn unsent(&self) -> Result<usize, FileError> {
        Ok(self.read()?.map_or(0, |state| state.pending.len()))
    }

    /// Remembers that the spreadsheet was seen at a position: the base of later edits, and what
    /// later reads are never older than. Does not wait for an edit on its way: that edit's answer
    /// says where the log ends anyway.
    ///
    /// # Errors
    /// [`FileError`] if the state is in use, or cannot be read or written.
    pub fn saw(&self, position: Position, epoch: u32) -> Result<(), FileError> {
        let _lock = FileLock::take(&self.path.with_extension("lock"))?;
        let state = match self.read()? {
            Some(mut state) => state.saw(position, epoch, new_name()).then_some(state),
            None => Some(EditorState::fresh(self.key(), new_name(), epoch, position)),
        };
        state.map_or(Ok(()), |state| write_json(&self.path, &state))
    }

    /// Makes one edit. Edits of an interrupted run are sent first, unchanged.
    ///
    /// # Errors
    /// [`EditorError`]: each variant says whether the edit was made, was not, or may have been.
    pub async fn apply(&self, operation: Operation) -> Result<Applied, EditorError> {
        let operation = operation.validated().map_err(|fault| EditorError::Invalid { fault })?;
        let _lock = self.lock().await?;
        let mut state = self.load_or_begin().await?;
        let earlier = self.send_earlier(&mut state).await?;
        state.author(operation);
        write_json(&self.path, &state)?;
        let position = match self.send(&mut state).await {
            Ok(position) => position,
            Err(error) => self.refused(&mut state, error).await?,
        };
        Ok(Applied { position, earlier })
    }

    fn key(&self) -> (String, LogId) {
        (self.client.identity().to_owned(), self.spreadsheet)
    }

    fn read(&self) -> Result<Option<EditorState>, FileError> {
        let advice = "it holds edits that may not have been sent: look into it, then move it away";
        let Some(state) = read_json::<EditorState>(&self.path, advice)? else {
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

    async fn lock(&self) -> Result<FileLock, FileError> {
        let path = self.path.with_extension("lock");
        let waiting = tokio::task::spawn_blocking(move || FileLock::wait(&path));
        waiting.await.unwrap_or_else(|error| {
            let source = std::io::Error::other(error);
            Err(FileError::Unwritable { path: self.path.clone(), source })
        })
    }

    async fn load_or_begin(&self) -> Result<EditorState, EditorError> {
        if let Some(state) = self.read()? {
            return Ok(state);
        }
        let head = self.client.head(self.spreadsheet, None).await?;
        Ok(EditorState::fresh(self.key(), new_name(), head.epoch, head.head))
    }

    /// Sends what an interrupted run left, unchanged.
    async fn send_earlier(&self, state: &mut EditorState) -> Result<usize, EditorError> {
        let earlier = state.pending.len();
        if earlier == 0 {
            return Ok(0);
        }
        let Err(error) = self.send(state).await else {
            return Ok(earlier);
        };
        match verdict(&error, true) {
            Verdict::SetAside => Err(self.set_aside(state, error)?),
            Verdict::Keep | Verdict::Withdraw | Verdict::StartOver => {
                let edits = state.describe_pending();
                Err(EditorError::EarlierKept { edits, source: Box::new(error) })
            }
        }
    }

    /// Decides what a failed first attempt of a new edit means.
    async fn refused(
        &self,
        state: &mut EditorState,
        error: ClientError,
    ) -> Result<Position, EditorError> {
        match verdict(&error, false) {
            Verdict::Keep => Err(kept(state, error)),
            Verdict::SetAside => Err(self.set_aside(state, error)?),
            Verdict::Withdraw => Err(self.withdraw(state, error)),
            Verdict::StartOver => self.start_over(state, error).await,
        }
    }

    /// The base is gone, and the edit has certainly not got through: it is made again, once, as a
    /// new client on a base that was read just now.
    async fn start_over(
        &self,
        state: &mut EditorState,
        error: ClientError,
    ) -> Result<Position, EditorError> {
        let Ok(head) = self.client.head(self.spreadsheet, None).await else {
            return Err(self.withdraw(state, error));
        };
        state.start_over(new_name(), head.epoch, head.head);
        write_json(&self.path, state)?;
        match self.send(state).await {
            Ok(position) => Ok(position),
            Err(error) if error.certainly_not_done() => Err(self.withdraw(state, error)),
            Err(error) => Err(kept(state, error)),
        }
    }

    /// Sends all pending edits as one request and drops what is acknowledged.
    async fn send(&self, state: &mut EditorState) -> Result<Position, ClientError> {
        let request = state.request();
        let reply: AppendReply = self.client.append(self.spreadsheet, &request).await?;
        let head = reply.head;
        let position = state.acknowledge(&reply).ok_or_else(|| ClientError::NotUnderstood {
            url: self.client.url().to_owned(),
            why: "it does not say what became of every edit".to_owned(),
        })?;
        // What cannot be saved now is sent again next time, and recognised as a duplicate.
        let _ = write_json(&self.path, state);
        Ok(position.unwrap_or(head))
    }

    /// Takes the newest edit, which has certainly not got through, back.
    fn withdraw(&self, state: &mut EditorState, error: ClientError) -> EditorError {
        state.withdraw_newest();
        match write_json(&self.path, state) {
            Ok(()) => EditorError::Client(Box::new(error)),
            Err(_) => kept(state, error),
        }
    }

    /// Moves what can never be sent again, but may have got through, out of the way.
    fn set_aside(
        &self,
        state: &mut EditorState,
        error: ClientError,
    ) -> Result<EditorError, FileError> {
        let edits = state.describe_pending();
        let aside = self.path.with_extension(format!("{}.aside.json", new_name()));
        write_json(&aside, &state.pending)?;
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(EditorError::SetAside { edits, file: aside, source: Box::new(error) }),
            Err(source) => Err(FileError::Unwritable { path: self.path.clone(), source }),
        }
    }
}

fn kept(state: &EditorState, error: ClientError) -> EditorError {
    EditorError::Kept { edits: state.describe_pending(), source: Box::new(error) }
}

/// A name that no other client has.
pub(crate) fn new_name() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
