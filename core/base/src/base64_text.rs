//! Base64 with padding (RFC 4648 §4) for bytes in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Encodes bytes as Base64 with padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes padded Base64. Returns `None` if the text is malformed.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
