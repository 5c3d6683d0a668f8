//! Deletes the objects of a spreadsheet.

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_LISTED_BLOBS, PURGE_DELETES_AT_ONCE};
use cellar_base::table_attributes::{OFFLOADED_PREFIX, SHEETS_PREFIX, UPLOADS_PREFIX};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{PurgedData, Purger};
use crate::ports::{BlobKey, ListedBlob, PortError};

impl Purger {
    /// The snapshots of a fork are not included: they are stored under the id of the family's
    /// original log and are deleted by [`crate::garbage`].
    pub(super) async fn delete_objects(&self, log_id: LogId) -> Result<PurgedData, PortError> {
        let mut purged = PurgedData::default();
        for prefix in [UPLOADS_PREFIX, OFFLOADED_PREFIX, SHEETS_PREFIX] {
            self.delete_prefix(&format!("{prefix}{log_id}/"), &mut purged).await?;
        }
        Ok(purged)
    }

    async fn delete_prefix(&self, prefix: &str, purged: &mut PurgedData) -> Result<(), PortError> {
        let mut last_listed_key: Option<String> = None;
        loop {
            let list_page =
                || self.ports.blobs.list(prefix, last_listed_key.as_deref(), MAX_LISTED_BLOBS);
            let page = self.retry(list_page).await?;
            stream::iter(page.blobs.iter().map(|blob| self.delete_object(blob)))
                .buffer_unordered(PURGE_DELETES_AT_ONCE)
                .try_for_each(async |()| Ok(()))
                .await?;
            purged.objects += u64::try_from(page.blobs.len()).unwrap_or(u64::MAX);
            purged.object_bytes += page.blobs.iter().map(|blob| blob.length).sum::<u64>();
            last_listed_key = page.next;
            if last_listed_key.is_none() {
                return Ok(());
            }
        }
    }

    async fn delete_object(&self, blob: &ListedBlob) -> Result<(), PortError> {
        let key = BlobKey::new(blob.key.clone()).map_err(|error| {
            PortError::permanent(format!("object `{}` cannot be deleted: {error}", blob.key))
        })?;
        self.retry(|| self.ports.blobs.delete(&key)).await
    }
}
