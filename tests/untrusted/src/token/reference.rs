//! A second token verifier, written independently from the specification and without a library.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_BYTES, MAX_TOKEN_S, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::{Principal, Role, Scope};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{AUDIENCE, ISSUER, NOW_S, signature};

/// Allowed clock difference, in seconds.
const LEEWAY_S: u64 = 30;
/// Header fields that this verifier checks.
const HEADER: [&str; 3] = ["alg", "kid", "typ"];
/// Header field that lists critical extensions.
const CRITICAL: &str = "crit";
const CLAIMS: [&str; 9] = ["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "role", "spreadsheets"];

/// The reason why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenRefusal {
    /// The token is valid except for its times: not yet valid, expired, or valid for too long.
    Time,
    /// The token is invalid for another reason.
    Invalid,
}

/// Returns the holder of a valid token.
pub(super) fn verify(token: &str) -> Result<Principal, TokenRefusal> {
    let claims = signed_claims(token).ok_or(TokenRefusal::Invalid)?;
    let holder = holder(&claims).ok_or(TokenRefusal::Invalid);
    let times = times(&claims).ok_or(TokenRefusal::Invalid)?;
    let is_ours = text(&claims, "iss") == Some(ISSUER) && text(&claims, "aud") == Some(AUDIENCE);
    let in_time = times.end.saturating_add(LEEWAY_S) >= NOW_S
        && times.begin <= NOW_S + LEEWAY_S
        && times.made <= NOW_S + LEEWAY_S
        && times.end.saturating_sub(times.made) <= MAX_TOKEN_S;
    match (is_ours, in_time) {
        (false, _) => Err(TokenRefusal::Invalid),
        (true, false) => Err(TokenRefusal::Time),
        (true, true) => holder,
    }
}

/// Returns the claims of a token that a key of the stack has signed with the allowed algorithm.
fn signed_claims(token: &str) -> Option<Fields> {
    if token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let (message, own) = token.rsplit_once('.')?;
    let (header, claims) = message.split_once('.')?;
    let header = fields(header)?;
    let is_text = |value: &&Value| value.is_string() || value.is_null();
    let typ = header.all("typ");
    let asks = header.all(CRITICAL).iter().any(|value| !value.is_null());
    if typ.len() > 1 || !typ.iter().all(is_text) || asks {
        return None;
    }
    if text(&header, "alg") != Some("EdDSA") {
        return None;
    }
    (signature(text(&header, "kid")?, message)? == own).then_some(())?;
    fields(claims)
}

/// Returns whether a header has only fields that this verifier checks. The library may also refuse
/// other fields.
pub(super) fn is_plain(token: &str) -> bool {
    let header = token.split('.').next().and_then(fields);
    header.is_none_or(|header| header.0.iter().all(|(name, _)| HEADER.contains(&name.as_str())))
}

fn holder(claims: &Fields) -> Option<Principal> {
    let (issuer, subject) = (text(claims, "iss")?, text(claims, "sub")?);
    let role = match text(claims, "role")? {
        "viewer" => Role::Viewer,
        "editor" => Role::Editor,
        "owner" => Role::Owner,
        _ => return None,
    };
    text(claims, "jti")?;
    let scope = match claims.one("spreadsheets")? {
        Value::String(all) if all == "*" => Scope::All,
        Value::String(shared) if shared == "shared" => Scope::Shared,
        Value::Array(ids) if ids.len() <= MAX_TOKEN_SPREADSHEETS => {
            let log = |id: &Value| id.as_str()?.parse::<LogId>().ok();
            Scope::Only(ids.iter().map(log).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    let author = subject.to_owned();
    let subject = SubjectKey::new(issuer, subject);
    let is_named = (1..=MAX_AUTHOR_BYTES).contains(&author.len());
    is_named.then_some(Principal { subject, author, issuer: issuer.to_owned(), scope, role })
}

/// The times of a token, Unix seconds.
struct Times {
    begin: u64,
    made: u64,
    end: u64,
}

fn times(claims: &Fields) -> Option<Times> {
    let begin = match claims.all("nbf").as_slice() {
        [] | [Value::Null] => 0,
        [begin] => begin.as_u64()?,
        _ => return None,
    };
    let (made, end) = (claims.one("iat")?.as_u64()?, claims.one("exp")?.as_u64()?);
    Some(Times { begin, made, end })
}

fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.one(name)?.as_str()
}

fn is_checked_field(name: &str) -> bool {
    HEADER.contains(&name) || CLAIMS.contains(&name) || name == CRITICAL
}

fn fields(part: &str) -> Option<Fields> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// The fields of a JSON object in order, including repeated names.
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn all(&self, name: &str) -> Vec<&Value> {
        self.0.iter().filter(|(own, _)| own == name).map(|(_, value)| value).collect()
    }

    /// Returns the value of a name; `None` if the name is missing or repeated.
    fn one(&self, name: &str) -> Option<&Value> {
        match self.all(name).as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = match is_checked_field(&name) {
                        true => map.next_value()?,
                        false => {
                            map.next_value::<IgnoredAny>()?;
                            Value::Null
                        }
                    };
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
