//! Converts S3 object metadata to the types of the blob port.

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::DateTime;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cellar_engine::ports::{BlobHead, PortError, Sha256};

const NO_SUCH_BUCKET: &str = "NoSuchBucket";
const METHOD_NOT_ALLOWED: &str = "MethodNotAllowed";
const NOT_FOUND: u16 = 404;

pub(super) struct ObjectMetadata<'a> {
    pub(super) length: Option<i64>,
    pub(super) sha256: Option<&'a str>,
    pub(super) modified_at: Option<&'a DateTime>,
    pub(super) content_type: Option<&'a str>,
    pub(super) content_encoding: Option<&'a str>,
}

impl ObjectMetadata<'_> {
    /// Returns a permanent [`PortError`] if a field is invalid, or if the length or the
    /// modification time is missing. S3 always returns these two fields.
    pub(super) fn into_blob_head(self) -> Result<BlobHead, PortError> {
        let length = self.length.and_then(|length| u64::try_from(length).ok());
        let modified_s = self.modified_at.and_then(unix_seconds);
        let (Some(length), Some(modified_s)) = (length, modified_s) else {
            return Err(PortError::permanent(
                "S3 returned an object without length or modification time",
            ));
        };
        // S3 and its emulators may return an empty string if the encoding is not set.
        let content_encoding = self.content_encoding.filter(|encoding| !encoding.is_empty());
        Ok(BlobHead {
            length,
            sha256: self.sha256.map(decode_sha256).transpose()?,
            modified_s,
            content_type: self.content_type.map(str::to_owned),
            content_encoding: content_encoding.map(str::to_owned),
        })
    }
}

/// Returns `None` for times before 1970.
pub(super) fn unix_seconds(time: &DateTime) -> Option<u64> {
    u64::try_from(time.secs()).ok()
}

/// Encodes a checksum in Base64, as S3's headers require.
pub(super) fn encode_sha256(sha256: &Sha256) -> String {
    STANDARD.encode(sha256)
}

fn decode_sha256(base64_sha256: &str) -> Result<Sha256, PortError> {
    let decoded = STANDARD.decode(base64_sha256).ok().and_then(|bytes| bytes.try_into().ok());
    decoded.ok_or_else(|| {
        PortError::permanent(format!(
            "`{base64_sha256}` is not the Base64 SHA-256 of an entire object"
        ))
    })
}

/// Returns whether the error means that the object does not exist. Returns `false` if the error
/// code says that the bucket is missing. A HEAD response contains no error code, so a missing
/// bucket looks like a missing object.
pub(super) fn is_absent<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    let status = error.raw_response().map(|response| response.status().as_u16());
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    status == Some(NOT_FOUND) && code != Some(NO_SUCH_BUCKET)
}

/// Returns whether an error of a tag request means that the object does not exist. If the object was
/// deleted or has expired, its newest version is a delete marker, and S3 rejects the request with
/// 405 instead of 404.
pub(super) fn has_no_tags<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    is_absent(error) || code == Some(METHOD_NOT_ALLOWED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> ObjectMetadata<'static> {
        ObjectMetadata {
            length: Some(7),
            sha256: None,
            modified_at: None,
            content_type: None,
            content_encoding: Some(""),
        }
    }

    #[test]
    fn rejects_missing_or_invalid_metadata() {
        let time = DateTime::from_secs(1_795_246_133);
        let good = ObjectMetadata { modified_at: Some(&time), ..metadata() };
        let head = good.into_blob_head().unwrap();
        assert_eq!((head.length, head.modified_s, head.sha256), (7, 1_795_246_133, None));
        assert_eq!(head.content_encoding, None);
        let multipart = Some("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=-2");
        let before = DateTime::from_secs(-1);
        for bad in [
            metadata(),
            ObjectMetadata { modified_at: Some(&before), ..metadata() },
            ObjectMetadata { modified_at: Some(&time), length: Some(-1), ..metadata() },
            ObjectMetadata { modified_at: Some(&time), sha256: Some("AAAA"), ..metadata() },
            ObjectMetadata { modified_at: Some(&time), sha256: multipart, ..metadata() },
        ] {
            assert!(bad.into_blob_head().is_err_and(|error| !error.temporary));
        }
    }

    #[test]
    fn checksums_round_trip() {
        let sha256: Sha256 = std::array::from_fn(|index| u8::try_from(index * 8).unwrap());
        assert_eq!(decode_sha256(&encode_sha256(&sha256)), Ok(sha256));
    }
}
