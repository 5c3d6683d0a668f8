//! Port for listing and deleting object versions. Only operators delete versions.

use async_trait::async_trait;

use super::{BlobKey, PortError};

/// One listed version of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// Key of the object. The type is not [`BlobKey`], since other writers may store objects in the
    /// bucket.
    pub key: String,
    /// Version id that the store assigned.
    pub version: String,
    /// Length in bytes; 0 for a delete marker.
    pub length: u64,
    /// Time of the write in Unix seconds.
    pub modified_s: u64,
}

/// The last version on a page, after which the next page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMarker {
    /// Key of the last version on the page.
    pub key: String,
    /// Id of the last version; `None` if the page includes all versions of the key.
    pub version: Option<String>,
}

/// One page of versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionPage {
    /// Versions sorted by the bytes of their keys. The versions of one key are sorted from newest
    /// to oldest.
    pub versions: Vec<ListedVersion>,
    /// Value of `after` for the next page; `None` on the last page.
    pub next: Option<VersionMarker>,
}

/// An object store in which each write creates a version. A store that keeps only the newest
/// version may also implement this trait. All methods are idempotent, and no method retries.
#[async_trait]
pub trait BlobVersions: Send + Sync {
    /// Returns a page of versions that follow `after`, for all objects whose keys start with
    /// `prefix`. A page contains at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS) versions. Sends one request.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails.
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError>;

    /// Permanently deletes one version of an object, if the version exists. Other versions are
    /// kept. Sends one request.
    ///
    /// # Errors
    /// Returns the same errors as [`BlobVersions::list_versions`].
    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError>;
}
