//! Point-in-time recovery and write limits of DynamoDB tables. DynamoDB restores a table as a new
//! table with another name.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::primitives::DateTime;
use aws_sdk_dynamodb::types::{
    BillingMode, OnDemandThroughput, PointInTimeRecoveryDescription, SseSpecification, SseType,
    TableStatus,
};

use super::connect::Aws;
use super::error::AwsError;

const TABLE_NOT_FOUND: &str = "ResourceNotFoundException";
/// Value with which DynamoDB removes a limit. DynamoDB may also report it.
const NO_LIMIT: i64 = -1;
const TABLE_EXISTS: &str = "TableAlreadyExistsException";

/// Range of times to which a table can be restored, in seconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RestorableRange {
    pub(crate) from_s: u64,
    /// Latest time to which the table can be restored. It is always a few minutes in the past.
    pub(crate) to_s: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableDescription {
    pub(crate) source_arn: Option<String>,
    /// `None` if the table was not restored.
    pub(crate) restored_to_s: Option<u64>,
    pub(crate) created_s: Option<u64>,
    /// Status in DynamoDB, such as `ACTIVE`.
    pub(crate) status: String,
    /// Whether deletion protection is on.
    pub(crate) is_protected: bool,
    /// Maximum write throughput in write units per second. `None` if it is not limited.
    pub(crate) max_write_units: Option<u64>,
}

impl Aws {
    /// Returns `None` if point-in-time recovery is disabled for the table.
    pub(crate) async fn restorable_range(
        &self,
        table_name: &str,
    ) -> Result<Option<RestorableRange>, AwsError> {
        let request = self.dynamodb.describe_continuous_backups().table_name(table_name);
        let output = request
            .send()
            .await
            .map_err(|error| AwsError::from_sdk("read the restorable range of a table", &error))?;
        let recovery = output
            .continuous_backups_description()
            .and_then(|backups| backups.point_in_time_recovery_description());
        Ok(recovery.and_then(RestorableRange::from_sdk))
    }

    /// Returns `None` if the table does not exist.
    pub(crate) async fn describe_table(
        &self,
        table_name: &str,
    ) -> Result<Option<TableDescription>, AwsError> {
        let output = match self.dynamodb.describe_table().table_name(table_name).send().await {
            Ok(output) => output,
            Err(error) if error.code() == Some(TABLE_NOT_FOUND) => return Ok(None),
            Err(error) => return Err(AwsError::from_sdk("find a table", &error)),
        };
        let table = output.table.ok_or(AwsError::IncompleteReply { missing: "a table" })?;
        let restore = table.restore_summary();
        Ok(Some(TableDescription {
            source_arn: restore.and_then(|restore| restore.source_table_arn()).map(str::to_owned),
            restored_to_s: restore.and_then(|restore| unix_seconds(restore.restore_date_time())),
            created_s: table.creation_date_time().and_then(unix_seconds),
            status: table.table_status().map(TableStatus::to_string).unwrap_or_default(),
            is_protected: table.deletion_protection_enabled() == Some(true),
            max_write_units: table
                .on_demand_throughput()
                .and_then(|limits| u64::try_from(limits.max_write_request_units()?).ok()),
        }))
    }

    /// If `kms_key` is `None`, the new table is encrypted like the source table.
    ///
    /// Does nothing if a table named `target_table_name` exists. The caller must check with
    /// [`Self::describe_table`] from which table it was restored.
    pub(crate) async fn restore_table(
        &self,
        source_table_name: &str,
        target_table_name: &str,
        restore_to_s: u64,
        kms_key: Option<&str>,
    ) -> Result<(), AwsError> {
        let restore_to_s = i64::try_from(restore_to_s)
            .map_err(|_| AwsError::IncompleteReply { missing: "a valid time" })?;
        let encryption = kms_key.map(|kms_key| {
            let encryption = SseSpecification::builder().enabled(true).sse_type(SseType::Kms);
            encryption.kms_master_key_id(kms_key).build()
        });
        let request = self
            .dynamodb
            .restore_table_to_point_in_time()
            .source_table_name(source_table_name)
            .target_table_name(target_table_name)
            .restore_date_time(DateTime::from_secs(restore_to_s))
            .billing_mode_override(BillingMode::PayPerRequest)
            .set_sse_specification_override(encryption);
        match request.send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(TABLE_EXISTS) => Ok(()),
            Err(error) => Err(AwsError::from_sdk("restore a table", &error)),
        }
    }

    pub(crate) async fn remove_write_limit(&self, table_name: &str) -> Result<(), AwsError> {
        let limits = OnDemandThroughput::builder().max_write_request_units(NO_LIMIT).build();
        let request = self.dynamodb.update_table().table_name(table_name);
        let result = request.on_demand_throughput(limits).send().await;
        result.map_err(|error| AwsError::from_sdk("remove the write limit of a table", &error))?;
        Ok(())
    }

    pub(crate) fn table_arn(&self, name: &str) -> String {
        let Self { partition, region, account, .. } = self;
        format!("arn:{partition}:dynamodb:{region}:{account}:table/{name}")
    }
}

impl TableDescription {
    /// Returns whether the creation or restore of the table is complete.
    pub(crate) fn is_active(&self) -> bool {
        self.status == TableStatus::Active.as_str()
    }

    /// Returns `true` if the source table and the time match, or if DynamoDB does not report them
    /// yet. At the start of a restore, DynamoDB does not report them.
    pub(crate) fn may_be_restored_from(&self, source_arn: &str, restore_to_s: u64) -> bool {
        let has_other_source = self.source_arn.as_ref().is_some_and(|arn| arn != source_arn);
        let has_other_time =
            self.restored_to_s.is_some_and(|restored_to_s| restored_to_s != restore_to_s);
        !has_other_source && !has_other_time
    }
}

impl RestorableRange {
    fn from_sdk(recovery: &PointInTimeRecoveryDescription) -> Option<Self> {
        Some(Self {
            from_s: unix_seconds(recovery.earliest_restorable_date_time()?)?,
            to_s: unix_seconds(recovery.latest_restorable_date_time()?)?,
        })
    }
}

fn unix_seconds(time: &DateTime) -> Option<u64> {
    u64::try_from(time.secs()).ok()
}
