//! Adapter for the Segment table, including the transactions that create, roll and fork a log.

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::table_attributes::{LAST_SNAPSHOT, PARTITION_KEY, SORT_KEY};
use cellar_base::{record::Attribute, record::Item, record::item_bytes};
use cellar_engine::ports::{CreateOutcome, ForkPage, ForkRecords, PortError, Segments};
use cellar_log::entry::Entry;
use cellar_log::records;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::capacity::{is_condition_failed, write_units};
use super::items::{from_attributes, to_attributes, to_value};
use super::{DynamoTables, cancellation};
use crate::outcome::port_error;

/// DynamoDB prepares and then commits each item of a transaction; each phase consumes the item's
/// write request units.
const TRANSACTION_PHASES: usize = 2;

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

/// The puts of a transaction with their write request units.
struct TransactionPuts {
    items: Vec<TransactWriteItem>,
    write_units: usize,
}

impl DynamoTables {
    fn build_puts(
        &self,
        segments: Vec<Item>,
        entries: &[&Entry],
    ) -> Result<TransactionPuts, PortError> {
        let mut puts = TransactionPuts { items: Vec::new(), write_units: 0 };
        for item in segments {
            puts.write_units += write_units(item_bytes(&item)) * TRANSACTION_PHASES;
            puts.items.push(put_if_absent(&self.segment_table, item)?);
        }
        for entry in entries {
            let item = records::entry::encode(entry)?;
            puts.write_units += write_units(item_bytes(&item)) * TRANSACTION_PHASES;
            puts.items.push(put_if_absent(&self.entry_table, item)?);
        }
        Ok(puts)
    }

    /// Puts segment records and entries in one transaction. Fails if any of the records exists.
    async fn put_in_transaction(&self, segments: Vec<Item>, entries: &[&Entry]) -> CreateOutcome {
        let puts = match self.build_puts(segments, entries) {
            Ok(puts) => puts,
            Err(error) => return CreateOutcome::Failed(error),
        };
        let request = self
            .client
            .transact_write_items()
            .set_transact_items(Some(puts.items))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(request.send().await) else {
            return CreateOutcome::Created;
        };
        if let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
            error.as_service_error()
        {
            let reasons = cancelled.cancellation_reasons();
            // Check for temporary reasons first, because a conflicting transaction may itself fail.
            // Count a cancelled transaction like a successful one, which is an upper bound on its
            // cost.
            if reasons.iter().any(cancellation::is_temporary) {
                self.capacity.count_rejected(puts.write_units);
                let error = PortError::temporary("the transaction conflicts with another one");
                return CreateOutcome::Unknown(error);
            }
            if reasons.iter().any(cancellation::is_condition_failed) {
                self.capacity.count_rejected(puts.write_units);
                return CreateOutcome::Exists;
            }
        }
        let error = port_error(&error);
        if error.temporary { CreateOutcome::Unknown(error) } else { CreateOutcome::Failed(error) }
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
        let request = self
            .client
            .query()
            .table_name(&self.segment_table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#s = :s")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_values(":s", to_value(partition))
            .scan_index_forward(false)
            .limit(i32::from(limit));
        let reply = self.capacity.count_reply(request.send().await)?;
        let decode = |item| Ok(records::segment::decode(&from_attributes(item)?)?);
        reply.items().iter().map(decode).collect()
    }

    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Segment>, PortError> {
        let key = records::segment::key(log, segment);
        let request = self
            .client
            .get_item()
            .table_name(&self.segment_table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_key(Some(to_attributes(key)));
        let reply = self.capacity.count_reply(request.send().await)?;
        let decode = |item| Ok(records::segment::decode(&from_attributes(item)?)?);
        reply.item().map(decode).transpose()
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
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        let partition = Attribute::Bytes(records::fork::partition(source));
        let from = after.map_or(0, |after| after.saturating_add(1));
        let request = self
            .client
            .query()
            .table_name(&self.segment_table)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#s = :s AND #n >= :n")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":s", to_value(partition))
            .expression_attribute_values(":n", to_value(Attribute::Number(from)))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let reply = self.capacity.count_reply(request.send().await)?;
        let decode = |item| Ok(records::fork::decode(&from_attributes(item)?)?);
        let forks = reply.items().iter().map(decode).collect::<Result<Vec<_>, PortError>>()?;
        let mut next = None;
        if reply.last_evaluated_key().is_some() {
            next = forks.last().map(|last| last.number);
        }
        Ok(ForkPage { forks, next })
    }

    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError> {
        let update = self
            .client
            .update_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_attributes(records::segment::key(log, at.segment()))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #l = :l")
            .condition_expression("attribute_exists(#s) AND (attribute_not_exists(#l) OR #l < :l)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#l", LAST_SNAPSHOT)
            .expression_attribute_values(
                ":l",
                to_value(Attribute::Number(u64::from(at.entry_number()))),
            );
        match self.capacity.count(update.send().await) {
            Ok(_) => Ok(()),
            Err(error) if is_condition_failed(&error) => {
                // The condition also fails if a later snapshot is already recorded.
                match self.segment(log, at.segment(), true).await? {
                    Some(_) => Ok(()),
                    None => Err(PortError::permanent(format!(
                        "log {log} has no segment {}",
                        at.segment()
                    ))),
                }
            }
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn reachable(&self) -> bool {
        let unused = LogId::from_uuid(uuid::Uuid::nil());
        self.newest(unused, 1, false).await.is_ok()
    }
}
