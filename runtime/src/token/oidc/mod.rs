//! Verifies tokens of OpenID Connect issuers. The stack's configuration determines the audience,
//! the signing algorithm and the maximum role of each issuer's tokens. A person has the role that
//! the catalog grants, up to this maximum.

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
use super::header::read_key_id;
use cache::KeySetCache;
use claims::NoPerson;
#[cfg(feature = "aws")]
pub use http::HttpKeySource;
pub use source::{KeySource, KeySourceFault, NoKeySource};

/// Verifies one OIDC issuer's tokens.
pub(super) struct OidcVerifier {
    issuer: OidcIssuer,
    algorithm: Algorithm,
    validation: Validation,
    not_before_s: u64,
    keys: KeySetCache,
    source: Arc<dyn KeySource>,
}

impl OidcVerifier {
    /// Creates a verifier that rejects tokens issued before `not_before_s` (Unix seconds).
    pub(super) fn new(issuer: OidcIssuer, not_before_s: u64, source: Arc<dyn KeySource>) -> Self {
        let algorithm = keys::to_library_algorithm(issuer.algorithm);
        let mut validation = Validation::new(algorithm);
        validation.set_issuer(&[&issuer.issuer]);
        validation.set_audience(&[&issuer.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Turn off time checks in the library, because `claims::check_times` checks the times with
        // the caller's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let keys = KeySetCache::default();
        Self { issuer, algorithm, validation, not_before_s, keys, source }
    }

    /// Returns the issuer, which is the `iss` claim of its tokens.
    pub(super) fn issuer(&self) -> &str {
        &self.issuer.issuer
    }

    /// Verifies a token at `now_s` (Unix seconds) and returns the token's holder.
    pub(super) async fn verify(&self, token: &str, now_s: u64) -> Result<Principal, TokenError> {
        let key_id = read_key_id(token, self.algorithm)?;
        let fetch_keys = || source::fetch_keys(self.source.as_ref(), &self.issuer);
        let key = self.keys.get_or_fetch(key_id.as_deref(), now_s, fetch_keys).await?;
        match decode::<Map<String, Value>>(token, &key, &self.validation) {
            Ok(verified_token) => self.to_principal(&verified_token.claims, now_s),
            Err(error) => {
                self.log_mismatch(&error);
                Err(TokenError::Invalid)
            }
        }
    }

    /// Logs that a token with a valid signature does not match the configuration, so that the
    /// operator can correct the configuration. Tokens with invalid signatures are not logged,
    /// because strangers could flood the log with them.
    fn log_mismatch(&self, error: &jsonwebtoken::errors::Error) {
        let is_signature_valid = matches!(
            error.kind(),
            ErrorKind::InvalidAudience
                | ErrorKind::InvalidIssuer
                | ErrorKind::MissingRequiredClaim(_)
                | ErrorKind::Json(_)
        );
        if is_signature_valid {
            tracing::warn!(issuer = self.issuer(), %error, "rejected a token of this issuer");
        }
    }

    fn to_principal(
        &self,
        claims: &Map<String, Value>,
        now_s: u64,
    ) -> Result<Principal, TokenError> {
        claims::check_times(claims, self.not_before_s, now_s)?;
        self.identify_user(claims).map_err(|fault| {
            tracing::warn!(issuer = self.issuer(), %fault, "rejected a token of this issuer");
            TokenError::Invalid
        })
    }

    fn identify_user(&self, claims: &Map<String, Value>) -> Result<Principal, NoPerson> {
        let subject = claims::read_subject(claims)?;
        let name = claims::read_person_name(claims, &self.issuer.subject_claim)?;
        let person = Person::new(self.issuer(), name)?;
        Ok(Principal {
            // Identify the author by subject rather than by name, because a name may later belong
            // to another person.
            subject: SubjectKey::new(self.issuer(), subject),
            author: person.subject,
            issuer: person.issuer,
            scope: Scope::Shared,
            role: self.issuer.max_role,
        })
    }
}
