//! Finds the spreadsheets whose edits were not sent, for the command `sync`.

use std::collections::BTreeSet;
use std::path::Path;

use cellar_base::identity::LogId;

use super::{Outbox, OutboxState, list_state_files};
use crate::Client;
use crate::files::{FileError, StateFile, read_json};

/// Returns the spreadsheets of the client's stack with pending edits of the client's subject.
pub(crate) fn find_waiting(client: &Client, folder: &Path) -> Result<BTreeSet<LogId>, FileError> {
    let states = find_states(client, folder)?.into_iter();
    Ok(states.filter(|state| !state.pending.is_empty()).map(|state| state.spreadsheet()).collect())
}

/// Returns the states of the client's stack and subject.
pub(crate) fn find_states(client: &Client, folder: &Path) -> Result<Vec<OutboxState>, FileError> {
    let mut states = Vec::new();
    for path in list_state_files(folder)? {
        let Some(state) = read_json::<OutboxState>(&path, StateFile::UnsentEdits)? else {
            continue;
        };
        // The file name contains the stack and the subject.
        let outbox = Outbox::new(client.spreadsheet(state.spreadsheet()), folder);
        if outbox.path == path {
            states.push(state);
        }
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::new_client_id;
    use cellar_base::position::Position;

    fn outbox(client: &Client, id: u8, folder: &Path) -> Outbox {
        let id = LogId::from_uuid(uuid::Uuid::from_bytes([id; 16]));
        Outbox::new(client.spreadsheet(id), folder)
    }

    fn save(outbox: &Outbox, edits: usize) {
        let mut state = OutboxState::new(outbox.key(), new_client_id(), 0, Position::FIRST);
        for _ in 0..edits {
            let undo = cellar_sheet::operation::Undo { position: Position::FIRST };
            let operation = cellar_sheet::operation::Operation::Undo(undo);
            let (payload, object) = crate::outbox::EditPayload::encode(operation).unwrap();
            outbox.add_edit(&mut state, payload, object).unwrap();
        }
        outbox.write(&state).unwrap();
    }

    #[test]
    fn finds_pending_edits_of_this_stack_and_subject_only() {
        let folder = tempfile::tempdir().unwrap();
        let mine = Client::new("http://127.0.0.1:1", Some("mine")).unwrap();
        let theirs = Client::new("http://127.0.0.1:1", Some("theirs")).unwrap();
        let elsewhere = Client::new("http://127.0.0.1:2", Some("mine")).unwrap();
        assert!(find_waiting(&mine, &folder.path().join("none")).unwrap().is_empty());
        save(&outbox(&mine, 1, folder.path()), 2);
        save(&outbox(&mine, 2, folder.path()), 0);
        save(&outbox(&theirs, 3, folder.path()), 1);
        save(&outbox(&elsewhere, 4, folder.path()), 1);
        let other_file = outbox(&mine, 1, folder.path()).path_with_extension("kept.json");
        std::fs::write(other_file, "no outbox").unwrap();
        let waiting: Vec<_> = find_waiting(&mine, folder.path()).unwrap().into_iter().collect();
        assert_eq!(waiting, [outbox(&mine, 1, folder.path()).spreadsheet.id()]);
    }

    #[test]
    fn a_malformed_state_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let client = Client::new("http://127.0.0.1:1", None).unwrap();
        std::fs::write(outbox(&client, 1, folder.path()).path, "{").unwrap();
        let error = find_waiting(&client, folder.path()).unwrap_err();
        assert!(matches!(error, FileError::Malformed { .. }), "{error}");
    }
}
