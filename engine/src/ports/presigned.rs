//! Presigned requests, which the recipient can send without credentials.

use cellar_base::limits::{MAX_BLOB_BYTES, MAX_PRESIGNED_S};

use super::{BlobKey, PortError, Sha256};

/// Permission to upload one object without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadGrant {
    pub key: BlobKey,
    /// Required object length in bytes.
    pub length: u64,
    pub sha256: Sha256,
    /// Required media type. If `None`, the media type is not signed and the uploader may choose it.
    pub content_type: Option<String>,
    /// Required content encoding, for example `zstd`. If `None`, the content encoding is not signed
    /// and the uploader may choose it.
    pub content_encoding: Option<String>,
    /// Validity period in seconds.
    pub valid_s: u64,
}

/// A signed request. Anyone who knows the request can send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresignedRequest {
    pub method: String,
    /// Request URL. Must be kept secret while valid.
    pub url: String,
    /// Headers that must be sent unchanged, sorted by lowercase name. Excludes `host`, which HTTP
    /// clients derive from the URL.
    pub headers: Vec<(String, String)>,
    /// Expiry time, in seconds since the Unix epoch.
    pub expires_s: u64,
}

impl UploadGrant {
    /// Validates the validity period and object length of the grant.
    ///
    /// # Errors
    ///
    /// Returns a permanent [`PortError`] that describes the exceeded limit.
    pub fn check(&self) -> Result<(), PortError> {
        check_valid_s(self.valid_s)?;
        if self.length > MAX_BLOB_BYTES {
            let message = format!(
                "the upload has {} bytes; at most {MAX_BLOB_BYTES} are allowed",
                self.length
            );
            return Err(PortError::permanent(message));
        }
        Ok(())
    }
}

/// Validates the validity period of a presigned URL.
///
/// # Errors
///
/// Returns a permanent [`PortError`] if the period is zero or exceeds [`MAX_PRESIGNED_S`].
pub fn check_valid_s(valid_s: u64) -> Result<(), PortError> {
    if (1..=MAX_PRESIGNED_S).contains(&valid_s) {
        return Ok(());
    }
    let message =
        format!("cannot presign a URL for {valid_s} seconds; 1 to {MAX_PRESIGNED_S} are allowed");
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
