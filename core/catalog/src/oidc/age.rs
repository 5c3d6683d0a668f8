//! When an issuer's keys are fetched again.

use cellar_base::limits::{KEY_SET_FRESH_S, KEY_SET_REFRESH_S, KEY_SET_RETRY_S, KEY_SET_STALE_S};

/// How old a process's copy of an issuer's keys is, and when it asked for them last. Times are Unix
/// seconds; a clock that is set back ages a copy as one that is set forward does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySetAge {
    fetched_s: Option<u64>,
    failed_s: Option<u64>,
}

/// What to do with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySetStep {
    /// Verify it with the key that is there.
    Use,
    /// Fetch the keys; if that fails, or somebody else is doing it, use the one that is there.
    FetchOrUse,
    /// Fetch the keys, then look again.
    Fetch,
    /// Nobody has signed it: its key is not among the issuer's.
    Unknown,
    /// Nothing can be said: the keys cannot be had at the moment.
    Unavailable,
}

impl KeySetAge {
    /// What to do with a token whose key is `known` or not.
    ///
    /// A key that is not known may be a new one, so the set is fetched again, but at most once in
    /// [`KEY_SET_REFRESH_S`]: a stranger can name any key. After a failure nobody asks for
    /// [`KEY_SET_RETRY_S`].
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

    /// They have been fetched.
    #[must_use]
    pub fn fetched(self, now_s: u64) -> Self {
        Self { fetched_s: Some(now_s), failed_s: None }
    }

    /// They could not be fetched.
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
