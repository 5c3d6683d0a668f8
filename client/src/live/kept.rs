//! The canonical state on disk: a copy of what the server gave, so that a live sheet opens without it.
//!
//! It may be lost at any time: it is loaded anew then. The root and the chunks are in the cache of the
//! reader, by their hashes.

use cellar_api::wire::EntryView;
use cellar_base::identity::LogId;
use serde::{Deserialize, Serialize};

use crate::files::{MAX_STATE_BYTES, read_json, write_private};
use crate::outbox::Outbox;

/// The version of the file that is written and read.
const KEPT_VERSION: u32 = 1;
/// How the file ends.
const EXTENSION: &str = "kept.json";

/// The root that was loaded, and all entries behind it.
#[derive(Debug, Deserialize)]
pub(super) struct Kept {
    version: u32,
    cloud: String,
    spreadsheet: LogId,
    pub(super) incarnation: u32,
    /// The root's key.
    pub(super) root: Option<String>,
    /// The entries from the root's position on.
    pub(super) entries: Vec<EntryView>,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    cloud: &'a str,
    spreadsheet: LogId,
    incarnation: u32,
    root: Option<&'a str>,
    entries: &'a [EntryView],
}

/// What was kept, if it is of this cloud and spreadsheet and can be read.
pub(super) fn read(outbox: &Outbox) -> Option<Kept> {
    let kept = read_json::<Kept>(&outbox.beside(EXTENSION), "").ok()??;
    let (cloud, spreadsheet) = outbox.key();
    let fits = kept.version == KEPT_VERSION && kept.cloud == cloud;
    (fits && kept.spreadsheet == spreadsheet).then_some(kept)
}

/// Keeps a root and the entries behind it; without all of them, or if they are too long, nothing.
pub(super) fn write(
    outbox: &Outbox,
    root: Option<&str>,
    incarnation: u32,
    entries: Option<&[EntryView]>,
) {
    let path = outbox.beside(EXTENSION);
    let (cloud, spreadsheet) = outbox.key();
    let written = entries.and_then(|entries| {
        let cloud = cloud.as_str();
        let kept =
            Written { version: KEPT_VERSION, cloud, spreadsheet, incarnation, root, entries };
        serde_json::to_vec(&kept).ok()
    });
    let fits = |json: &Vec<u8>| u64::try_from(json.len()).is_ok_and(|len| len <= MAX_STATE_BYTES);
    let done = written.filter(fits).is_some_and(|json| write_private(&path, &json).is_ok());
    if !done {
        // An old one would be refused anyway: it is older than what was seen.
        let _ = std::fs::remove_file(&path);
    }
}
