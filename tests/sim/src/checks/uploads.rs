//! Checks of invariants I4 and I11 for large entries: each external body is stored permanently, and
//! no other upload remains.

use std::collections::BTreeSet;

use cellar_base::table_attributes::UPLOADS_PREFIX;
use cellar_engine::ports::{BlobKey, Blobs as _};
use cellar_log::entry::Content;

use super::log::Stored;
use crate::world::World;

/// Checks the uploads of a log, long after the last of them.
pub(super) async fn check(world: &World, stored: &Stored) {
    let named: BTreeSet<String> = stored
        .history()
        .iter()
        .filter_map(|entry| match &entry.content {
            Content::External(external) => Some(external.object.clone()),
            _ => None,
        })
        .collect();
    for key in &named {
        let pending = match BlobKey::new(key) {
            Ok(key) => world.blobs.pending(&key).await.unwrap_or(None),
            Err(_) => None,
        };
        if pending != Some(false) {
            world.report_violation(format_args!(
                "I4: {key} is an entry's body; pending: {pending:?}"
            ));
        }
    }
    let prefix = format!("{UPLOADS_PREFIX}{}/", stored.log);
    let Ok(page) = world.blobs.list(&prefix, None, u16::MAX).await else { return };
    for left in page.blobs.into_iter().filter(|blob| !named.contains(&blob.key)) {
        world.report_violation(format_args!("I11: upload {} belongs to no entry", left.key));
    }
}
