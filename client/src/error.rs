//! Errors of API requests.

use cellar_api::{wire::Problem, wire::ProblemKind};

/// Error of an API request. Messages never contain the token.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ClientError {
    /// The URL cannot be a Cellar API URL.
    #[error("`{url}` is not the URL of a Cellar API: {why}")]
    #[diagnostic(
        code(cellar::invalid_url),
        help("write it like https://example.com or http://127.0.0.1:8080")
    )]
    InvalidUrl {
        /// The invalid URL, without credentials.
        url: String,
        /// Reason why the URL is invalid.
        why: String,
    },
    /// The token is empty, too long or contains invalid characters.
    #[error("invalid token: {why}")]
    #[diagnostic(
        code(cellar::invalid_token),
        help(
            "copy the token completely, on one line; --token and CELLAR_TOKEN override the token in \
             .cellar/profile.json"
        )
    )]
    InvalidToken {
        /// Reason why the token is invalid, without the token itself.
        why: &'static str,
    },
    /// The token was not sent, because the connection is not encrypted.
    #[error("refused to send a token to {url}: the connection is not encrypted")]
    #[diagnostic(
        code(cellar::clear_text),
        help("use https; http is allowed only on this machine, such as http://127.0.0.1:8080")
    )]
    ClearText {
        /// API URL.
        url: String,
    },
    /// The HTTP client could not be created.
    #[error("cannot start the HTTP client: {why}")]
    #[diagnostic(
        code(cellar::setup),
        help("check that the CA certificates of the system are installed")
    )]
    Setup {
        /// HTTP library error.
        why: String,
    },
    /// The last attempt could not connect to the server. If `uncertain` is set, an earlier attempt
    /// may have reached it.
    #[error("cannot connect to {url}: {why}")]
    #[diagnostic(
        code(cellar::unreachable),
        help(
            "start the local stack with `cargo run -p synth -- deploy --local`, or check the URL (--url, \
             CELLAR_URL, .cellar/profile.json)"
        )
    )]
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
    #[diagnostic(
        code(cellar::timeout),
        help("the server may be busy or starting; run the command again, which is safe")
    )]
    TimedOut {
        /// Request URL.
        url: String,
        /// The timeout, in milliseconds.
        timeout_ms: u64,
    },
    /// The connection was lost before the response was complete.
    #[error("lost the connection to {url}: {why}")]
    #[diagnostic(code(cellar::connection_lost), help("run the command again, which is safe"))]
    ConnectionLost {
        /// Request URL.
        url: String,
        /// Network error.
        why: String,
    },
    /// The server returned a problem document.
    #[error("{problem}")]
    #[diagnostic(code(cellar::problem))]
    Problem {
        /// The problem document, with control characters escaped.
        problem: Box<Problem>,
        /// Whether the server may have executed an earlier attempt.
        uncertain: bool,
        /// Hint for the user, if available.
        #[help]
        advice: Option<String>,
    },
    /// The server returned an error status without a problem document.
    #[error("{url} returned status {status}: {excerpt}")]
    #[diagnostic(code(cellar::unexpected_status), help("check the URL with `cellar health`"))]
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
    #[diagnostic(
        code(cellar::not_understood),
        help("check the URL, and use the same version of cellar as the server")
    )]
    NotUnderstood {
        /// Request URL.
        url: String,
        /// Description of the unexpected response.
        why: String,
    },
    /// A large log entry's body does not match the entry.
    #[error("the body of a large entry from {url} is invalid: {why}")]
    #[diagnostic(
        code(cellar::wrong_object),
        help("run the command again; if the error persists, the stored object is damaged")
    )]
    WrongObject {
        /// Object store origin.
        url: String,
        /// Reason why the body is invalid.
        why: String,
    },
    /// The response exceeds the maximum length of a Cellar API response.
    #[error("the reply of {url} is longer than {max_bytes} bytes")]
    #[diagnostic(code(cellar::reply_too_large), help("check the URL"))]
    ReplyTooLarge {
        /// Request URL.
        url: String,
        /// Maximum response length, in bytes.
        max_bytes: usize,
    },
}

