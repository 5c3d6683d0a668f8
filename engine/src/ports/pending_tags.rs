//! Port for the `state=pending` tag of uploaded objects.

use std::sync::Arc;

use async_trait::async_trait;

use super::{BlobKey, Blobs, KeepOutcome, PortError};

/// Removes the pending tags of uploaded objects. The bucket's lifecycle rule deletes objects that
/// still have the tag after a few days.
#[async_trait]
pub trait PendingTags: Send + Sync {
    /// Removes an object's `state=pending` tag. Succeeds even if the object does not have the tag.
    /// Returns `false` if the object does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError>;
}

#[async_trait]
impl PendingTags for Arc<dyn Blobs> {
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError> {
        let key = BlobKey::new(key).map_err(|error| PortError::permanent(error.to_string()))?;
        Ok(self.keep(&key).await? == KeepOutcome::Kept)
    }
}
