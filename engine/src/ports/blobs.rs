//! Port of the object store, which contains external bodies, offloaded segments and snapshots.

use async_trait::async_trait;
use bytes::Bytes;

use super::{BlobKey, PortError, PresignedRequest, UploadGrant};

/// SHA-256 checksum of an object's bytes.
pub type Sha256 = [u8; 32];

/// Key of the tag that marks an incomplete upload.
pub const STATE_TAG: &str = "state";
/// [`STATE_TAG`] value of an incomplete upload. The bucket's lifecycle rule deletes objects with
/// this value after a few days.
pub const STATE_PENDING: &str = "pending";

/// An object to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlob {
    pub key: BlobKey,
    /// Object content; cheap to clone for retries.
    pub bytes: Bytes,
    /// Checksum that the store verifies.
    pub sha256: Sha256,
    pub content_type: Option<String>,
    /// Content encoding, for example `zstd`.
    pub content_encoding: Option<String>,
    /// Whether the object expires unless [`Blobs::keep`] is called.
    pub pending: bool,
}

/// Metadata of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobHead {
    /// Length in bytes.
    pub length: u64,
    /// Checksum that the writer stored with the object, or `None` if it sent none.
    pub sha256: Option<Sha256>,
    /// Time of the last write, in seconds since the Unix epoch. Tag changes do not count as writes.
    pub modified_s: u64,
    pub content_type: Option<String>,
    pub content_encoding: Option<String>,
}

/// Metadata and pending tag of an uploaded object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobInspection {
    pub head: BlobHead,
    /// Whether the object has the pending tag.
    pub pending: bool,
}

/// Result of reading an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GetOutcome {
    /// The complete object.
    Found { head: BlobHead, bytes: Bytes },
    /// The object does not exist.
    Absent,
    /// The object is longer than `max_bytes` and was not read.
    TooLong {
        /// Object length in bytes.
        length: u64,
    },
}

/// Result of removing the pending tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepOutcome {
    /// The object has no pending tag, so it does not expire.
    Kept,
    /// The object has expired or was never uploaded.
    Absent,
}

/// One listed object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBlob {
    /// Object key. Not a [`BlobKey`], since the bucket may contain objects that Cellar did not
    /// write.
    pub key: String,
    /// Length in bytes.
    pub length: u64,
    /// Time of the last write, in seconds since the Unix epoch.
    pub modified_s: u64,
}

/// One page of objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobPage {
    /// Objects sorted bytewise by key.
    pub blobs: Vec<ListedBlob>,
    /// Value of `after` that requests the next page, or `None` on the last page.
    pub next: Option<String>,
}

/// The object store. Methods do not retry. All requests except presigned requests are idempotent,
/// so callers may retry them after [temporary](PortError::temporary) failures.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores an object durably, replacing any object with the same key. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`]. If the bytes do not match the checksum, the error is permanent and
    /// nothing is stored.
    async fn put(&self, blob: NewBlob) -> Result<(), PortError>;

    /// Reads an object if it has at most `max_bytes` bytes, and verifies the object against the
    /// stored checksum. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`]. If the received bytes do not match the checksum, the error is
    /// temporary.
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError>;

    /// Returns an object's metadata, or `None` if the object does not exist. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError>;

    /// Returns whether an object has the pending tag, or `None` if the object does not exist. Sends
    /// one request.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Blobs::head`].
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError>;

    /// Returns the results of both [`Blobs::head`] and [`Blobs::pending`]. Sends two requests.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Blobs::head`].
    async fn inspect(&self, key: &BlobKey) -> Result<Option<BlobInspection>, PortError> {
        let Some(head) = self.head(key).await? else { return Ok(None) };
        Ok(self.pending(key).await?.map(|pending| BlobInspection { head, pending }))
    }

    /// Removes the pending tag, so that the object does not expire. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Blobs::head`].
    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError>;

    /// Deletes an object if it exists. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Blobs::head`].
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError>;

    /// Returns a page of the objects whose keys start with `prefix` and sort after `after`. The
    /// page contains at most `limit` and at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS) objects. Sends one request.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Blobs::head`].
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError>;

    /// Presigns a request that uploads one object with the pending tag. The signature covers the
    /// key, length and checksum. The request never replaces an existing object. The grant's
    /// validity period starts at `now_s` (seconds since the Unix epoch). Sends no request.
    ///
    /// # Errors
    ///
    /// Returns a permanent [`PortError`] if the grant exceeds
    /// [`MAX_PRESIGNED_S`](cellar_base::limits::MAX_PRESIGNED_S) or
    /// [`MAX_BLOB_BYTES`](cellar_base::limits::MAX_BLOB_BYTES), or if the request cannot be signed.
    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;

    /// Presigns a request that reads one object. The request is valid for `valid_s` seconds,
    /// starting at `now_s` (seconds since the Unix epoch). Sends no request.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Blobs::presign_put`].
    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;
}
