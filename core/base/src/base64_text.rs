//! Padded Base64 (RFC 4648 §4), used for bytes in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Encodes bytes as padded Base64.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes padded Base64. Returns `None` if the string is malformed.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
