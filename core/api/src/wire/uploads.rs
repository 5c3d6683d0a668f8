//! `POST /v1/spreadsheets/{id}/uploads` and `…/uploads/{upload}/complete`: large entries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use cellar_base::hexadecimal::parse_hexadecimal;
use cellar_base::position::Position;

/// An object that is to be uploaded: the operations of a large entry, encoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadRequest {
    /// Its bytes, at most 8 MiB.
    pub bytes: u64,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
}

/// The one request by which the object may be uploaded: once, these bytes, within minutes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadReply {
    /// Which upload, for completing it.
    pub upload_id: Uuid,
    /// The method of the request.
    pub method: String,
    /// Where to.
    pub url: String,
    /// Headers that the request must have, as they are.
    pub headers: BTreeMap<String, String>,
    /// When the URL ends, Unix seconds.
    pub expires_s: u64,
}

/// Makes an uploaded object an entry. Repeat it unchanged until it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompleteRequest {
    /// The client's name, as for appends.
    pub client_id: String,
    /// The `incarnation` of the load that the base comes from.
    pub incarnation: u32,
    /// The last id of its own that the client knows to be in the log; 0 if none.
    #[serde(default)]
    pub acked_id: u64,
    /// Id of the object's first mutation; the others follow without a gap.
    pub first_id: u64,
    /// The position the client had seen when it made the edits.
    pub base: Position,
    /// Bytes of the object.
    pub bytes: u64,
    /// SHA-256 of the object, hexadecimal.
    pub sha256: String,
}

/// Text that is no SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 is written as 64 hexadecimal digits")]
pub struct NotASha256;

/// Reads a SHA-256 in hexadecimal.
///
/// # Errors
/// [`NotASha256`].
pub fn parse_sha256(text: &str) -> Result<[u8; 32], NotASha256> {
    parse_hexadecimal(text).ok_or(NotASha256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::hexadecimal::hexadecimal;

    #[test]
    fn a_sha256_reads_back_and_nothing_else_is_one() {
        let bytes: [u8; 32] = std::array::from_fn(|index| u8::try_from(index * 7).unwrap());
        let text = hexadecimal(&bytes);
        assert_eq!(parse_sha256(&text), Ok(bytes));
        assert_eq!(parse_sha256(&text.to_uppercase()), Ok(bytes));
        for bad in ["", &"0".repeat(63), &format!("{text}0"), &"+1".repeat(32), &"ü".repeat(32)] {
            assert_eq!(parse_sha256(bad), Err(NotASha256), "{bad}");
        }
    }
}
