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
    AttributeValue, CancellationReason, ConsumedCapacity, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update as UpdateInTransaction,
};
use cellar_base::limits::TIP_INDEX;
use cellar_base::schema::{
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

use super::items::{Attributes, from_attributes, to_attributes, to_value};
use super::{consumed_units, consumed_write_units, refused_units, write_units};
use crate::outcome::port_error;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Reasons of a cancelled transaction that may succeed when it is repeated.
const TEMPORARY_REASONS: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];
/// Codes of errors that say that nothing was begun.
const THROTTLED: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "ThrottlingException",
];

/// The table, behind a client; counts what it consumes.
#[derive(Debug, Clone)]
pub struct DynamoStreams {
    client: Client,
    table: String,
    meter: Arc<Meter>,
}

impl DynamoStreams {
    /// The table of this name.
    #[must_use]
    pub fn named(table: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table: table.into(), meter }
    }

    /// A write that is done. A transaction that was done before is only looked up, which DynamoDB bills as a
    /// read of its items.
    fn done(&self, consumed: &[ConsumedCapacity]) -> StreamOutcome {
        let read = consumed.iter().filter_map(ConsumedCapacity::read_capacity_units).sum();
        self.meter.count(read, consumed_write_units(consumed) - read);
        StreamOutcome::Done
    }

    /// A write that the tip refused, which costs what the larger of both would have, `times` over, and
    /// `more` units.
    fn refused(
        &self,
        (written, times, more): (usize, usize, usize),
        stands: Option<&Attributes>,
    ) -> StreamOutcome {
        let stands = stands.map(from_attributes).transpose();
        let standing = stands.as_ref().ok().and_then(Option::as_ref).map_or(0, item_bytes);
        let units = write_units(written.max(standing)) * times + more;
        self.meter.count(0.0, refused_units(units));
        match stands.and_then(|item| Ok(item.as_ref().map(decode_tip).transpose()?)) {
            Ok(tip) => StreamOutcome::Refused { tip: tip.map(Arc::new) },
            Err(error) => StreamOutcome::Failed(error),
        }
    }

    /// What came of a transaction that was cancelled: its event batch first, then its tip.
    fn cancelled(
        &self,
        reasons: &[CancellationReason],
        [batch, tip]: [usize; 2],
        error: PortError,
    ) -> StreamOutcome {
        let has = |reason: &CancellationReason, code: &str| reason.code() == Some(code);
        let is_temporary =
            |reason: &CancellationReason| TEMPORARY_REASONS.iter().any(|code| has(reason, code));
        // A transaction prepares and commits each item: it costs what it would have, at most.
        let batch_units = write_units(batch) * 2;
        let count = || self.meter.count(0.0, refused_units(batch_units + write_units(tip) * 2));
        match reasons {
            [_, reason] if has(reason, CONDITION_FAILED) => {
                self.refused((tip, 2, batch_units), reason.item())
            }
            reasons if reasons.iter().any(is_temporary) => {
                count();
                StreamOutcome::Throttled(PortError::temporary("the transaction met another"))
            }
            [reason, _] if has(reason, CONDITION_FAILED) => {
                count();
                StreamOutcome::BatchExists
            }
            _ => StreamOutcome::Failed(error),
        }
    }
}

/// What changes of a tip, as an expression with its names and values.
struct Change {
    expression: String,
    names: HashMap<String, String>,
    values: Attributes,
}

/// The condition on the etag that a tip must have.
const EXPECTED: &str = "#etag = :expected";

impl Change {
    /// Appends events, or puts them in the place of those that are split off.
    fn of(update: &Update, batches: bool) -> Self {
        let Update { expected, tip, appended } = update;
        let list = |name: &str| match batches {
            true => format!("#{name} = :{name}"),
            false => format!("#{name} = list_append(#{name}, :{name})"),
        };
        let set = |name: &str| format!("#{name} = :{name}");
        let parts = [
            set(BATCH_BYTES),
            set(ETAG),
            set(NEXT_INDEX),
            set(APPENDED),
            set(UNFOLDS),
            list(KINDS),
            list(EVENTS),
        ];
        let values = [
            (BATCH_BYTES, Attribute::Number(tip.batch_bytes)),
            (ETAG, etag(tip.etag)),
            (NEXT_INDEX, Attribute::Number(tip.next)),
            (APPENDED, Attribute::Number(tip.appended)),
            (UNFOLDS, encode_unfolds(&tip.unfolds)),
            (KINDS, encode_kinds(appended)),
            (EVENTS, encode_events(appended)),
        ];
        let names = values.iter().map(|(name, _)| (format!("#{name}"), (*name).to_owned()));
        let names = names.collect();
        let values = values.into_iter().map(|(name, value)| (format!(":{name}"), to_value(value)));
        let expected = (":expected".to_owned(), to_value(etag(*expected)));
        let values = values.chain([expected]).collect();
        Self { expression: format!("SET {}", parts.join(", ")), names, values }
    }
}

