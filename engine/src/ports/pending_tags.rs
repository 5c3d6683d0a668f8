//! The tags of uploads that no entry names yet.

use async_trait::async_trait;

use super::PortError;

/// Uploads that the bucket's lifecycle deletes unless their tag goes (design `2-log.md` §4).
#[async_trait]
pub trait PendingTags: Send + Sync {
    /// Removes the `state=pending` tag of an object; false if there is no such object. An object
    /// without the tag is a success: repeating it changes nothing.
    ///
    /// # Errors
    /// [`PortError`] if the bucket does not answer or refuses.
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError>;
}
