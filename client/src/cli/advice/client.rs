//! Advice for errors of API requests.

use std::borrow::Cow;

use cellar_api::wire::ProblemKind;

use super::{CommandAdvice, static_help};
use crate::ClientError;

impl CommandAdvice for ClientError {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidUrl { .. } => "cellar::invalid_url",
            Self::InvalidToken { .. } => "cellar::invalid_token",
            Self::ClearText { .. } => "cellar::clear_text",
            Self::Setup { .. } => "cellar::setup",
            Self::Unreachable { .. } => "cellar::unreachable",
            Self::TimedOut { .. } => "cellar::timeout",
            Self::ConnectionLost { .. } => "cellar::connection_lost",
            Self::Problem { .. } => "cellar::problem",
            Self::UnexpectedStatus { .. } => "cellar::unexpected_status",
            Self::NotUnderstood { .. } => "cellar::not_understood",
            Self::WrongObject { .. } => "cellar::wrong_object",
            Self::BrokenList { .. } => "cellar::broken_list",
            Self::ReplyTooLarge { .. } => "cellar::reply_too_large",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        static_help(match self {
            Self::InvalidUrl { .. } => {
                "write the URL like https://example.com or http://127.0.0.1:8080"
            }
            Self::InvalidToken { .. } => {
                "copy the token completely, on one line; --token and CELLAR_TOKEN override the token in \
                 .cellar/profile.json"
            }
            Self::ClearText { .. } => {
                "use https; http is allowed only on this machine, such as http://127.0.0.1:8080"
            }
            Self::Setup { .. } => "check that the system's CA certificates are installed",
            Self::Unreachable { .. } => {
                "start the local stack with `cargo run -p synth -- deploy --local`, or check the URL (--url, \
                 CELLAR_URL, .cellar/profile.json)"
            }
            Self::TimedOut { .. } => {
                "the server may be busy or starting; it is safe to run the command again"
            }
            Self::ConnectionLost { .. } => "it is safe to run the command again",
            Self::Problem { problem, .. } => {
                return problem_help(problem.kind).and_then(static_help);
            }
            Self::UnexpectedStatus { .. } => "check the URL with `cellar health`",
            Self::NotUnderstood { .. } => {
                "check the URL, and use the same version of cellar as the server"
            }
            Self::WrongObject { .. } => {
                "run the command again; if the error persists, the stored object is damaged"
            }
            Self::BrokenList { .. } => {
                "use the same version of cellar as the server; if the error persists, report it as a bug"
            }
            Self::ReplyTooLarge { .. } => "check the URL",
        })
    }
}

fn problem_help(kind: ProblemKind) -> Option<&'static str> {
    Some(match kind {
        ProblemKind::Unauthorized => {
            "save your token with `cellar login URL`, or pass it with --token. A new one: on a local stack run `cargo run -p synth -- deploy --local` \
             again, on AWS `cargo run -p synth -- token create`. A share link needs no token: pass it with -s 'LINK'"
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
            "check the changed details with `cellar details`, then run the command again"
        }
        ProblemKind::NotFound => {
            "check the id; `cellar list` lists the spreadsheets to which you have access"
        }
        ProblemKind::UnknownPosition => "`cellar history` lists the positions with their times",
        ProblemKind::UnknownRoute => {
            "check the URL (--url, CELLAR_URL, .cellar/profile.json): it ends before /v1. Use the same version of cellar \
             as the server"
        }
        ProblemKind::SheetNotFound => "`cellar sheets` lists the sheets",
        ProblemKind::RangeTooLarge => "pass a smaller range, such as --range A1:T50",
        ProblemKind::Unavailable => "wait a moment, then run the command again; this is safe",
        ProblemKind::StorageFull => {
            "nothing was changed; free some space on the disk, then run the command again. `synth status` shows the \
             folder of the local stack"
        }
        ProblemKind::Internal => "see the logs of the API function",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::Problem;

    use super::*;

    fn help_for(kind: ProblemKind) -> String {
        let problem = Box::new(Problem::new(kind, "because"));
        ClientError::Problem { problem, uncertain: false }.help().unwrap().into_owned()
    }

    #[test]
    fn problems_have_advice() {
        assert!(help_for(ProblemKind::NotFound).contains("cellar list"));
        let help = help_for(ProblemKind::Unauthorized);
        for part in ["deploy --local` again", "`cargo run -p synth -- token create`", "--token"] {
            assert!(help.contains(part), "{help}");
        }
    }
}
