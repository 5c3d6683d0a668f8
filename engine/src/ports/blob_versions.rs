//! Port for listing and deleting object versions. Only operators are permitted to delete versions.

use async_trait::async_trait;

use super::{BlobKey, PortError};

/// A listed object version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// Object key. Not a [`BlobKey`], since the bucket may contain objects that Cellar did not
    /// write.
    pub key: String,
    /// Version id assigned by the store.
    pub version: String,
    /// Length in bytes; 0 for a delete marker.
    pub length: u64,
    /// Time of the write, in seconds since the Unix epoch.
    pub modified_s: u64,
}

/// Last version on a page. The next page starts after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMarker {
    /// Key of the last version on the page.
    pub key: String,
    /// Id of the last version, or `None` if the page contains all versions of the key.
    pub version: Option<String>,
}

/// One page of versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionPage {
    /// Versions sorted bytewise by key; versions of the same key are sorted from newest to oldest.
    pub versions: Vec<ListedVersion>,
    /// Value of `after` that requests the next page, or `None` on the last page.
    pub next: Option<VersionMarker>,
}

/// An object store in which each write creates a version. A store that retains only the latest
/// version may also implement this trait. Methods are idempotent and do not retry.
#[async_trait]
pub trait BlobVersions: Send + Sync {
    /// Returns a page of the versions whose keys start with `prefix`, starting after the version
    /// `after`. The page contains at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS) versions. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError>;

    /// Permanently deletes an object version if it exists. Other versions are retained. Sends one
    /// request.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`BlobVersions::list_versions`].
    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError>;
}
