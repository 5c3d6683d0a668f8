//! Rejections of tokens.

use cellar_base::limits::{MAX_TOKEN_BYTES, MAX_TOKEN_S};

/// A rejected token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token is longer than the limit.
    #[error("the token is longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// The token has expired, or it was issued before the time from which the stack accepts tokens.
    #[error("the token has expired; create a new one with `synth token create`, or sign in again")]
    Expired,
    /// The `nbf` or `iat` of the token is in the future.
    #[error("the token is not valid yet; check that the clocks are synchronized")]
    NotYetValid,
    /// The `exp` is more than `MAX_TOKEN_S` after the `iat`.
    #[error(
        "the token is valid for more than {} days; create a shorter one with `synth token create`",
        MAX_TOKEN_S / 86_400
    )]
    ValidTooLong,
    /// The key that signed the token is not in the stack's list of keys.
    #[error("the token's signing key is unknown to this stack")]
    UnknownKey,
    /// The token cannot be verified, because the public keys of its issuer are unavailable.
    #[error("the issuer of the token does not respond; retry later")]
    KeysUnavailable,
    /// The token is invalid for any other reason, such as a wrong format, algorithm, signature,
    /// issuer or audience.
    #[error("the token is not valid for this stack; create a new one with `synth token create`")]
    Invalid,
}

impl TokenError {
    /// Returns the error that may be shown to the caller. Details are shown only if the signature
    /// of the token is valid. All other errors become [`TokenError::Invalid`], so that an attacker
    /// learns nothing that helps to forge a token.
    #[must_use]
    pub fn public(self) -> Self {
        match self {
            Self::Expired | Self::NotYetValid | Self::ValidTooLong | Self::KeysUnavailable => self,
            Self::TooLong | Self::UnknownKey | Self::Invalid => Self::Invalid,
        }
    }
}
