//! Reads the header of a token: how it says that it is signed, and by whom.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, decode_header};
use serde::Deserialize;

use super::TokenError;

/// The algorithm, as a text only: for an enum, serde also accepts `{"EdDSA": null}`.
#[derive(Deserialize)]
struct Named {
    #[serde(rename = "alg")]
    _alg: String,
}

/// The name of the key that a token says it is signed with, by this algorithm and no other: a token
/// cannot choose how it is verified. It is not verified yet.
pub(super) fn key_name(token: &str, algorithm: Algorithm) -> Result<Option<String>, TokenError> {
    let first = token.split('.').next().unwrap_or_default();
    let bytes = URL_SAFE_NO_PAD.decode(first).map_err(|_| TokenError::Invalid)?;
    serde_json::from_slice::<Named>(&bytes).map_err(|_| TokenError::Invalid)?;
    let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
    // Extensions that `crit` lists must be understood (RFC 7515 §4.1.11): we know none.
    if header.alg != algorithm || header.crit.is_some() {
        return Err(TokenError::Invalid);
    }
    Ok(header.kid)
}
