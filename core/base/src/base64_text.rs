//! Bytes as text in JSON: Base64 with padding (RFC 4648 §4).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Writes bytes.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads what [`encode`] wrote.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