fn etag(etag: Etag) -> Attribute {
    Attribute::Bytes(etag.0.to_vec())
}

/// The same for the same write, and for no other: 32 characters of the 36 that there may be.
fn request_token(update: &Update) -> String {
    update.tip.etag.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The transaction that splits the tip; atomic.
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
    let change = Change::of(update, true);
    let update = UpdateInTransaction::builder()
        .table_name(table)
        .set_key(Some(to_attributes(key(&update.tip.name, TIP_INDEX))))
        .update_expression(change.expression)
        .condition_expression(EXPECTED)
        .set_expression_attribute_names(Some(change.names))
        .set_expression_attribute_values(Some(change.values))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .map_err(invalid)?;
    let put = TransactWriteItem::builder().put(put).build();
    Ok(vec![put, TransactWriteItem::builder().update(update).build()])
}

/// What came of a write that no condition refused.
fn not_done<E>(error: &SdkError<E>) -> StreamOutcome
where
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    let is_throttled = error.code().is_some_and(|code| THROTTLED.contains(&code));
    let error = port_error(error);
    match error.temporary {
        true if is_throttled => StreamOutcome::Throttled(error),
        true => StreamOutcome::Unknown(error),
        false => StreamOutcome::Failed(error),
    }
}

#[async_trait]
impl Streams for DynamoStreams {
    async fn tip(
        &self,
        name: &StreamName,
        consistent: bool,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        let reply = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(key(name, TIP_INDEX))))
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.meter.count(consumed_units(reply.consumed_capacity()), 0.0);
        let read = |item| Ok(Arc::new(decode_tip(&from_attributes(item)?)?));
        reply.item().map(read).transpose()
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistent: bool,
    ) -> Result<Vec<EventBatch>, PortError> {
        let below = below.min(TIP_INDEX);
        let reply = self
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
            .scan_index_forward(false)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.meter.count(consumed_units(reply.consumed_capacity()), 0.0);
        let read = |item| Ok(decode_event_batch(&from_attributes(item)?)?);
        reply.items().iter().map(read).collect()
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        let item = encode_tip(tip);
        let bytes = item_bytes(&item);
        let reply = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_attributes(item)))
            .condition_expression("attribute_not_exists(#i)")
            .expression_attribute_names("#i", STREAM_INDEX)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match reply {
            Ok(reply) => self.done(reply.consumed_capacity.as_slice()),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                    self.refused((bytes, 1, 0), failed.item())
                }
                _ => not_done(&error),
            },
        }
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        let change = Change::of(update, false);
        let reply = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(key(&update.tip.name, TIP_INDEX))))
            .update_expression(change.expression)
            .condition_expression(EXPECTED)
            .set_expression_attribute_names(Some(change.names))
            .set_expression_attribute_values(Some(change.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match reply {
            Ok(reply) => self.done(reply.consumed_capacity.as_slice()),
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                    self.refused((1, 1, 0), failed.item())
                }
                _ => not_done(&error),
            },
        }
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        let items = match split_off_items(&self.table, batch, update) {
            Ok(items) => items,
            Err(error) => return StreamOutcome::Failed(error),
        };
        let reply = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .client_request_token(request_token(update))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match reply {
            Ok(reply) => self.done(reply.consumed_capacity()),
            Err(error) => match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    let bytes = [encode_event_batch(batch), encode_tip(&update.tip)];
                    let bytes = bytes.each_ref().map(item_bytes);
                    self.cancelled(cancelled.cancellation_reasons(), bytes, port_error(&error))
                }
                _ => not_done(&error),
            },
        }
    }
}
