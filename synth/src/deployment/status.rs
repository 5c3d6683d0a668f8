//! Interprets the statuses of CloudFormation stacks.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StackCondition {
    /// The stack can be created, because it does not exist or consists only of change sets.
    Missing,
    Ready,
    /// The first deployment failed. The stack must be deleted before it can be created again.
    Incomplete,
    Busy,
    /// A rollback or deletion failed, or an update failed while rollback was disabled. The user must
    /// repair the stack.
    Stuck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationResult {
    /// The stack was created, updated, or extended by an import.
    Succeeded,
    RolledBack,
    Deleted,
    /// The operation failed and was not rolled back completely.
    Failed,
}

/// If `status` is `None`, the stack does not exist.
pub(crate) fn stack_condition(status: Option<&str>) -> StackCondition {
    match status {
        None | Some("DELETE_COMPLETE" | "REVIEW_IN_PROGRESS") => StackCondition::Missing,
        Some("ROLLBACK_COMPLETE" | "ROLLBACK_FAILED" | "CREATE_FAILED") => {
            StackCondition::Incomplete
        }
        Some(
            "UPDATE_FAILED" | "UPDATE_ROLLBACK_FAILED" | "DELETE_FAILED" | "IMPORT_ROLLBACK_FAILED",
        ) => StackCondition::Stuck,
        Some(status) if status.ends_with("_IN_PROGRESS") => StackCondition::Busy,
        Some(_) => StackCondition::Ready,
    }
}

/// Returns `None` if the operation is in progress. An operation has ended even if the cleanup after
/// a successful update is still in progress.
pub(crate) fn operation_result(status: &str) -> Option<OperationResult> {
    match status {
        "CREATE_COMPLETE"
        | "UPDATE_COMPLETE"
        | "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
        | "IMPORT_COMPLETE" => Some(OperationResult::Succeeded),
        "ROLLBACK_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
            Some(OperationResult::RolledBack)
        }
        "DELETE_COMPLETE" => Some(OperationResult::Deleted),
        status if status.ends_with("_IN_PROGRESS") => None,
        _ => Some(OperationResult::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_every_stack_status() {
        for (status, condition, result) in [
            ("CREATE_COMPLETE", StackCondition::Ready, Some(OperationResult::Succeeded)),
            ("CREATE_FAILED", StackCondition::Incomplete, Some(OperationResult::Failed)),
            ("CREATE_IN_PROGRESS", StackCondition::Busy, None),
            ("DELETE_COMPLETE", StackCondition::Missing, Some(OperationResult::Deleted)),
            ("DELETE_FAILED", StackCondition::Stuck, Some(OperationResult::Failed)),
            ("DELETE_IN_PROGRESS", StackCondition::Busy, None),
            ("REVIEW_IN_PROGRESS", StackCondition::Missing, None),
            ("ROLLBACK_COMPLETE", StackCondition::Incomplete, Some(OperationResult::RolledBack)),
            ("ROLLBACK_FAILED", StackCondition::Incomplete, Some(OperationResult::Failed)),
            ("ROLLBACK_IN_PROGRESS", StackCondition::Busy, None),
            ("UPDATE_COMPLETE", StackCondition::Ready, Some(OperationResult::Succeeded)),
            (
                "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
                StackCondition::Busy,
                Some(OperationResult::Succeeded),
            ),
            ("UPDATE_FAILED", StackCondition::Stuck, Some(OperationResult::Failed)),
            ("UPDATE_IN_PROGRESS", StackCondition::Busy, None),
            ("UPDATE_ROLLBACK_COMPLETE", StackCondition::Ready, Some(OperationResult::RolledBack)),
            ("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", StackCondition::Busy, None),
            ("UPDATE_ROLLBACK_FAILED", StackCondition::Stuck, Some(OperationResult::Failed)),
            ("UPDATE_ROLLBACK_IN_PROGRESS", StackCondition::Busy, None),
            ("IMPORT_COMPLETE", StackCondition::Ready, Some(OperationResult::Succeeded)),
            ("IMPORT_IN_PROGRESS", StackCondition::Busy, None),
            ("IMPORT_ROLLBACK_COMPLETE", StackCondition::Ready, Some(OperationResult::RolledBack)),
            ("IMPORT_ROLLBACK_FAILED", StackCondition::Stuck, Some(OperationResult::Failed)),
        ] {
            assert_eq!(
                (stack_condition(Some(status)), operation_result(status)),
                (condition, result),
                "{status}"
            );
        }
        assert_eq!(stack_condition(None), StackCondition::Missing);
    }
}
