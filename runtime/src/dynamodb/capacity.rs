//! Counts the read and write request units by which DynamoDB bills requests.

use std::sync::Arc;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemOutput;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemOutput;
use aws_sdk_dynamodb::operation::get_item::GetItemOutput;
use aws_sdk_dynamodb::operation::put_item::PutItemOutput;
use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsOutput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemOutput;
use aws_sdk_dynamodb::types::ConsumedCapacity;
use cellar_engine::meter::Meter;
use cellar_engine::ports::PortError;

use crate::outcome::port_error;

/// Number of write request units that are counted for an item of unknown size.
pub(super) const MIN_WRITE_UNITS: usize = 1;
const WRITE_UNIT_BYTES: usize = 1_024;
/// Number of times that DynamoDB bills each item of a transaction: once to prepare and once to
/// commit the write.
pub(super) const TRANSACTION_PHASES: usize = 2;

/// The request must set `ReturnConsumedCapacity::Total`.
pub(super) trait ReportsCapacity {
    fn consumed_units(&self) -> ConsumedUnits;
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConsumedUnits {
    read: f64,
    write: f64,
}

macro_rules! reports_read_units {
    ($($output:ty),+) => {
        $(impl ReportsCapacity for $output {
            fn consumed_units(&self) -> ConsumedUnits {
                ConsumedUnits { read: total_units(self.consumed_capacity.as_slice()), write: 0.0 }
            }
        })+
    };
}

macro_rules! reports_write_units {
    ($($output:ty),+) => {
        $(impl ReportsCapacity for $output {
            fn consumed_units(&self) -> ConsumedUnits {
                split_write_units(self.consumed_capacity.as_slice())
            }
        })+
    };
}

reports_read_units!(GetItemOutput, QueryOutput, ScanOutput);
reports_write_units!(PutItemOutput, UpdateItemOutput, DeleteItemOutput);

impl ReportsCapacity for BatchWriteItemOutput {
    fn consumed_units(&self) -> ConsumedUnits {
        split_write_units(self.consumed_capacity())
    }
}

impl ReportsCapacity for TransactWriteItemsOutput {
    fn consumed_units(&self) -> ConsumedUnits {
        split_write_units(self.consumed_capacity())
    }
}

fn total_units(consumed: &[ConsumedCapacity]) -> f64 {
    consumed.iter().filter_map(ConsumedCapacity::capacity_units).sum()
}

/// If a transaction is repeated, DynamoDB recognizes its idempotency token, and the repetition
/// consumes read units instead of write units.
fn split_write_units(consumed: &[ConsumedCapacity]) -> ConsumedUnits {
    let read = consumed.iter().filter_map(ConsumedCapacity::read_capacity_units).sum();
    ConsumedUnits { read, write: total_units(consumed) - read }
}

#[derive(Debug, Clone)]
pub(super) struct CapacityMeter {
    meter: Arc<Meter>,
}

impl CapacityMeter {
    pub(super) fn new(meter: Arc<Meter>) -> Self {
        Self { meter }
    }

    /// Returns the result unchanged.
    pub(super) fn count<T: ReportsCapacity, E>(&self, result: Result<T, E>) -> Result<T, E> {
        if let Ok(reply) = &result {
            let units = reply.consumed_units();
            self.meter.count(units.read, units.write);
        }
        result
    }

    pub(super) fn count_reply<T, E>(&self, result: Result<T, SdkError<E>>) -> Result<T, PortError>
    where
        T: ReportsCapacity,
        E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
    {
        self.count(result).map_err(|error| port_error(&error))
    }

    /// Counts a write whose condition was not met. DynamoDB bills such a write, although the error
    /// response does not contain the request units.
    pub(super) fn count_rejected(&self, write_units: usize) {
        self.meter.count(0.0, f64::from(u32::try_from(write_units).unwrap_or(u32::MAX)));
    }
}

pub(super) fn write_units(bytes: usize) -> usize {
    bytes.div_ceil(WRITE_UNIT_BYTES)
}

pub(super) fn is_condition_failed<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    code == Some("ConditionalCheckFailedException")
}
