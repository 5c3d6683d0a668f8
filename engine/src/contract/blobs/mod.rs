//! Contract tests for object stores.

mod objects;
mod presigned;
mod versions;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::ports::{BlobKey, Blobs, GetOutcome, NewBlob};

pub use objects::{Promise, blobs};
pub use presigned::{Tampering, UrlReply, UrlRequest, presigned};
pub use versions::blob_versions;

/// Length limit in bytes that no object in these tests exceeds.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

fn contract_key(name: &str) -> BlobKey {
    BlobKey::new(format!("contract/{name}")).unwrap_or_else(|error| panic!("{error}"))
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn contract_blob(name: &str, bytes: impl Into<Bytes>) -> NewBlob {
    let bytes = bytes.into();
    let sha256 = sha256(&bytes);
    let (content_type, content_encoding) = (None, None);
    NewBlob {
        key: contract_key(name),
        sha256,
        bytes,
        content_type,
        content_encoding,
        pending: false,
    }
}

async fn stored_bytes(blobs: &dyn Blobs, key: &BlobKey) -> Option<Bytes> {
    match blobs.get(key, MAX_BYTES).await {
        Ok(GetOutcome::Found { bytes, .. }) => Some(bytes),
        _ => None,
    }
}
