//! Validates the claims of OIDC tokens.

use cellar_catalog::oidc::{EMAIL_CLAIM, SUBJECT_CLAIM, VERIFIED_CLAIM};
use cellar_catalog::spreadsheet::BadPerson;
use serde_json::{Map, Value};

use crate::token::TokenError;
use crate::token::verify::{LEEWAY_S, check_lifetime};

/// Maximum length of a subject in bytes, according to OpenID Connect Core §2.
const MAX_SUBJECT_BYTES: usize = 255;
/// Upper bound of timestamps with a fraction. Below this bound, `f64` represents whole seconds
/// exactly.
const MAX_FRACTIONAL_S: f64 = 9e15;

/// A token is valid, but does not identify a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPerson {
    #[error("the claim `{SUBJECT_CLAIM}` is not a string of 1 to {MAX_SUBJECT_BYTES} bytes")]
    Subject,
    #[error(
        "the claim `{claim}`, which identifies people of this issuer, is missing or not a string"
    )]
    Claim { claim: String },
    #[error("the claim `{EMAIL_CLAIM}` is not verified: `{VERIFIED_CLAIM}` is not true")]
    Unverified,
    #[error(transparent)]
    Person(#[from] BadPerson),
}

/// Also rejects tokens issued before `not_before_s`.
pub(super) fn check_times(
    claims: &Map<String, Value>,
    not_before_s: u64,
    now_s: u64,
) -> Result<(), TokenError> {
    let expiry_s = read_time(claims, "exp")?.ok_or(TokenError::Invalid)?;
    let begin_s = read_time(claims, "nbf")?;
    let issued_s = read_time(claims, "iat")?;
    // If tokens issued before a certain time are rejected, a token without an issue time is
    // rejected too.
    let is_revoked = not_before_s > 0 && issued_s.is_none_or(|issued_s| issued_s < not_before_s);
    let is_expired = expiry_s < now_s.saturating_sub(LEEWAY_S);
    if is_expired || is_revoked {
        return Err(TokenError::Expired);
    }
    let latest_begin_s = now_s.saturating_add(LEEWAY_S);
    let is_in_future = |time_s: Option<u64>| time_s.is_some_and(|time_s| time_s > latest_begin_s);
    if is_in_future(begin_s) || is_in_future(issued_s) {
        return Err(TokenError::NotYetValid);
    }
    // A token without an issue time is treated as if it were issued now.
    check_lifetime(issued_s.unwrap_or(now_s), expiry_s)
}

/// Reads a timestamp in Unix seconds. RFC 7519 §2 permits fractions of seconds, which are
/// discarded.
fn read_time(claims: &Map<String, Value>, claim: &str) -> Result<Option<u64>, TokenError> {
    let Some(value) = claims.get(claim) else { return Ok(None) };
    let time_s = value.as_u64().or_else(|| truncate_seconds(value.as_f64()?));
    time_s.map(Some).ok_or(TokenError::Invalid)
}

fn truncate_seconds(seconds: f64) -> Option<u64> {
    if !(0.0..MAX_FRACTIONAL_S).contains(&seconds) {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked above, and the fraction is discarded on purpose"
    )]
    Some(seconds as u64)
}

/// Returns the `sub` claim, which is the issuer's stable id of a person.
pub(super) fn read_subject(claims: &Map<String, Value>) -> Result<&str, NoPerson> {
    match claims.get(SUBJECT_CLAIM).and_then(Value::as_str) {
        Some(subject) if (1..=MAX_SUBJECT_BYTES).contains(&subject.len()) => Ok(subject),
        _ => Err(NoPerson::Subject),
    }
}

/// If the claim is an email address, the issuer must have verified the address.
pub(super) fn read_person_name<'a>(
    claims: &'a Map<String, Value>,
    claim: &str,
) -> Result<&'a str, NoPerson> {
    let Some(name) = claims.get(claim).and_then(Value::as_str) else {
        return Err(NoPerson::Claim { claim: claim.to_owned() });
    };
    if claim == EMAIL_CLAIM && !is_email_verified(claims) {
        return Err(NoPerson::Unverified);
    }
    Ok(name)
}

