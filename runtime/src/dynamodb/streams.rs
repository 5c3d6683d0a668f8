//! The EventStream table.

mod scan;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update as UpdateInTransaction,
};
use cellar_base::limits::TIP_INDEX;
use cellar_base::table_attributes::{
    APPENDED, BATCH_BYTES, ETAG, EVENTS, KINDS, NEXT_INDEX, STREAM, STREAM_INDEX, UNFOLDS,
};
use cellar_base::{record::Attribute, record::item_bytes};
use cellar_catalog::records::stream::{
    decode_event_batch, decode_tip, encode_event_batch, encode_events, encode_kinds, encode_tip,
    encode_unfolds, key,
};
use cellar_catalog::stream::{Etag, EventBatch, StreamName, Tip, Update};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PortError, StreamOutcome, Streams};

use super::cancellation;
use super::capacity::{CapacityMeter, write_units};
use super::items::{Attributes, from_attributes, to_attributes, to_value};
use crate::outcome::port_error;

/// Error codes of requests that DynamoDB is known not to have executed.
const THROTTLING_CODES: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "ThrottlingException",
];

/// DynamoDB prepares and then commits each item of a transaction; each phase consumes the item's
/// write request units.
const TRANSACTION_PHASES: usize = 2;

/// The EventStream table.
#[derive(Debug, Clone)]
pub struct DynamoStreams {
    client: Client,
    table: String,
    capacity: CapacityMeter,
}

/// Estimated cost of a write that failed its condition check on the tip (newest events).
struct RejectedWrite {
    /// Length of the tip that the rejected write contained.
    tip_bytes: usize,
    /// Number of times that the tip's request units are billed.
    phases: usize,
    /// Request units of the other item in the transaction.
    other_units: usize,
}

impl DynamoStreams {
    /// Uses the table named `table`. Requests are counted on `meter`.
    #[must_use]
    pub fn named(table: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table: table.into(), capacity: CapacityMeter::new(meter) }
    }

    /// Handles a write that failed its condition check on the tip (newest events): counts the write
    /// and returns the current tip. DynamoDB bills the larger of the new and the current tip.
    fn rejected_by_tip(
        &self,
        write: &RejectedWrite,
        current: Option<&Attributes>,
    ) -> StreamOutcome {
        let current = current.map(from_attributes).transpose();
        let current_bytes = current.as_ref().ok().and_then(Option::as_ref).map_or(0, item_bytes);
        let tip_units = write_units(write.tip_bytes.max(current_bytes));
        self.capacity.count_rejected(tip_units * write.phases + write.other_units);
        match current.and_then(|item| Ok(item.as_ref().map(decode_tip).transpose()?)) {
            Ok(tip) => StreamOutcome::Refused { tip: tip.map(Arc::new) },
            Err(error) => StreamOutcome::Failed(error),
        }
    }

    /// Returns the outcome of a cancelled transaction. `reasons` contains the reason for the event
    /// batch, then the reason for the tip (newest events). A cancelled transaction is counted like
    /// a successful one, which is an upper bound on its cost.
    fn cancelled_split(
        &self,
        reasons: &[CancellationReason],
        batch: &EventBatch,
        tip: &Tip,
        error: PortError,
    ) -> StreamOutcome {
        let batch_units = write_units(item_bytes(&encode_event_batch(batch))) * TRANSACTION_PHASES;
        let tip_bytes = item_bytes(&encode_tip(tip));
        if let [_, of_tip] = reasons
            && cancellation::is_condition_failed(of_tip)
        {
            let phases = TRANSACTION_PHASES;
            let write = RejectedWrite { tip_bytes, phases, other_units: batch_units };
            return self.rejected_by_tip(&write, of_tip.item());
        }
        let all_units = batch_units + write_units(tip_bytes) * TRANSACTION_PHASES;
        if reasons.iter().any(cancellation::is_temporary) {
            self.capacity.count_rejected(all_units);
            let error = PortError::temporary("the transaction conflicts with another one");
            return StreamOutcome::Throttled(error);
        }
        if let [of_batch, _] = reasons
            && cancellation::is_condition_failed(of_batch)
        {
            self.capacity.count_rejected(all_units);
            return StreamOutcome::BatchExists;
        }
        StreamOutcome::Failed(error)
    }
}

/// A tip update: the update expression with its attribute names and values.
struct TipUpdate {
    expression: String,
    names: HashMap<String, String>,
    values: Attributes,
}

/// Adds the condition that the tip has the expected etag.
const ETAG_CONDITION: &str = "#etag = :expected";

impl TipUpdate {
    /// Builds an update that appends events to the tip (newest events). If `splits_off` is set, the
    /// new events replace the tip's events, which the same transaction moves to an event batch.
    fn build(update: &Update, splits_off: bool) -> Self {
        let Update { expected, tip, appended } = update;
        let set = |name: &str| format!("#{name} = :{name}");
        let append = |name: &str| {
            if splits_off { set(name) } else { format!("#{name} = list_append(#{name}, :{name})") }
        };
        let assignments = [
            set(BATCH_BYTES),
            set(ETAG),
            set(NEXT_INDEX),
            set(APPENDED),
            set(UNFOLDS),
            append(KINDS),
            append(EVENTS),
        ];
        let values = [
            (BATCH_BYTES, Attribute::Number(tip.batch_bytes)),
            (ETAG, etag_attribute(tip.etag)),
            (NEXT_INDEX, Attribute::Number(tip.next)),
            (APPENDED, Attribute::Number(tip.appended)),
            (UNFOLDS, encode_unfolds(&tip.unfolds)),
            (KINDS, encode_kinds(appended)),
            (EVENTS, encode_events(appended)),
        ];
        let names = values.iter().map(|(name, _)| (format!("#{name}"), (*name).to_owned()));
        let names = names.collect();
        let values = values.into_iter().map(|(name, value)| (format!(":{name}"), to_value(value)));
        let expected = (":expected".to_owned(), to_value(etag_attribute(*expected)));
        let values = values.chain([expected]).collect();
        Self { expression: format!("SET {}", assignments.join(", ")), names, values }
    }
}

