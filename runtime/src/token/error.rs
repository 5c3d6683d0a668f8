//! Rejections of tokens.

use cellar_base::limits::{MAX_TOKEN_BYTES, MAX_TOKEN_S};

/// A rejected token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the token is longer than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
    /// The token has expired, or was issued before the earliest time that the stack accepts.
    #[error("the token has expired; create a new one with `synth token create`, or sign in again")]
    Expired,
    /// The token is not valid yet: its `nbf` or `iat` claim is in the future.
    #[error("the token is not valid yet; check that the clocks are synchronized")]
    NotYetValid,
    /// The token's validity, from `iat` to `exp`, is longer than `MAX_TOKEN_S`.
    #[error(
        "the token is valid for more than {} days; create a shorter one with `synth token create`",
        MAX_TOKEN_S / 86_400
    )]
    ValidTooLong,
    #[error("the token's signing key is unknown to this stack")]
    UnknownKey,
    /// The token cannot be verified, because the issuer's public keys are unavailable.
    #[error("the issuer of the token does not respond; retry later")]
    KeysUnavailable,
    /// The token is invalid for another reason, such as a wrong format, algorithm, signature,
    /// issuer or audience.
    #[error("the token is not valid for this stack; create a new one with `synth token create`")]
    Invalid,
}

impl TokenError {
    /// Returns the error that the caller may see. Most errors are replaced by
    /// [`TokenError::Invalid`], so that attackers learn nothing that helps to forge a token.
    ///
    /// The exceptions are [`TokenError::KeysUnavailable`] and errors about the validity period of a
    /// token with a valid signature.
    #[must_use]
    pub fn public(self) -> Self {
        match self {
            Self::Expired | Self::NotYetValid | Self::ValidTooLong | Self::KeysUnavailable => self,
            Self::TooLong | Self::UnknownKey | Self::Invalid => Self::Invalid,
        }
    }
}
