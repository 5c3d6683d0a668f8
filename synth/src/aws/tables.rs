//! Point-in-time recovery: DynamoDB restores a table as a new table with another name.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::primitives::DateTime;
use aws_sdk_dynamodb::types::{BillingMode, SseSpecification, SseType, TableStatus};

use super::connect::Aws;
use super::error::AwsError;

/// Error code for a table that does not exist.
const NO_TABLE: &str = "ResourceNotFoundException";
/// Error code for a table that already exists or is being created.
const TABLE_EXISTS: &str = "TableAlreadyExistsException";

/// Time range to which a table can be restored, in seconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RestorableRange {
    /// Earliest time to which the table can be restored.
    pub(crate) from_s: u64,
    /// Latest time to which the table can be restored, a few minutes ago.
    pub(crate) to_s: u64,
}

/// Table description, including the origin of a restored table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableDescription {
    /// ARN of the source table, if this table was restored.
    pub(crate) source_arn: Option<String>,
    /// Time to which this table was restored, in seconds since the Unix epoch. `None` unless the
    /// table was restored.
    pub(crate) restored_to_s: Option<u64>,
    /// Creation time of the table, in seconds since the Unix epoch.
    pub(crate) created_s: Option<u64>,
    /// Whether the table is active: its creation or restore is complete.
    pub(crate) is_active: bool,
}

impl Aws {
    /// Returns the range of times to which a table can be restored, or `None` if point-in-time
    /// recovery is disabled for the table.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn restorable_range(
        &self,
        table: &str,
    ) -> Result<Option<RestorableRange>, AwsError> {
        let described = self.dynamodb.describe_continuous_backups().table_name(table).send().await;
        let described = described
            .map_err(|error| AwsError::from_sdk("read the restorable range of a table", &error))?;
        let recovery = described.continuous_backups_description();
        let recovery = recovery.and_then(|it| it.point_in_time_recovery_description());
        Ok(recovery.and_then(|recovery| {
            Some(RestorableRange {
                from_s: seconds(recovery.earliest_restorable_date_time()?)?,
                to_s: seconds(recovery.latest_restorable_date_time()?)?,
            })
        }))
    }

    /// Returns the description of a table, or `None` if the table does not exist.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn describe_table(
        &self,
        table: &str,
    ) -> Result<Option<TableDescription>, AwsError> {
        let described = match self.dynamodb.describe_table().table_name(table).send().await {
            Ok(described) => described,
            Err(error) if error.code() == Some(NO_TABLE) => return Ok(None),
            Err(error) => return Err(AwsError::from_sdk("find a table", &error)),
        };
        let found = described.table.ok_or(AwsError::Reply { missing: "a table" })?;
        let summary = found.restore_summary();
        Ok(Some(TableDescription {
            source_arn: summary.and_then(|it| it.source_table_arn()).map(str::to_owned),
            restored_to_s: summary.and_then(|it| seconds(it.restore_date_time())),
            created_s: found.creation_date_time().and_then(seconds),
            is_active: found.table_status() == Some(&TableStatus::Active),
        }))
    }

    /// Starts restoring a table to the time `at_s`, in seconds since the Unix epoch, as a new table
    /// named `target`.
    ///
    /// No-op if `target` exists. The caller checks the origin of `target` with
    /// [`Self::describe_table`].
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn restore_table(
        &self,
        source: &str,
        target: &str,
        at_s: u64,
        key: Option<&str>,
    ) -> Result<(), AwsError> {
        let at = i64::try_from(at_s).map_err(|_| AwsError::Reply { missing: "a valid time" })?;
        let request = self.dynamodb.restore_table_to_point_in_time().source_table_name(source);
        let request = request.target_table_name(target).restore_date_time(DateTime::from_secs(at));
        let request = request.billing_mode_override(BillingMode::PayPerRequest);
        let encryption = key.map(|key| {
            let encryption = SseSpecification::builder().enabled(true).sse_type(SseType::Kms);
            encryption.kms_master_key_id(key).build()
        });
        match request.set_sse_specification_override(encryption).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(TABLE_EXISTS) => Ok(()),
            Err(error) => Err(AwsError::from_sdk("restore a table", &error)),
        }
    }

    /// Returns the ARN of a table in this account and region.
    pub(crate) fn table_arn(&self, name: &str) -> String {
        let Self { partition, region, account, .. } = self;
        format!("arn:{partition}:dynamodb:{region}:{account}:table/{name}")
    }
}

fn seconds(time: &DateTime) -> Option<u64> {
    u64::try_from(time.secs()).ok()
}
