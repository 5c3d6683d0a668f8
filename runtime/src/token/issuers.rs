//! Verifies tokens of all trusted issuers.

use std::collections::HashSet;
use std::sync::Arc;

use cellar_base::limits::MAX_TOKEN_BYTES;
use cellar_catalog::access::Principal;
use jsonwebtoken::dangerous::insecure_decode_claims;
use serde::Deserialize;

use super::oidc::{KeySource, OidcVerifier};
use super::{TokenError, Verifier};
use crate::settings::{SettingsError, TokenSettings};

/// Verifies tokens of the stack and of the configured OpenID Connect issuers.
pub struct Issuers {
    own_keys: Verifier,
    oidc_issuers: Vec<OidcVerifier>,
}

/// The `iss` claim of a token that has not been verified yet. It only determines which verifier is
/// used.
#[derive(Deserialize)]
struct UnverifiedClaims {
    iss: String,
}

impl Issuers {
    /// Creates the verifiers for `settings`. `key_source` fetches the public keys of OpenID Connect
    /// issuers.
    ///
    /// # Errors
    ///
    /// Returns [`SettingsError::Keys`] if a public key is invalid, or [`SettingsError::Issuers`] if
    /// an issuer is configured twice.
    pub fn new(
        settings: &TokenSettings,
        key_source: &Arc<dyn KeySource>,
    ) -> Result<Self, SettingsError> {
        let mut issuer_names = HashSet::from([settings.issuer.as_str()]);
        let mut oidc_issuers = Vec::new();
        for issuer in &settings.oidc {
            let is_new = issuer_names.insert(&issuer.issuer);
            if !is_new {
                let why = format!("`{}` is configured twice", issuer.issuer);
                return Err(SettingsError::Issuers { why });
            }
            let key_source = Arc::clone(key_source);
            oidc_issuers.push(OidcVerifier::new(issuer.clone(), settings.not_before_s, key_source));
        }
        Ok(Self { own_keys: Verifier::new(settings)?, oidc_issuers })
    }

    /// Verifies a token at `now_s` (Unix seconds) and returns the token's holder.
    ///
    /// # Errors
    ///
    /// Returns a [`TokenError`] if the token is rejected. Only the error that
    /// [`TokenError::public`] returns may be shown to the caller.
    pub async fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        match self.find_oidc_issuer(token) {
            Some(oidc_issuer) => oidc_issuer.verify(token, now_s).await,
            None => self.own_keys.verify(token, now_s),
        }
    }

    fn find_oidc_issuer(&self, token: &str) -> Option<&OidcVerifier> {
        if self.oidc_issuers.is_empty() {
            return None;
        }
        let unverified_claims: UnverifiedClaims = insecure_decode_claims(token).ok()?;
        self.oidc_issuers.iter().find(|verifier| verifier.issuer() == unverified_claims.iss)
    }
}
