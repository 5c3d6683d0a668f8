//! Signs webhook deliveries according to version 1 of Standard Webhooks.

use std::ops::RangeInclusive;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cellar_catalog::webhook::SECRET_PREFIX;

pub(super) const SECRET_BYTES: usize = 32;
/// Allowed lengths of a secret in bytes, according to the standard.
const PERMITTED_BYTES: RangeInclusive<usize> = 24..=64;

/// A secret that only the webhook and its receiver know.
#[derive(Clone)]
pub struct Secret {
    text: String,
    key: hmac::Key,
}

/// A string is not a valid webhook secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret must be `{SECRET_PREFIX}` followed by 24 to 64 bytes in Base64")]
pub struct BadSecret;

impl Secret {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let text = format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes));
        Self { text, key: hmac::Key::new(hmac::HMAC_SHA256, bytes) }
    }

    /// Parses a secret.
    ///
    /// # Errors
    /// Returns [`BadSecret`] if the prefix, the encoding or the length of the secret is wrong.
    pub fn parse(secret_text: &str) -> Result<Self, BadSecret> {
        let encoded_key = secret_text.strip_prefix(SECRET_PREFIX).ok_or(BadSecret)?;
        let bytes = STANDARD.decode(encoded_key).map_err(|_| BadSecret)?;
        if !PERMITTED_BYTES.contains(&bytes.len()) {
            return Err(BadSecret);
        }
        Ok(Self::from_bytes(&bytes))
    }

    /// Returns the secret as a string that can be entered in the configuration of the receiver.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Signs a delivery. The signature covers its id, its sending time `sent_s` (Unix seconds) and
    /// its body.
    #[must_use]
    pub fn sign(&self, delivery_id: &str, sent_s: u64, body: &str) -> String {
        let signed_content = format!("{delivery_id}.{sent_s}.{body}");
        let tag = hmac::sign(&self.key, signed_content.as_bytes());
        format!("v1,{}", STANDARD.encode(tag.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example from the Standard Webhooks reference implementation.
    #[test]
    fn matches_the_example_of_the_standard() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = secret.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(Secret::parse(secret.text()).unwrap().text(), secret.text());
    }

    #[test]
    fn signs_id_time_and_body() {
        let secret = Secret::from_bytes(&[7; SECRET_BYTES]);
        let signed = secret.sign("id", 1, "body");
        assert_ne!(signed, secret.sign("id2", 1, "body"));
        assert_ne!(signed, secret.sign("id", 2, "body"));
        assert_ne!(signed, secret.sign("id", 1, "body2"));
        assert_ne!(signed, Secret::from_bytes(&[8; SECRET_BYTES]).sign("id", 1, "body"));
    }

    #[test]
    fn rejects_invalid_secrets() {
        for (bytes, good) in [(23, false), (24, true), (64, true), (65, false)] {
            let text = format!("{SECRET_PREFIX}{}", STANDARD.encode(vec![1; bytes]));
            assert_eq!(Secret::parse(&text).is_ok(), good, "{bytes}");
        }
        for text in ["", "whsec_", "whsec_!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            assert!(Secret::parse(text).is_err(), "{text}");
        }
    }
}
