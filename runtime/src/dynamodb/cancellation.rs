//! Classifies the cancellation reasons of DynamoDB transactions.

use aws_sdk_dynamodb::types::CancellationReason;
use cellar_engine::ports::PortError;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Cancellation reason codes of temporary failures, for which a retry may succeed.
const TEMPORARY_CODES: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

/// Returns whether the reason is a failed condition check.
pub(super) fn is_condition_failed(reason: &CancellationReason) -> bool {
    reason.code() == Some(CONDITION_FAILED)
}

/// Returns the error of a transaction that was cancelled for a temporary reason, so that retrying
/// the transaction may succeed. Returns `None` if all reasons are permanent.
pub(super) fn temporary_error(reasons: &[CancellationReason]) -> Option<PortError> {
    let is_temporary = |reason: &CancellationReason| {
        reason.code().is_some_and(|code| TEMPORARY_CODES.contains(&code))
    };
    if !reasons.iter().any(is_temporary) {
        return None;
    }
    Some(PortError::temporary("the transaction conflicts with another one"))
}
