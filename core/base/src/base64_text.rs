//! Base64 with padding (RFC 4648 §4) for bytes in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Encodes bytes as Base64 with padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes Base64 with padding. Returns `None` if the text is not valid Base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
