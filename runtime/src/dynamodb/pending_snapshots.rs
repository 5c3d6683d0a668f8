//! Adapter for the PendingSnapshots table.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use cellar_base::table_attributes::{INCREMENT, PARTITION_KEY, REBUILD, SORT_KEY};
use cellar_base::{record::Attribute, record::item_bytes};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PendingSnapshots, PortError, WriteOutcome};
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::records::pending_snapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::capacity::{CapacityMeter, is_condition_failed, write_units};
use super::items::{from_attributes, to_attributes, to_value};
use crate::outcome::port_error;

/// The PendingSnapshots table.
#[derive(Debug, Clone)]
pub struct DynamoPendingSnapshots {
    client: Client,
    table: String,
    capacity: CapacityMeter,
}

impl DynamoPendingSnapshots {
    /// Uses the table named `table`. Requests are counted on `meter`.
    #[must_use]
    pub fn named(table: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table: table.into(), capacity: CapacityMeter::new(meter) }
    }

    /// Returns the first record of the job's log that meets the condition. `:n` is bound to the
    /// job's position.
    async fn first(
        &self,
        job: SnapshotJob,
        condition: &str,
    ) -> Result<Option<PendingSnapshot>, PortError> {
        let partition = Attribute::Bytes(job.log.as_bytes().to_vec());
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression(format!("#s = :s AND {condition}"))
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":s", to_value(partition))
            .expression_attribute_values(":n", number_value(job.position.pack()))
            .limit(1);
        let reply = self.capacity.count_reply(query.send().await)?;
        let decode = |item| Ok(pending_snapshot::decode(&from_attributes(item)?)?);
        reply.items().first().map(decode).transpose()
    }

    /// Puts a record with the condition that `add_condition` adds to the request.
    async fn put(
        &self,
        record: &PendingSnapshot,
        add_condition: impl FnOnce(PutItemFluentBuilder) -> PutItemFluentBuilder,
    ) -> WriteOutcome {
        let item = match pending_snapshot::encode(record) {
            Ok(item) => item,
            Err(error) => return WriteOutcome::Failed(error.into()),
        };
        let units = write_units(item_bytes(&item));
        let put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_attributes(item)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(add_condition(put).send().await) else {
            return WriteOutcome::Written;
        };
        if is_condition_failed(&error) {
            self.capacity.count_rejected(units);
            return WriteOutcome::Refused;
        }
        let error = port_error(&error);
        if error.temporary { WriteOutcome::Unknown(error) } else { WriteOutcome::Failed(error) }
    }
}

#[async_trait]
impl PendingSnapshots for DynamoPendingSnapshots {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.first(job, "#n <= :n").await
    }

    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.first(job, "#n > :n").await
    }

    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        let is_absent = |request: PutItemFluentBuilder| {
            request
                .condition_expression("attribute_not_exists(#n)")
                .expression_attribute_names("#n", SORT_KEY)
        };
        self.put(record, is_absent).await
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let is_unchanged = |request: PutItemFluentBuilder| {
            request
                .condition_expression("#i = :i")
                .expression_attribute_names("#i", INCREMENT)
                .expression_attribute_values(":i", number_value(increment))
        };
        self.put(record, is_unchanged).await
    }

    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        let request = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(pending_snapshot::key(job.log, job.position))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#r", REBUILD);
        let request = match run {
            None => request.condition_expression("attribute_not_exists(#r)"),
            Some(run) => request
                .condition_expression("#r = :r")
                .expression_attribute_values(":r", number_value(run)),
        };
        match self.capacity.count(request.send().await) {
            Ok(_) => Ok(()),
            // The record was already deleted or belongs to another run. The error does not report
            // the record size, so the minimum size is counted.
            Err(error) if is_condition_failed(&error) => {
                self.capacity.count_rejected(1);
                Ok(())
            }
            Err(error) => Err(port_error(&error)),
        }
    }
}

fn number_value(number: u64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}
