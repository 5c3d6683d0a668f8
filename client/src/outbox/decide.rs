//! What a failed append means for the edits in it.

use cellar_api::wire::ProblemKind;

use crate::ClientError;

/// What is to become of the edits of a failed append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The outcome is open: send them again, unchanged, next time.
    Keep,
    /// They were certainly not made: take them back.
    Withdraw,
    /// They were certainly not made, and their base is gone: make them again on a new base.
    StartOver,
    /// They can never be sent again, but an earlier attempt may have got through.
    SetAside,
}

/// Decides, from the error and whether the same edits had been sent in an earlier run, or may
/// have been: then nobody knows what became of that.
pub(crate) fn verdict(error: &ClientError, sent_before: bool) -> Verdict {
    let certain = error.certainly_not_done() && !sent_before;
    let kind = error.problem_kind();
    match kind {
        Some(ProblemKind::UnknownBase | ProblemKind::MutationGap | ProblemKind::ReloadRequired) => {
            // These refusals come before anything of the request is appended.
            if certain { Verdict::StartOver } else { Verdict::SetAside }
        }
        Some(kind) if !certain && is_for_good(kind) => Verdict::SetAside,
        // Another token, a started cloud, a moment later: the same edits may still get through.
        _ if certain => Verdict::Withdraw,
        _ => Verdict::Keep,
    }
}

/// What becomes of edits that wait until they can be sent, where [`verdict`] is about an edit whose
/// author is told at once that it was not made. They wait on; if their base is gone, who starts over
/// knows which of them are in doubt; and those that are refused for good are set aside.
pub(crate) fn waiting_verdict(error: &ClientError, sent_before: bool) -> Verdict {
    let for_good = error.problem_kind().is_some_and(is_for_good);
    match verdict(error, sent_before) {
        Verdict::Withdraw | Verdict::SetAside if for_good => Verdict::SetAside,
        Verdict::SetAside => Verdict::StartOver,
        Verdict::Withdraw => Verdict::Keep,
        verdict => verdict,
    }
}

/// Whether the same request is refused in the same way whenever it is repeated.
fn is_for_good(kind: ProblemKind) -> bool {
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

    /// What another token, or an owner, changes.
    const MAY_CHANGE: [ProblemKind; 6] = [
        ProblemKind::Unauthorized,
        ProblemKind::InvalidLink,
        ProblemKind::Forbidden,
        ProblemKind::NotFound,
        ProblemKind::Archived,
        ProblemKind::Deleted,
    ];

    fn problem(kind: ProblemKind, uncertain: bool) -> ClientError {
        let problem = Box::new(Problem::new(kind, "because"));
        ClientError::Problem { problem, uncertain, advice: None }
    }

    #[test]
    fn an_edit_is_made_again_only_if_it_certainly_has_not_got_through() {
        for kind in
            [ProblemKind::UnknownBase, ProblemKind::ReloadRequired, ProblemKind::MutationGap]
        {
            assert_eq!(verdict(&problem(kind, false), false), Verdict::StartOver);
            assert_eq!(verdict(&problem(kind, true), false), Verdict::SetAside);
            assert_eq!(verdict(&problem(kind, false), true), Verdict::SetAside);
        }
    }

    #[test]
    fn what_can_never_succeed_does_not_block_later_edits() {
        for kind in [
            ProblemKind::InvalidRequest,
            ProblemKind::UnknownPosition,
            ProblemKind::TooLarge,
            ProblemKind::BadRequest,
            ProblemKind::InvalidUpload,
        ] {
            assert_eq!(verdict(&problem(kind, false), false), Verdict::Withdraw);
            assert_eq!(verdict(&problem(kind, false), true), Verdict::SetAside);
        }
    }

    #[test]
    fn what_may_change_keeps_an_edit_that_may_have_been_sent() {
        for kind in MAY_CHANGE {
            assert_eq!(verdict(&problem(kind, false), false), Verdict::Withdraw);
            assert_eq!(verdict(&problem(kind, false), true), Verdict::Keep);
            assert_eq!(verdict(&problem(kind, true), false), Verdict::Keep);
        }
        for kind in [ProblemKind::Unavailable, ProblemKind::Internal] {
            assert_eq!(verdict(&problem(kind, false), false), Verdict::Keep);
        }
    }

    #[test]
    fn edits_that_wait_are_not_taken_back_because_nobody_answers() {
        let url = || "http://localhost".to_owned();
        let offline = ClientError::Unreachable { url: url(), why: "no".into(), uncertain: false };
        assert_eq!(waiting_verdict(&offline, false), Verdict::Keep);
        for kind in MAY_CHANGE {
            assert_eq!(waiting_verdict(&problem(kind, false), false), Verdict::Keep);
        }
        for kind in [ProblemKind::InvalidRequest, ProblemKind::TooLarge] {
            assert_eq!(waiting_verdict(&problem(kind, false), false), Verdict::SetAside);
        }
        let restored = problem(ProblemKind::UnknownBase, false);
        assert_eq!(waiting_verdict(&restored, false), Verdict::StartOver);
        assert_eq!(waiting_verdict(&restored, true), Verdict::StartOver);
    }

    #[test]
    fn without_an_answer_it_depends_on_whether_anything_was_sent() {
        let url = || "http://localhost".to_owned();
        let unreachable =
            |uncertain| ClientError::Unreachable { url: url(), why: "refused".into(), uncertain };
        assert_eq!(verdict(&unreachable(false), false), Verdict::Withdraw);
        assert_eq!(verdict(&unreachable(true), false), Verdict::Keep);
        assert_eq!(verdict(&unreachable(false), true), Verdict::Keep);
        let timeout = ClientError::TimedOut { url: url(), timeout_ms: 1 };
        assert_eq!(verdict(&timeout, false), Verdict::Keep);
    }
}
