//! Classifies the cancellation reasons of DynamoDB transactions.

use aws_sdk_dynamodb::types::CancellationReason;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Cancellation reason codes of temporary failures, for which a retry may succeed.
const TEMPORARY_CODES: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

/// Returns whether the reason is a failed condition check.
pub(super) fn is_condition_failed(reason: &CancellationReason) -> bool {
    reason.code() == Some(CONDITION_FAILED)
}

/// Returns whether retrying the transaction may succeed.
pub(super) fn is_temporary(reason: &CancellationReason) -> bool {
    reason.code().is_some_and(|code| TEMPORARY_CODES.contains(&code))
}