impl ClientError {
    /// Returns whether it is certain that the server did not execute the request: each attempt
    /// either did not reach the server or was refused.
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
            Self::Problem { problem, uncertain, .. } => {
                !uncertain && (400..500).contains(&problem.status)
            }
            Self::TimedOut { .. }
            | Self::ConnectionLost { .. }
            | Self::NotUnderstood { .. }
            | Self::WrongObject { .. }
            | Self::ReplyTooLarge { .. } => false,
        }
    }

    /// Returns whether a retry may succeed because the server was unreachable or returned a
    /// temporary error.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::ConnectionLost { .. } => true,
            Self::Problem { problem, .. } => problem.is_temporary(),
            Self::UnexpectedStatus { status, .. } => matches!(status, 429 | 500..),
            _ => false,
        }
    }

    /// Returns the problem kind if the server returned a problem document.
    #[must_use]
    pub fn problem_kind(&self) -> Option<ProblemKind> {
        match self {
            Self::Problem { problem, .. } => Some(problem.kind),
            _ => None,
        }
    }
}

/// Returns a hint for the user that is not part of the problem's detail.
pub(crate) fn advice(kind: ProblemKind) -> Option<String> {
    let advice = match kind {
        ProblemKind::Unauthorized => {
            "local stack: run `cargo run -p synth -- deploy --local` again to renew the token; AWS: create a new \
             token with `cargo run -p synth -- token create` and pass it with --token"
        }
        ProblemKind::InvalidLink => {
            "ask an owner for a new link (`cellar links create`), or to share the spreadsheet with you"
        }
        ProblemKind::Forbidden => {
            "ask an owner for a higher role, or use a token that grants it; `cellar details` shows your role"
        }
        ProblemKind::Archived => {
            "an owner can make the spreadsheet editable again with `cellar unarchive`"
        }
        ProblemKind::Deleted => "an owner can recover the spreadsheet with `cellar undelete`",
        ProblemKind::InvalidSharing => "`cellar details` lists the members and share links",
        ProblemKind::PreconditionFailed => {
            "read the details with `cellar details`, and run the command again"
        }
        ProblemKind::NotFound => {
            "check the id; `cellar list` lists the spreadsheets that you can access"
        }
        ProblemKind::SheetNotFound => "`cellar sheets` lists the sheets",
        ProblemKind::RangeTooLarge => "pass a smaller range, such as --range A1:T50",
        ProblemKind::Unavailable => "run the command again in a moment, which is safe",
        ProblemKind::Internal => "see the logs of the API function",
        _ => return None,
    };
    Some(advice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: ProblemKind, uncertain: bool) -> ClientError {
        let problem = Box::new(Problem::new(kind, "because"));
        ClientError::Problem { problem, uncertain, advice: advice(kind) }
    }

    #[test]
    fn is_certain_only_after_a_refusal_without_earlier_attempts() {
        assert!(problem(ProblemKind::InvalidRequest, false).certainly_not_done());
        assert!(!problem(ProblemKind::InvalidRequest, true).certainly_not_done());
        assert!(!problem(ProblemKind::Unavailable, false).certainly_not_done());
        assert!(!problem(ProblemKind::Internal, false).certainly_not_done());
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
    fn the_help_contains_advice() {
        use miette::Diagnostic;
        let error = problem(ProblemKind::NotFound, false);
        assert!(error.help().unwrap().to_string().contains("cellar list"));
        assert_eq!(error.problem_kind(), Some(ProblemKind::NotFound));
        let help = problem(ProblemKind::Unauthorized, false).help().unwrap().to_string();
        for part in ["deploy --local` again", "`cargo run -p synth -- token create`", "--token"] {
            assert!(help.contains(part), "{help}");
        }
    }
}
