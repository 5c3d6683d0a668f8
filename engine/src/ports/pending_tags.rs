//! Port of the `pending` tags of uploads.

use std::sync::Arc;

use async_trait::async_trait;

use super::{BlobKey, Blobs, KeepOutcome, PortError};

/// Tags of uploaded objects. The bucket's lifecycle rule deletes an object while it has the tag.
#[async_trait]
pub trait PendingTags: Send + Sync {
    /// Removes the `state=pending` tag of an object; returns `false` if the object does not exist.
    /// Idempotent: an object without the tag is a success.
    ///
    /// # Errors
    /// [`PortError`] if the request fails.
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError>;
}

#[async_trait]
impl PendingTags for Arc<dyn Blobs> {
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError> {
        let key = BlobKey::new(key).map_err(|error| PortError::permanent(error.to_string()))?;
        Ok(self.keep(&key).await? == KeepOutcome::Kept)
    }
}
