//! Port of the object store, which contains snapshots, offloaded segments and the operations of
//! large entries.

use async_trait::async_trait;
use bytes::Bytes;

use super::{BlobKey, PortError, PresignedRequest, UploadGrant};

/// SHA-256 checksum of an object's bytes.
pub type Sha256 = [u8; 32];

/// Key of the tag that marks an upload as incomplete.
pub const STATE_TAG: &str = "state";
/// [`STATE_TAG`] value of an incomplete upload. The bucket's lifecycle rule deletes such objects
/// after a few days.
pub const STATE_PENDING: &str = "pending";

/// An object to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlob {
    pub key: BlobKey,
    /// Content of the object. Cloning it for retries is cheap.
    pub bytes: Bytes,
    /// Checksum that the store verifies.
    pub sha256: Sha256,
    pub content_type: Option<String>,
    /// Content encoding, for example `zstd`.
    pub content_encoding: Option<String>,
    /// Whether the object is created with the pending tag, so that it expires unless
    /// [`Blobs::keep`] is called.
    pub pending: bool,
}

/// Metadata of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobHead {
    /// Length in bytes.
    pub length: u64,
    /// Checksum that the writer stored with the object, or `None` if the writer stored none.
    pub sha256: Option<Sha256>,
    /// Time of the last write, in seconds since the Unix epoch. Changes of tags are not writes.
    pub modified_s: u64,
    pub content_type: Option<String>,
    pub content_encoding: Option<String>,
}

/// Metadata of an uploaded object, and whether it has the pending tag.
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
    /// The object is longer than `max_bytes`, so it was not read.
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
    /// Object key. It is not a [`BlobKey`], since the bucket may contain objects that Cellar did
    /// not write.
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
    /// Value of `after` for the next page, or `None` on the last page.
    pub next: Option<String>,
}

/// Outcome of [`Blobs::put_new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutNewOutcome {
    /// The object was stored.
    Stored,
    /// An object with the same key exists and was not changed.
    AlreadyExists,
}

/// An object store. Methods do not retry failed requests. All requests except presigned ones are
/// idempotent, so callers may retry them after a [temporary](PortError::temporary) failure.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores an object durably. Replaces an existing object with the same key.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. If the content does not match the checksum, the
    /// error is permanent and nothing is stored.
    async fn put(&self, blob: NewBlob) -> Result<(), PortError>;

    /// Stores an object durably unless an object with the same key exists. After a temporary
    /// failure, the object may have been stored, and a retry then returns
    /// [`PutNewOutcome::AlreadyExists`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Blobs::put`].
    async fn put_new(&self, blob: NewBlob) -> Result<PutNewOutcome, PortError>;

    /// Reads an object if it is at most `max_bytes` long, and verifies its checksum.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. If the received content does not match the
    /// checksum, the error is temporary.
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError>;

    /// Returns an object's metadata, or `None` if the object does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError>;

    /// Returns whether an object has the pending tag, or `None` if the object does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError>;

    /// Returns an object's metadata and whether it has the pending tag. Sends two requests.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails.
    async fn inspect(&self, key: &BlobKey) -> Result<Option<BlobInspection>, PortError> {
        let Some(head) = self.head(key).await? else { return Ok(None) };
        Ok(self.pending(key).await?.map(|pending| BlobInspection { head, pending }))
    }

    /// Removes the pending tag of an object, so that the object does not expire.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError>;

    /// Deletes an object if it exists.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError>;

    /// Returns a page of the objects whose keys start with `prefix` and are greater than `after`.
    /// The page contains at most `limit` and at most
    /// [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS) objects.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError>;

    /// Signs a request with which a client uploads one object. The upload gets the pending tag and
    /// never replaces an existing object. The signature covers the key, length and checksum. The
    /// validity period starts at `now_s`, in seconds since the Unix epoch. Signing sends no
    /// request.
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

    /// Signs a request with which a client reads one object. The request is valid for `valid_s`
    /// seconds from `now_s`, in seconds since the Unix epoch. Signing sends no request.
    ///
    /// # Errors
    ///
    /// Returns a permanent [`PortError`] if `valid_s` exceeds
    /// [`MAX_PRESIGNED_S`](cellar_base::limits::MAX_PRESIGNED_S) or the request cannot be signed.
    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;
}
