//! Port of object versions, which only operators delete.

use async_trait::async_trait;

use super::{BlobKey, PortError};

/// One listed version of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// Key of the object. Not a [`BlobKey`], since the bucket may contain objects of other writers.
    pub key: String,
    /// Version id, assigned by the store.
    pub version: String,
    /// Length in bytes; 0 for a delete marker.
    pub length: u64,
    /// Time of the write, Unix seconds.
    pub modified_s: u64,
}

/// End of a page of versions.
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
    /// Versions sorted by the bytes of their keys; versions of one key newest first.
    pub versions: Vec<ListedVersion>,
    /// The `after` of the next page; `None` on the last page.
    pub next: Option<VersionMarker>,
}

/// A store with versioned objects: each write creates a version. A store that keeps only the newest
/// version also qualifies. All methods are idempotent, and none retries.
#[async_trait]
pub trait BlobVersions: Send + Sync {
    /// Returns one page of all versions of objects whose keys start with `prefix`, after `after`;
    /// at most [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS). One request.
    ///
    /// # Errors
    /// [`PortError`] if the request fails.
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError>;

    /// Permanently deletes one version of an object, if it exists; other versions stay. One
    /// request.
    ///
    /// # Errors
    /// As [`BlobVersions::list_versions`].
    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError>;
}
