//! Reads the subject (user) of a token. The token is not verified.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_base::identity::{LogId, SubjectKey};
use cellar_catalog::access::Principal;
use cellar_catalog::spreadsheet::LinkToken;

const SUBJECT_ID_CHARACTERS: usize = 32;

/// The token was not verified, because only the server can do so.
#[derive(Debug)]
pub(super) struct TokenSubject {
    /// Short id that identifies the subject in the names of local state files.
    pub(super) id: String,
    /// Author of log entries that are appended with the token. `None` if the subject cannot be
    /// read.
    pub(super) author: Option<String>,
    /// Subject from which the server derives client keys. `None` if the subject cannot be read.
    pub(super) key: Option<SubjectKey>,
    /// The spreadsheets to which the token is limited. Empty if it names none.
    pub(super) spreadsheets: Vec<LogId>,
}

impl TokenSubject {
    pub(super) fn of_token(token: Option<&str>) -> Self {
        let names = token.and_then(issuer_and_subject);
        Self {
            id: subject_id(token),
            key: names.as_ref().map(|(issuer, subject)| SubjectKey::new(issuer, subject)),
            author: names.map(|(_, subject)| subject),
            spreadsheets: token.map(named_spreadsheets).unwrap_or_default(),
        }
    }
}

/// The id is a hash of the issuer and the subject, or of the whole token if the token has no
/// subject. A renewed token with the same subject has the same id. The server numbers mutations per
/// subject, so one subject's edits must never be sent as another subject.
fn subject_id(token: Option<&str>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 client token subject");
    match token {
        None => hasher.update(b"nobody"),
        Some(token) => match issuer_and_subject(token) {
            Some((issuer, subject)) => {
                // Hash the length as well. Otherwise, ("ab", "c") and ("a", "bc") would have the same
                // hash.
                hasher.update(issuer.len().to_string().as_bytes());
                hasher.update(b"/");
                hasher.update(issuer.as_bytes()).update(subject.as_bytes())
            }
            None => hasher.update(token.as_bytes()),
        },
    };
    hasher.finalize().to_hex().chars().take(SUBJECT_ID_CHARACTERS).collect()
}

fn issuer_and_subject(token: &str) -> Option<(String, String)> {
    if let Ok(link) = token.parse::<LinkToken>() {
        let holder = Principal::of_link(&link);
        return Some((holder.issuer, holder.author));
    }
    let claims = claims_of(token)?;
    let text = |name: &str| claims.get(name).and_then(|claim| claim.as_str()).map(str::to_owned);
    Some((text("iss").unwrap_or_default(), text("sub")?))
}

fn named_spreadsheets(token: &str) -> Vec<LogId> {
    let claims = claims_of(token).unwrap_or_default();
    let ids = claims.get("spreadsheets").and_then(serde_json::Value::as_array);
    let ids = ids.into_iter().flatten().filter_map(serde_json::Value::as_str);
    ids.filter_map(|id| id.parse().ok()).collect()
}

fn claims_of(token: &str) -> Option<serde_json::Value> {
    let payload = token.split('.').nth(1)?;
    let claims = URL_SAFE_NO_PAD.decode(payload).ok()?;
    serde_json::from_slice(&claims).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str, signature: &str) -> String {
        format!("e30.{}.{signature}", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn renewed_tokens_have_the_same_subject() {
        let alice = token(r#"{"iss":"i","sub":"alice","exp":1}"#, "x");
        let renewed = token(r#"{"iss":"i","sub":"alice","exp":2}"#, "y");
        let bob = token(r#"{"iss":"i","sub":"bob","exp":1}"#, "x");
        let shifted = token(r#"{"iss":"ia","sub":"lice"}"#, "x");
        let subject = |token: &str| subject_id(Some(token));
        assert_eq!(subject(&alice), subject(&renewed));
        assert_ne!(subject(&alice), subject(&bob));
        assert_ne!(subject(&alice), subject(&shifted));
        assert_ne!(subject("opaque"), subject("other"));
        assert_ne!(subject("opaque"), subject_id(None));
        assert_eq!(subject("a.b.c"), subject("a.b.c"));
        let author = |token: &str| TokenSubject::of_token(Some(token)).author;
        assert_eq!((author(&bob).as_deref(), author("opaque")), (Some("bob"), None));
        let key = |token: &str| TokenSubject::of_token(Some(token)).key;
        let server = Some(SubjectKey::new("i", "alice"));
        assert_eq!((key(&alice), key(&renewed)), (server, server));
        assert_ne!(key(&bob), server);
        assert_eq!((key("opaque"), TokenSubject::of_token(None).key), (None, None));
    }

    #[test]
    fn a_token_may_name_its_spreadsheets() {
        let id = "019ab3c2-7d41-7c55-9f0e-3a1c5e8d2b47";
        let named = |claims: &str| TokenSubject::of_token(Some(&token(claims, "x"))).spreadsheets;
        assert_eq!(named(&format!(r#"{{"spreadsheets":["{id}"]}}"#)), [id.parse().unwrap()]);
        for claims in [r#"{"spreadsheets":"*"}"#, r#"{"spreadsheets":[1]}"#, "{}", "no JSON"] {
            assert_eq!(named(claims), [], "{claims}");
        }
    }
}
