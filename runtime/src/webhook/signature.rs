//! Signatures of deliveries: Standard Webhooks, version 1.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cellar_catalog::webhook::SECRET_PREFIX;

/// Bytes of a secret: within what the standard asks for, 24 to 64.
pub(super) const SECRET_BYTES: usize = 32;

/// A secret that the receiver knows, too.
#[derive(Clone)]
pub struct Secret {
    text: String,
    key: hmac::Key,
}

/// A text that is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret of the webhook is {SECRET_PREFIX} and 24 to 64 bytes in base64")]
pub struct BadSecret;

impl Secret {
    /// The secret of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let text = format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes));
        Self { text, key: hmac::Key::new(hmac::HMAC_SHA256, bytes) }
    }

    /// Reads a secret.
    ///
    /// # Errors
    /// [`BadSecret`].
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(BadSecret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| BadSecret)?;
        if !(24..=64).contains(&bytes.len()) {
            return Err(BadSecret);
        }
        Ok(Self::of(&bytes))
    }

    /// The secret as the receiver is given it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signature of a body that is sent under an id at a moment, Unix seconds.
    #[must_use]
    pub fn sign(&self, id: &str, sent_s: u64, body: &str) -> String {
        let content = format!("{id}.{sent_s}.{body}");
        let tag = hmac::sign(&self.key, content.as_bytes());
        format!("v1,{}", STANDARD.encode(tag.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard's own libraries.
    #[test]
    fn it_is_what_the_standard_says() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = secret.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(Secret::parse(secret.text()).unwrap().text(), secret.text());
    }

    #[test]
    fn every_part_is_signed() {
        let secret = Secret::of(&[7; SECRET_BYTES]);
        let signed = secret.sign("id", 1, "body");
        assert_ne!(signed, secret.sign("id2", 1, "body"));
        assert_ne!(signed, secret.sign("id", 2, "body"));
        assert_ne!(signed, secret.sign("id", 1, "body2"));
        assert_ne!(signed, Secret::of(&[8; SECRET_BYTES]).sign("id", 1, "body"));
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        for (bytes, good) in [(23, false), (24, true), (64, true), (65, false)] {
            let text = format!("{SECRET_PREFIX}{}", STANDARD.encode(vec![1; bytes]));
            assert_eq!(Secret::parse(&text).is_ok(), good, "{bytes}");
        }
        for text in ["", "whsec_", "whsec_!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            assert!(Secret::parse(text).is_err(), "{text}");
        }
    }
}
