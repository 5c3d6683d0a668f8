//! Deletes the files of a stack whose data was deleted: the profile with its token, cached cells and
//! edits that can no longer be sent.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::files::{FileError, FileLock, GITIGNORE, STATE_FOLDER, StateFile, read_json};
use crate::import::IMPORTS_FOLDER;
use crate::outbox::{OutboxState, list_state_files};
use crate::profile::Profile;
use crate::reader::CHUNKS_FOLDER;
use crate::{editor, live};

/// The files in `.cellar/` that belong to one stack.
#[derive(Debug)]
pub struct StackFiles {
    folder: PathBuf,
    /// `None` if the profile belongs to another stack or does not exist.
    profile: Option<PathBuf>,
    outboxes: Vec<OutboxFiles>,
}

/// The state file of an outbox and all files whose names begin like it.
#[derive(Debug)]
struct OutboxFiles {
    state_file: PathBuf,
    unsent_edits: usize,
}

/// [`StackFiles`] that no other command uses.
#[derive(Debug)]
pub struct LockedStackFiles {
    files: StackFiles,
    locks: Vec<FileLock>,
}

impl StackFiles {
    /// Finds the files in `dir/.cellar/` of the stack with this identity
    /// ([`crate::Client::identity`]), of all spreadsheets and subjects (users). Files that cannot be
    /// read are left out, because their stack is unknown.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if a directory cannot be read.
    pub fn find(dir: &Path, identity: &str) -> Result<Self, FileError> {
        let folder = dir.join(STATE_FOLDER);
        let profile = match Profile::read(dir) {
            Ok(Some(profile)) if profile.identity.as_deref() == Some(identity) => {
                Some(Profile::path(dir))
            }
            Ok(_) | Err(_) => None,
        };
        let mut outboxes = Vec::new();
        for name in [editor::FOLDER, live::FOLDER] {
            for state_file in list_state_files(&folder.join(name))? {
                let state = read_json::<OutboxState>(&state_file, StateFile::UnsentEdits);
                if let Ok(Some(state)) = state
                    && state.identity() == identity
                {
                    let unsent_edits = state.pending.len();
                    outboxes.push(OutboxFiles { state_file, unsent_edits });
                }
            }
        }
        Ok(Self { folder, profile, outboxes })
    }

    /// Returns the number of edits that were not sent and are lost with the files.
    #[must_use]
    pub fn count_unsent_edits(&self) -> usize {
        self.outboxes.iter().map(|outbox| outbox.unsent_edits).sum()
    }

    /// Returns the directory that contains the files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Locks the files, so that no command uses them while the data of the stack is deleted.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::InUse`] if a command uses a file, such as a running `cellar edit`.
    pub fn lock(self) -> Result<LockedStackFiles, FileError> {
        let lock_files =
            self.outboxes.iter().map(|outbox| outbox.state_file.with_extension("lock"));
        let locks: Result<Vec<FileLock>, FileError> =
            lock_files.map(|path| FileLock::try_acquire(&path)).collect();
        Ok(LockedStackFiles { locks: locks?, files: self })
    }
}

impl LockedStackFiles {
    /// Deletes the files and the cache of cells. Cells of other stacks in the cache are loaded again
    /// when they are needed.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::Unwritable`] if a file cannot be deleted.
    pub fn delete(self) -> Result<(), FileError> {
        let Self { files: StackFiles { folder, profile, outboxes }, locks } = self;
        if let Some(profile) = profile {
            delete_if_exists(&profile, fs::remove_file)?;
        }
        for outbox in &outboxes {
            outbox.delete()?;
        }
        drop(locks);
        delete_if_exists(&folder.join(CHUNKS_FOLDER), fs::remove_dir_all)?;
        for name in [editor::FOLDER, live::FOLDER, IMPORTS_FOLDER] {
            delete_unused_locks(&folder.join(name))?;
            // Fails if the directory contains files of other stacks.
            let _ = fs::remove_dir(folder.join(name));
        }
        delete_if_only_ignored(&folder)
    }
}

impl OutboxFiles {
    fn delete(&self) -> Result<(), FileError> {
        let (Some(folder), Some(stem)) = (self.state_file.parent(), self.state_file.file_stem())
        else {
            return Ok(());
        };
        let prefix = format!("{}.", stem.to_string_lossy());
        let unreadable = |source| FileError::Unreadable { path: folder.to_owned(), source };
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                delete_if_exists(&entry.path(), fs::remove_file)?;
            }
        }
        Ok(())
    }
}

