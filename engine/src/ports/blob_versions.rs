//! The versions of objects, which only an operator deletes.

use async_trait::async_trait;

use super::{BlobKey, PortError};

/// One version of an object in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// The object's key. Not a [`BlobKey`]: others may have written into the bucket.
    pub key: String,
    /// The version's name, which the store gave it.
    pub version: String,
    /// Its bytes; 0 for one that says that the object was deleted.
    pub length: u64,
    /// When it was written, Unix seconds.
    pub modified_s: u64,
}

/// Where a page of versions ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMarker {
    /// The key of its last version.
    pub key: String,
    /// The name of it; `None` where all of that key's are behind it.
    pub version: Option<String>,
}

/// One page of a list of versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionPage {
    /// Versions in ascending order of their keys' bytes, those of one key from the newest to the oldest.
    pub versions: Vec<ListedVersion>,
    /// The `after` of the next page, if there is more.
    pub next: Option<VersionMarker>,
}

/// A store whose objects have versions: each write makes one. A store that keeps only the newest is one, too. No
/// method retries; all are idempotent.
#[async_trait]
pub trait BlobVersions: Send + Sync {
    /// One page of all versions of the objects whose keys begin with `prefix`, behind `after`; at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS). One request.
    ///
    /// # Errors
    /// [`PortError`] if the store does not answer.
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError>;

    /// Deletes a version of an object for good, if it is there, and no other: what was written since stays. One
    /// request.
    ///
    /// # Errors
    /// As [`BlobVersions::list_versions`].
    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError>;
}
