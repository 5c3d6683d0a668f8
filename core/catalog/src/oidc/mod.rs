//! Token issuers besides the stack's own keys: `OpenID Connect`.
//!
//! The configuration names the trusted issuers, each with its audience, algorithm and subject
//! claim. Their public keys are fetched when a token needs them and cached for an hour.
//! [`KeySetAge`] bounds the requests, even for unknown keys and while an issuer is down.

mod age;
mod algorithm;

use serde::{Deserialize, Serialize};

use crate::access::Role;

pub use age::{KeySetAge, KeySetStep};
pub use algorithm::TokenAlgorithm;

/// Default claim that names a person: unique and never reassigned.
pub const SUBJECT_CLAIM: &str = "sub";
/// Claim that names a person only if the issuer has verified it, see [`VERIFIED_CLAIM`].
pub const EMAIL_CLAIM: &str = "email";
/// Claim that says whether [`EMAIL_CLAIM`] is verified.
pub const VERIFIED_CLAIM: &str = "email_verified";
/// Path of an issuer's discovery document (`OpenID Connect Discovery` §4).
pub const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";

/// An issuer whose tokens the API accepts; `CELLAR_TOKEN_OIDC` is a JSON list of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcIssuer {
    /// Exact `iss` of its tokens: a URL.
    pub issuer: String,
    /// Required `aud`, or an element of it: the id of this application at the issuer.
    pub audience: String,
    /// Signature algorithm; a token cannot choose it. Default RS256.
    #[serde(default)]
    pub algorithm: TokenAlgorithm,
    /// URL of the public keys; defaults to the one in the discovery document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_url: Option<String>,
    /// Claim that names a person in the catalog and the history; defaults to [`SUBJECT_CLAIM`].
    #[serde(default = "subject_claim", skip_serializing_if = "is_subject_claim")]
    pub subject_claim: String,
    /// Maximum role of its people, in addition to the role on each spreadsheet. Default owner.
    #[serde(default = "most", skip_serializing_if = "is_most")]
    pub max_role: Role,
}

fn subject_claim() -> String {
    SUBJECT_CLAIM.to_owned()
}

fn is_subject_claim(claim: &str) -> bool {
    claim == SUBJECT_CLAIM
}

fn most() -> Role {
    Role::Owner
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_most(role: &Role) -> bool {
    *role == Role::Owner
}

impl OidcIssuer {
    /// Returns the URL of the discovery document.
    #[must_use]
    pub fn discovery_url(&self) -> String {
        format!("{}{DISCOVERY_PATH}", self.issuer.trim_end_matches('/'))
    }
}

/// Returns whether keys may be fetched from a URL: over TLS, or from this machine (tests and the
/// local cloud). Anyone on the way could change an unencrypted response.
#[must_use]
pub fn is_trustworthy(url: &str) -> bool {
    let (host, in_clear) = match url.split_once("://") {
        Some(("https", rest)) => (rest, false),
        Some(("http", rest)) => (rest, true),
        _ => return false,
    };
    let authority = host.split(['/', '?', '#']).next().unwrap_or_default();
    let named = !authority.is_empty()
        && !authority.contains('@')
        && url.bytes().all(|byte| byte.is_ascii_graphic());
    let own = authority == "127.0.0.1" || authority.starts_with("127.0.0.1:");
    named && (!in_clear || own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_two_texts_and_reads_back() {
        let text = r#"{"issuer":"https://login.example.com/","audience":"cellar"}"#;
        let issuer: OidcIssuer = serde_json::from_str(text).unwrap();
        assert_eq!(issuer.algorithm, TokenAlgorithm::Rs256);
        assert_eq!((issuer.subject_claim.as_str(), issuer.max_role), ("sub", Role::Owner));
        let discovery = "https://login.example.com/.well-known/openid-configuration";
        assert_eq!(issuer.discovery_url(), discovery);
        let again = serde_json::to_string(&issuer).unwrap();
        assert_eq!(serde_json::from_str::<OidcIssuer>(&again).unwrap(), issuer);
        let all = r#"{"issuer":"i","audience":"a","algorithm":"ES256","keys_url":"u","subject_claim":"email","max_role":"viewer"}"#;
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
    fn keys_come_over_tls_or_from_this_machine() {
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
