//! When a request is repeated, and when that ends.

use cellar_api::wire::Problem;
use cellar_base::backoff::full_jitter_ms;

/// Attempts of one call.
pub(super) const MAX_ATTEMPTS: u32 = 5;
/// The longest wait that a `Retry-After` is followed for, milliseconds.
pub(super) const MAX_RETRY_AFTER_MS: u64 = 5_000;
/// After this long no further attempt begins, milliseconds.
pub(super) const MAX_CALL_MS: u64 = 60_000;

/// How one attempt failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// No connection: the request was not sent.
    NotConnected { why: String },
    /// No answer in time.
    TimedOut,
    /// The connection broke after it was there.
    Lost { why: String },
    /// The server says what is wrong.
    Problem { problem: Box<Problem>, retry_after_ms: Option<u64> },
    /// An error status without a problem.
    Status { status: u16, excerpt: String, retry_after_ms: Option<u64> },
    /// A body beyond the bound.
    TooLarge,
}

impl Failure {
    /// Whether repeating the request unchanged may help.
    fn is_temporary(&self) -> bool {
        match self {
            Self::NotConnected { .. } | Self::TimedOut | Self::Lost { .. } => true,
            Self::Problem { problem, .. } => problem.is_temporary(),
            Self::Status { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            Self::TooLarge => false,
        }
    }

    /// Whether the request may have been carried out all the same.
    pub(super) fn may_have_been_done(&self) -> bool {
        match self {
            Self::NotConnected { .. } => false,
            Self::Problem { problem, .. } => problem.status >= 500,
            Self::Status { status, .. } => !(300..500).contains(status),
            Self::TimedOut | Self::Lost { .. } | Self::TooLarge => true,
        }
    }

    fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Problem { retry_after_ms, .. } | Self::Status { retry_after_ms, .. } => {
                *retry_after_ms
            }
            _ => None,
        }
    }
}

/// The attempts of one call so far.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    failed: u32,
    /// One of them may have been carried out although it failed.
    pub(super) uncertain: bool,
}

impl Attempts {
    /// Counts a failed attempt. Gives the wait before the next, milliseconds, or `None` if this
    /// was the last.
    pub(super) fn after(&mut self, failure: &Failure, elapsed_ms: u64, random: u64) -> Option<u64> {
        self.failed = self.failed.saturating_add(1);
        self.uncertain |= failure.may_have_been_done();
        if !failure.is_temporary() || self.failed >= MAX_ATTEMPTS {
            return None;
        }
        let asked_ms = failure.retry_after_ms().unwrap_or(0).min(MAX_RETRY_AFTER_MS);
        let delay_ms = full_jitter_ms(self.failed, random).max(asked_ms);
        (elapsed_ms.saturating_add(delay_ms) < MAX_CALL_MS).then_some(delay_ms)
    }
}

/// A `Retry-After` in seconds, as milliseconds; a date is not worth a clock here.
pub(super) fn parse_retry_after_ms(header: &str) -> Option<u64> {
    header.trim().parse::<u64>().ok().map(|seconds| seconds.saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ProblemKind;

    use super::*;

    fn problem(kind: ProblemKind, retry_after_ms: Option<u64>) -> Failure {
        Failure::Problem { problem: Box::new(Problem::new(kind, "because")), retry_after_ms }
    }

    fn status(status: u16) -> Failure {
        Failure::Status { status, excerpt: String::new(), retry_after_ms: None }
    }

    #[test]
    fn only_what_may_help_is_repeated() {
        let temporary = |failure: &Failure| Attempts::default().after(failure, 0, 0).is_some();
        for kind in ProblemKind::ALL {
            let failure = problem(*kind, None);
            assert_eq!(temporary(&failure), *kind == ProblemKind::Unavailable, "{kind:?}");
        }
        for (code, again) in [(301, false), (404, false), (429, true), (500, false), (502, true)] {
            assert_eq!(temporary(&status(code)), again, "{code}");
        }
        assert!(temporary(&Failure::NotConnected { why: String::new() }));
        assert!(temporary(&Failure::TimedOut));
        assert!(!temporary(&Failure::TooLarge));
    }

    #[test]
    fn attempts_and_time_are_bounded() {
        let mut attempts = Attempts::default();
        for _ in 1..MAX_ATTEMPTS {
            assert!(attempts.after(&Failure::TimedOut, 0, 0).is_some());
        }
        assert_eq!(attempts.after(&Failure::TimedOut, 0, 0), None);
        let late = Attempts::default().after(&Failure::TimedOut, MAX_CALL_MS, 0);
        assert_eq!(late, None);
    }

    #[test]
    fn retry_after_is_followed_up_to_its_cap() {
        let wait = |retry_after| {
            Attempts::default().after(&problem(ProblemKind::Unavailable, retry_after), 0, 0)
        };
        assert_eq!(wait(None), Some(0));
        assert_eq!(wait(Some(1_000)), Some(1_000));
        assert_eq!(wait(Some(MAX_RETRY_AFTER_MS)), Some(MAX_RETRY_AFTER_MS));
        assert_eq!(wait(Some(MAX_RETRY_AFTER_MS + 1)), Some(MAX_RETRY_AFTER_MS));
        assert_eq!(parse_retry_after_ms(" 2 "), Some(2_000));
        assert_eq!(parse_retry_after_ms("Fri, 31 Dec 1999 23:59:59 GMT"), None);
        assert_eq!(parse_retry_after_ms("99999999999999999999"), None);
    }

    #[test]
    fn an_attempt_that_may_have_been_done_stays_uncertain() {
        let mut attempts = Attempts::default();
        attempts.after(&Failure::NotConnected { why: String::new() }, 0, 0);
        assert!(!attempts.uncertain);
        attempts.after(&Failure::TimedOut, 0, 0);
        assert!(attempts.uncertain);
        attempts.after(&problem(ProblemKind::UnknownBase, None), 0, 0);
        assert!(attempts.uncertain);
    }
}
