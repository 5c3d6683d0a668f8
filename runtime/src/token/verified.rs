//! Remembers the claims of tokens whose signature was verified, because this is the slowest check of
//! a request.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use blake3::Hash;
use cellar_base::limits::MAX_VERIFIED_TOKENS;
use lru::LruCache;

use super::Claims;

const CAPACITY: NonZeroUsize = NonZeroUsize::new(MAX_VERIFIED_TOKENS).unwrap();

/// The claims of the tokens that were used last. The tokens themselves are not kept, only their
/// BLAKE3 digests.
pub(super) struct VerifiedTokens {
    claims_by_digest: Mutex<LruCache<Hash, Claims>>,
}

impl VerifiedTokens {
    pub(super) fn new() -> Self {
        Self { claims_by_digest: Mutex::new(LruCache::new(CAPACITY)) }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Hash, Claims>> {
        self.claims_by_digest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the claims of the token, or those that `verify` returns, which are remembered.
    pub(super) fn claims_or_verify<E>(
        &self,
        token: &str,
        verify: impl FnOnce() -> Result<Claims, E>,
    ) -> Result<Claims, E> {
        let digest = blake3::hash(token.as_bytes());
        if let Some(claims) = self.lock().get(&digest) {
            return Ok(claims.clone());
        }
        let claims = verify()?;
        self.lock().put(digest, claims.clone());
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::claims;
    use super::*;

    /// Returns whether the token was verified, and not remembered.
    fn is_verified_again(tokens: &VerifiedTokens, token: usize) -> bool {
        let mut is_verified = false;
        let verify = || {
            is_verified = true;
            Ok::<_, ()>(Claims { jti: token.to_string(), ..claims() })
        };
        let claims = tokens.claims_or_verify(&token.to_string(), verify).unwrap();
        assert_eq!(claims.jti, token.to_string());
        is_verified
    }

    #[test]
    fn the_tokens_that_were_used_last_are_remembered() {
        let tokens = VerifiedTokens::new();
        for token in 0..MAX_VERIFIED_TOKENS {
            assert!(is_verified_again(&tokens, token));
        }
        assert!((0..MAX_VERIFIED_TOKENS).all(|token| !is_verified_again(&tokens, token)));
        assert!(is_verified_again(&tokens, MAX_VERIFIED_TOKENS));
        assert!(!is_verified_again(&tokens, 1));
        assert!(is_verified_again(&tokens, 0), "it was used least recently");
    }

    #[test]
    fn an_invalid_token_is_not_remembered() {
        let tokens = VerifiedTokens::new();
        assert_eq!(tokens.claims_or_verify("0", || Err(1)), Err(1));
        assert!(is_verified_again(&tokens, 0));
    }
}
