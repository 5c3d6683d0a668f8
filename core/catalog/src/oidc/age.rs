//! Refresh of an issuer's keys.

use cellar_base::limits::{KEY_SET_FRESH_S, KEY_SET_REFRESH_S, KEY_SET_RETRY_S, KEY_SET_STALE_S};

/// Age of a process's copy of an issuer's keys, and the time of its last request for them. Times
/// are Unix seconds; a clock that was set back ages the copy as one set forward does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySetAge {
    fetched_s: Option<u64>,
    failed_s: Option<u64>,
}

/// What to do with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySetStep {
    /// Verify it with the cached key.
    Use,
    /// Fetch the keys; if that fails or another request is doing it, use the cached key.
    FetchOrUse,
    /// Fetch the keys, then look up the key again.
    Fetch,
    /// Reject the token: its key is not among the issuer's.
    Unknown,
    /// The keys are temporarily unavailable.
    Unavailable,
}

impl KeySetAge {
    /// Decides what to do with a token, given whether its key is `known`.
    ///
    /// An unknown key may be new, so the keys are fetched again, but at most once per
    /// [`KEY_SET_REFRESH_S`], because anyone can name any key. After a failure, no request is sent
    /// for [`KEY_SET_RETRY_S`].
    #[must_use]
    pub fn step(self, known: bool, now_s: u64) -> KeySetStep {
        let since = |moment: Option<u64>| moment.map(|moment_s| now_s.abs_diff(moment_s));
        let may_ask = since(self.failed_s).is_none_or(|age_s| age_s >= KEY_SET_RETRY_S);
        let usable = since(self.fetched_s).filter(|age_s| *age_s < KEY_SET_STALE_S);
        match usable {
            Some(age_s) if known && (age_s < KEY_SET_FRESH_S || !may_ask) => KeySetStep::Use,
            Some(_) if known => KeySetStep::FetchOrUse,
            Some(age_s) if age_s < KEY_SET_REFRESH_S => KeySetStep::Unknown,
            _ if may_ask => KeySetStep::Fetch,
            _ => KeySetStep::Unavailable,
        }
    }

    /// Records a successful fetch.
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
    fn keys_are_fetched_when_a_token_needs_them_and_kept_for_an_hour() {
        let age = KeySetAge::default();
        assert_eq!(age.step(false, NOW_S), Fetch);
        let age = age.fetched(NOW_S);
        assert_eq!(age.step(true, NOW_S + KEY_SET_FRESH_S - 1), Use);
        assert_eq!(age.step(true, NOW_S + KEY_SET_FRESH_S), FetchOrUse);
        assert_eq!(age.step(true, NOW_S + KEY_SET_STALE_S - 1), FetchOrUse);
        assert_eq!(age.step(true, NOW_S + KEY_SET_STALE_S), Fetch);
    }

    #[test]
    fn a_key_that_nobody_knows_is_looked_for_once_a_minute() {
        let age = KeySetAge::default().fetched(NOW_S);
        assert_eq!(age.step(false, NOW_S), Unknown);
        assert_eq!(age.step(false, NOW_S + KEY_SET_REFRESH_S - 1), Unknown);
        assert_eq!(age.step(false, NOW_S + KEY_SET_REFRESH_S), Fetch);
    }

    #[test]
    fn after_a_failure_nobody_asks_for_a_while_and_what_is_there_is_used() {
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
    fn a_clock_that_is_set_back_does_not_keep_keys_for_ever() {
        let age = KeySetAge::default().fetched(NOW_S + KEY_SET_STALE_S);
        assert_eq!(age.step(true, NOW_S), Fetch);
    }
}
