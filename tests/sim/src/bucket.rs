//! Simulates the bucket's lifecycle rule, which deletes uploads that were never completed
//! (`stacks/src/cellar/storage.rs`).

use std::sync::Arc;

use cellar_engine::ports::{BlobKey, Blobs as _, Clock as _};

use crate::rare::RareEvent;
use crate::world::World;

/// Seconds per day. The lifecycle rule is applied once a day.
const DAY_S: u64 = 24 * 60 * 60;
/// Number of days after which an object with the pending tag is deleted.
const PENDING_UPLOAD_DAYS: u64 = 3;
/// Time after which every pending upload has been deleted, in milliseconds.
pub(crate) const EXPIRED_MS: u64 = (PENDING_UPLOAD_DAYS + 2) * DAY_S * 1_000;

/// Repeatedly deletes the uploads that have been pending for too long.
pub(crate) async fn expire_uploads(world: Arc<World>) {
    loop {
        world.sleep_ms(DAY_S * 1_000).await;
        let now_s = world.time.now_ms() / 1_000;
        let Ok(page) =
            world.blobs.list(cellar_base::table_attributes::UPLOADS_PREFIX, None, u16::MAX).await
        else {
            continue;
        };
        for blob in page.blobs {
            let Ok(key) = BlobKey::new(&blob.key) else { continue };
            let is_old = now_s.saturating_sub(blob.modified_s) >= PENDING_UPLOAD_DAYS * DAY_S;
            if is_old && world.blobs.pending(&key).await == Ok(Some(true)) {
                let is_deleted = world.blobs.delete(&key).await.is_ok();
                world.event("bucket", format_args!("{key} expires: {is_deleted}"));
                world.count(RareEvent::UploadExpired);
            }
        }
    }
}
