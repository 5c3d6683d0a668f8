//! What came of each attempt of a request, for who measures.

use std::fmt;
use std::sync::Arc;

use super::retry::Failure;

/// What came of one attempt of a request, the repeated ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempted {
    /// It was answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// Whether the answer says when to try again, in `Retry-After`.
        has_retry_after: bool,
    },
    /// No connection: it was not sent.
    NotConnected,
    /// No answer in time.
    TimedOut,
    /// The connection broke, or was given up, before the answer was whole.
    Lost,
}

impl Attempted {
    pub(super) fn of(tried: &Result<(u16, Vec<u8>), Failure>) -> Self {
        match tried {
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

/// Who is told of each attempt; nobody at first.
#[derive(Clone, Default)]
pub(super) struct Observer(Option<Arc<dyn Fn(Attempted) + Send + Sync>>);

impl Observer {
    pub(super) fn new(observe: impl Fn(Attempted) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    pub(super) fn tell(&self, tried: &Result<(u16, Vec<u8>), Failure>) {
        if let Some(observe) = &self.0 {
            observe(Attempted::of(tried));
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
    fn an_attempt_is_told_as_what_it_was() {
        let answered = |status, has_retry_after| Attempted::Answered { status, has_retry_after };
        let problem = |retry_after_ms| {
            let problem = Box::new(Problem::new(ProblemKind::Unavailable, "busy"));
            Failure::Problem { problem, retry_after_ms }
        };
        let excerpt = String::new;
        let told = [
            (Ok((201, Vec::new())), answered(201, false)),
            (Err(problem(Some(1))), answered(503, true)),
            (Err(problem(None)), answered(503, false)),
            (
                Err(Failure::Status { status: 502, excerpt: excerpt(), retry_after_ms: Some(0) }),
                answered(502, true),
            ),
            (Err(Failure::NotConnected { why: excerpt() }), Attempted::NotConnected),
            (Err(Failure::TimedOut), Attempted::TimedOut),
            (Err(Failure::Lost { why: excerpt() }), Attempted::Lost),
            (Err(Failure::TooLarge), Attempted::Lost),
        ];
        for (tried, expected) in told {
            assert_eq!(Attempted::of(&tried), expected, "{tried:?}");
        }
    }
}
