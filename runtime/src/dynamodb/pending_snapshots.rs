//! Adapter for the PendingSnapshots table.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use cellar_base::record::Attribute;
use cellar_base::table_attributes::{INCREMENT, PARTITION_KEY, REBUILD, SORT_KEY};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PendingSnapshots, PortError, WriteOutcome};
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::records::pending_snapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::capacity::{CapacityMeter, MIN_WRITE_UNITS};
use super::conditional::{count_conditional_write, put_record};
use super::items::{decode_item, to_sdk_item, to_sdk_value};

#[derive(Debug, Clone)]
pub struct DynamoPendingSnapshots {
    client: Client,
    table_name: String,
    capacity: CapacityMeter,
}

impl DynamoPendingSnapshots {
    /// Uses the PendingSnapshots table with the given name. All requests are counted on `meter`.
    #[must_use]
    pub fn named(table_name: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table_name: table_name.into(), capacity: CapacityMeter::new(meter) }
    }

    /// In `position_condition`, the placeholder `:n` stands for the position of the job.
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

    fn put_request(&self) -> PutItemFluentBuilder {
        self.client.put_item().table_name(&self.table_name)
    }

    /// `request` already contains the table name and the condition of the put.
    async fn put_pending_snapshot(
        &self,
        request: PutItemFluentBuilder,
        record: &PendingSnapshot,
    ) -> WriteOutcome {
        match pending_snapshot::encode(record) {
            Ok(item) => put_record(&self.capacity, request, item).await,
            Err(error) => WriteOutcome::Failed(error.into()),
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
        let put_if_absent = self
            .put_request()
            .condition_expression("attribute_not_exists(#n)")
            .expression_attribute_names("#n", SORT_KEY);
        self.put_pending_snapshot(put_if_absent, record).await
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let put_if_unchanged = self
            .put_request()
            .condition_expression("#i = :i")
            .expression_attribute_names("#i", INCREMENT)
            .expression_attribute_values(":i", number_value(increment));
        self.put_pending_snapshot(put_if_unchanged, record).await
    }

    async fn delete(&self, job: SnapshotJob, rebuild_run: Option<u64>) -> Result<(), PortError> {
        let delete = self
            .client
            .delete_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(pending_snapshot::key(job.log, job.position))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_names("#r", REBUILD);
        let delete_of_own_record = match rebuild_run {
            None => delete.condition_expression("attribute_not_exists(#r)"),
            Some(rebuild_run) => delete
                .condition_expression("#r = :r")
                .expression_attribute_values(":r", number_value(rebuild_run)),
        };
        let result = delete_of_own_record.send().await;
        // If the condition fails, the record was already deleted or belongs to another rebuild run.
        count_conditional_write(&self.capacity, result, MIN_WRITE_UNITS)?;
        Ok(())
    }
}

fn number_value(number: u64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}
