//! Checks invariants I4 and I11 for large entries: each external body is stored permanently, and no
//! other upload remains.

use std::collections::BTreeSet;

use cellar_base::table_attributes::UPLOADS_PREFIX;
use cellar_engine::ports::{BlobKey, Blobs as _};
use cellar_log::entry::Content;

use super::log::Stored;
use crate::world::World;

/// Checks the uploads of a log, long after the last upload.
pub(super) async fn check(world: &World, stored: &Stored) {
    let mut body_keys = BTreeSet::new();
    for entry in stored.history() {
        if let Content::External(external) = &entry.content {
            body_keys.insert(external.object.clone());
        }
    }
    for body_key in &body_keys {
        let pending = match BlobKey::new(body_key) {
            Ok(key) => world.blobs.pending(&key).await.unwrap_or(None),
            Err(_) => None,
        };
        if pending != Some(false) {
            world.report_violation(format_args!(
                "I4: {body_key} is an entry's body; pending: {pending:?}"
            ));
        }
    }
    let prefix = format!("{UPLOADS_PREFIX}{}/", stored.log);
    let Ok(page) = world.blobs.list(&prefix, None, u16::MAX).await else { return };
    for blob in page.blobs {
        if !body_keys.contains(&blob.key) {
            world.report_violation(format_args!("I11: upload {} belongs to no entry", blob.key));
        }
    }
}
