//! Reads the header of a token: its algorithm and the id of its key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, decode_header};
use serde::Deserialize;

use super::TokenError;

/// The `alg` header. It must be a JSON string, because serde's enum also accepts `{"EdDSA": null}`.
#[derive(Deserialize)]
struct AlgorithmHeader {
    #[serde(rename = "alg")]
    _alg: String,
}

/// Returns the `kid` header of a token that is not verified yet. Rejects every algorithm but
/// `algorithm`, so that a token cannot choose how it is verified.
pub(super) fn read_key_id(token: &str, algorithm: Algorithm) -> Result<Option<String>, TokenError> {
    let encoded = token.split('.').next().unwrap_or_default();
    let json = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| TokenError::Invalid)?;
    serde_json::from_slice::<AlgorithmHeader>(&json).map_err(|_| TokenError::Invalid)?;
    let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
    // A verifier must understand every extension that `crit` lists (RFC 7515 §4.1.11); none is
    // supported here.
    if header.alg != algorithm || header.crit.is_some() {
        return Err(TokenError::Invalid);
    }
    Ok(header.kid)
}
