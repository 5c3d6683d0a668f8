//! Retry policy: decides whether to retry a failed request, and after what delay.

use cellar_api::wire::Problem;
use cellar_base::backoff::full_jitter_ms;

pub(super) const MAX_ATTEMPTS: u32 = 5;
/// Longer delays in a `Retry-After` header are shortened to this value.
pub(super) const MAX_RETRY_AFTER_MS: u64 = 5_000;
/// No attempt is started when this time has passed since the start of the call, in milliseconds.
pub(super) const MAX_CALL_MS: u64 = 60_000;

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
    fn is_temporary(&self) -> bool {
        match self {
            Self::NotConnected { .. } | Self::TimedOut | Self::Lost { .. } => true,
            Self::Problem { problem, .. } => problem.is_temporary(),
            Self::Status { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            Self::TooLarge => false,
        }
    }

    pub(super) fn may_have_been_executed(&self) -> bool {
        match self {
            Self::NotConnected { .. } => false,
            Self::Problem { problem, .. } => !problem.is_refusal(),
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryDecision {
    RetryAfter {
        delay_ms: u64,
    },
    /// The failure is permanent, or a limit on the attempts or the time of a call is reached.
    GiveUp,
}

#[derive(Debug, Default)]
pub(super) struct RetryState {
    failed_attempts: u32,
    /// Whether the server may have executed one of the failed attempts.
    pub(super) uncertain: bool,
}

impl RetryState {
    /// `elapsed_ms` is the time since the start of the call.
    pub(super) fn record_failure(
        &mut self,
        failure: &Failure,
        elapsed_ms: u64,
        random: u64,
    ) -> RetryDecision {
        self.failed_attempts = self.failed_attempts.saturating_add(1);
        if failure.may_have_been_executed() {
            self.uncertain = true;
        }
        if !failure.is_temporary() || self.failed_attempts >= MAX_ATTEMPTS {
            return RetryDecision::GiveUp;
        }
        let requested_ms = failure.retry_after_ms().unwrap_or(0).min(MAX_RETRY_AFTER_MS);
        let delay_ms = full_jitter_ms(self.failed_attempts, random).max(requested_ms);
        if elapsed_ms.saturating_add(delay_ms) >= MAX_CALL_MS {
            return RetryDecision::GiveUp;
        }
        RetryDecision::RetryAfter { delay_ms }
    }
}

/// The header contains a number of seconds. Returns `None` if it contains a date or something else.
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
        let temporary = |failure: &Failure| {
            RetryState::default().record_failure(failure, 0, 0) != RetryDecision::GiveUp
        };
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
            let decision = attempts.record_failure(&Failure::TimedOut, 0, 0);
            assert_ne!(decision, RetryDecision::GiveUp);
        }
        let after_last = attempts.record_failure(&Failure::TimedOut, 0, 0);
        assert_eq!(after_last, RetryDecision::GiveUp);
        let late = RetryState::default().record_failure(&Failure::TimedOut, MAX_CALL_MS, 0);
        assert_eq!(late, RetryDecision::GiveUp);
    }

    #[test]
    fn retry_after_is_limited() {
        let assert_delay = |retry_after_ms, delay_ms| {
            let failure = problem(ProblemKind::Unavailable, retry_after_ms);
            let decision = RetryState::default().record_failure(&failure, 0, 0);
            assert_eq!(decision, RetryDecision::RetryAfter { delay_ms });
        };
        assert_delay(None, 0);
        assert_delay(Some(1_000), 1_000);
        assert_delay(Some(MAX_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
        assert_delay(Some(MAX_RETRY_AFTER_MS + 1), MAX_RETRY_AFTER_MS);
        assert_eq!(parse_retry_after_ms(" 2 "), Some(2_000));
        assert_eq!(parse_retry_after_ms("Fri, 31 Dec 1999 23:59:59 GMT"), None);
        assert_eq!(parse_retry_after_ms("99999999999999999999"), None);
    }

    #[test]
    fn uncertainty_persists_over_later_attempts() {
        let mut attempts = RetryState::default();
        attempts.record_failure(&Failure::NotConnected { why: String::new() }, 0, 0);
        assert!(!attempts.uncertain);
        attempts.record_failure(&Failure::TimedOut, 0, 0);
        assert!(attempts.uncertain);
        attempts.record_failure(&problem(ProblemKind::UnknownBase, None), 0, 0);
        assert!(attempts.uncertain);
    }
}
