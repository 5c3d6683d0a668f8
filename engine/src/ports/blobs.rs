//! The object store: large entries, archives, and later snapshots.

use async_trait::async_trait;
use bytes::Bytes;

use super::{BlobKey, PortError, PresignedRequest, UploadGrant};

/// SHA-256 of an object's bytes.
pub type Sha256 = [u8; 32];

/// Key of the tag that says whether an upload is completed.
pub const STATE_TAG: &str = "state";
/// Value of [`STATE_TAG`] until it is: the bucket's lifecycle rule deletes what still has it after
/// some days.
pub const STATE_PENDING: &str = "pending";

/// An object to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlob {
    /// Its key.
    pub key: BlobKey,
    /// Its bytes; a copy for another try costs nothing.
    pub bytes: Bytes,
    /// What the store must find of the bytes that arrive.
    pub sha256: Sha256,
    /// Its media type.
    pub content_type: Option<String>,
    /// How its bytes are encoded, for example `zstd`.
    pub content_encoding: Option<String>,
    /// Whether it disappears by itself unless [`Blobs::keep`] is called for it.
    pub pending: bool,
}

/// What the store says of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobHead {
    /// Its bytes.
    pub length: u64,
    /// The checksum that it was stored with; none if whoever stored it sent none.
    pub sha256: Option<Sha256>,
    /// When it was written, Unix seconds. A change of tags does not change it.
    pub modified_s: u64,
    /// Its media type.
    pub content_type: Option<String>,
    /// How its bytes are encoded.
    pub content_encoding: Option<String>,
}

/// What is to be known of an upload before it is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// What the store says of the object.
    pub head: BlobHead,
    /// Whether it still disappears by itself.
    pub pending: bool,
}

/// What came of reading an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Got {
    /// The whole object.
    Found {
        /// What the store says of it.
        head: BlobHead,
        /// Its bytes, as many as the head says.
        bytes: Bytes,
    },
    /// There is no such object.
    Absent,
    /// It is longer than was asked for, and was not read.
    TooLong {
        /// Its bytes.
        length: u64,
    },
}

/// What came of removing the pending tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The object stays, whether or not it had the tag.
    Kept,
    /// There is no such object: its time was up, or it never arrived.
    Absent,
}

/// One object of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBlob {
    /// Its key. Not a [`BlobKey`]: others may have written into the bucket.
    pub key: String,
    /// Its bytes.
    pub length: u64,
    /// When it was written, Unix seconds.
    pub modified_s: u64,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobPage {
    /// Objects in ascending order of their keys' bytes.
    pub blobs: Vec<ListedBlob>,
    /// The `after` of the next page, if there is more.
    pub next: Option<String>,
}

/// The object store. No method retries: all but the presigned ones are idempotent, and the caller
/// repeats what failed for a while ([`PortError::temporary`]).
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores an object, durably; replaces one that has the key. One request.
    ///
    /// # Errors
    /// [`PortError`]; permanent if the bytes do not have the checksum: nothing is stored then.
    async fn put(&self, blob: NewBlob) -> Result<(), PortError>;

    /// Reads a whole object, unless it has more than `max_bytes`. One request. The bytes have the
    /// checksum that the object was stored with.
    ///
    /// # Errors
    /// [`PortError`]; temporary if the bytes that arrived are not those that were stored.
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<Got, PortError>;

    /// What the store says of an object; none if it is not there. One request.
    ///
    /// # Errors
    /// [`PortError`] if the store does not answer.
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError>;

    /// Whether an object has the pending tag; none if it is not there. One request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError>;

    /// [`Blobs::head`] and [`Blobs::pending`]: two requests, since the store answers them apart.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn inspect(&self, key: &BlobKey) -> Result<Option<Inspected>, PortError> {
        let Some(head) = self.head(key).await? else { return Ok(None) };
        Ok(self.pending(key).await?.map(|pending| Inspected { head, pending }))
    }

    /// Removes the pending tag: from then on the object does not disappear by itself. One request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn keep(&self, key: &BlobKey) -> Result<Kept, PortError>;

    /// Deletes an object, if it is there. One request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError>;

    /// One page of the objects whose keys begin with `prefix` and come after `after`; at most
    /// `limit`, and at most [`MAX_LISTED_BLOBS`](cellar_base::limits::MAX_LISTED_BLOBS). One
    /// request.
    ///
    /// # Errors
    /// As [`Blobs::head`].
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError>;

    /// A URL with which whoever has it can upload one object once, with the pending tag: this key,
    /// this length, this checksum, and only where no object is. It holds from `now_s` (Unix
    /// seconds) for as long as the grant says. No request is sent.
    ///
    /// # Errors
    /// A permanent [`PortError`] if the grant is for longer than
    /// [`MAX_PRESIGNED_S`](cellar_base::limits::MAX_PRESIGNED_S) or for more than
    /// [`MAX_BLOB_BYTES`](cellar_base::limits::MAX_BLOB_BYTES), or nothing can be signed.
    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError>;

    /// A URL with which whoever has it can read one object from `now_s` (Unix seconds) on for
    /// `valid_s` seconds. No request is sent.
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
