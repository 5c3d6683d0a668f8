//! The EventStream table.

mod scan;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update as UpdateInTransaction,
};
use cellar_base::limits::TIP_INDEX;
use cellar_base::record::{Attribute, item_bytes};
use cellar_base::table_attributes::{
    APPENDED, BATCH_BYTES, ETAG, EVENTS, KINDS, NEXT_INDEX, STREAM, STREAM_INDEX, UNFOLDS,
};
use cellar_catalog::records::stream::{
    decode_event_batch, decode_tip, encode_event_batch, encode_events, encode_kinds, encode_tip,
    encode_unfolds, key,
};
use cellar_catalog::stream::{Etag, EventBatch, StreamName, Tip, Update};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PortError, ReadConsistency, StreamOutcome, Streams};

use super::cancellation;
use super::capacity::{CapacityMeter, TRANSACTION_PHASES, write_units};
use super::items::{SdkItem, decode_item, from_sdk_item, to_sdk_item, to_sdk_value};
use crate::outcome::port_error;

/// Error codes of throttled requests, which DynamoDB has not executed.
const THROTTLING_CODES: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "ThrottlingException",
];

#[derive(Debug, Clone)]
pub struct DynamoStreams {
    client: Client,
    table_name: String,
    capacity: CapacityMeter,
}

/// The sizes that determine how DynamoDB bills a rejected write. The write had a condition on the
/// tip, which is the item with the newest events of a stream.
struct RejectedWrite {
    /// Size in bytes of the tip that the write would have stored.
    new_tip_bytes: usize,
    /// How often DynamoDB bills the tip: twice for a transaction, otherwise once.
    phase_count: usize,
    /// Write request units of the event batch that the write would have stored.
    batch_units: usize,
}

impl DynamoStreams {
    /// Uses the EventStream table with the given name. All requests are counted on `meter`.
    #[must_use]
    pub fn named(table_name: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table_name: table_name.into(), capacity: CapacityMeter::new(meter) }
    }

    /// Counts a write that DynamoDB rejected because the tip (the item with the newest events) has
    /// changed. Returns the outcome, which contains the current tip. DynamoDB bills the larger of
    /// the new and the current tip.
    fn outcome_of_rejected_write(
        &self,
        write: &RejectedWrite,
        current_tip_item: Option<&SdkItem>,
    ) -> StreamOutcome {
        let current_bytes = match current_tip_item.map(from_sdk_item) {
            Some(Ok(record)) => item_bytes(&record),
            Some(Err(_)) | None => 0,
        };
        let tip_units = write_units(write.new_tip_bytes.max(current_bytes));
        self.capacity.count_rejected(tip_units * write.phase_count + write.batch_units);
        let Some(current_tip_item) = current_tip_item else {
            return StreamOutcome::Refused { tip: None };
        };
        match decode_item(current_tip_item, decode_tip) {
            Ok(tip) => StreamOutcome::Refused { tip: Some(Arc::new(tip)) },
            Err(error) => StreamOutcome::Failed(error),
        }
    }

    /// Returns the outcome of a cancelled transaction that was to move events from the tip (the
    /// item with the newest events) to an event batch. `reasons` contains the cancellation reason
    /// for the event batch, then the reason for the tip.
    ///
    /// DynamoDB does not report the cost of a cancelled transaction. The cost of a successful
    /// transaction is counted, which is an upper bound.
    fn outcome_of_cancelled_split_off(
        &self,
        reasons: &[CancellationReason],
        batch: &EventBatch,
        tip: &Tip,
        error: PortError,
    ) -> StreamOutcome {
        let (batch_reason, tip_reason) = (reasons.first(), reasons.get(1));
        let batch_units = write_units(item_bytes(&encode_event_batch(batch))) * TRANSACTION_PHASES;
        let new_tip_bytes = item_bytes(&encode_tip(tip));
        if let Some(tip_reason) = tip_reason
            && cancellation::is_condition_failed(tip_reason)
        {
            let phase_count = TRANSACTION_PHASES;
            let write = RejectedWrite { new_tip_bytes, phase_count, batch_units };
            return self.outcome_of_rejected_write(&write, tip_reason.item());
        }
        let all_units = batch_units + write_units(new_tip_bytes) * TRANSACTION_PHASES;
        if let Some(conflict) = cancellation::temporary_error(reasons) {
            self.capacity.count_rejected(all_units);
            return StreamOutcome::Throttled(conflict);
        }
        if batch_reason.is_some_and(cancellation::is_condition_failed) {
            self.capacity.count_rejected(all_units);
            return StreamOutcome::BatchExists;
        }
        StreamOutcome::Failed(error)
    }
}

