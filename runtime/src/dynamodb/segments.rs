//! The Segment table, and the transaction that opens a log.

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem};
use cellar_core::entry::Entry;
use cellar_core::identity::LogId;
use cellar_core::records::{self, Attribute, Item};
use cellar_core::schema::{PARTITION_KEY, SORT_KEY};
use cellar_core::segment::Segment;
use cellar_engine::ports::{CreateOutcome, PortError, Segments};

use super::DynamoTables;
use super::items::{from_attributes, to_attributes, to_value};
use crate::outcome::port_error;

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// Reasons for which a transaction is cancelled and may succeed when repeated.
const TEMPORARY_REASONS: [&str; 3] =
    ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

fn put_if_absent(table: &str, item: Item) -> Result<TransactWriteItem, PortError> {
    let put = Put::builder()
        .table_name(table)
        .set_item(Some(to_attributes(item)))
        .condition_expression("attribute_not_exists(#n)")
        .expression_attribute_names("#n", SORT_KEY)
        .build()
        .map_err(|error| PortError::permanent(error.to_string()))?;
    Ok(TransactWriteItem::builder().put(put).build())
}

impl DynamoTables {
    fn create_items(
        &self,
        segment: &Segment,
        entry: &Entry,
    ) -> Result<Vec<TransactWriteItem>, PortError> {
        let entry = records::entry::encode(entry)?;
        Ok(vec![
            put_if_absent(&self.segment_table, records::segment::encode(segment))?,
            put_if_absent(&self.entry_table, entry)?,
        ])
    }
}

#[async_trait]
impl Segments for DynamoTables {
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistent: bool,
    ) -> Result<Vec<Segment>, PortError> {
        let partition = Attribute::Bytes(log.as_bytes().to_vec());
        let reply = self
            .client
            .query()
            .table_name(&self.segment_table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#s = :s")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_values(":s", to_value(partition))
            .scan_index_forward(false)
            .limit(i32::from(limit))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        let read = |item| Ok(records::segment::decode(&from_attributes(item)?)?);
        reply.items().iter().map(read).collect()
    }

    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        let items = match self.create_items(segment, entry) {
            Ok(items) => items,
            Err(error) => return CreateOutcome::Failed(error),
        };
        let reply = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        let error = match reply {
            Ok(reply) => {
                self.count_write(reply.consumed_capacity());
                return CreateOutcome::Created;
            }
            Err(error) => error,
        };
        match error.as_service_error().map(cancelled) {
            Some(Cancelled::Condition) => CreateOutcome::Exists,
            Some(Cancelled::Temporary) => {
                CreateOutcome::Unknown(PortError::temporary("the transaction met another"))
            }
            Some(Cancelled::No) | None => {
                let error = port_error(&error);
                if error.temporary {
                    CreateOutcome::Unknown(error)
                } else {
                    CreateOutcome::Failed(error)
                }
            }
        }
    }

    async fn reachable(&self) -> bool {
        let nowhere = LogId::from_uuid(uuid::Uuid::nil());
        self.newest(nowhere, 1, false).await.is_ok()
    }
}

/// Why a transaction was cancelled, if it was.
enum Cancelled {
    Condition,
    Temporary,
    No,
}

fn cancelled(error: &TransactWriteItemsError) -> Cancelled {
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else {
        return Cancelled::No;
    };
    let codes: Vec<&str> =
        cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code()).collect();
    // A conflict first: the other transaction may not have come through.
    if codes.iter().any(|code| TEMPORARY_REASONS.contains(code)) {
        Cancelled::Temporary
    } else if codes.contains(&CONDITION_FAILED) {
        Cancelled::Condition
    } else {
        Cancelled::No
    }
}
