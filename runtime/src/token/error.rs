//! Rejections of tokens.

use cellar_base::limits::{MAX_TOKEN_BYTES, MAX_TOKEN_S};

/// A rejected token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the token is longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// The token has expired, or was issued before the stack's earliest accepted issue time.
    #[error("the token has expired; create a new one with `synth token create`, or sign in again")]
    Expired,
    /// The token's `nbf` or `iat` is in the future.
    #[error("the token is not valid yet; check that the clocks are synchronized")]
    NotYetValid,
    /// The token's `exp` is more than `MAX_TOKEN_S` after its `iat`.
    #[error(
        "the token is valid for more than {} days; create a shorter one with `synth token create`",
        MAX_TOKEN_S / 86_400
    )]
    ValidTooLong,
    #[error("the token's signing key is unknown to this stack")]
    UnknownKey,
    /// The issuer's public keys are unavailable, so the token cannot be verified.
    #[error("the issuer of the token does not respond; retry later")]
    KeysUnavailable,
    /// The token is invalid for another reason, such as a wrong format, algorithm, signature,
    /// issuer or audience.
    #[error("the token is not valid for this stack; create a new one with `synth token create`")]
    Invalid,
}

impl TokenError {
    /// Returns the error that may be shown to the caller. [`TokenError::KeysUnavailable`] and errors
    /// about the times of a token with a valid signature are returned unchanged. All other errors
    /// become [`TokenError::Invalid`], so that attackers learn nothing that helps to forge a token.
    #[must_use]
    pub fn public(self) -> Self {
        match self {
            Self::Expired | Self::NotYetValid | Self::ValidTooLong | Self::KeysUnavailable => self,
            Self::TooLong | Self::UnknownKey | Self::Invalid => Self::Invalid,
        }
    }
}
