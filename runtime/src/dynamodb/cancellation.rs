//! The reasons for which DynamoDB cancels a transaction.

use aws_sdk_dynamodb::types::CancellationReason;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Codes after which the same transaction may succeed.
const TEMPORARY_CODES: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

/// Returns whether the condition of an item failed.
pub(super) fn is_condition_failed(reason: &CancellationReason) -> bool {
    reason.code() == Some(CONDITION_FAILED)
}

/// Returns whether the transaction may succeed when it is repeated.
pub(super) fn is_temporary(reason: &CancellationReason) -> bool {
    reason.code().is_some_and(|code| TEMPORARY_CODES.contains(&code))
}
