//! What a stack's status means for a deployment.

/// What can be done with a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// There is none: it is made.
    New,
    /// It is changed.
    Update,
    /// It was never there whole: it has to be deleted first.
    NeverMade,
    /// Somebody else changes it now.
    Busy,
    /// CloudFormation gave up half-way.
    Stuck,
}

/// How something that was done with a stack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As it was wanted.
    Done,
    /// It is as it was before.
    RolledBack,
    /// It is deleted.
    Deleted,
    /// It is half done.
    Failed,
}

/// What can be done with a stack that has this status; `None`: there is no stack.
pub(crate) fn ground(status: Option<&str>) -> Ground {
    match status {
        None | Some("DELETE_COMPLETE" | "REVIEW_IN_PROGRESS") => Ground::New,
        Some("ROLLBACK_COMPLETE" | "ROLLBACK_FAILED" | "CREATE_FAILED") => Ground::NeverMade,
        Some("UPDATE_ROLLBACK_FAILED" | "DELETE_FAILED" | "IMPORT_ROLLBACK_FAILED") => {
            Ground::Stuck
        }
        Some(status) if status.ends_with("_IN_PROGRESS") => Ground::Busy,
        Some(_) => Ground::Update,
    }
}

/// How it ended; `None`: it has not. What is cleaned up behind a finished update is no part of it.
pub(crate) fn end(status: &str) -> Option<End> {
    match status {
        "CREATE_COMPLETE"
        | "UPDATE_COMPLETE"
        | "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
        | "IMPORT_COMPLETE" => Some(End::Done),
        "ROLLBACK_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
            Some(End::RolledBack)
        }
        "DELETE_COMPLETE" => Some(End::Deleted),
        status if status.ends_with("_IN_PROGRESS") => None,
        _ => Some(End::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_stack_has_its_meaning() {
        for (status, expected, ended) in [
            ("CREATE_COMPLETE", Ground::Update, Some(End::Done)),
            ("CREATE_FAILED", Ground::NeverMade, Some(End::Failed)),
            ("CREATE_IN_PROGRESS", Ground::Busy, None),
            ("DELETE_COMPLETE", Ground::New, Some(End::Deleted)),
            ("DELETE_FAILED", Ground::Stuck, Some(End::Failed)),
            ("DELETE_IN_PROGRESS", Ground::Busy, None),
            ("REVIEW_IN_PROGRESS", Ground::New, None),
            ("ROLLBACK_COMPLETE", Ground::NeverMade, Some(End::RolledBack)),
            ("ROLLBACK_FAILED", Ground::NeverMade, Some(End::Failed)),
            ("ROLLBACK_IN_PROGRESS", Ground::Busy, None),
            ("UPDATE_COMPLETE", Ground::Update, Some(End::Done)),
            ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", Ground::Busy, Some(End::Done)),
            ("UPDATE_FAILED", Ground::Update, Some(End::Failed)),
            ("UPDATE_IN_PROGRESS", Ground::Busy, None),
            ("UPDATE_ROLLBACK_COMPLETE", Ground::Update, Some(End::RolledBack)),
            ("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", Ground::Busy, None),
            ("UPDATE_ROLLBACK_FAILED", Ground::Stuck, Some(End::Failed)),
            ("UPDATE_ROLLBACK_IN_PROGRESS", Ground::Busy, None),
            ("IMPORT_COMPLETE", Ground::Update, Some(End::Done)),
            ("IMPORT_IN_PROGRESS", Ground::Busy, None),
            ("IMPORT_ROLLBACK_COMPLETE", Ground::Update, Some(End::RolledBack)),
            ("IMPORT_ROLLBACK_FAILED", Ground::Stuck, Some(End::Failed)),
        ] {
            assert_eq!((ground(Some(status)), end(status)), (expected, ended), "{status}");
        }
        assert_eq!(ground(None), Ground::New);
    }
}
