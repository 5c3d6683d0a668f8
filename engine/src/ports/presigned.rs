//! Signed requests that a recipient can send without credentials of its own.

use cellar_base::limits::{MAX_BLOB_BYTES, MAX_PRESIGNED_S};

use super::{BlobKey, PortError, Sha256};

/// Permission to upload one object without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadGrant {
    pub key: BlobKey,
    /// Required object length in bytes.
    pub length: u64,
    pub sha256: Sha256,
    /// Media type that the upload must have. If `None`, the uploader may choose it.
    pub content_type: Option<String>,
    /// Content encoding that the upload must have, for example `zstd`. If `None`, the uploader may
    /// choose it.
    pub content_encoding: Option<String>,
    /// Validity period in seconds.
    pub valid_s: u64,
}

/// A signed request. Anyone who knows the request can send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresignedRequest {
    pub method: String,
    /// URL of the request. It must be kept secret while it is valid.
    pub url: String,
    /// Headers that must be sent unchanged, sorted by lowercase name. `host` is not included, since
    /// HTTP clients derive it from the URL.
    pub headers: Vec<(String, String)>,
    /// Time at which the request expires, in seconds since the Unix epoch.
    pub expires_s: u64,
}

impl UploadGrant {
    /// Checks the validity period and the object length.
    ///
    /// # Errors
    ///
    /// Returns a permanent [`PortError`] that states which limit is exceeded.
    pub fn check(&self) -> Result<(), PortError> {
        check_valid_s(self.valid_s)?;
        if self.length > MAX_BLOB_BYTES {
            let message = format!(
                "the upload is {} bytes long, but the maximum is {MAX_BLOB_BYTES} bytes",
                self.length
            );
            return Err(PortError::permanent(message));
        }
        Ok(())
    }
}

/// Checks that the validity period of a presigned URL is permitted.
///
/// # Errors
///
/// Returns a permanent [`PortError`] if the period is zero or exceeds [`MAX_PRESIGNED_S`].
pub fn check_valid_s(valid_s: u64) -> Result<(), PortError> {
    if (1..=MAX_PRESIGNED_S).contains(&valid_s) {
        return Ok(());
    }
    let message = format!(
        "cannot presign a URL for {valid_s} seconds; the period must be 1 to {MAX_PRESIGNED_S} seconds"
    );
    Err(PortError::permanent(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_grant_out_of_bounds() {
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
