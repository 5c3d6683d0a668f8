//! Verifies tokens signed with the stack's own keys.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_BYTES, MAX_TOKEN_S, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::Principal;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};

use super::error::TokenError;
use super::header::read_key_id;
use super::verified::VerifiedTokens;
use super::{Claims, Spreadsheets};
use crate::settings::{PublicKey, SettingsError, TokenSettings};

/// Tolerated clock skew, in seconds.
pub(super) const LEEWAY_S: u64 = 30;

const PUBLIC_KEY_BYTES: usize = 32;

/// Verifies tokens signed with the stack's own keys.
pub struct Verifier {
    keys: HashMap<String, DecodingKey>,
    validation: Validation,
    not_before_s: u64,
    verified: VerifiedTokens,
}

impl Verifier {
    /// Creates a verifier for the keys of `settings`.
    ///
    /// # Errors
    ///
    /// Returns [`SettingsError::Keys`] if a key is invalid or occurs twice.
    pub fn new(settings: &TokenSettings) -> Result<Self, SettingsError> {
        let mut keys = HashMap::new();
        for public_key in &settings.keys {
            let decoding_key = decode_public_key(public_key)?;
            let replaced_key = keys.insert(public_key.id.clone(), decoding_key);
            if replaced_key.is_some() {
                return Err(invalid_key(public_key, "the key is listed twice"));
            }
        }
        // The algorithm is fixed, so that a token cannot choose how it is verified.
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[&settings.issuer]);
        validation.set_audience(&[&settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Turn off time checks in the library, because `check_times` checks the times with the
        // caller's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let not_before_s = settings.not_before_s;
        Ok(Self { keys, validation, not_before_s, verified: VerifiedTokens::new() })
    }

    /// Verifies a token at `now_s` (Unix seconds) and returns the token's holder.
    ///
    /// # Errors
    ///
    /// Returns a [`TokenError`] if the token is rejected. Only the error that
    /// [`TokenError::public`] returns may be shown to the caller.
    pub fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        let claims = self.verified.claims_or_verify(token, || self.verify_signature(token))?;
        check_times(&claims, self.not_before_s, now_s)?;
        check_claims(&claims)?;
        Ok(claims.into())
    }

    /// Also checks the issuer and the audience, which are the same for all tokens of this verifier.
    fn verify_signature(&self, token: &str) -> Result<Claims, TokenError> {
        let key_id = read_key_id(token, Algorithm::EdDSA)?.ok_or(TokenError::UnknownKey)?;
        let key = self.keys.get(&key_id).ok_or(TokenError::UnknownKey)?;
        let verified =
            decode::<Claims>(token, key, &self.validation).map_err(|_| TokenError::Invalid)?;
        Ok(verified.claims)
    }
}

fn decode_public_key(public_key: &PublicKey) -> Result<DecodingKey, SettingsError> {
    let bytes = URL_SAFE_NO_PAD
        .decode(&public_key.public_key)
        .map_err(|error| invalid_key(public_key, &error.to_string()))?;
    if bytes.len() != PUBLIC_KEY_BYTES {
        let reason =
            format!("the public key has {} bytes instead of {PUBLIC_KEY_BYTES}", bytes.len());
        return Err(invalid_key(public_key, &reason));
    }
    Ok(DecodingKey::from_ed_der(&bytes))
}

fn invalid_key(public_key: &PublicKey, reason: &str) -> SettingsError {
    SettingsError::Keys { why: format!("`{}`: {reason}", public_key.id) }
}

fn check_times(claims: &Claims, not_before_s: u64, now_s: u64) -> Result<(), TokenError> {
    if claims.exp < now_s.saturating_sub(LEEWAY_S) || claims.iat < not_before_s {
        return Err(TokenError::Expired);
    }
    let begins_s = claims.nbf.unwrap_or_default().max(claims.iat);
    if begins_s > now_s.saturating_add(LEEWAY_S) {
        return Err(TokenError::NotYetValid);
    }
    check_lifetime(claims.iat, claims.exp)
}

pub(super) fn check_lifetime(begins_s: u64, ends_s: u64) -> Result<(), TokenError> {
    if ends_s.saturating_sub(begins_s) > MAX_TOKEN_S {
        return Err(TokenError::ValidTooLong);
    }
    Ok(())
}

fn check_claims(claims: &Claims) -> Result<(), TokenError> {
    let is_subject_valid = !claims.sub.is_empty() && claims.sub.len() <= MAX_AUTHOR_BYTES;
    let list_is_short = match &claims.spreadsheets {
        Spreadsheets::Only(logs) => logs.len() <= MAX_TOKEN_SPREADSHEETS,
        Spreadsheets::Keyword(_) => true,
    };
    if is_subject_valid && list_is_short { Ok(()) } else { Err(TokenError::Invalid) }
}