fn is_email_verified(claims: &Map<String, Value>) -> bool {
    match claims.get(VERIFIED_CLAIM) {
        Some(Value::Bool(is_verified)) => *is_verified,
        // Accept a string too, because some issuers do not send `email_verified` as a boolean.
        Some(Value::String(is_verified)) => is_verified == "true",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_TOKEN_S;
    use serde_json::json;

    use super::*;

    const NOW_S: u64 = 1_800_000_000;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn times_are_numbers_with_or_without_a_fraction() {
        let check = |claims: Value| check_times(&object(&claims), 0, NOW_S);
        for exp in [json!(NOW_S), json!(1_800_000_000.5), json!(NOW_S - LEEWAY_S)] {
            assert_eq!(check(json!({"exp": exp})), Ok(()), "{exp}");
        }
        for exp in [json!("1800000000"), json!(-1), json!(1e300), json!(null), json!([NOW_S])] {
            assert_eq!(check(json!({"exp": exp})), Err(TokenError::Invalid), "{exp}");
        }
        assert_eq!(check(json!({})), Err(TokenError::Invalid));
        assert_eq!(check(json!({"exp": NOW_S - LEEWAY_S - 1})), Err(TokenError::Expired));
        for claim in ["nbf", "iat"] {
            let at = |time_s: u64| check(json!({"exp": NOW_S + 600, claim: time_s}));
            assert_eq!(at(NOW_S + LEEWAY_S), Ok(()));
            assert_eq!(at(NOW_S + LEEWAY_S + 1), Err(TokenError::NotYetValid));
        }
    }

    #[test]
    fn limits_the_lifetime_of_a_token() {
        let check = |claims: Value| check_times(&object(&claims), 0, NOW_S);
        for issued_s in [NOW_S, NOW_S - 60] {
            let lasting = |seconds: u64| check(json!({"iat": issued_s, "exp": issued_s + seconds}));
            assert_eq!(lasting(MAX_TOKEN_S), Ok(()));
            assert_eq!(lasting(MAX_TOKEN_S + 1), Err(TokenError::ValidTooLong));
        }
        assert_eq!(check(json!({"exp": NOW_S + MAX_TOKEN_S})), Ok(()));
        assert_eq!(check(json!({"exp": NOW_S + MAX_TOKEN_S + 1})), Err(TokenError::ValidTooLong));
    }

    #[test]
    fn rejects_tokens_issued_before_a_time_or_without_iat() {
        let check = |claims: Value| check_times(&object(&claims), NOW_S - 60, NOW_S);
        assert_eq!(check(json!({"exp": NOW_S, "iat": NOW_S - 60})), Ok(()));
        assert_eq!(check(json!({"exp": NOW_S, "iat": NOW_S - 61})), Err(TokenError::Expired));
        assert_eq!(check(json!({"exp": NOW_S})), Err(TokenError::Expired));
    }

    #[test]
    fn limits_the_length_of_subjects() {
        let subject = |sub: Value| read_subject(&object(&json!({"sub": sub}))).map(str::len);
        assert_eq!(subject(json!("x".repeat(MAX_SUBJECT_BYTES))), Ok(MAX_SUBJECT_BYTES));
        for wrong in [json!("x".repeat(MAX_SUBJECT_BYTES + 1)), json!(""), json!(7), json!(null)] {
            assert_eq!(subject(wrong), Err(NoPerson::Subject));
        }
    }

    #[test]
    fn requires_a_verified_email_address() {
        let person = |verified: Value| {
            let claims = object(&json!({"email": "ann@example.com", "email_verified": verified}));
            read_person_name(&claims, EMAIL_CLAIM).map(str::to_owned)
        };
        for verified in [json!(true), json!("true")] {
            assert_eq!(person(verified).as_deref(), Ok("ann@example.com"));
        }
        for not in [json!(false), json!("false"), json!(null), json!(1), json!("yes")] {
            assert_eq!(person(not), Err(NoPerson::Unverified));
        }
        let other = object(&json!({"preferred_username": "ann"}));
        assert_eq!(read_person_name(&other, "preferred_username"), Ok("ann"));
        assert!(matches!(read_person_name(&other, EMAIL_CLAIM), Err(NoPerson::Claim { .. })));
    }
}
