//! Reads the algorithm and the key id from a token header.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, decode_header};
use serde::Deserialize;

use super::TokenError;

/// Accepts only a JSON string, whereas the derived implementation would also accept `{"EdDSA":
/// null}`.
#[derive(Deserialize)]
struct AlgorithmHeader {
    #[serde(rename = "alg")]
    _alg: String,
}

/// Returns the `kid` header of a token whose signature has not been verified yet. Returns an error
/// if the token does not use `algorithm`, so that a token cannot choose how it is verified.
pub(super) fn read_key_id(token: &str, algorithm: Algorithm) -> Result<Option<String>, TokenError> {
    let encoded_header = token.split('.').next().unwrap_or_default();
    let header_json = URL_SAFE_NO_PAD.decode(encoded_header).map_err(|_| TokenError::Invalid)?;
    serde_json::from_slice::<AlgorithmHeader>(&header_json).map_err(|_| TokenError::Invalid)?;
    let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
    // RFC 7515 §4.1.11 requires that a verifier rejects a token with a `crit` extension that it
    // does not support. This verifier supports none.
    if header.alg != algorithm || header.crit.is_some() {
        return Err(TokenError::Invalid);
    }
    Ok(header.kid)
}
