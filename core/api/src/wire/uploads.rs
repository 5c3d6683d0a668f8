//! Appending large entries: `POST /v1/spreadsheets/{id}/uploads` and
//! `…/uploads/{upload_id}/complete`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use cellar_base::hexadecimal::parse_hexadecimal;
use cellar_base::position::Position;

/// An object to be uploaded. It contains the encoded operations of a large entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadRequest {
    /// Size of the object in bytes, at most 8 MiB.
    pub bytes: u64,
    /// SHA-256 hash of the object, in hexadecimal.
    pub sha256: String,
}

/// An HTTP request that uploads the object. It is valid for a few minutes, can be sent once, and
/// accepts only the declared content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadReply {
    /// Id of the upload. `completeUpload` requires it.
    pub upload_id: Uuid,
    /// HTTP method.
    pub method: String,
    /// Target URL of the request.
    pub url: String,
    /// Headers that must be sent unchanged.
    pub headers: BTreeMap<String, String>,
    /// Expiry time of the URL in seconds since the Unix epoch.
    pub expires_s: u64,
}

/// Appends an uploaded object as an entry. The request is idempotent: clients retry it unchanged
/// until the server responds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompleteRequest {
    /// Client id, 1 to 64 bytes long and unique per user.
    pub client_id: String,
    /// Incarnation that the server returned with the base position. It changes when the tables are
    /// restored from a backup.
    pub incarnation: u32,
    /// Highest mutation id that the client knows to be committed, or 0 if there is none.
    #[serde(default)]
    pub acked_id: u64,
    /// Id of the first mutation in the object. The following mutations have consecutive ids.
    pub first_id: u64,
    /// Base of the mutations: the latest position that the client had seen when the user made the
    /// edits.
    pub base: Position,
    /// Size of the object in bytes.
    pub bytes: u64,
    /// SHA-256 hash of the object, in hexadecimal.
    pub sha256: String,
}

/// Error for a malformed SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 must consist of 64 hexadecimal digits")]
pub struct NotASha256;

/// Parses a SHA-256 hash in hexadecimal.
///
/// # Errors
/// Returns [`NotASha256`] if the string does not consist of 64 hexadecimal digits.
pub fn parse_sha256(text: &str) -> Result<[u8; 32], NotASha256> {
    parse_hexadecimal(text).ok_or(NotASha256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::hexadecimal::hexadecimal;

    #[test]
    fn parses_only_sha256_digits() {
        let bytes: [u8; 32] = std::array::from_fn(|index| u8::try_from(index * 7).unwrap());
        let text = hexadecimal(&bytes);
        assert_eq!(parse_sha256(&text), Ok(bytes));
        assert_eq!(parse_sha256(&text.to_uppercase()), Ok(bytes));
        for bad in ["", &"0".repeat(63), &format!("{text}0"), &"+1".repeat(32), &"ü".repeat(32)] {
            assert_eq!(parse_sha256(bad), Err(NotASha256), "{bad}");
        }
    }
}
