//! Reports the outcome of each attempt to send a request, for measurements.

use std::fmt;
use std::sync::Arc;

use super::retry::Failure;

/// Outcome of a request attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The server responded.
    Answered {
        /// HTTP status of the response.
        status: u16,
        /// Whether the response has a `Retry-After` header.
        has_retry_after: bool,
    },
    /// The connection failed before the request was sent.
    NotConnected,
    /// The server did not respond in time.
    TimedOut,
    /// The connection was lost or closed before the response was complete.
    Lost,
}

impl AttemptOutcome {
    pub(super) fn of_result(result: &Result<(u16, Vec<u8>), Failure>) -> Self {
        match result {
            Ok((status, _)) => Self::Answered { status: *status, has_retry_after: false },
            Err(Failure::Problem { problem, retry_after_ms }) => {
                let has_retry_after = retry_after_ms.is_some();
                Self::Answered { status: problem.status, has_retry_after }
            }
            Err(Failure::Status { status, retry_after_ms, .. }) => {
                Self::Answered { status: *status, has_retry_after: retry_after_ms.is_some() }
            }
            Err(Failure::NotConnected { .. }) => Self::NotConnected,
            Err(Failure::TimedOut) => Self::TimedOut,
            Err(Failure::Lost { .. } | Failure::TooLarge) => Self::Lost,
        }
    }
}

/// A callback that is called after each attempt to send a request, if it is set.
#[derive(Clone, Default)]
pub(super) struct Observer(Option<Arc<dyn Fn(AttemptOutcome) + Send + Sync>>);

impl Observer {
    pub(super) fn new(observe: impl Fn(AttemptOutcome) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    pub(super) fn notify(&self, result: &Result<(u16, Vec<u8>), Failure>) {
        if let Some(observe) = &self.0 {
            observe(AttemptOutcome::of_result(result));
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Observer").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use cellar_api::{wire::Problem, wire::ProblemKind};

    use super::*;

    #[test]
    fn each_result_has_its_outcome() {
        let answered =
            |status, has_retry_after| AttemptOutcome::Answered { status, has_retry_after };
        let problem = |retry_after_ms| {
            let problem = Box::new(Problem::new(ProblemKind::Unavailable, "busy"));
            Failure::Problem { problem, retry_after_ms }
        };
        let excerpt = String::new;
        let results = [
            (Ok((201, Vec::new())), answered(201, false)),
            (Err(problem(Some(1))), answered(503, true)),
            (Err(problem(None)), answered(503, false)),
            (
                Err(Failure::Status { status: 502, excerpt: excerpt(), retry_after_ms: Some(0) }),
                answered(502, true),
            ),
            (Err(Failure::NotConnected { why: excerpt() }), AttemptOutcome::NotConnected),
            (Err(Failure::TimedOut), AttemptOutcome::TimedOut),
            (Err(Failure::Lost { why: excerpt() }), AttemptOutcome::Lost),
            (Err(Failure::TooLarge), AttemptOutcome::Lost),
        ];
        for (result, expected) in results {
            assert_eq!(AttemptOutcome::of_result(&result), expected, "{result:?}");
        }
    }
}
