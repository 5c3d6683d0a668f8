//! Retry policy: decides whether to retry a failed request, and after what delay.

use cellar_api::wire::Problem;
use cellar_base::backoff::full_jitter_ms;

/// Maximum number of attempts per call.
pub(super) const MAX_ATTEMPTS: u32 = 5;
/// Maximum delay that a `Retry-After` header may request, in milliseconds. Longer delays are
/// shortened to this value.
pub(super) const MAX_RETRY_AFTER_MS: u64 = 5_000;
/// No attempt is started when this time has passed since the start of the call, in milliseconds.
pub(super) const MAX_CALL_MS: u64 = 60_000;

/// Reason why an attempt failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection failed before the request was sent.
    NotConnected { why: String },
    /// The server did not respond in time.
    TimedOut,
    /// The connection was lost after it was established.
    Lost { why: String },
    /// The server returned a problem document.
    Problem { problem: Box<Problem>, retry_after_ms: Option<u64> },
    /// The server returned an error status without a problem document.
    Status { status: u16, excerpt: String, retry_after_ms: Option<u64> },
    /// The response exceeded the size limit.
    TooLarge,
}

impl Failure {
    /// Returns whether retrying the request may succeed.
    fn is_temporary(&self) -> bool {
        match self {
            Self::NotConnected { .. } | Self::TimedOut | Self::Lost { .. } => true,
            Self::Problem { problem, .. } => problem.is_temporary(),
            Self::Status { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            Self::TooLarge => false,
        }
    }

    /// Returns whether the server may have executed the request.
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

/// The failed attempts of an API call.
#[derive(Debug, Default)]
pub(super) struct RetryState {
    failed_attempts: u32,
    /// Whether the server may have executed one of the failed attempts.
    pub(super) uncertain: bool,
}

impl RetryState {
    /// Records a failed attempt. Returns the delay until the next attempt in milliseconds. Returns
    /// `None` if the failure is permanent, or if too many attempts have failed or too much time has
    /// passed.
    pub(super) fn delay_after(
        &mut self,
        failure: &Failure,
        elapsed_ms: u64,
        random: u64,
    ) -> Option<u64> {
        self.failed_attempts = self.failed_attempts.saturating_add(1);
        self.uncertain |= failure.may_have_been_done();
        if !failure.is_temporary() || self.failed_attempts >= MAX_ATTEMPTS {
            return None;
        }
        let requested_ms = failure.retry_after_ms().unwrap_or(0).min(MAX_RETRY_AFTER_MS);
        let delay_ms = full_jitter_ms(self.failed_attempts, random).max(requested_ms);
        (elapsed_ms.saturating_add(delay_ms) < MAX_CALL_MS).then_some(delay_ms)
    }
}

/// Parses the number of seconds in a `Retry-After` header and converts it to milliseconds. Returns
/// `None` if the header contains a date or something else.
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
    fn only_temporary_failures_are_retried() {
        let temporary =
            |failure: &Failure| RetryState::default().delay_after(failure, 0, 0).is_some();
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
        let mut attempts = RetryState::default();
        for _ in 1..MAX_ATTEMPTS {
            assert!(attempts.delay_after(&Failure::TimedOut, 0, 0).is_some());
        }
        assert_eq!(attempts.delay_after(&Failure::TimedOut, 0, 0), None);
        let late = RetryState::default().delay_after(&Failure::TimedOut, MAX_CALL_MS, 0);
        assert_eq!(late, None);
    }

    #[test]
    fn retry_after_is_limited() {
        let wait = |retry_after| {
            RetryState::default().delay_after(&problem(ProblemKind::Unavailable, retry_after), 0, 0)
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
    fn uncertainty_persists_over_later_attempts() {
        let mut attempts = RetryState::default();
        attempts.delay_after(&Failure::NotConnected { why: String::new() }, 0, 0);
        assert!(!attempts.uncertain);
        attempts.delay_after(&Failure::TimedOut, 0, 0);
        assert!(attempts.uncertain);
        attempts.delay_after(&problem(ProblemKind::UnknownBase, None), 0, 0);
        assert!(attempts.uncertain);
    }
}
