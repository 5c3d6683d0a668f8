//! Verifies tokens.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_BYTES, MAX_TOKEN_S, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::Principal;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};

use super::header::key_name;
use super::{Claims, Spreadsheets};
use crate::settings::{SettingsError, TokenSettings};

/// Seconds by which clocks may differ.
pub(super) const LEEWAY_S: u64 = 30;

/// Bytes of an Ed25519 public key.
const PUBLIC_KEY_BYTES: usize = 32;

/// Verifies tokens of the stack's own keys.
pub struct Verifier {
    keys: HashMap<String, DecodingKey>,
    validation: Validation,
    not_before_s: u64,
}

/// Why a token is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than any token of this stack.
    #[error("the token is longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// Past its `exp`, or made before the moment from which on the stack accepts tokens.
    #[error("the token has expired; create a new one with `synth token create`, or sign in again")]
    Expired,
    /// Before its `nbf` or `iat`.
    #[error("the token is not valid yet; check the clocks")]
    NotYetValid,
    /// Its `exp` is more than `MAX_TOKEN_S` after its `iat`.
    #[error(
        "the token is valid for more than {} days: create a shorter one with `synth token create`",
        MAX_TOKEN_S / 86_400
    )]
    ValidTooLong,
    /// Signed with a key that the stack does not list.
    #[error("the token's signing key is unknown to this stack")]
    UnknownKey,
    /// The keys of the token's issuer cannot be had, so nothing can be said about it.
    #[error("the issuer of the token does not respond; retry later")]
    KeysUnavailable,
    /// Anything else: not a token, wrong algorithm, wrong signature, wrong issuer or audience.
    #[error("the token is not valid for this stack; create a new one with `synth token create`")]
    Invalid,
}

impl TokenError {
    /// What its holder is told: of a token's own times only who has one that a key of the stack has
    /// signed for it. Everything else looks alike, so that nobody finds out step by step what is wrong.
    #[must_use]
    pub fn told(self) -> Self {
        match self {
            Self::Expired | Self::NotYetValid | Self::ValidTooLong | Self::KeysUnavailable => self,
            Self::TooLong | Self::UnknownKey | Self::Invalid => Self::Invalid,
        }
    }
}

impl Verifier {
    /// A verifier for these keys.
    ///
    /// # Errors
    /// [`SettingsError::Keys`] if one is no key.
    pub fn new(settings: &TokenSettings) -> Result<Self, SettingsError> {
        let mut keys = HashMap::new();
        for key in &settings.keys {
            let fault = |why: String| SettingsError::Keys { why: format!("`{}`: {why}", key.id) };
            let bytes = URL_SAFE_NO_PAD
                .decode(&key.public_key)
                .map_err(|error| fault(error.to_string()))?;
            if bytes.len() != PUBLIC_KEY_BYTES {
                return Err(fault(format!("{} bytes instead of {PUBLIC_KEY_BYTES}", bytes.len())));
            }
            let decoding = DecodingKey::from_ed_der(&bytes);
            if keys.insert(key.id.clone(), decoding).is_some() {
                return Err(fault("it is listed twice".to_owned()));
            }
        }
        // The algorithm is pinned: a token cannot choose how it is verified.
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[&settings.issuer]);
        validation.set_audience(&[&settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Times are compared in `check_times`, with the time that the caller gives.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Ok(Self { keys, validation, not_before_s: settings.not_before_s })
    }

    /// Who the holder of this token is at this time, Unix seconds.
    ///
    /// # Errors
    /// [`TokenError`]; a stranger is told [`TokenError::told`].
    pub fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        let name = key_name(token, Algorithm::EdDSA)?;
        let key = name.and_then(|id| self.keys.get(&id)).ok_or(TokenError::UnknownKey)?;
        let token =
            decode::<Claims>(token, key, &self.validation).map_err(|_| TokenError::Invalid)?;
        check_times(&token.claims, self.not_before_s, now_s)?;
        check_claims(&token.claims)?;
        Ok(token.claims.into())
    }
}

fn check_times(claims: &Claims, not_before_s: u64, now_s: u64) -> Result<(), TokenError> {
    if claims.exp < now_s.saturating_sub(LEEWAY_S) || claims.iat < not_before_s {
        return Err(TokenError::Expired);
    }
    let begins_s = claims.nbf.unwrap_or_default().max(claims.iat);
    if begins_s > now_s.saturating_add(LEEWAY_S) {
        return Err(TokenError::NotYetValid);
    }
    check_length(claims.iat, claims.exp)
}

/// Checks for how long a token is valid.
pub(super) fn check_length(begins_s: u64, ends_s: u64) -> Result<(), TokenError> {
    match ends_s.saturating_sub(begins_s) {
        ..=MAX_TOKEN_S => Ok(()),
        _ => Err(TokenError::ValidTooLong),
    }
}

fn check_claims(claims: &Claims) -> Result<(), TokenError> {
    let named = !claims.sub.is_empty() && claims.sub.len() <= MAX_AUTHOR_BYTES;
    let bounded = match &claims.spreadsheets {
        Spreadsheets::Only(logs) => logs.len() <= MAX_TOKEN_SPREADSHEETS,
        Spreadsheets::Named(_) => true,
    };
    if named && bounded { Ok(()) } else { Err(TokenError::Invalid) }
}
