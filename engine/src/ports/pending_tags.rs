//! The tags of uploads that no entry names yet.

use std::sync::Arc;

use async_trait::async_trait;

use super::{BlobKey, Blobs, Kept, PortError};

/// Uploads that the bucket's lifecycle deletes unless their tag goes.
#[async_trait]
pub trait PendingTags: Send + Sync {
    /// Removes the `state=pending` tag of an object; false if there is no such object. An object
    /// without the tag is a success: repeating it changes nothing.
    ///
    /// # Errors
    /// [`PortError`] if the bucket does not answer or refuses.
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError>;
}

#[async_trait]
impl PendingTags for Arc<dyn Blobs> {
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError> {
        let key = BlobKey::new(key).map_err(|error| PortError::permanent(error.to_string()))?;
        Ok(self.keep(&key).await? == Kept::Kept)
    }
}