fn etag_attribute(etag: Etag) -> Attribute {
    Attribute::Bytes(etag.0.to_vec())
}

/// Derives a write's idempotency token, 32 hexadecimal digits, from its new etag.
fn request_token(update: &Update) -> String {
    update.tip.etag.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Builds the transaction that moves events from the tip to an event batch.
fn split_off_items(
    table: &str,
    batch: &EventBatch,
    update: &Update,
) -> Result<Vec<TransactWriteItem>, PortError> {
    let invalid =
        |error: aws_sdk_dynamodb::error::BuildError| PortError::permanent(error.to_string());
    let put = Put::builder()
        .table_name(table)
        .set_item(Some(to_attributes(encode_event_batch(batch))))
        .condition_expression("attribute_not_exists(#i)")
        .expression_attribute_names("#i", STREAM_INDEX)
        .build()
        .map_err(invalid)?;
    let tip_update = TipUpdate::build(update, true);
    let update = UpdateInTransaction::builder()
        .table_name(table)
        .set_key(Some(to_attributes(key(&update.tip.name, TIP_INDEX))))
        .update_expression(tip_update.expression)
        .condition_expression(ETAG_CONDITION)
        .set_expression_attribute_names(Some(tip_update.names))
        .set_expression_attribute_values(Some(tip_update.values))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .map_err(invalid)?;
    let put = TransactWriteItem::builder().put(put).build();
    Ok(vec![put, TransactWriteItem::builder().update(update).build()])
}

/// Returns the outcome of a write that failed for a reason other than its condition check.
fn failed_write<E>(error: &SdkError<E>) -> StreamOutcome
where
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    let is_throttled = error.code().is_some_and(|code| THROTTLING_CODES.contains(&code));
    let error = port_error(error);
    if !error.temporary {
        StreamOutcome::Failed(error)
    } else if is_throttled {
        StreamOutcome::Throttled(error)
    } else {
        StreamOutcome::Unknown(error)
    }
}

#[async_trait]
impl Streams for DynamoStreams {
    async fn tip(
        &self,
        name: &StreamName,
        consistent: bool,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        let request = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(key(name, TIP_INDEX))))
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let reply = self.capacity.count_reply(request.send().await)?;
        let decode = |item| Ok(Arc::new(decode_tip(&from_attributes(item)?)?));
        reply.item().map(decode).transpose()
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistent: bool,
    ) -> Result<Vec<EventBatch>, PortError> {
        let below = below.min(TIP_INDEX);
        let request = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#p = :p AND #i < :i")
            .expression_attribute_names("#p", STREAM)
            .expression_attribute_names("#i", STREAM_INDEX)
            .expression_attribute_values(":p", AttributeValue::S(name.to_string()))
            .expression_attribute_values(":i", to_value(Attribute::Number(below)))
            .scan_index_forward(false);
        let reply = self.capacity.count_reply(request.send().await)?;
        let decode = |item| Ok(decode_event_batch(&from_attributes(item)?)?);
        reply.items().iter().map(decode).collect()
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        let item = encode_tip(tip);
        let write = RejectedWrite { tip_bytes: item_bytes(&item), phases: 1, other_units: 0 };
        let put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_attributes(item)))
            .condition_expression("attribute_not_exists(#i)")
            .expression_attribute_names("#i", STREAM_INDEX)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(put.send().await) else {
            return StreamOutcome::Done;
        };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                self.rejected_by_tip(&write, failed.item())
            }
            _ => failed_write(&error),
        }
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        let tip_update = TipUpdate::build(update, false);
        let request = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(key(&update.tip.name, TIP_INDEX))))
            .update_expression(tip_update.expression)
            .condition_expression(ETAG_CONDITION)
            .set_expression_attribute_names(Some(tip_update.names))
            .set_expression_attribute_values(Some(tip_update.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(request.send().await) else {
            return StreamOutcome::Done;
        };
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                // Count only the current tip's length, because the new tip's length is unknown.
                let write = RejectedWrite { tip_bytes: 1, phases: 1, other_units: 0 };
                self.rejected_by_tip(&write, failed.item())
            }
            _ => failed_write(&error),
        }
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        let items = match split_off_items(&self.table, batch, update) {
            Ok(items) => items,
            Err(error) => return StreamOutcome::Failed(error),
        };
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .client_request_token(request_token(update))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(request.send().await) else {
            return StreamOutcome::Done;
        };
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                let reasons = cancelled.cancellation_reasons();
                self.cancelled_split(reasons, batch, &update.tip, port_error(&error))
            }
            _ => failed_write(&error),
        }
    }
}
