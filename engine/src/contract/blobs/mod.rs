//! The contract of the object store.

mod objects;
mod presigned;
mod versions;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::ports::{BlobKey, Blobs, Got, NewBlob};

pub use objects::{Promise, blobs};
pub use presigned::{Tampering, UrlReply, UrlRequest, presigned};
pub use versions::blob_versions;

/// Longer than anything that the suite stores.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[allow(clippy::panic, reason = "a contract suite fails by panicking, like the test it is")]
fn key(name: &str) -> BlobKey {
    BlobKey::new(format!("contract/{name}")).unwrap_or_else(|error| panic!("{error}"))
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn blob(name: &str, bytes: impl Into<Bytes>) -> NewBlob {
    let bytes = bytes.into();
    let sha256 = sha256(&bytes);
    let (content_type, content_encoding) = (None, None);
    NewBlob { key: key(name), sha256, bytes, content_type, content_encoding, pending: false }
}

/// The bytes at a key, if there are any.
async fn stored(blobs: &dyn Blobs, key: &BlobKey) -> Option<Bytes> {
    match blobs.get(key, MAX_BYTES).await {
        Ok(Got::Found { bytes, .. }) => Some(bytes),
        _ => None,
    }
}
