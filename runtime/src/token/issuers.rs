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

/// The stack's own keys and the configured OIDC issuers.
pub struct Issuers {
    own: Verifier,
    oidc: Vec<OidcVerifier>,
}

/// The unverified `iss` claim, used only to select the verifier.
#[derive(Deserialize)]
struct UnverifiedClaims {
    iss: String,
}

impl Issuers {
    /// Creates the verifiers for `settings`. OIDC issuers' public keys are fetched through `keys`.
    ///
    /// # Errors
    ///
    /// Returns [`SettingsError::Keys`] if a public key is invalid, or [`SettingsError::Issuers`] if
    /// an issuer is configured twice.
    pub fn new(settings: &TokenSettings, keys: &Arc<dyn KeySource>) -> Result<Self, SettingsError> {
        let mut names = HashSet::from([settings.issuer.as_str()]);
        for issuer in &settings.oidc {
            if !names.insert(&issuer.issuer) {
                let why = format!("`{}` is configured twice", issuer.issuer);
                return Err(SettingsError::Issuers { why });
            }
        }
        let oidc = settings.oidc.iter().map(|issuer| {
            OidcVerifier::new(issuer.clone(), settings.not_before_s, Arc::clone(keys))
        });
        Ok(Self { own: Verifier::new(settings)?, oidc: oidc.collect() })
    }

    /// Verifies a token at `now_s` (Unix seconds) and returns its holder.
    ///
    /// # Errors
    ///
    /// Returns a [`TokenError`] if the token is rejected. Responses may contain only
    /// [`TokenError::public`].
    pub async fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        if let Some(issuer) = self.find_oidc_issuer(token) {
            return issuer.verify(token, now_s).await;
        }
        self.own.verify(token, now_s)
    }

    fn find_oidc_issuer(&self, token: &str) -> Option<&OidcVerifier> {
        if self.oidc.is_empty() {
            return None;
        }
        let claims: UnverifiedClaims = insecure_decode_claims(token).ok()?;
        self.oidc.iter().find(|verifier| verifier.issuer() == claims.iss)
    }
}
