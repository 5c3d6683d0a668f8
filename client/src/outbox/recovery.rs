//! Decides what happens to pending edits after a failed request.

use cellar_api::wire::ProblemKind;

use crate::ClientError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Keep the edits and resend them unchanged later, because they may have been committed.
    KeepAndResend,
    /// Remove the edits, because they were certainly not committed.
    RemoveFromOutbox,
    /// Recreate the edits as edits of a new client with a new base. They were certainly not
    /// committed, and their base position no longer exists.
    RecreateAsNewClient,
    /// Move the edits to a separate file for the user. They may have been committed, but they
    /// cannot be resent.
    MoveToFile,
}

/// Returns the recovery for an edit whose author is waiting for the result. `may_have_been_sent`
/// states whether an earlier request may have reached the server, in which case the edit may have
/// been committed.
pub(crate) fn choose_recovery(error: &ClientError, may_have_been_sent: bool) -> Recovery {
    let may_be_committed = may_have_been_sent || !error.certainly_not_done();
    let is_base_lost = matches!(
        error.problem_kind(),
        Some(ProblemKind::UnknownBase | ProblemKind::MutationGap | ProblemKind::ReloadRequired)
    );
    let is_resend_futile = is_base_lost || error.problem_kind().is_some_and(is_permanent);
    match (may_be_committed, is_base_lost) {
        (false, true) => Recovery::RecreateAsNewClient,
        (false, false) => Recovery::RemoveFromOutbox,
        (true, _) if is_resend_futile => Recovery::MoveToFile,
        // The same request may succeed later, for example with another token.
        (true, _) => Recovery::KeepAndResend,
    }
}

/// Returns the recovery for queued edits, whose author is not waiting for the result.
///
/// Queued edits are kept until they can be sent. If the server refuses them permanently, they are
/// moved to a file. If their base position no longer exists, the caller recreates them as a new
/// client. Those that may have been committed must then be moved to a file.
pub(crate) fn choose_queued_recovery(error: &ClientError, may_have_been_sent: bool) -> Recovery {
    let is_permanent_problem = error.problem_kind().is_some_and(is_permanent);
    match choose_recovery(error, may_have_been_sent) {
        Recovery::RemoveFromOutbox | Recovery::MoveToFile if is_permanent_problem => {
            Recovery::MoveToFile
        }
        Recovery::RemoveFromOutbox | Recovery::KeepAndResend => Recovery::KeepAndResend,
        Recovery::MoveToFile | Recovery::RecreateAsNewClient => Recovery::RecreateAsNewClient,
    }
}

/// Returns whether the server would refuse the same request again.
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

    /// These problems are not permanent: another token may have access, or an owner can grant
    /// access.
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
            assert_eq!(
                choose_recovery(&problem(kind, false), false),
                Recovery::RecreateAsNewClient
            );
            assert_eq!(choose_recovery(&problem(kind, true), false), Recovery::MoveToFile);
            assert_eq!(choose_recovery(&problem(kind, false), true), Recovery::MoveToFile);
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
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::RemoveFromOutbox);
            assert_eq!(choose_recovery(&problem(kind, false), true), Recovery::MoveToFile);
        }
    }

    #[test]
    fn resolvable_problems_keep_an_edit_that_may_have_been_sent() {
        for kind in RESOLVABLE {
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::RemoveFromOutbox);
            assert_eq!(choose_recovery(&problem(kind, false), true), Recovery::KeepAndResend);
            assert_eq!(choose_recovery(&problem(kind, true), false), Recovery::KeepAndResend);
        }
        let full = problem(ProblemKind::StorageFull, false);
        assert_eq!(choose_recovery(&full, false), Recovery::RemoveFromOutbox);
        assert_eq!(choose_recovery(&full, true), Recovery::KeepAndResend);
        assert_eq!(choose_queued_recovery(&full, false), Recovery::KeepAndResend);
        for kind in [ProblemKind::Unavailable, ProblemKind::Internal] {
            assert_eq!(choose_recovery(&problem(kind, false), false), Recovery::KeepAndResend);
        }
    }

    #[test]
    fn queued_edits_are_kept_while_the_server_is_unreachable() {
        let url = || "http://localhost".to_owned();
        let offline = ClientError::Unreachable { url: url(), why: "no".into(), uncertain: false };
        assert_eq!(choose_queued_recovery(&offline, false), Recovery::KeepAndResend);
        for kind in RESOLVABLE {
            assert_eq!(
                choose_queued_recovery(&problem(kind, false), false),
                Recovery::KeepAndResend
            );
        }
        for kind in [ProblemKind::InvalidRequest, ProblemKind::TooLarge] {
            assert_eq!(choose_queued_recovery(&problem(kind, false), false), Recovery::MoveToFile);
        }
        let restored = problem(ProblemKind::UnknownBase, false);
        assert_eq!(choose_queued_recovery(&restored, false), Recovery::RecreateAsNewClient);
        assert_eq!(choose_queued_recovery(&restored, true), Recovery::RecreateAsNewClient);
    }

    #[test]
    fn an_unanswered_edit_is_kept_if_it_may_have_been_sent() {
        let url = || "http://localhost".to_owned();
        let unreachable =
            |uncertain| ClientError::Unreachable { url: url(), why: "refused".into(), uncertain };
        assert_eq!(choose_recovery(&unreachable(false), false), Recovery::RemoveFromOutbox);
        assert_eq!(choose_recovery(&unreachable(true), false), Recovery::KeepAndResend);
        assert_eq!(choose_recovery(&unreachable(false), true), Recovery::KeepAndResend);
        let timeout = ClientError::TimedOut { url: url(), timeout_ms: 1 };
        assert_eq!(choose_recovery(&timeout, false), Recovery::KeepAndResend);
    }
}
