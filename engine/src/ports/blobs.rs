//! Port of the object store, which contains external bodies, offloaded segments and snapshots.

use async_trait::async_trait;
use bytes::Bytes;

use super::{BlobKey, PortError, PresignedRequest, UploadGrant};

/// SHA-256 checksum of an object's bytes.
pub type Sha256 = [u8; 32];

/// Key of the tag that marks an incomplete upload.
pub const STATE_TAG: &str = "state";
/// Value of the [`STATE_TAG`] tag of an incomplete upload. After some days, the bucket's lifecycle
/// rule deletes objects that have this tag.
pub const STATE_PENDING: &str = "pending";

/// An object to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlob {
    pub key: BlobKey,
    /// Content of the object; cheap to clone for retries.
    pub bytes: Bytes,
    /// Checksum that the store verifies.
    pub sha256: Sha256,
    pub content_type: Option<String>,
    /// Content encoding, for example `zstd`.
    pub content_encoding: Option<String>,
    /// Set if the object expires unless [`Blobs::keep`] is called.
    pub pending: bool,
}

/// Metadata of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobHead {
    /// Length in bytes.
    pub length: u64,
    /// Checksum that the writer stored with the object; `None` if the writer sent no checksum.
    pub sha256: Option<Sha256>,
    /// Time of the last write in Unix seconds. A change of tags is not a write.
    pub modified_s: u64,
    pub content_type: Option<String>,
    pub content_encoding: Option<String>,
}

/// Metadata and pending tag of an uploaded object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobInspection {
    pub head: BlobHead,
    /// Set if the object has the pending tag.
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
        /// Length of the object in bytes.
        length: u64,
    },
}

/// Result of removing the pending tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepOutcome {
    /// The object has no pending tag any more, so it does not expire. The tag may have been missing
    /// before.
    Kept,
    /// The object does not exist: it has expired or was never uploaded.
    Absent,
}

/// One listed object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBlob {
    /// Key of the object. The type is not [`BlobKey`], since other writers may store objects in the
    /// bucket.
    pub key: String,
    /// Length in bytes.
    pub length: u64,
    /// Time of the last write in Unix seconds.
    pub modified_s: u64,
}

/// One page of objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobPage {
    /// Objects sorted by the bytes of their keys.
    pub blobs: Vec<ListedBlob>,
    /// Value of `after` for the next page; `None` on the last page.
    pub next: Option<String>,
}

/// The object store. No method retries. All requests except the presigned requests are idempotent,
/// so the caller may retry a failure that is [temporary](PortError::temporary).
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores an object durably. Replaces an existing object with the same key. Sends one request.
    ///
    /// # Errors
    /// Returns [`PortError`]. The error is permanent if the bytes do not match the checksum; the
    /// store then keeps its previous state.
    async fn put(&self, blob: NewBlob) -> Result<(), PortError>;

    /// Reads a complete object of at most `max_bytes` bytes, and verifies its bytes against the
    /// stored checksum. Sends one request.
    ///
    /// # Errors
    /// Returns [`PortError`]. The error is temporary if the received bytes do not match the
    /// checksum.
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError>;

    /// Returns the metadata of an object; `None` if the object does not exist. Sends one request.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails.
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError>;

    /// Returns whether an object has the pending tag; `None` if the object does not exist. Sends
    /// one request.
    ///
    /// # Errors
    /// Returns the same errors as [`Blobs::head`].
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError>;

    /// Returns the results of both [`Blobs::head`] and [`Blobs::pending`]. Sends two requests.
    ///
    /// # Errors
    /// Returns the same errors as [`Blobs::head`].
    async fn inspect(&self, key: &BlobKey) -> Result<Option<BlobInspection>, PortError> {
        let Some(head) = self.head(key).await? else { return Ok(None) };
        Ok(self.pending(key).await?.map(|pending| BlobInspection { head, pending }))
    }

    /// Removes the pending tag, so that the object does not expire. Sends one request.
    ///
    /// # Errors
    /// Returns the same errors as [`Blobs::head`].
    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError>;

    /// Deletes an object if it exists. Sends one request.
    ///
    /// # Errors
    /// Returns the same errors as [`Blobs::head`].
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError>;

    /// Returns one page of the objects whose keys start with `prefix` and sort after `after`. A
    /// page contains at most `limit` objects and at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS) objects. Sends one request.
    ///
    /// # Errors
    /// Returns the same errors as [`Blobs::head`].
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError>;

    /// Presigns a request that uploads one object with the pending tag. The signature covers the
    /// key, the length and the checksum, and the request never replaces an existing object. The
    /// request is valid for the duration of the grant, starting at `now_s` (Unix seconds). Sends no
    /// request.
    ///
    /// # Errors
    /// Returns a permanent [`PortError`] if the grant exceeds
    /// [`MAX_PRESIGNED_S`](cellar_base::limits::MAX_PRESIGNED_S) or
    /// [`MAX_BLOB_BYTES`](cellar_base::limits::MAX_BLOB_BYTES), or if the request cannot be signed.
    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;

    /// Presigns a request that reads one object. The request is valid for `valid_s` seconds,
    /// starting at `now_s` (Unix seconds). Sends no request.
    ///
    /// # Errors
    /// Returns the same errors as [`Blobs::presign_put`].
    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;
}
