//! Token issuers that support OpenID Connect, in addition to the stack's own keys.
//!
//! The configuration lists the trusted issuers. The public keys of an issuer are fetched when a
//! token requires them, and cached for an hour. [`KeySetAge`] limits the number of requests to the
//! issuer.

mod age;
mod algorithm;

use serde::{Deserialize, Serialize};

use crate::access::Role;

pub use age::{KeySetAge, KeySetStep};
pub use algorithm::TokenAlgorithm;

/// The default claim that identifies a user. Its values are unique per issuer and never reassigned.
pub const SUBJECT_CLAIM: &str = "sub";
/// The claim that identifies a user by email address. It is used only if the issuer has verified
/// the address (see [`VERIFIED_CLAIM`]).
pub const EMAIL_CLAIM: &str = "email";
/// The claim that states whether the issuer has verified the address in [`EMAIL_CLAIM`].
pub const VERIFIED_CLAIM: &str = "email_verified";
/// Path of an issuer's discovery document (OpenID Connect Discovery §4).
pub const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";

/// An issuer whose tokens are accepted. The environment variable `CELLAR_TOKEN_OIDC` contains a
/// JSON list of issuers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcIssuer {
    /// URL of the issuer. The claim `iss` of a token must equal it exactly.
    pub issuer: String,
    /// Id of this application at the issuer. The claim `aud` of a token must contain it.
    pub audience: String,
    /// Signature algorithm of the tokens. Tokens with another algorithm are rejected. The default
    /// is RS256.
    #[serde(default)]
    pub algorithm: TokenAlgorithm,
    /// URL of the public keys. The default is the URL in the issuer's discovery document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_url: Option<String>,
    /// Claim that identifies a user in the catalog and the history. The default is
    /// [`SUBJECT_CLAIM`].
    #[serde(default = "default_subject_claim", skip_serializing_if = "is_default_subject_claim")]
    pub subject_claim: String,
    /// Highest role that a token of this issuer can grant on any spreadsheet. The default is owner.
    #[serde(default = "default_max_role", skip_serializing_if = "is_default_max_role")]
    pub max_role: Role,
    /// Id of the page at the issuer. If `None`, the page offers no login at this issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Name of the issuer on the page. The default is the host of the issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// URL from which the page fetches tokens, required if its origin is not that of the issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
}

fn default_subject_claim() -> String {
    SUBJECT_CLAIM.to_owned()
}

fn is_default_subject_claim(claim: &str) -> bool {
    claim == SUBJECT_CLAIM
}

fn default_max_role() -> Role {
    Role::Owner
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_default_max_role(role: &Role) -> bool {
    *role == Role::Owner
}

impl OidcIssuer {
    /// Returns the URL of the issuer's discovery document.
    #[must_use]
    pub fn discovery_url(&self) -> String {
        format!("{}{DISCOVERY_PATH}", self.issuer.trim_end_matches('/'))
    }
}

/// Returns whether keys may be fetched from a URL. The URL must use TLS, because an attacker could
/// otherwise replace the keys. URLs of the local machine need not use TLS.
#[must_use]
pub fn is_trustworthy(url: &str) -> bool {
    let (url_after_scheme, uses_tls) = match url.split_once("://") {
        Some(("https", url_after_scheme)) => (url_after_scheme, true),
        Some(("http", url_after_scheme)) => (url_after_scheme, false),
        _ => return false,
    };
    let authority = url_after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let is_valid = !authority.is_empty()
        && !authority.contains('@')
        && url.bytes().all(|byte| byte.is_ascii_graphic());
    let is_local = authority == "127.0.0.1" || authority.starts_with("127.0.0.1:");
    is_valid && (uses_tls || is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_needs_two_fields_and_round_trips() {
        let text = r#"{"issuer":"https://login.example.com/","audience":"cellar"}"#;
        let issuer: OidcIssuer = serde_json::from_str(text).unwrap();
        assert_eq!(issuer.algorithm, TokenAlgorithm::Rs256);
        assert_eq!((issuer.subject_claim.as_str(), issuer.max_role), ("sub", Role::Owner));
        let discovery = "https://login.example.com/.well-known/openid-configuration";
        assert_eq!(issuer.discovery_url(), discovery);
        let again = serde_json::to_string(&issuer).unwrap();
        assert_eq!(serde_json::from_str::<OidcIssuer>(&again).unwrap(), issuer);
        let all = r#"{"issuer":"i","audience":"a","algorithm":"ES256","keys_url":"u","subject_claim":"email","max_role":"viewer","client_id":"c","name":"n","token_url":"t"}"#;
        let issuer: OidcIssuer = serde_json::from_str(all).unwrap();
        assert_eq!(serde_json::to_string(&issuer).unwrap(), all);
        for wrong in [
            r#"{"issuer":"i"}"#,
            r#"{"issuer":"i","audience":"a","algorithm":"HS256"}"#,
            r#"{"issuer":"i","audience":"a","algorithm":"none"}"#,
            r#"{"issuer":"i","audience":"a","secret":"s"}"#,
        ] {
            assert!(serde_json::from_str::<OidcIssuer>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn accepts_keys_over_tls_or_from_the_local_machine() {
        for url in [
            "https://login.example.com",
            "https://login.example.com:8443/a/b?c=d",
            "http://127.0.0.1",
            "http://127.0.0.1:9000/keys",
        ] {
            assert!(is_trustworthy(url), "{url}");
        }
        for url in [
            "",
            "login.example.com",
            "http://login.example.com",
            "http://localhost/keys",
            "http://127.0.0.1.example.com/",
            "http://127.0.0.1@example.com/",
            "https://user@example.com/",
            "https:///keys",
            "https://a b.example",
            "ftp://127.0.0.1/",
            "file:///etc/passwd",
            "HTTPS://login.example.com",
        ] {
            assert!(!is_trustworthy(url), "{url}");
        }
    }
}
