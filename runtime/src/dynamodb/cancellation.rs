//! Interprets the reasons why DynamoDB cancelled a transaction.

use aws_sdk_dynamodb::types::CancellationReason;
use cellar_engine::ports::PortError;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Reason codes of cancelled transactions that may succeed if they are retried.
const TEMPORARY_CODES: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

pub(super) fn is_condition_failed(reason: &CancellationReason) -> bool {
    reason.code() == Some(CONDITION_FAILED)
}

/// Returns `None` if all reasons are permanent.
pub(super) fn temporary_error(reasons: &[CancellationReason]) -> Option<PortError> {
    let is_temporary = |reason: &CancellationReason| {
        reason.code().is_some_and(|code| TEMPORARY_CODES.contains(&code))
    };
    if !reasons.iter().any(is_temporary) {
        return None;
    }
    Some(PortError::temporary("the transaction conflicts with another one"))
}
