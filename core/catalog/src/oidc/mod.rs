//! Issuers of tokens besides the stack's own keys: `OpenID Connect` (design `4-sync.md` §2b, I19).
//!
//! A stack names the issuers that it believes, and for each one the audience, the algorithm and what its
//! people are called. Their public keys are fetched when a token needs them and kept for an hour:
//! [`KeySetAge`] decides when, so that neither a stranger nor an issuer that is down makes a process ask
//! more often than that.

mod age;
mod algorithm;

use serde::{Deserialize, Serialize};

use crate::access::Role;

pub use age::{KeySetAge, KeySetStep};
pub use algorithm::TokenAlgorithm;

/// The claim that names a person, unless another one is configured: unique and never given to somebody
/// else.
pub const SUBJECT_CLAIM: &str = "sub";
/// A claim that names a person only if the issuer has verified it, which [`VERIFIED_CLAIM`] says.
pub const EMAIL_CLAIM: &str = "email";
/// Whether the issuer has verified [`EMAIL_CLAIM`].
pub const VERIFIED_CLAIM: &str = "email_verified";
/// What an issuer's own description of itself is called, below its URL (`OpenID Connect Discovery` §4).
pub const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";

/// An issuer whose tokens the API accepts. Its JSON is what `CELLAR_TOKEN_OIDC` lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcIssuer {
    /// The `iss` of its tokens, letter by letter: a URL.
    pub issuer: String,
    /// What `aud` must be, or must list: this application's id at the issuer.
    pub audience: String,
    /// How its tokens are signed; a token cannot choose. Default RS256.
    #[serde(default)]
    pub algorithm: TokenAlgorithm,
    /// Where its public keys are; absent means where its description of itself says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_url: Option<String>,
    /// The claim that names a person in the catalog and in the history; default [`SUBJECT_CLAIM`].
    #[serde(default = "subject_claim", skip_serializing_if = "is_subject_claim")]
    pub subject_claim: String,
    /// Maximum role of its people, on top of the role that each spreadsheet gives them. Default owner.
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
    /// Where it describes itself.
    #[must_use]
    pub fn discovery_url(&self) -> String {
        format!("{}{DISCOVERY_PATH}", self.issuer.trim_end_matches('/'))
    }
}

/// Whether keys may be fetched from there: over TLS, or from this machine, where tests and the local cloud
/// are. What comes from elsewhere in clear text anybody on the way can have written.
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
