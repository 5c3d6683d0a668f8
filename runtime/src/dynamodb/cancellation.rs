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

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        let reason = |code: &&str| CancellationReason::builder().code(*code).build();
        codes.iter().map(reason).collect()
    }

    #[test]
    fn a_throttled_transaction_is_temporary() {
        for code in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
            let error = temporary_error(&reasons(&["None", code])).unwrap();
            assert!(error.temporary, "{code}");
        }
        assert!(temporary_error(&reasons(&["None", CONDITION_FAILED])).is_none());
    }
}
