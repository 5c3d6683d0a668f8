//! Reads the algorithm and the key id from the header of a token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, decode_header};
use serde::Deserialize;

use super::TokenError;

/// The `alg` header. Only a JSON string is accepted, because serde's enum would also accept
/// `{"EdDSA": null}`.
#[derive(Deserialize)]
struct AlgorithmHeader {
    #[serde(rename = "alg")]
    _alg: String,
}

/// Returns the `kid` header of an unverified token. Rejects all algorithms except `algorithm`, so
/// that a token cannot choose how it is verified.
pub(super) fn read_key_id(token: &str, algorithm: Algorithm) -> Result<Option<String>, TokenError> {
    let encoded = token.split('.').next().unwrap_or_default();
    let json = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| TokenError::Invalid)?;
    serde_json::from_slice::<AlgorithmHeader>(&json).map_err(|_| TokenError::Invalid)?;
    let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
    // A verifier must support every extension in `crit` (RFC 7515 §4.1.11). No extension is
    // supported here.
    if header.alg != algorithm || header.crit.is_some() {
        return Err(TokenError::Invalid);
    }
    Ok(header.kid)
}
