//! DynamoDB adapter for the Segment table. Includes the transactions that create a log, fork it, or
//! start a new segment of it.

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, Put, ReturnConsumedCapacity, TransactWriteItem};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::{Attribute, Item, item_bytes};
use cellar_base::table_attributes::{LAST_SNAPSHOT, PARTITION_KEY, SORT_KEY};
use cellar_engine::ports::{
    CreateOutcome, ForkPage, ForkRecords, PortError, ReadConsistency, Segments,
};
use cellar_log::entry::Entry;
use cellar_log::records;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::capacity::{TRANSACTION_PHASES, is_condition_failed, write_units};
use super::items::{decode_item, to_sdk_item, to_sdk_limit, to_sdk_value};
use super::{DynamoTables, cancellation};
use crate::outcome::port_error;

fn build_put_if_absent(table_name: &str, item: Item) -> Result<TransactWriteItem, PortError> {
    let put = Put::builder()
        .table_name(table_name)
        .set_item(Some(to_sdk_item(item)))
        .condition_expression("attribute_not_exists(#n)")
        .expression_attribute_names("#n", SORT_KEY)
        .build()
        .map_err(|error| PortError::permanent(error.to_string()))?;
    Ok(TransactWriteItem::builder().put(put).build())
}

impl DynamoTables {
    /// Returns a query for the items of a partition of the Segment table.
    pub(super) fn query_segment_partition(&self, partition: Vec<u8>) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.segment_table)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#s = :s")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_values(":s", to_sdk_value(Attribute::Bytes(partition)))
    }

    async fn check_segment_exists(
        &self,
        log_id: LogId,
        segment_number: u32,
    ) -> Result<(), PortError> {
        if self.segment(log_id, segment_number, ReadConsistency::Strong).await?.is_some() {
            return Ok(());
        }
        Err(PortError::permanent(format!("log {log_id} has no segment {segment_number}")))
    }
}

struct TransactionPuts {
    items: Vec<TransactWriteItem>,
    write_units: usize,
}

impl TransactionPuts {
    fn add(&mut self, table_name: &str, record: Item) -> Result<(), PortError> {
        self.write_units += write_units(item_bytes(&record)) * TRANSACTION_PHASES;
        self.items.push(build_put_if_absent(table_name, record)?);
        Ok(())
    }
}

impl DynamoTables {
    fn build_puts(
        &self,
        segment_records: Vec<Item>,
        entries: &[&Entry],
    ) -> Result<TransactionPuts, PortError> {
        let mut puts = TransactionPuts { items: Vec::new(), write_units: 0 };
        for segment_record in segment_records {
            puts.add(&self.segment_table, segment_record)?;
        }
        for entry in entries {
            let entry_record = records::entry::encode(entry)?;
            puts.add(&self.entry_table, entry_record)?;
        }
        Ok(puts)
    }

    /// Nothing is written if any of the items already exists.
    async fn put_in_transaction(
        &self,
        segment_records: Vec<Item>,
        entries: &[&Entry],
    ) -> CreateOutcome {
        let puts = match self.build_puts(segment_records, entries) {
            Ok(puts) => puts,
            Err(error) => return CreateOutcome::Failed(error),
        };
        let transaction = self
            .client
            .transact_write_items()
            .set_transact_items(Some(puts.items))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(transaction.send().await) else {
            return CreateOutcome::Created;
        };
        if let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
            error.as_service_error()
            && let Some(outcome) =
                outcome_of_cancelled_transaction(cancelled.cancellation_reasons())
        {
            // DynamoDB does not report the cost of a cancelled transaction. Count the cost of a
            // successful transaction, which is an upper bound.
            self.capacity.count_rejected(puts.write_units);
            return outcome;
        }
        let port_error = port_error(&error);
        if port_error.temporary {
            CreateOutcome::Unknown(port_error)
        } else {
            CreateOutcome::Failed(port_error)
        }
    }
}

