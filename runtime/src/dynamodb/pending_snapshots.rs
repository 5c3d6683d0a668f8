//! Adapter for the PendingSnapshots table.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use cellar_base::record::{Attribute, item_bytes};
use cellar_base::table_attributes::{INCREMENT, PARTITION_KEY, REBUILD, SORT_KEY};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PendingSnapshots, PortError, WriteOutcome};
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::records::pending_snapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::capacity::{CapacityMeter, MIN_WRITE_UNITS, is_condition_failed, write_units};
use super::items::{decode_item, to_sdk_item, to_sdk_value};
use crate::outcome::port_error;

#[derive(Debug, Clone)]
pub struct DynamoPendingSnapshots {
    client: Client,
    table_name: String,
    capacity: CapacityMeter,
}

impl DynamoPendingSnapshots {
    /// Uses the table named `table_name`. Requests are counted on `meter`.
    #[must_use]
    pub fn named(table_name: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table_name: table_name.into(), capacity: CapacityMeter::new(meter) }
    }

    /// Returns the first record of the job's log whose position meets `position_condition`. In the
    /// condition, the placeholder `:n` is the position of the job.
    async fn first_record(
        &self,
        job: SnapshotJob,
        position_condition: &str,
    ) -> Result<Option<PendingSnapshot>, PortError> {
        let partition = Attribute::Bytes(job.log.as_bytes().to_vec());
        let query = self
            .client
            .query()
            .table_name(&self.table_name)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression(format!("#s = :s AND {position_condition}"))
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":s", to_sdk_value(partition))
            .expression_attribute_values(":n", number_value(job.position.pack()))
            .limit(1);
        let reply = self.capacity.count_reply(query.send().await)?;
        reply.items().first().map(|item| decode_item(item, pending_snapshot::decode)).transpose()
    }

    /// Writes a record under the condition that `add_condition` adds to the request.
    async fn put_record_if(
        &self,
        record: &PendingSnapshot,
        add_condition: impl FnOnce(PutItemFluentBuilder) -> PutItemFluentBuilder,
    ) -> WriteOutcome {
        let item = match pending_snapshot::encode(record) {
            Ok(item) => item,
            Err(error) => return WriteOutcome::Failed(error.into()),
        };
        let record_units = write_units(item_bytes(&item));
        let put = self
            .client
            .put_item()
            .table_name(&self.table_name)
            .set_item(Some(to_sdk_item(item)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let Err(error) = self.capacity.count(add_condition(put).send().await) else {
            return WriteOutcome::Written;
        };
        if is_condition_failed(&error) {
            self.capacity.count_rejected(record_units);
            return WriteOutcome::Refused;
        }
        let port_error = port_error(&error);
        if port_error.temporary {
            WriteOutcome::Unknown(port_error)
        } else {
            WriteOutcome::Failed(port_error)
        }
    }
}

#[async_trait]
impl PendingSnapshots for DynamoPendingSnapshots {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.first_record(job, "#n <= :n").await
    }

    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.first_record(job, "#n > :n").await
    }

    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        let is_absent = |request: PutItemFluentBuilder| {
            request
                .condition_expression("attribute_not_exists(#n)")
                .expression_attribute_names("#n", SORT_KEY)
        };
        self.put_record_if(record, is_absent).await
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let is_unchanged = |request: PutItemFluentBuilder| {
            request
                .condition_expression("#i = :i")
                .expression_attribute_names("#i", INCREMENT)
                .expression_attribute_values(":i", number_value(increment))
        };
        self.put_record_if(record, is_unchanged).await
    }

    async fn delete(&self, job: SnapshotJob, rebuild_run: Option<u64>) -> Result<(), PortError> {
        let delete = self
            .client
            .delete_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(pending_snapshot::key(job.log, job.position))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#r", REBUILD);
        let conditional_delete = match rebuild_run {
            None => delete.condition_expression("attribute_not_exists(#r)"),
            Some(rebuild_run) => delete
                .condition_expression("#r = :r")
                .expression_attribute_values(":r", number_value(rebuild_run)),
        };
        match self.capacity.count(conditional_delete.send().await) {
            Ok(_) => Ok(()),
            // The record was already deleted or belongs to another run. The error does not contain
            // the record's size, so count the minimum.
            Err(error) if is_condition_failed(&error) => {
                self.capacity.count_rejected(MIN_WRITE_UNITS);
                Ok(())
            }
            Err(error) => Err(port_error(&error)),
        }
    }
}

fn number_value(number: u64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}
