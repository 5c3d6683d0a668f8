//! Cancellation reasons of DynamoDB transactions.

use aws_sdk_dynamodb::types::CancellationReason;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Cancellation codes after which a retry of the transaction may succeed.
const TEMPORARY_CODES: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

/// Returns whether an item's condition check failed.
pub(super) fn is_condition_failed(reason: &CancellationReason) -> bool {
    reason.code() == Some(CONDITION_FAILED)
}

/// Returns whether a retry of the transaction may succeed.
pub(super) fn is_temporary(reason: &CancellationReason) -> bool {
    reason.code().is_some_and(|code| TEMPORARY_CODES.contains(&code))
}
