//! Tokens of `OpenID Connect` issuers.
//!
//! An issuer, its audience and its algorithm are pinned by the configuration. Its people get what the
//! catalog gives them, and at most the role that the configuration caps them at.

mod cache;
mod claims;
#[cfg(feature = "aws")]
mod http;
mod keys;
mod source;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::identity::SubjectKey;
use cellar_catalog::access::{Principal, Scope};
use cellar_catalog::oidc::OidcIssuer;
use cellar_catalog::spreadsheet::Person;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode};
use serde_json::{Map, Value};

use super::TokenError;
use super::header::key_name;
use cache::KeySetCache;
#[cfg(feature = "aws")]
pub use http::HttpKeySource;
pub use source::{KeySource, KeySourceFault, NoKeySource};

/// Verifies the tokens of one issuer.
pub(super) struct OidcVerifier {
    issuer: OidcIssuer,
    algorithm: Algorithm,
    validation: Validation,
    not_before_s: u64,
    keys: KeySetCache,
    source: Arc<dyn KeySource>,
}

impl OidcVerifier {
    /// A verifier for tokens that were not made before that moment, Unix seconds.
    pub(super) fn new(issuer: OidcIssuer, not_before_s: u64, source: Arc<dyn KeySource>) -> Self {
        let algorithm = keys::algorithm(issuer.algorithm);
        let mut validation = Validation::new(algorithm);
        validation.set_issuer(&[&issuer.issuer]);
        validation.set_audience(&[&issuer.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Times are compared in `claims`, with the time that the caller gives.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let keys = KeySetCache::default();
        Self { issuer, algorithm, validation, not_before_s, keys, source }
    }

    /// The `iss` of its tokens.
    pub(super) fn issuer(&self) -> &str {
        &self.issuer.issuer
    }

    /// Who the holder of this token is at this time, Unix seconds.
    pub(super) async fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        let name = key_name(token, self.algorithm)?;
        let fetch = || source::fetch(self.source.as_ref(), &self.issuer);
        let key = self.keys.key(name.as_deref(), now_s, fetch).await?;
        let token = decode::<Map<String, Value>>(token, &key, &self.validation);
        let claims = token.map_err(|error| self.refused(&error))?.claims;
        self.principal(&claims, now_s)
    }

    /// Whoever set up the issuer has to see what does not fit. Only what the issuer has signed is told:
    /// strangers write nothing into the log.
    fn refused(&self, error: &jsonwebtoken::errors::Error) -> TokenError {
        let signed = matches!(
            error.kind(),
            ErrorKind::InvalidAudience
                | ErrorKind::InvalidIssuer
                | ErrorKind::MissingRequiredClaim(_)
                | ErrorKind::Json(_)
        );
        if signed {
            tracing::warn!(issuer = self.issuer(), %error, "a token of this issuer is not accepted");
        }
        TokenError::Invalid
    }

    fn principal(&self, claims: &Map<String, Value>, now_s: u64) -> Result<Principal, TokenError> {
        claims::check_times(claims, self.not_before_s, now_s)?;
        let person = claims::subject(claims).and_then(|subject| {
            let name = claims::person(claims, &self.issuer.subject_claim)?;
            Ok((subject, Person::new(self.issuer(), name)?))
        });
        let (subject, person) = person.map_err(|fault| {
            tracing::warn!(issuer = self.issuer(), %fault, "a token of this issuer is not accepted");
            TokenError::Invalid
        })?;
        Ok(Principal {
            // Not by what they are called: a name may go to somebody else one day.
            subject: SubjectKey::new(self.issuer(), subject),
            author: person.subject,
            issuer: person.issuer,
            scope: Scope::Shared,
            role: self.issuer.max_role,
        })
    }
}
