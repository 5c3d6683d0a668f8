//! Tables at a point in time: DynamoDB restores one under a new name, beside the old one.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::primitives::DateTime;
use aws_sdk_dynamodb::types::{BillingMode, SseSpecification, SseType, TableStatus};

use super::{Aws, AwsError};

/// What DynamoDB says of a table that is not there.
const NO_TABLE: &str = "ResourceNotFoundException";
/// What it says of a table that is there already, or is being made.
const THERE: &str = "TableAlreadyExistsException";

/// From when to when a table can be restored, Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recoverable {
    /// The first moment.
    pub(crate) from_s: u64,
    /// The last one, some minutes ago.
    pub(crate) to_s: u64,
}

/// A table, which may be, or become, one restored to a point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestoredTable {
    /// The table that it was restored from, by its ARN, if DynamoDB says it.
    pub(crate) source_arn: Option<String>,
    /// To when, Unix seconds, if DynamoDB says it.
    pub(crate) at_s: Option<u64>,
    /// When it was made, Unix seconds, if DynamoDB says it.
    pub(crate) made_s: Option<u64>,
    /// Whether everything is there.
    pub(crate) is_active: bool,
}

impl Aws {
    /// From when to when a table can be restored. `None`: it has no point-in-time recovery.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn recoverable(&self, table: &str) -> Result<Option<Recoverable>, AwsError> {
        let described = self.dynamodb.describe_continuous_backups().table_name(table).send().await;
        let described = described
            .map_err(|error| AwsError::of("read how far back a table can be restored", &error))?;
        let recovery = described.continuous_backups_description();
        let recovery = recovery.and_then(|it| it.point_in_time_recovery_description());
        Ok(recovery.and_then(|recovery| {
            Some(Recoverable {
                from_s: seconds(recovery.earliest_restorable_date_time()?)?,
                to_s: seconds(recovery.latest_restorable_date_time()?)?,
            })
        }))
    }

    /// A table, if there is one of that name.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn restored_table(
        &self,
        table: &str,
    ) -> Result<Option<RestoredTable>, AwsError> {
        let described = match self.dynamodb.describe_table().table_name(table).send().await {
            Ok(described) => described,
            Err(error) if error.code() == Some(NO_TABLE) => return Ok(None),
            Err(error) => return Err(AwsError::of("look for a table", &error)),
        };
        let found = described.table.ok_or(AwsError::Reply { missing: "a table" })?;
        let summary = found.restore_summary();
        Ok(Some(RestoredTable {
            source_arn: summary.and_then(|it| it.source_table_arn()).map(str::to_owned),
            at_s: summary.and_then(|it| seconds(it.restore_date_time())),
            made_s: found.creation_date_time().and_then(seconds),
            is_active: found.table_status() == Some(&TableStatus::Active),
        }))
    }

    /// Begins to restore a table as it was at `at_s` (Unix seconds) under a new name. One that is there
    /// already, or is being made, is fine: whoever asks looks whose it is.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn restore_table(
        &self,
        source: &str,
        target: &str,
        at_s: u64,
        key: Option<&str>,
    ) -> Result<(), AwsError> {
        let what = "restore a table";
        let at = i64::try_from(at_s).map_err(|_| AwsError::Reply { missing: "a moment" })?;
        let request = self.dynamodb.restore_table_to_point_in_time().source_table_name(source);
        let request = request.target_table_name(target).restore_date_time(DateTime::from_secs(at));
        let request = request.billing_mode_override(BillingMode::PayPerRequest);
        let encryption = key.map(|key| {
            let own = SseSpecification::builder().enabled(true).sse_type(SseType::Kms);
            own.kms_master_key_id(key).build()
        });
        match request.set_sse_specification_override(encryption).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(THERE) => Ok(()),
            Err(error) => Err(AwsError::of(what, &error)),
        }
    }

    /// The ARN of a table of this account and region.
    pub(crate) fn table_arn(&self, name: &str) -> String {
        let Self { partition, region, account, .. } = self;
        format!("arn:{partition}:dynamodb:{region}:{account}:table/{name}")
    }
}

fn seconds(time: &DateTime) -> Option<u64> {
    u64::try_from(time.secs()).ok()
}