struct TipUpdate {
    expression: String,
    names: HashMap<String, String>,
    values: SdkItem,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EventWrite {
    Append,
    /// The same transaction moves the replaced events to an event batch.
    Replace,
}

const ETAG_CONDITION: &str = "#etag = :expected";

impl TipUpdate {
    fn build(update: &Update, event_write: EventWrite) -> Self {
        let Update { expected, tip, appended } = update;
        let attributes = [
            (BATCH_BYTES, Attribute::Number(tip.batch_bytes)),
            (ETAG, etag_attribute(tip.etag)),
            (NEXT_INDEX, Attribute::Number(tip.next)),
            (APPENDED, Attribute::Number(tip.appended)),
            (UNFOLDS, encode_unfolds(&tip.unfolds)),
            (KINDS, encode_kinds(appended)),
            (EVENTS, encode_events(appended)),
        ];
        let mut assignments = Vec::new();
        let mut names = HashMap::new();
        let mut values = SdkItem::new();
        for (name, value) in attributes {
            let is_event_list = name == KINDS || name == EVENTS;
            if is_event_list && event_write == EventWrite::Append {
                assignments.push(format!("#{name} = list_append(#{name}, :{name})"));
            } else {
                assignments.push(format!("#{name} = :{name}"));
            }
            names.insert(format!("#{name}"), name.to_owned());
            values.insert(format!(":{name}"), to_sdk_value(value));
        }
        values.insert(":expected".to_owned(), to_sdk_value(etag_attribute(*expected)));
        Self { expression: format!("SET {}", assignments.join(", ")), names, values }
    }
}

fn etag_attribute(etag: Etag) -> Attribute {
    Attribute::Bytes(etag.0.to_vec())
}

/// Returns the idempotency token of a write: the etag that the write sets, as 32 hexadecimal
/// digits.
fn request_token(update: &Update) -> String {
    update.tip.etag.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn build_split_off(
    table_name: &str,
    batch: &EventBatch,
    update: &Update,
) -> Result<Vec<TransactWriteItem>, PortError> {
    let invalid_request = |error: BuildError| PortError::permanent(error.to_string());
    let put_batch = Put::builder()
        .table_name(table_name)
        .set_item(Some(to_sdk_item(encode_event_batch(batch))))
        .condition_expression("attribute_not_exists(#i)")
        .expression_attribute_names("#i", STREAM_INDEX)
        .build()
        .map_err(invalid_request)?;
    let tip_update = TipUpdate::build(update, EventWrite::Replace);
    let update_tip = UpdateInTransaction::builder()
        .table_name(table_name)
        .set_key(Some(to_sdk_item(key(&update.tip.name, TIP_INDEX))))
        .update_expression(tip_update.expression)
        .condition_expression(ETAG_CONDITION)
        .set_expression_attribute_names(Some(tip_update.names))
        .set_expression_attribute_values(Some(tip_update.values))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .map_err(invalid_request)?;
    Ok(vec![
        TransactWriteItem::builder().put(put_batch).build(),
        TransactWriteItem::builder().update(update_tip).build(),
    ])
}

/// Returns the outcome of a write that failed, although its condition was not violated.
fn failed_write<E>(error: &SdkError<E>) -> StreamOutcome
where
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    let is_throttled = error.code().is_some_and(|code| THROTTLING_CODES.contains(&code));
    let port_error = port_error(error);
    if !port_error.temporary {
        StreamOutcome::Failed(port_error)
    } else if is_throttled {
        StreamOutcome::Throttled(port_error)
    } else {
        StreamOutcome::Unknown(port_error)
    }
}

#[async_trait]
impl Streams for DynamoStreams {
    async fn tip(
        &self,
        stream_name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        let get = self
            .client
            .get_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(key(stream_name, TIP_INDEX))))
            .consistent_read(consistency.is_strong())
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let reply = self.capacity.count_reply(get.send().await)?;
        match reply.item() {
            Some(item) => Ok(Some(Arc::new(decode_item(item, decode_tip)?))),
            None => Ok(None),
        }
    }

    async fn batches_before(
        &self,
        stream_name: &StreamName,
        end_index: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        let end_index = end_index.min(TIP_INDEX);
        let query = self
            .client
            .query()
            .table_name(&self.table_name)
            .consistent_read(consistency.is_strong())
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#p = :p AND #i < :i")
            .expression_attribute_names("#p", STREAM)
            .expression_attribute_names("#i", STREAM_INDEX)
            .expression_attribute_values(":p", AttributeValue::S(stream_name.to_string()))
            .expression_attribute_values(":i", to_sdk_value(Attribute::Number(end_index)))
            .scan_index_forward(false);
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().iter().map(|item| decode_item(item, decode_event_batch)).collect()
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        let record = encode_tip(tip);
        let new_tip_bytes = item_bytes(&record);
        let put = self
            .client
            .put_item()
            .table_name(&self.table_name)
            .set_item(Some(to_sdk_item(record)))
            .condition_expression("attribute_not_exists(#i)")
            .expression_attribute_names("#i", STREAM_INDEX)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(put.send().await) else {
            return StreamOutcome::Done;
        };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                let write = RejectedWrite { new_tip_bytes, phase_count: 1, batch_units: 0 };
                self.outcome_of_rejected_write(&write, failed.item())
            }
            _ => failed_write(&error),
        }
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        let tip_update = TipUpdate::build(update, EventWrite::Append);
        let update_request = self
            .client
            .update_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(key(&update.tip.name, TIP_INDEX))))
            .update_expression(tip_update.expression)
            .condition_expression(ETAG_CONDITION)
            .set_expression_attribute_names(Some(tip_update.names))
            .set_expression_attribute_values(Some(tip_update.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(update_request.send().await) else {
            return StreamOutcome::Done;
        };
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                // Count only the size of the current tip, because the size of the new tip is
                // unknown.
                let write = RejectedWrite { new_tip_bytes: 1, phase_count: 1, batch_units: 0 };
                self.outcome_of_rejected_write(&write, failed.item())
            }
            _ => failed_write(&error),
        }
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        let transaction_items = match build_split_off(&self.table_name, batch, update) {
            Ok(transaction_items) => transaction_items,
            Err(error) => return StreamOutcome::Failed(error),
        };
        let transaction = self
            .client
            .transact_write_items()
            .set_transact_items(Some(transaction_items))
            .client_request_token(request_token(update))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(transaction.send().await) else {
            return StreamOutcome::Done;
        };
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                let reasons = cancelled.cancellation_reasons();
                self.outcome_of_cancelled_split_off(reasons, batch, &update.tip, port_error(&error))
            }
            _ => failed_write(&error),
        }
    }
}
