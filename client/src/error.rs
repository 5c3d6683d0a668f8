//! Why a call of the API failed.

use cellar_api::{wire::Problem, wire::ProblemKind};

/// Why a call failed: one variant for each cause, each with what to do about it.
///
/// No text in here ever holds the token.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ClientError {
    /// The URL cannot be one of a Cellar API.
    #[error("`{url}` is not the URL of a Cellar API: {why}")]
    #[diagnostic(
        code(cellar::invalid_url),
        help("write it like https://example.com or http://127.0.0.1:8080")
    )]
    InvalidUrl {
        /// The URL that was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The token cannot be sent as it is.
    #[error("invalid token: {why}")]
    #[diagnostic(
        code(cellar::invalid_token),
        help(
            "copy the whole token, on one line; without --token and CELLAR_TOKEN, the token of the profile is \
             used"
        )
    )]
    InvalidToken {
        /// What is wrong with it; never the token itself.
        why: &'static str,
    },
    /// The token would go over the network in clear text.
    #[error("refused to send a token to {url}: it would be readable on the network")]
    #[diagnostic(
        code(cellar::clear_text),
        help("use https; http is allowed only on this machine, such as http://127.0.0.1:8080")
    )]
    ClearText {
        /// The URL that was given.
        url: String,
    },
    /// The HTTP client could not be set up.
    #[error("cannot start the HTTP client: {why}")]
    #[diagnostic(
        code(cellar::setup),
        help("check that the CA certificates of the system are installed")
    )]
    Setup {
        /// What the HTTP library says.
        why: String,
    },
    /// No connection: every attempt failed before the request was sent, unless `uncertain`.
    #[error("cannot connect to {url}: {why}")]
    #[diagnostic(
        code(cellar::unreachable),
        help(
            "start the local stack with `cargo run -p synth -- deploy --local`, or check the URL"
        )
    )]
    Unreachable {
        /// The URL that was called.
        url: String,
        /// What the network says.
        why: String,
        /// An earlier attempt of this request may have got through.
        uncertain: bool,
    },
    /// Connected, but no answer in time.
    #[error("{url} did not respond within {timeout_ms} ms")]
    #[diagnostic(
        code(cellar::timeout),
        help("the server may be busy or starting; run the same command again, which is safe")
    )]
    TimedOut {
        /// The URL that was called.
        url: String,
        /// How long it was waited for, milliseconds.
        timeout_ms: u64,
    },
    /// The connection broke before the answer was complete.
    #[error("lost the connection to {url}: {why}")]
    #[diagnostic(code(cellar::connection_lost), help("run the same command again, which is safe"))]
    ConnectionLost {
        /// The URL that was called.
        url: String,
        /// What the network says.
        why: String,
    },
    /// The server refused, and says why.
    #[error("{problem}")]
    #[diagnostic(code(cellar::problem))]
    Problem {
        /// What the server says, control characters escaped.
        problem: Box<Problem>,
        /// An earlier attempt of this request may have got through.
        uncertain: bool,
        /// What to do.
        #[help]
        advice: Option<String>,
    },
    /// An error status without a problem that this client understands.
    #[error("{url} returned status {status}: {excerpt}")]
    #[diagnostic(code(cellar::unexpected_status), help("check the URL with `cellar health`"))]
    UnexpectedStatus {
        /// The URL that was called.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of the answer, control characters escaped.
        excerpt: String,
        /// An earlier attempt of this request, or this one, may have got through.
        uncertain: bool,
    },
    /// A success whose body is not what this client expects.
    #[error("unexpected reply from {url}: {why}")]
    #[diagnostic(
        code(cellar::not_understood),
        help("check the URL, and that server and client have the same version")
    )]
    NotUnderstood {
        /// The URL that was called.
        url: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// An object that is not what its entry says.
    #[error("the object of a large entry at {url} is invalid: {why}")]
    #[diagnostic(
        code(cellar::wrong_object),
        help("read the entry again; if the error persists, the object is damaged")
    )]
    WrongObject {
        /// Where it is.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// An answer longer than any answer of a Cellar API.
    #[error("the reply of {url} is longer than {max_bytes} bytes")]
    #[diagnostic(code(cellar::reply_too_large), help("check the URL"))]
    ReplyTooLarge {
        /// The URL that was called.
        url: String,
        /// The bytes that are read at most.
        max_bytes: usize,
    },
}

impl ClientError {
    /// Whether nothing of the request has been done, for certain: it never arrived, or every
    /// attempt of it that arrived was refused.
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

    /// Whether nobody answers, or only to say that it cannot be answered now: it may pass by itself.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::ConnectionLost { .. } => true,
            Self::Problem { problem, .. } => problem.is_temporary(),
            Self::UnexpectedStatus { status, .. } => matches!(status, 429 | 500..),
            _ => false,
        }
    }

    /// The kind of problem, if the server gave one.
    #[must_use]
    pub fn problem_kind(&self) -> Option<ProblemKind> {
        match self {
            Self::Problem { problem, .. } => Some(problem.kind),
            _ => None,
        }
    }
}

/// What to do about a problem, beyond what the server says itself.
pub(crate) fn advice(kind: ProblemKind) -> Option<String> {
    let advice = match kind {
        ProblemKind::Unauthorized => {
            "for the local stack, run `cargo run -p synth -- deploy --local` again to renew the token; for a \
             stack in AWS, create one with `cargo run -p synth -- token create` and pass it with --token, \
             beside --url"
        }
        ProblemKind::InvalidLink => {
            "ask an owner for a new link (`cellar links create`), or to share the spreadsheet with you"
        }
        ProblemKind::Forbidden => {
            "ask an owner for a higher role, or use a token that grants it; `cellar details` shows your role"
        }
        ProblemKind::Archived => "an owner can make it editable again: cellar unarchive",
        ProblemKind::Deleted => "an owner can recover it: cellar undelete",
        ProblemKind::InvalidSharing => "`cellar details` lists the members and share links",
        ProblemKind::PreconditionFailed => {
            "read the details with `cellar details`, and run the command again"
        }
        ProblemKind::NotFound => {
            "check the id (`-s`), and that the spreadsheet is shared with you; `cellar list` lists the \
             spreadsheets that you can access"
        }
        ProblemKind::SheetNotFound => "`cellar sheets` lists the sheets",
        ProblemKind::RangeTooLarge => "pass a smaller range, such as --range A1:T50",
        ProblemKind::Unavailable => "run the same command again in a moment, which is safe",
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
    fn only_a_refusal_without_an_earlier_attempt_is_certain() {
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
    fn the_help_says_what_to_do() {
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
