//! The PendingSnapshots table.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use cellar_base::schema::{INCREMENT, PARTITION_KEY, REBUILD, SORT_KEY};
use cellar_base::{record::Attribute, record::item_bytes};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PendingSnapshots, PortError, WriteOutcome};
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::records::pending_snapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::items::{from_attributes, to_attributes, to_value};
use super::{consumed_units, consumed_write_units, refused_units, write_units};
use crate::outcome::port_error;

/// The table, behind a client; counts what it consumes.
#[derive(Debug, Clone)]
pub struct DynamoPendingSnapshots {
    client: Client,
    table: String,
    meter: Arc<Meter>,
}

impl DynamoPendingSnapshots {
    /// The table of this name.
    #[must_use]
    pub fn named(table: impl Into<String>, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, table: table.into(), meter }
    }

    /// The first record of a job's log whose position satisfies the condition on `:n`.
    async fn first(
        &self,
        job: SnapshotJob,
        condition: &str,
    ) -> Result<Option<PendingSnapshot>, PortError> {
        let partition = Attribute::Bytes(job.log.as_bytes().to_vec());
        let reply = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression(format!("#s = :s AND {condition}"))
            .expression_attribute_names("#s", PARTITION_KEY)
            .expression_attribute_names("#n", SORT_KEY)
            .expression_attribute_values(":s", to_value(partition))
            .expression_attribute_values(":n", number(job.position.pack()))
            .limit(1)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.meter.count(consumed_units(reply.consumed_capacity()), 0.0);
        let read = |item| Ok(pending_snapshot::decode(&from_attributes(item)?)?);
        reply.items().first().map(read).transpose()
    }

    /// Puts a record under a condition that is added to the request.
    async fn put(
        &self,
        record: &PendingSnapshot,
        condition: impl FnOnce(PutItemFluentBuilder) -> PutItemFluentBuilder,
    ) -> WriteOutcome {
        let item = match pending_snapshot::encode(record) {
            Ok(item) => item,
            Err(error) => return WriteOutcome::Failed(error.into()),
        };
        let put_bytes = item_bytes(&item);
        let request = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_attributes(item)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        match condition(request).send().await {
            Ok(reply) => {
                let units = consumed_write_units(reply.consumed_capacity.as_slice());
                self.meter.count(0.0, units);
                WriteOutcome::Written
            }
            Err(error) if refused(&error) => {
                self.meter.count(0.0, refused_units(write_units(put_bytes)));
                WriteOutcome::Refused
            }
            Err(error) => {
                let error = port_error(&error);
                let outcome =
                    if error.temporary { WriteOutcome::Unknown } else { WriteOutcome::Failed };
                outcome(error)
            }
        }
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
        let absent = |request: PutItemFluentBuilder| {
            request
                .condition_expression("attribute_not_exists(#n)")
                .expression_attribute_names("#n", SORT_KEY)
        };
        self.put(record, absent).await
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let seen = |request: PutItemFluentBuilder| {
            request
                .condition_expression("#i = :i")
                .expression_attribute_names("#i", INCREMENT)
                .expression_attribute_values(":i", number(increment))
        };
        self.put(record, seen).await
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
                .expression_attribute_values(":r", number(run)),
        };
        match request.send().await {
            Ok(reply) => {
                let units = consumed_write_units(reply.consumed_capacity.as_slice());
                self.meter.count(0.0, units);
                Ok(())
            }
            // It is gone, or another's: its size is not told.
            Err(error) if delete_refused(&error) => {
                self.meter.count(0.0, refused_units(1));
                Ok(())
            }
            Err(error) => Err(port_error(&error)),
        }
    }
}

fn number(number: u64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// Whether a conditional delete failed by its condition.
fn delete_refused(error: &SdkError<DeleteItemError>) -> bool {
    let service = error.as_service_error();
    service.is_some_and(DeleteItemError::is_conditional_check_failed_exception)
}

/// Whether a conditional put failed by its condition.
fn refused(error: &SdkError<PutItemError>) -> bool {
    let service = error.as_service_error();
    service.is_some_and(PutItemError::is_conditional_check_failed_exception)
}
