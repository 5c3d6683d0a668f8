//! Port for listing and deleting versions of objects. Only operators have permission to delete
//! versions.

use async_trait::async_trait;

use super::{BlobKey, PortError};

/// A listed object version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// Object key. It is not a [`BlobKey`], since the bucket may contain objects that Cellar did
    /// not write.
    pub key: String,
    /// Version id assigned by the store.
    pub version: String,
    /// Length in bytes; 0 for a delete marker.
    pub length: u64,
    /// Time of the write, in seconds since the Unix epoch.
    pub modified_s: u64,
}

/// The last version on a page, after which the next page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMarker {
    /// Key of the last version on the page.
    pub key: String,
    /// Id of the last version on the page, or `None` if the page contains all versions of the key.
    pub version: Option<String>,
}

/// One page of versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionPage {
    /// Versions in bytewise order of their keys. Versions of the same key are sorted from newest to
    /// oldest.
    pub versions: Vec<ListedVersion>,
    /// Value of `after` for the next page, or `None` on the last page.
    pub next: Option<VersionMarker>,
}

/// An object store that creates a new version on each write. It may retain only the latest version.
///
/// Methods are idempotent. They do not retry failed requests.
#[async_trait]
pub trait BlobVersions: Send + Sync {
    /// Returns a page of the versions whose keys start with `prefix`, starting after the version
    /// `after`. The page contains at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS) versions.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError>;

    /// Permanently deletes an object version if it exists. Other versions are retained.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError>;
}
