//! Port of the object store: external bodies, offloaded segments and snapshots.

use async_trait::async_trait;
use bytes::Bytes;

use super::{BlobKey, PortError, PresignedRequest, UploadGrant};

/// SHA-256 of an object's bytes.
pub type Sha256 = [u8; 32];

/// Key of the tag that marks an incomplete upload.
pub const STATE_TAG: &str = "state";
/// Value of [`STATE_TAG`] of an incomplete upload. The bucket's lifecycle rule deletes tagged
/// objects after some days.
pub const STATE_PENDING: &str = "pending";

/// An object to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlob {
    pub key: BlobKey,
    /// The content; cheap to clone for retries.
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
    /// Checksum that the object was stored with; `None` if the writer sent none.
    pub sha256: Option<Sha256>,
    /// Time of the write, Unix seconds. Changes of tags do not count.
    pub modified_s: u64,
    pub content_type: Option<String>,
    pub content_encoding: Option<String>,
}

/// Metadata and tag of an upload that is not completed yet.
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
    /// The object exceeds `max_bytes` and was not read.
    TooLong {
        /// Length of the object in bytes.
        length: u64,
    },
}

/// Result of removing the pending tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepOutcome {
    /// The object does not expire; it may or may not have had the tag.
    Kept,
    /// The object does not exist: it expired, or was never uploaded.
    Absent,
}

/// One listed object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBlob {
    /// Key of the object. Not a [`BlobKey`], since the bucket may contain objects of other writers.
    pub key: String,
    /// Length in bytes.
    pub length: u64,
    /// Time of the write, Unix seconds.
    pub modified_s: u64,
}

/// One page of objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobPage {
    /// Objects sorted by the bytes of their keys.
    pub blobs: Vec<ListedBlob>,
    /// The `after` of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// The object store. No method retries. All requests except the presigned ones are idempotent, so
/// the caller may retry a failure that is [temporary](PortError::temporary).
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores an object durably, or replaces the object with the same key. One request.
    ///
    /// # Errors
    /// [`PortError`]; permanent if the bytes do not match the checksum, in which case nothing is
    /// stored.
    async fn put(&self, blob: NewBlob) -> Result<(), PortError>;

    /// Reads a complete object of at most `max_bytes`, and verifies the checksum that it was stored
    /// with. One request.
    ///
    /// # Errors
    /// [`PortError`]; temporary if the received bytes do not match the checksum.
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError>;

    /// Returns the metadata of an object; `None` if the object does not exist. One request.
    ///
    /// # Errors
    /// [`PortError`] if the request fails.
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError>;

    /// Returns whether an object has the pending tag; `None` if the object does not exist. One
    /// request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError>;

    /// Combines [`Blobs::head`] and [`Blobs::pending`]. Two requests.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn inspect(&self, key: &BlobKey) -> Result<Option<BlobInspection>, PortError> {
        let Some(head) = self.head(key).await? else { return Ok(None) };
        Ok(self.pending(key).await?.map(|pending| BlobInspection { head, pending }))
    }

    /// Removes the pending tag, so that the object does not expire. One request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError>;

    /// Deletes an object, if it exists. One request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError>;

    /// Returns one page of the objects whose keys start with `prefix` and are greater than `after`:
    /// at most `limit`, and at most [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS).
    /// One request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError>;

    /// Presigns a request that uploads one object once, with the pending tag. The key, length and
    /// checksum are fixed, and an existing object is not replaced. The request is valid from
    /// `now_s` (Unix seconds) for the duration of the grant. Sends no request.
    ///
    /// # Errors
    /// A permanent [`PortError`] if the grant exceeds
    /// [`MAX_PRESIGNED_S`](cellar_base::limits::MAX_PRESIGNED_S) or
    /// [`MAX_BLOB_BYTES`](cellar_base::limits::MAX_BLOB_BYTES), or cannot be signed.
    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;

    /// Presigns a request that reads one object, valid from `now_s` (Unix seconds) for `valid_s`
    /// seconds. Sends no request.
    ///
    /// # Errors
    /// As [`Blobs::presign_put`].
    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;
}
