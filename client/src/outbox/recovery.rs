//! Chooses how to recover pending edits after a failed request.

use cellar_api::wire::ProblemKind;

use crate::ClientError;

/// Recovery action for the edits of a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// The edits may have been committed. Keep them and later resend them unchanged.
    Keep,
    /// The edits were certainly not committed. Remove them from the outbox.
    Withdraw,
    /// The edits were certainly not committed, and their base position no longer exists. Recreate
    /// them as edits of a new client with a new base.
    StartOver,
    /// The edits may have been committed but cannot be resent. Move them to a separate file.
    SetAside,
}

/// Chooses the recovery for an edit whose author is waiting for the result. `may_have_been_sent` is
/// set if an earlier request may have reached the server, so that the edit may have been committed.
pub(crate) fn choose_recovery(error: &ClientError, may_have_been_sent: bool) -> Recovery {
    let is_certainly_not_committed = error.certainly_not_done() && !may_have_been_sent;
    let problem_kind = error.problem_kind();
    let is_base_lost = matches!(
        problem_kind,
        Some(ProblemKind::UnknownBase | ProblemKind::MutationGap | ProblemKind::ReloadRequired)
    );
    if is_certainly_not_committed {
        return if is_base_lost { Recovery::StartOver } else { Recovery::Withdraw };
    }
    if is_base_lost || problem_kind.is_some_and(is_permanent) {
        return Recovery::SetAside;
    }
    // A later retry can succeed, for example with another token.
    Recovery::Keep
}

/// Like [`choose_recovery`], but for queued edits, whose author does not wait for the result.
/// Queued edits are kept until they can be sent. If the server permanently refuses them, they are
/// moved to a file. If their base position no longer exists, the caller starts over as a new
/// client. The caller then moves only the edits that may have been committed to a file.
pub(crate) fn choose_queued_recovery(error: &ClientError, may_have_been_sent: bool) -> Recovery {
    let is_permanent_problem = error.problem_kind().is_some_and(is_permanent);
    match choose_recovery(error, may_have_been_sent) {
        Recovery::Withdraw | Recovery::SetAside if is_permanent_problem => Recovery::SetAside,
        Recovery::SetAside => Recovery::StartOver,
        Recovery::Withdraw => Recovery::Keep,
        recovery => recovery,
    }
}

/// Returns whether the problem is permanent, so that the server would refuse the same request
/// again.
fn is_permanent(kind: ProblemKind) -> bool {
    matches!(
        kind,
        ProblemKind::BadRequest
            | ProblemKind::TooLarge
            | ProblemKind::InvalidRequest
            | ProblemKind::UnknownPosition
            | ProblemKind::UnsupportedMediaType
            | ProblemKind::MutationOverlap
            | ProblemKind::InvalidUpload
    )
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::Problem;

    use super::*;

    /// These problems can be resolved with another token or by an owner of the spreadsheet.
    const RESOLVABLE: [ProblemKind; 6] = [
        ProblemKind::Unauthorized,
        ProblemKind::InvalidLink,
        ProblemKind::Forbidden,
        ProblemKind::NotFound,
        ProblemKind::Archived,
        ProblemKind::Deleted,
    ];

    fn problem(kind: ProblemKind, uncertain: bool) -> ClientError {
        let problem = Box::new(Problem::new(kind, "because"));
        ClientError::Problem { problem, uncertain }
    }

    #[test]
    fn starts_over_only_if_the_edit_was_certainly_not_committed() {
        for kind in
            [ProblemKind::UnknownBase, ProblemKind::ReloadRequired, ProblemKind::MutationGap]
        {
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::StartOver);
            assert_eq!(choose_recovery(&problem(kind, true), false), Recovery::SetAside);
            assert_eq!(choose_recovery(&problem(kind, false), true), Recovery::SetAside);
        }
    }

    #[test]
    fn permanently_refused_edits_do_not_block_later_edits() {
        for kind in [
            ProblemKind::InvalidRequest,
            ProblemKind::UnknownPosition,
            ProblemKind::TooLarge,
            ProblemKind::BadRequest,
            ProblemKind::InvalidUpload,
        ] {
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::Withdraw);
            assert_eq!(choose_recovery(&problem(kind, false), true), Recovery::SetAside);
        }
    }

    #[test]
    fn resolvable_problems_keep_an_edit_that_may_have_been_sent() {
        for kind in RESOLVABLE {
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::Withdraw);
            assert_eq!(choose_recovery(&problem(kind, false), true), Recovery::Keep);
            assert_eq!(choose_recovery(&problem(kind, true), false), Recovery::Keep);
        }
        for kind in [ProblemKind::Unavailable, ProblemKind::Internal] {
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::Keep);
        }
    }

    #[test]
    fn queued_edits_are_kept_while_the_server_is_unreachable() {
        let url = || "http://localhost".to_owned();
        let offline = ClientError::Unreachable { url: url(), why: "no".into(), uncertain: false };
        assert_eq!(choose_queued_recovery(&offline, false), Recovery::Keep);
        for kind in RESOLVABLE {
            assert_eq!(choose_queued_recovery(&problem(kind, false), false), Recovery::Keep);
        }
        for kind in [ProblemKind::InvalidRequest, ProblemKind::TooLarge] {
            assert_eq!(choose_queued_recovery(&problem(kind, false), false), Recovery::SetAside);
        }
        let restored = problem(ProblemKind::UnknownBase, false);
        assert_eq!(choose_queued_recovery(&restored, false), Recovery::StartOver);
        assert_eq!(choose_queued_recovery(&restored, true), Recovery::StartOver);
    }

    #[test]
    fn an_unanswered_edit_is_kept_if_it_may_have_been_sent() {
        let url = || "http://localhost".to_owned();
        let unreachable =
            |uncertain| ClientError::Unreachable { url: url(), why: "refused".into(), uncertain };
        assert_eq!(choose_recovery(&unreachable(false), false), Recovery::Withdraw);
        assert_eq!(choose_recovery(&unreachable(true), false), Recovery::Keep);
        assert_eq!(choose_recovery(&unreachable(false), true), Recovery::Keep);
        let timeout = ClientError::TimedOut { url: url(), timeout_ms: 1 };
        assert_eq!(choose_recovery(&timeout, false), Recovery::Keep);
    }
}
