//! Everybody whose tokens are accepted.

use std::collections::HashSet;
use std::sync::Arc;

use cellar_base::limits::MAX_TOKEN_BYTES;
use cellar_catalog::access::Principal;
use jsonwebtoken::dangerous::insecure_decode_claims;
use serde::Deserialize;

use super::oidc::{KeySource, OidcVerifier};
use super::{TokenError, Verifier};
use crate::settings::{SettingsError, TokenSettings};

/// The stack's own keys, and the issuers that it believes.
pub struct Issuers {
    own: Verifier,
    others: Vec<OidcVerifier>,
}

/// Who a token says that it is from: not verified, so good for nothing but to find out who can.
#[derive(Deserialize)]
struct Claimed {
    iss: String,
}

impl Issuers {
    /// Those of the settings, with the keys of the others from that source.
    ///
    /// # Errors
    /// [`SettingsError::Keys`] if a key of our own is none, [`SettingsError::Issuers`] if an issuer is
    /// named twice.
    pub fn new(settings: &TokenSettings, keys: &Arc<dyn KeySource>) -> Result<Self, SettingsError> {
        let mut seen = HashSet::from([settings.issuer.as_str()]);
        if let Some(twice) = settings.oidc.iter().find(|other| !seen.insert(&other.issuer)) {
            let why = format!("`{}` is named twice", twice.issuer);
            return Err(SettingsError::Issuers { why });
        }
        let others = settings.oidc.iter().map(|issuer| {
            OidcVerifier::new(issuer.clone(), settings.not_before_s, Arc::clone(keys))
        });
        Ok(Self { own: Verifier::new(settings)?, others: others.collect() })
    }

    /// Who the holder of this token is at this time, Unix seconds.
    ///
    /// # Errors
    /// [`TokenError`]; a stranger is told [`TokenError::told`].
    pub async fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLong);
        }
        if !self.others.is_empty()
            && let Ok(Claimed { iss }) = insecure_decode_claims(token)
            && let Some(issuer) = self.others.iter().find(|other| other.issuer() == iss)
        {
            return issuer.verify(token, now_s).await;
        }
        self.own.verify(token, now_s)
    }
}
