//! The outbox numbers edits and saves them on disk before they are sent. Edits are resent unchanged
//! until the server has responded to them.
//!
//! `state` is the saved state, and `bodies` stores the objects of large edits. `send` sends
//! requests, and `recovery` decides what to do after a failed request. [`crate::editor`] sends one
//! edit at a time, whereas [`crate::live`] queues many edits.

mod bodies;
mod folder;
mod pending_edit;
mod recovery;
mod send;
mod state;
#[cfg(feature = "cli")]
mod waiting;

pub(crate) use folder::list_state_files;
use pending_edit::UploadBody;
pub(crate) use pending_edit::{EditPayload, PendingEdit};
pub(crate) use recovery::{Recovery, choose_queued_recovery, choose_recovery};
pub(crate) use send::{SendError, SentRequest};
pub(crate) use state::{EditNumber, NextRequest, OutboxState, SettledEdit};
#[cfg(feature = "cli")]
pub(crate) use waiting::{find_states, find_waiting};

use std::path::{Path, PathBuf};

use cellar_api::wire::SentMutation;
use cellar_base::identity::LogId;
use cellar_log::entry::decode_external_body;
use cellar_sheet::operation::Operation;

use crate::files::{FileError, FileLock, StateFile, read_json, write_json};
use crate::{ClientError, Spreadsheet};

const NAME_CHARACTERS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutboxKey {
    /// Identity of the stack ([`crate::Client::identity`]).
    pub(crate) identity: String,
    pub(crate) spreadsheet: LogId,
}

/// The pending edits of one subject (user) in one spreadsheet.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(crate) spreadsheet: Spreadsheet,
    path: PathBuf,
}

impl Outbox {
    /// The file name is a hash of [`crate::Client::identity`], the spreadsheet and the token's
    /// subject. Each subject therefore has its own outbox, and edits are never sent as another
    /// subject.
    pub(crate) fn new(spreadsheet: Spreadsheet, folder: &Path) -> Self {
        let (client, id) = (spreadsheet.client(), spreadsheet.id());
        let hashed_key = format!("{}\n{id}\n{}", client.identity(), client.subject());
        let hash = blake3::hash(hashed_key.as_bytes()).to_hex();
        let file_stem: String = hash.chars().take(NAME_CHARACTERS).collect();
        Self { spreadsheet, path: folder.join(format!("{file_stem}.json")) }
    }

    pub(crate) fn key(&self) -> OutboxKey {
        let identity = self.spreadsheet.client().identity().to_owned();
        OutboxKey { identity, spreadsheet: self.spreadsheet.id() }
    }

    pub(crate) fn path_with_extension(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }

    /// Returns `None` if the file does not exist.
    pub(crate) fn read(&self) -> Result<Option<OutboxState>, FileError> {
        let Some(state) = read_json::<OutboxState>(&self.path, StateFile::UnsentEdits)? else {
            return Ok(None);
        };
        match state.validate(&self.key()) {
            Ok(()) => Ok(Some(state)),
            Err(why) => Err(FileError::malformed(&self.path, StateFile::UnsentEdits, why)),
        }
    }

    /// Writes the state file durably.
    pub(crate) fn write(&self, state: &OutboxState) -> Result<(), FileError> {
        write_json(&self.path, state)
    }

    /// Blocks while another process holds the lock.
    pub(crate) async fn lock(&self) -> Result<FileLock, FileError> {
        let lock_path = self.lock_path();
        match tokio::task::spawn_blocking(move || FileLock::acquire(&lock_path)).await {
            Ok(lock_result) => lock_result,
            Err(error) => Err(FileError::Unwritable {
                path: self.path.clone(),
                source: std::io::Error::other(error),
            }),
        }
    }

    pub(crate) fn try_lock(&self) -> Result<FileLock, FileError> {
        FileLock::try_acquire(&self.lock_path())
    }

    fn lock_path(&self) -> PathBuf {
        self.path_with_extension("lock")
    }

    /// The object of a large edit is written before the state. On error, the edit is not added.
    pub(crate) fn add_edit(
        &self,
        state: &mut OutboxState,
        payload: EditPayload,
        object: Option<Vec<u8>>,
    ) -> Result<EditNumber, FileError> {
        let number = self.add_edit_unsaved(state, payload, object)?;
        if let Err(error) = self.write(state) {
            state.remove_newest_edit();
            return Err(error);
        }
        Ok(number)
    }

    /// Like [`Outbox::add_edit`], but writes only the object of a large edit. The caller must then
    /// write the state.
    pub(crate) fn add_edit_unsaved(
        &self,
        state: &mut OutboxState,
        payload: EditPayload,
        object: Option<Vec<u8>>,
    ) -> Result<EditNumber, FileError> {
        if let (EditPayload::Body(body), Some(object)) = (&payload, object) {
            bodies::write_body(&self.path, body, &object)?;
        }
        Ok(state.add_edit(payload))
    }

    /// Must be called only if the edit was certainly not committed. If the state cannot be written,
    /// the edit is not removed.
    pub(crate) fn remove_newest_edit(&self, state: &mut OutboxState) -> Result<(), FileError> {
        let mut state_without_newest = state.clone();
        state_without_newest.remove_newest_edit();
        self.write(&state_without_newest)?;
        *state = state_without_newest;
        self.delete_unreferenced_bodies(state);
        Ok(())
    }

    /// The edits may have been committed but cannot be resent. They are not removed from the state.
    pub(crate) fn write_set_aside_file(&self, edits: &[PendingEdit]) -> Result<PathBuf, FileError> {
        let path = self.path_with_extension(&format!("{}.aside.json", new_client_id()));
        let mut mutations = Vec::new();
        for edit in edits {
            mutations.push(self.load_mutation(edit)?);
        }
        write_json(&path, &mutations)?;
        Ok(path)
    }

    /// The next edit starts a new client.
    pub(crate) fn delete(&self) -> Result<(), FileError> {
        std::fs::remove_file(&self.path)
            .map_err(|source| FileError::Unwritable { path: self.path.clone(), source })?;
        bodies::delete_unreferenced_bodies(&self.path, std::iter::empty());
        Ok(())
    }

    pub(crate) fn delete_unreferenced_bodies(&self, state: &OutboxState) {
        bodies::delete_unreferenced_bodies(&self.path, state.bodies());
    }

    pub(crate) fn load_mutation(&self, edit: &PendingEdit) -> Result<SentMutation, FileError> {
        let PendingEdit { id, base, payload } = edit;
        let op = match payload {
            EditPayload::Op(op) => op.clone(),
            EditPayload::Body(body) => self.load_operation(*id, body)?,
        };
        Ok(SentMutation { id: *id, base: *base, op })
    }

    fn load_operation(&self, id: u64, body: &UploadBody) -> Result<Operation, FileError> {
        let object = bodies::read_body(&self.path, body)?;
        let first_operation =
            decode_external_body(&object).map(|operations| operations.into_iter().next());
        match first_operation {
            Ok(Some(operation)) => Ok(operation),
            undecodable => Err(FileError::OtherVersion {
                path: self.path.clone(),
                why: format!("large edit {id} cannot be decoded: {undecodable:?}"),
            }),
        }
    }

    pub(crate) fn incomplete_reply_error(&self) -> ClientError {
        let why = "the response does not contain a result for each edit";
        self.spreadsheet.client().unexpected_reply(why)
    }
}

pub(crate) fn new_client_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
