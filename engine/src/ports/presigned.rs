//! What a presigned URL grants, and the request that uses it.

use cellar_base::limits::{MAX_BLOB_BYTES, MAX_PRESIGNED_S};

use super::{BlobKey, PortError, Sha256};

/// One upload that somebody without credentials may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadGrant {
    /// The key, and no other.
    pub key: BlobKey,
    /// Exactly so many bytes.
    pub length: u64,
    /// Of these bytes.
    pub sha256: Sha256,
    /// Of this media type; none is signed, and whoever uploads it chooses, if there is none.
    pub content_type: Option<String>,
    /// Encoded like this, for example `zstd`; as for the media type.
    pub content_encoding: Option<String>,
    /// For so many seconds.
    pub valid_s: u64,
}

/// A request that needs no credentials: whoever has it can send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresignedRequest {
    /// The HTTP method.
    pub method: String,
    /// The URL; it is a secret while it is valid.
    pub url: String,
    /// Headers that must be sent exactly so, in ascending order of their lower-case names.
    /// `host` is not among them: an HTTP client takes it from the URL.
    pub headers: Vec<(String, String)>,
    /// When it ends to be valid, Unix seconds.
    pub expires_s: u64,
}

impl UploadGrant {
    /// Checks the bounds of the grant.
    ///
    /// # Errors
    /// A permanent [`PortError`] that names the bound.
    pub fn check(&self) -> Result<(), PortError> {
        check_valid_s(self.valid_s)?;
        if self.length > MAX_BLOB_BYTES {
            let message = format!("an upload has at most {MAX_BLOB_BYTES} bytes");
            return Err(PortError::permanent(message));
        }
        Ok(())
    }
}

/// Checks for how long a URL is to be valid.
///
/// # Errors
/// A permanent [`PortError`] for nothing, and for more than [`MAX_PRESIGNED_S`].
pub fn check_valid_s(valid_s: u64) -> Result<(), PortError> {
    if (1..=MAX_PRESIGNED_S).contains(&valid_s) {
        return Ok(());
    }
    let message = format!("a presigned URL is valid for 1 to {MAX_PRESIGNED_S} seconds");
    Err(PortError::permanent(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_bounded() {
        let grant = |length, valid_s| {
            let key = BlobKey::new("uploads/x").unwrap();
            let (content_type, content_encoding) = (None, None);
            UploadGrant { key, length, sha256: [0; 32], content_type, content_encoding, valid_s }
                .check()
        };
        assert_eq!(grant(MAX_BLOB_BYTES, MAX_PRESIGNED_S), Ok(()));
        assert_eq!(grant(0, 1), Ok(()));
        for (length, valid_s) in [(MAX_BLOB_BYTES + 1, 1), (0, MAX_PRESIGNED_S + 1), (0, 0)] {
            assert!(grant(length, valid_s).is_err_and(|error| !error.temporary));
        }
    }
}
