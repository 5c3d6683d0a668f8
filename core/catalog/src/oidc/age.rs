//! Decides when the public keys of an OIDC issuer must be fetched.

use cellar_base::limits::{KEY_SET_FRESH_S, KEY_SET_REFRESH_S, KEY_SET_RETRY_S, KEY_SET_STALE_S};

/// Times of the last successful and the last failed request for an issuer's keys, in seconds since
/// the Unix epoch.
///
/// If the clock was set back, these times may be in the future. Cached keys expire even then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySetAge {
    fetched_s: Option<u64>,
    failed_s: Option<u64>,
}

/// Next step of a token verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySetStep {
    /// Verify the token with the cached key.
    Use,
    /// Fetch the keys. If the request fails or another request is in progress, use the cached key.
    FetchOrUse,
    /// Fetch the keys, then look for the key of the token again.
    Fetch,
    /// Reject the token, because the issuer does not have the key that the token specifies.
    Unknown,
    /// Reject the request with a temporary error, because the keys cannot be fetched.
    Unavailable,
}

impl KeySetAge {
    /// Decides how to verify a token. `key_is_cached` states whether the cache contains the key
    /// that the token specifies.
    ///
    /// A key that is not cached may be new, so the keys are fetched again. A token can specify any
    /// key id, so such requests are limited to one per [`KEY_SET_REFRESH_S`]. A failed request is
    /// retried after [`KEY_SET_RETRY_S`].
    #[must_use]
    pub fn step(self, key_is_cached: bool, now_s: u64) -> KeySetStep {
        let age_of = |time: Option<u64>| time.map(|time_s| now_s.abs_diff(time_s));
        let may_fetch = age_of(self.failed_s).is_none_or(|age_s| age_s >= KEY_SET_RETRY_S);
        let cache_age_s = age_of(self.fetched_s).filter(|age_s| *age_s < KEY_SET_STALE_S);
        match cache_age_s {
            Some(age_s) if key_is_cached => {
                let needs_refresh = age_s >= KEY_SET_FRESH_S && may_fetch;
                if needs_refresh { KeySetStep::FetchOrUse } else { KeySetStep::Use }
            }
            Some(age_s) if age_s < KEY_SET_REFRESH_S => KeySetStep::Unknown,
            _ if may_fetch => KeySetStep::Fetch,
            _ => KeySetStep::Unavailable,
        }
    }

    /// Records a successful fetch of the keys.
    #[must_use]
    pub fn fetched(self, now_s: u64) -> Self {
        Self { fetched_s: Some(now_s), failed_s: None }
    }

    /// Records a failed fetch.
    #[must_use]
    pub fn failed(self, now_s: u64) -> Self {
        Self { failed_s: Some(now_s), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::KeySetStep::{Fetch, FetchOrUse, Unavailable, Unknown, Use};
    use super::*;

    const NOW_S: u64 = 1_000_000;

    #[test]
    fn fetches_keys_when_a_token_needs_them_and_caches_them() {
        let age = KeySetAge::default();
        assert_eq!(age.step(false, NOW_S), Fetch);
        let age = age.fetched(NOW_S);
        assert_eq!(age.step(true, NOW_S + KEY_SET_FRESH_S - 1), Use);
        assert_eq!(age.step(true, NOW_S + KEY_SET_FRESH_S), FetchOrUse);
        assert_eq!(age.step(true, NOW_S + KEY_SET_STALE_S - 1), FetchOrUse);
        assert_eq!(age.step(true, NOW_S + KEY_SET_STALE_S), Fetch);
    }

    #[test]
    fn fetches_at_most_once_per_interval_for_an_unknown_key() {
        let age = KeySetAge::default().fetched(NOW_S);
        assert_eq!(age.step(false, NOW_S), Unknown);
        assert_eq!(age.step(false, NOW_S + KEY_SET_REFRESH_S - 1), Unknown);
        assert_eq!(age.step(false, NOW_S + KEY_SET_REFRESH_S), Fetch);
    }

    #[test]
    fn uses_cached_keys_without_a_fetch_after_a_failure() {
        let never = KeySetAge::default().failed(NOW_S);
        assert_eq!(never.step(false, NOW_S + KEY_SET_RETRY_S - 1), Unavailable);
        assert_eq!(never.step(false, NOW_S + KEY_SET_RETRY_S), Fetch);
        let (old_s, older_s) = (NOW_S - KEY_SET_FRESH_S, NOW_S - KEY_SET_STALE_S);
        let old = KeySetAge::default().fetched(old_s).failed(NOW_S);
        assert_eq!((old.step(true, NOW_S), old.step(false, NOW_S)), (Use, Unavailable));
        assert_eq!(old.step(true, NOW_S + KEY_SET_RETRY_S), FetchOrUse);
        let older = KeySetAge::default().fetched(older_s).failed(NOW_S);
        assert_eq!((older.step(true, NOW_S), older.step(false, NOW_S)), (Unavailable, Unavailable));
        assert_eq!(old.fetched(NOW_S).step(true, NOW_S), Use);
    }

    #[test]
    fn expires_keys_even_if_the_clock_is_set_back() {
        let age = KeySetAge::default().fetched(NOW_S + KEY_SET_STALE_S);
        assert_eq!(age.step(true, NOW_S), Fetch);
    }
}
