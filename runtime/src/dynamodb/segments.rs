//! The Segment table, and the transactions that open a log, a segment or a fork.

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Put, ReturnConsumedCapacity, TransactWriteItem};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::schema::{LAST_SNAPSHOT, PARTITION_KEY, SORT_KEY};
use cellar_base::{record::Attribute, record::Item, record::item_bytes};
use cellar_engine::ports::{CreateOutcome, ForkPage, ForkRecords, PortError, Segments};
use cellar_log::entry::Entry;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::items::{from_attributes, to_attributes, to_value};
use super::{DynamoTables, update_refused, write_units};
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
    /// The puts of a transaction, and the write units that they take.
    fn puts(
        &self,
        segments: Vec<Item>,
        entries: &[&Entry],
    ) -> Result<(Vec<TransactWriteItem>, usize), PortError> {
        // A transaction prepares and commits each item: twice its units.
        let units = |item: &Item| write_units(item_bytes(item)) * 2;
        let (mut all_units, mut puts) = (0, Vec::new());
        for item in segments {
            all_units += units(&item);
            puts.push(put_if_absent(&self.segment_table, item)?);
        }
        for entry in entries {
            let item = cellar_log::records::entry::encode(entry)?;
            all_units += units(&item);
            puts.push(put_if_absent(&self.entry_table, item)?);
        }
        Ok((puts, all_units))
    }

    async fn open(&self, segments: Vec<Item>, entries: &[&Entry]) -> CreateOutcome {
        let (items, units) = match self.puts(segments, entries) {
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
            // A cancelled transaction costs what it would have, at most.
            Some(Cancelled::Condition) => {
                self.count_refused(units);
                CreateOutcome::Exists
            }
            Some(Cancelled::Temporary) => {
                self.count_refused(units);
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
        let read = |item| Ok(cellar_log::records::segment::decode(&from_attributes(item)?)?);
        reply.items().iter().map(read).collect()
    }

    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Segment>, PortError> {
        let key = cellar_log::records::segment::key(log, segment);
        let reply = self
            .client
            .get_item()
            .table_name(&self.segment_table)
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_key(Some(to_attributes(key)))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        let read = |item| Ok(cellar_log::records::segment::decode(&from_attributes(item)?)?);
        reply.item().map(read).transpose()
    }

    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        self.open(vec![cellar_log::records::segment::encode(segment)], &[entry]).await
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        let segment = cellar_log::records::segment::encode(&transaction.segment);
        self.open(vec![segment], &[&transaction.end, &transaction.first]).await
    }

    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        let [origin, segment] =
            [&records.origin, &records.segment].map(cellar_log::records::segment::encode);
        let listed = cellar_log::records::fork::encode(&records.listed);
        self.open(vec![origin, segment, listed], &[&records.first]).await
    }

    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        let partition = Attribute::Bytes(cellar_log::records::fork::partition(source));
        // Numbers begin at 0.
        let from = after.map_or(0, |after| after.saturating_add(1));
        let reply = self
            .client
            .query()
            .table_name(&self.segment_table)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("#s = :s AND #n >= :n")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":s", to_value(partition))
            .expression_attribute_values(":n", to_value(Attribute::Number(from)))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.count_read(reply.consumed_capacity());
        let read = |item| Ok(cellar_log::records::fork::decode(&from_attributes(item)?)?);
        let forks = reply.items().iter().map(read).collect::<Result<Vec<_>, PortError>>()?;
        let more = reply.last_evaluated_key().is_some();
        let next = forks.last().filter(|_| more).map(|last| last.number);
        Ok(ForkPage { forks, next })
    }

    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError> {
        let reply = self
            .client
            .update_item()
            .table_name(&self.segment_table)
            .set_key(Some(to_attributes(cellar_log::records::segment::key(log, at.segment()))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .update_expression("SET #l = :l")
            .condition_expression("attribute_exists(#s) AND (attribute_not_exists(#l) OR #l < :l)")
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#l", LAST_SNAPSHOT)
            .expression_attribute_values(":l", to_value(Attribute::Number(u64::from(at.num()))))
            .send()
            .await;
        match reply {
            Ok(reply) => {
                self.count_write(reply.consumed_capacity.as_slice());
                Ok(())
            }
            Err(error) if update_refused(&error) => {
                match self.segment(log, at.segment(), true).await? {
                    // A later one stays.
                    Some(_) => Ok(()),
                    None => Err(PortError::permanent("there is no such segment")),
                }
            }
            Err(error) => Err(port_error(&error)),
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
