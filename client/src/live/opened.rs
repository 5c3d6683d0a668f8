//! The names of the spreadsheets that were opened in a folder, so that a name finds its spreadsheet
//! offline.

use std::path::Path;

use cellar_base::identity::LogId;
use serde::{Deserialize, Serialize};

use super::{FOLDER, LiveSheet};
use crate::Client;
use crate::files::{STATE_FOLDER, StateFile, read_json, write_json};
use crate::outbox::{Outbox, find_states};

/// The rest of the file name is that of the outbox's state file.
const EXTENSION: &str = "name.json";

#[derive(Serialize, Deserialize)]
struct SavedName {
    name: String,
}

/// A spreadsheet that was opened, with its name when it was last opened online.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedSpreadsheet {
    pub(crate) id: LogId,
    pub(crate) name: Option<String>,
}

impl LiveSheet {
    /// Saves the name of the spreadsheet. Write errors are ignored, because the id finds it as well.
    pub(crate) fn save_name(&self, name: &str) {
        let path = self.outbox.path_with_extension(EXTENSION);
        let _ = write_json(&path, &SavedName { name: name.to_owned() });
    }

    /// Returns the spreadsheets of the client's stack and subject (user) that were opened in `dir`.
    /// Files that cannot be read are left out.
    pub(crate) fn list_opened(client: &Client, dir: &Path) -> Vec<OpenedSpreadsheet> {
        let folder = dir.join(STATE_FOLDER).join(FOLDER);
        let states = find_states(client, &folder).unwrap_or_default();
        let of_state = |id: LogId| {
            let outbox = Outbox::new(client.spreadsheet(id), &folder);
            let path = outbox.path_with_extension(EXTENSION);
            let saved = read_json::<SavedName>(&path, StateFile::Other).ok().flatten();
            OpenedSpreadsheet { id, name: saved.map(|saved| saved.name) }
        };
        states.iter().map(|state| of_state(state.spreadsheet())).collect()
    }
}
