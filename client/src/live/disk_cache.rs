//! A disk cache of canonical states, from which live sheets are opened without a request.
//!
//! The cache file contains the key of the snapshot root and the log entries after the root. The
//! root and its chunks are stored in the reader's cache. The cache file may be deleted at any time.
//! The state is then loaded from the server.

use cellar_api::wire::EntryView;
use cellar_base::identity::LogId;
use serde::{Deserialize, Serialize};

use crate::files::{MAX_STATE_BYTES, StateFile, read_json, write_private};
use crate::outbox::{Outbox, OutboxKey};

const FORMAT_VERSION: u32 = 1;
/// The rest of the file name is that of the outbox's state file.
const EXTENSION: &str = "kept.json";

#[derive(Debug, Deserialize)]
pub(super) struct CachedState {
    version: u32,
    cloud: String,
    spreadsheet: LogId,
    pub(super) incarnation: u32,
    /// Key of the snapshot root, or `None` if the spreadsheet had no snapshot.
    pub(super) root: Option<String>,
    /// Number of entries that were loaded together with the root. Files of older versions lack it.
    #[serde(default)]
    pub(super) loaded_entries: usize,
    /// The log entries at and after the root's position.
    pub(super) entries: Vec<EntryView>,
}

#[derive(Serialize)]
struct CachedStateRef<'a> {
    version: u32,
    cloud: &'a str,
    spreadsheet: LogId,
    incarnation: u32,
    root: Option<&'a str>,
    loaded_entries: usize,
    entries: &'a [EntryView],
}

/// Returns `None` if the file is missing or unreadable, or if it belongs to another stack,
/// spreadsheet or format version.
pub(super) fn read_state(outbox: &Outbox) -> Option<CachedState> {
    let path = outbox.path_with_extension(EXTENSION);
    let cached = read_json::<CachedState>(&path, StateFile::Other).ok()??;
    let OutboxKey { identity, spreadsheet } = outbox.key();
    let is_valid = cached.version == FORMAT_VERSION
        && cached.cloud == identity
        && cached.spreadsheet == spreadsheet;
    is_valid.then_some(cached)
}

/// If the file cannot be written or would be too large, the old file is deleted.
pub(super) fn write_state(
    outbox: &Outbox,
    root: Option<&str>,
    incarnation: u32,
    loaded_entries: usize,
    entries: &[EntryView],
) {
    let OutboxKey { identity, spreadsheet } = outbox.key();
    let state = CachedStateRef {
        version: FORMAT_VERSION,
        cloud: &identity,
        spreadsheet,
        incarnation,
        root,
        loaded_entries,
        entries,
    };
    let is_written = match serde_json::to_vec(&state) {
        Ok(json) if is_within_limit(&json) => {
            write_private(&outbox.path_with_extension(EXTENSION), &json).is_ok()
        }
        _ => false,
    };
    if !is_written {
        delete_state(outbox);
    }
}

fn is_within_limit(json: &[u8]) -> bool {
    u64::try_from(json.len()).is_ok_and(|byte_length| byte_length <= MAX_STATE_BYTES)
}

/// Errors are ignored, because a cached state that is older than the outbox is never used.
pub(super) fn delete_state(outbox: &Outbox) {
    let _ = std::fs::remove_file(outbox.path_with_extension(EXTENSION));
}