/// Finished edits and imports leave their lock files. Those of other stacks are created again when they
/// are needed.
fn delete_unused_locks(folder: &Path) -> Result<(), FileError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if is_lock
            && !path.with_extension("json").exists()
            && let Ok(_lock) = FileLock::try_acquire(&path)
        {
            delete_if_exists(&path, fs::remove_file)?;
        }
    }
    Ok(())
}

/// Deletes the directory if it contains only its `.gitignore`.
fn delete_if_only_ignored(folder: &Path) -> Result<(), FileError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    if names == [GITIGNORE] {
        delete_if_exists(&folder.join(GITIGNORE), fs::remove_file)?;
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

fn delete_if_exists(
    path: &Path,
    delete: impl Fn(PathBuf) -> io::Result<()>,
) -> Result<(), FileError> {
    match delete(path.to_owned()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(FileError::Unwritable { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_base::position::Position;
    use cellar_sheet::operation::{Operation, Undo};

    use super::*;
    use crate::Client;
    use crate::outbox::{EditPayload, Outbox, new_client_id};

    fn save_outbox(dir: &Path, name: &str, identity: &str, token: &str) -> PathBuf {
        let client = Client::new("http://127.0.0.1:1", Some(token)).unwrap();
        let spreadsheet = client
            .with_identity(Some(identity))
            .spreadsheet(LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])));
        let outbox = Outbox::new(spreadsheet, &dir.join(STATE_FOLDER).join(name));
        let mut state = OutboxState::new(outbox.key(), new_client_id(), 0, Position::FIRST);
        let operation = Operation::Undo(Undo { position: Position::FIRST });
        let (payload, object) = EditPayload::encode(operation).unwrap();
        outbox.add_edit(&mut state, payload, object).unwrap();
        fs::write(outbox.path_with_extension("kept.json"), "cells").unwrap();
        outbox.path_with_extension("json")
    }

    fn save_profile(dir: &Path, identity: &str) {
        let mut profile = Profile::new("http://127.0.0.1:1");
        profile.identity = Some(identity.to_owned());
        profile.save(dir).unwrap();
    }

    #[test]
    fn deletes_the_files_of_this_stack_only() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path();
        save_profile(dir, "local-1");
        let mine = [
            save_outbox(dir, editor::FOLDER, "local-1", "alice"),
            save_outbox(dir, live::FOLDER, "local-1", "bob"),
        ];
        let theirs = save_outbox(dir, live::FOLDER, "arn:aws:1", "alice");
        let key = dir.join(".cellar/token-key.pem");
        fs::write(&key, "key of the stack in AWS").unwrap();
        fs::create_dir(dir.join(".cellar/chunks")).unwrap();
        fs::write(dir.join(".cellar/chunks/x"), "cells").unwrap();
        fs::create_dir(dir.join(".cellar").join(IMPORTS_FOLDER)).unwrap();
        fs::write(dir.join(".cellar").join(IMPORTS_FOLDER).join("x.lock"), "").unwrap();
        let files = StackFiles::find(dir, "local-1").unwrap();
        assert_eq!(files.count_unsent_edits(), 2);
        files.lock().unwrap().delete().unwrap();
        assert!(Profile::read(dir).unwrap().is_none());
        for state_file in mine {
            assert!(!state_file.exists() && !state_file.with_extension("kept.json").exists());
        }
        assert!(theirs.exists() && theirs.with_extension("kept.json").exists() && key.exists());
        let left = |name: &str| dir.join(STATE_FOLDER).join(name).exists();
        assert!(!left("chunks") && !left(editor::FOLDER) && left(live::FOLDER));
        assert!(!left(IMPORTS_FOLDER) && left(GITIGNORE));
        // Nothing is left to delete.
        let again = StackFiles::find(dir, "local-1").unwrap();
        assert_eq!(again.count_unsent_edits(), 0);
        again.lock().unwrap().delete().unwrap();
    }

    #[test]
    fn files_in_use_and_profiles_of_other_stacks_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let state_file = save_outbox(root.path(), live::FOLDER, "local-1", "alice");
        let lock = FileLock::try_acquire(&state_file.with_extension("lock")).unwrap();
        let files = StackFiles::find(root.path(), "local-1").unwrap();
        assert!(matches!(files.lock(), Err(FileError::InUse { .. })));
        assert!(state_file.exists());
        drop(lock);
        save_profile(root.path(), "arn:aws:1");
        StackFiles::find(root.path(), "local-1").unwrap().lock().unwrap().delete().unwrap();
        assert!(!state_file.exists() && Profile::path(root.path()).exists());
        let nowhere = root.path().join("nowhere");
        StackFiles::find(&nowhere, "local-1").unwrap().lock().unwrap().delete().unwrap();
        assert!(!nowhere.exists());
    }
}