/// Returns `None` if the transaction was cancelled for a reason other than a conflicting
/// transaction or an existing item.
fn outcome_of_cancelled_transaction(reasons: &[CancellationReason]) -> Option<CreateOutcome> {
    // Check for temporary reasons first. After a conflict, the items may still not exist, because
    // the conflicting transaction may have failed too.
    if let Some(error) = cancellation::temporary_error(reasons) {
        return Some(CreateOutcome::Unknown(error));
    }
    if reasons.iter().any(cancellation::is_condition_failed) {
        return Some(CreateOutcome::Exists);
    }
    None
}

#[async_trait]
impl Segments for DynamoTables {
    async fn newest(
        &self,
        log_id: LogId,
        limit: u8,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError> {
        let query = self
            .query_segment_partition(log_id.as_bytes().to_vec())
            .consistent_read(consistency.is_strong())
            .scan_index_forward(false)
            .limit(i32::from(limit));
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().iter().map(|item| decode_item(item, records::segment::decode)).collect()
    }

    async fn segment(
        &self,
        log_id: LogId,
        segment_number: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError> {
        let key = records::segment::key(log_id, segment_number);
        let get = self
            .client
            .get_item()
            .table_name(&self.segment_table)
            .consistent_read(consistency.is_strong())
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_key(Some(to_sdk_item(key)));
        let reply = self.capacity.count_reply(get.send().await)?;
        reply.item().map(|item| decode_item(item, records::segment::decode)).transpose()
    }

    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        self.put_in_transaction(vec![records::segment::encode(segment)], &[entry]).await
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        let segment = records::segment::encode(&transaction.segment);
        self.put_in_transaction(vec![segment], &[&transaction.end, &transaction.first]).await
    }

    async fn fork(&self, fork: &ForkRecords) -> CreateOutcome {
        let origin = records::segment::encode(&fork.origin);
        let segment = records::segment::encode(&fork.segment);
        let listed = records::fork::encode(&fork.listed);
        self.put_in_transaction(vec![origin, segment, listed], &[&fork.first]).await
    }

    async fn forks(
        &self,
        source_log_id: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        let first_number = match after {
            Some(last_number) => last_number.saturating_add(1),
            None => 0,
        };
        let query = self
            .query_segment_partition(records::fork::partition(source_log_id))
            .key_condition_expression("#s = :s AND #n >= :n")
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":n", to_sdk_value(Attribute::Number(first_number)))
            .limit(to_sdk_limit(limit));
        let reply = self.capacity.count_reply(query.send().await)?;
        let mut forks = Vec::new();
        for item in reply.items() {
            forks.push(decode_item(item, records::fork::decode)?);
        }
        let has_next_page = reply.last_evaluated_key().is_some();
        let next = if has_next_page { forks.last().map(|fork| fork.number) } else { None };
        Ok(ForkPage { forks, next })
    }

    async fn raise_last_snapshot(
        &self,
        log_id: LogId,
        snapshot_position: Position,
    ) -> Result<(), PortError> {
        let segment_number = snapshot_position.segment();
        let snapshot_number = Attribute::Number(u64::from(snapshot_position.entry_number()));
        let update = self
            .client
            .update_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_sdk_item(records::segment::key(log_id, segment_number))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #l = :l")
            .condition_expression("attribute_exists(#s) AND (attribute_not_exists(#l) OR #l < :l)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#l", LAST_SNAPSHOT)
            .expression_attribute_values(":l", to_sdk_value(snapshot_number));
        match self.capacity.count(update.send().await) {
            Ok(_) => Ok(()),
            // The condition fails if a later snapshot is already recorded, but also if the segment
            // does not exist.
            Err(error) if is_condition_failed(&error) => {
                self.check_segment_exists(log_id, segment_number).await
            }
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn reachable(&self) -> bool {
        let unused_log_id = LogId::from_uuid(uuid::Uuid::nil());
        self.newest(unused_log_id, 1, ReadConsistency::Eventual).await.is_ok()
    }
}
