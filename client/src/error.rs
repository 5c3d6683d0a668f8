//! Errors of API requests.

use cellar_api::{wire::Problem, wire::ProblemKind};

/// An API request failed. The error message never contains the token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The URL is not a valid Cellar API URL.
    #[error("`{url}` is not the URL of a Cellar API: {why}")]
    InvalidUrl {
        /// The invalid URL, without credentials.
        url: String,
        /// Reason why the URL is invalid.
        why: String,
    },
    /// The token is empty, too long or contains invalid characters.
    #[error("invalid token: {why}")]
    InvalidToken {
        /// Why the token is invalid. Does not contain the token.
        why: &'static str,
    },
    /// The token was not sent because the connection is not encrypted.
    #[error("refused to send a token to {url}: the connection is not encrypted")]
    ClearText {
        /// API URL.
        url: String,
    },
    /// The HTTP client could not be created.
    #[error("cannot start the HTTP client: {why}")]
    Setup {
        /// HTTP library error.
        why: String,
    },
    /// The last attempt could not connect to the server. An earlier attempt may have reached the
    /// server if `uncertain` is set.
    #[error("cannot connect to {url}: {why}")]
    Unreachable {
        /// Request URL.
        url: String,
        /// Network error.
        why: String,
        /// Whether the server may have executed an earlier attempt.
        uncertain: bool,
    },
    /// The server did not respond in time.
    #[error("{url} did not respond within {timeout_ms} ms")]
    TimedOut {
        /// Request URL.
        url: String,
        /// The timeout, in milliseconds.
        timeout_ms: u64,
    },
    /// The connection was lost before the response was complete.
    #[error("lost the connection to {url}: {why}")]
    ConnectionLost {
        /// Request URL.
        url: String,
        /// Network error.
        why: String,
    },
    /// The server returned a problem document.
    #[error("{problem}")]
    Problem {
        /// The problem document from the response, with control characters escaped.
        problem: Box<Problem>,
        /// Whether the server may have executed an earlier attempt.
        uncertain: bool,
    },
    /// The server returned an error status without a problem document.
    #[error("{url} returned status {status}: {excerpt}")]
    UnexpectedStatus {
        /// Request URL.
        url: String,
        /// HTTP status of the response.
        status: u16,
        /// Beginning of the response body, with control characters escaped.
        excerpt: String,
        /// Whether the server may have executed this attempt or an earlier one.
        uncertain: bool,
    },
    /// The server returned a success status with an unexpected body.
    #[error("unexpected reply from {url}: {why}")]
    NotUnderstood {
        /// Request URL.
        url: String,
        /// Description of the unexpected response.
        why: String,
    },
    /// The body of a large log entry does not match the entry.
    #[error("the body of a large entry from {url} is invalid: {why}")]
    WrongObject {
        /// Object store origin.
        url: String,
        /// Reason why the body is invalid.
        why: String,
    },
    /// A page of a list does not continue the list, or its continuation is not after its last item.
    /// All earlier pages are complete, but the rest of the list cannot be read.
    #[error(
        "{url} returned a page that does not continue the list at {start}, so the list is incomplete"
    )]
    BrokenList {
        /// URL of the API.
        url: String,
        /// Cursor of the page.
        start: String,
    },
    /// The response exceeds the maximum length of a response of the Cellar API.
    #[error("the response from {url} is longer than {max_bytes} bytes")]
    ReplyTooLarge {
        /// Request URL.
        url: String,
        /// Maximum response length, in bytes.
        max_bytes: usize,
    },
}

impl ClientError {
    /// Returns whether the server has certainly not executed the request. This is the case if no
    /// attempt reached the server or the server refused every attempt.
    #[must_use]
    pub fn certainly_not_done(&self) -> bool {
        match self {
            Self::InvalidUrl { .. }
            | Self::InvalidToken { .. }
            | Self::ClearText { .. }
            | Self::Setup { .. } => true,
            Self::Unreachable { uncertain, .. } | Self::UnexpectedStatus { uncertain, .. } => {
                !uncertain
            }
            Self::Problem { problem, uncertain, .. } => !uncertain && problem.is_refusal(),
            Self::TimedOut { .. }
            | Self::ConnectionLost { .. }
            | Self::NotUnderstood { .. }
            | Self::WrongObject { .. }
            | Self::BrokenList { .. }
            | Self::ReplyTooLarge { .. } => false,
        }
    }

    /// Returns whether the server was unreachable or returned a temporary error, so that a retry
    /// may succeed.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::ConnectionLost { .. } => true,
            Self::Problem { problem, .. } => problem.is_temporary(),
            Self::UnexpectedStatus { status, .. } => matches!(status, 429 | 500..),
            _ => false,
        }
    }

    /// Returns the kind of problem that the server reported. Returns `None` if the server did not
    /// return a problem document.
    #[must_use]
    pub fn problem_kind(&self) -> Option<ProblemKind> {
        match self {
            Self::Problem { problem, .. } => Some(problem.kind),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: ProblemKind, uncertain: bool) -> ClientError {
        let problem = Box::new(Problem::new(kind, "because"));
        ClientError::Problem { problem, uncertain }
    }

    #[test]
    fn is_certain_only_after_a_refusal_without_earlier_attempts() {
        assert!(problem(ProblemKind::InvalidRequest, false).certainly_not_done());
        assert!(!problem(ProblemKind::InvalidRequest, true).certainly_not_done());
        assert!(!problem(ProblemKind::Unavailable, false).certainly_not_done());
        assert!(!problem(ProblemKind::Internal, false).certainly_not_done());
        assert!(problem(ProblemKind::StorageFull, false).certainly_not_done());
        assert!(!problem(ProblemKind::StorageFull, true).certainly_not_done());
        let lost = |uncertain| ClientError::Unreachable {
            url: "http://localhost".into(),
            why: "refused".into(),
            uncertain,
        };
        assert!(lost(false).certainly_not_done());
        assert!(!lost(true).certainly_not_done());
        let timeout = ClientError::TimedOut { url: "http://localhost".into(), timeout_ms: 1 };
        assert!(!timeout.certainly_not_done());
    }

    #[test]
    fn a_problem_has_its_kind() {
        let error = problem(ProblemKind::NotFound, false);
        assert_eq!(error.problem_kind(), Some(ProblemKind::NotFound));
    }
}
