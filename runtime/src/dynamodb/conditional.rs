//! Sends writes that DynamoDB performs only if a condition is met.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use cellar_base::record::{Item, item_bytes};
use cellar_engine::ports::{PortError, WriteOutcome};

use super::capacity::{CapacityMeter, ReportsCapacity, is_condition_failed, write_units};
use super::items::to_sdk_item;
use crate::outcome::port_error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionalWrite {
    Written,
    ConditionFailed,
}

/// If the condition was not met, DynamoDB bills the write without reporting its cost, so
/// `rejected_units` are counted.
pub(super) fn count_conditional_write<T, E>(
    capacity: &CapacityMeter,
    result: Result<T, SdkError<E>>,
    rejected_units: usize,
) -> Result<ConditionalWrite, PortError>
where
    T: ReportsCapacity,
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    match capacity.count(result) {
        Ok(_) => Ok(ConditionalWrite::Written),
        Err(error) if is_condition_failed(&error) => {
            capacity.count_rejected(rejected_units);
            Ok(ConditionalWrite::ConditionFailed)
        }
        Err(error) => Err(port_error(&error)),
    }
}

/// `request` already contains the table name and the condition of the put.
pub(super) async fn put_record(
    capacity: &CapacityMeter,
    request: PutItemFluentBuilder,
    record: Item,
) -> WriteOutcome {
    let record_units = write_units(item_bytes(&record));
    let put = request
        .set_item(Some(to_sdk_item(record)))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    match count_conditional_write(capacity, put.send().await, record_units) {
        Ok(ConditionalWrite::Written) => WriteOutcome::Written,
        Ok(ConditionalWrite::ConditionFailed) => WriteOutcome::Refused,
        Err(error) if error.temporary => WriteOutcome::Unknown(error),
        Err(error) => WriteOutcome::Failed(error),
    }
}
