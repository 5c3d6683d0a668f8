//! What a spreadsheet has in the bucket.

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_LISTED_BLOBS, PURGE_DELETES_AT_ONCE};
use cellar_base::schema::{OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{Purger, Removed};
use crate::ports::{BlobKey, ListedBlob, PortError};

impl Purger {
    /// Removes all objects below a log's own prefixes. The snapshots of forks are under the prefix of their family's
    /// origin, among the others' ([`crate::garbage`]).
    pub(super) async fn remove_objects(&self, log: LogId) -> Result<Removed, PortError> {
        let mut removed = Removed::default();
        for prefix in [UPLOADS_PREFIX, OFFLOADED_PREFIX, SHEETS_PREFIX] {
            self.remove_below(&format!("{prefix}{log}/"), &mut removed).await?;
        }
        Ok(removed)
    }

    async fn remove_below(&self, prefix: &str, removed: &mut Removed) -> Result<(), PortError> {
        let mut after: Option<String> = None;
        loop {
            let list = || self.ports.blobs.list(prefix, after.as_deref(), MAX_LISTED_BLOBS);
            let page = self.retried(list).await?;
            let deletes = page.blobs.iter().map(|blob| self.remove(blob));
            stream::iter(deletes)
                .buffer_unordered(PURGE_DELETES_AT_ONCE)
                .try_for_each(async |()| Ok(()))
                .await?;
            removed.objects += u64::try_from(page.blobs.len()).unwrap_or(u64::MAX);
            removed.object_bytes += page.blobs.iter().map(|blob| blob.length).sum::<u64>();
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn remove(&self, blob: &ListedBlob) -> Result<(), PortError> {
        let unusable = |error: crate::ports::BlobKeyError| {
            PortError::permanent(format!("`{}` cannot be deleted: {error}", blob.key))
        };
        let key = BlobKey::new(blob.key.clone()).map_err(unusable)?;
        self.retried(|| self.ports.blobs.delete(&key)).await
    }
}
