//! Reads table sizes, and deletes tables and buckets.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_s3::operation::list_object_versions::ListObjectVersionsOutput;
use aws_sdk_s3::types::{Delete, ObjectIdentifier};

use super::connect::Aws;
use super::error::AwsError;

const TABLE_NOT_FOUND: &str = "ResourceNotFoundException";
const TABLE_IN_USE: &str = "ResourceInUseException";
/// Error code for turning off deletion protection that is already off.
const ALREADY_UNPROTECTED: &str = "ValidationException";
const BUCKET_NOT_FOUND: &str = "NoSuchBucket";

impl Aws {
    /// DynamoDB updates the size only every few hours.
    pub(crate) async fn table_bytes(&self, table: &str) -> Result<u64, AwsError> {
        let result = self.dynamodb.describe_table().table_name(table).send().await;
        let output =
            result.map_err(|error| AwsError::from_sdk("read the size of a table", &error))?;
        let bytes = output.table().and_then(|table| table.table_size_bytes());
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default())
    }

    /// Does nothing if the table does not exist or if DynamoDB is changing it.
    pub(crate) async fn unprotect_table(&self, table: &str) -> Result<(), AwsError> {
        let update = self.dynamodb.update_table().table_name(table);
        match update.deletion_protection_enabled(false).send().await {
            Ok(_) => Ok(()),
            Err(error) if is_gone_or_busy(error.code()) => Ok(()),
            // The protection was on when the table was read, but the read may be outdated.
            Err(error) if error.code() == Some(ALREADY_UNPROTECTED) => Ok(()),
            Err(error) => {
                Err(AwsError::from_sdk("turn off the deletion protection of a table", &error))
            }
        }
    }

    /// Does nothing if the table does not exist or if DynamoDB is changing it.
    pub(crate) async fn request_table_deletion(&self, table: &str) -> Result<(), AwsError> {
        match self.dynamodb.delete_table().table_name(table).send().await {
            Ok(_) => Ok(()),
            Err(error) if is_gone_or_busy(error.code()) => Ok(()),
            Err(error) => Err(AwsError::from_sdk("delete a table", &error)),
        }
    }

    /// Deletes a bucket with all its object versions. Does nothing if the bucket does not exist.
    ///
    /// Calls `report_deleted_count` with the number of versions deleted so far.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails. Some objects may already be deleted.
    pub(crate) async fn delete_bucket(
        &self,
        bucket: &str,
        mut report_deleted_count: impl FnMut(usize),
    ) -> Result<(), AwsError> {
        let mut deleted_count = 0_usize;
        loop {
            let request = self.s3.list_object_versions().bucket(bucket);
            let versions = match request.expected_bucket_owner(&self.account).send().await {
                Ok(page) => versions_and_markers(&page),
                Err(error) if error.code() == Some(BUCKET_NOT_FOUND) => return Ok(()),
                Err(error) => {
                    return Err(AwsError::from_sdk("list the objects of the bucket", &error));
                }
            };
            if versions.is_empty() {
                break;
            }
            deleted_count += versions.len();
            self.delete_object_versions(bucket, versions).await?;
            report_deleted_count(deleted_count);
        }
        match self.s3.delete_bucket().bucket(bucket).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(BUCKET_NOT_FOUND) => Ok(()),
            Err(error) => Err(AwsError::from_sdk("delete the bucket", &error)),
        }
    }

    async fn delete_object_versions(
        &self,
        bucket: &str,
        versions: Vec<ObjectIdentifier>,
    ) -> Result<(), AwsError> {
        const OPERATION: &str = "delete the objects of the bucket";
        let deletion = Delete::builder()
            .set_objects(Some(versions))
            .quiet(true)
            .build()
            .map_err(|_| AwsError::IncompleteReply { missing: "objects" })?;
        let request = self.s3.delete_objects().bucket(bucket).delete(deletion);
        let result = request.expected_bucket_owner(&self.account).send().await;
        let output = result.map_err(|error| AwsError::from_sdk(OPERATION, &error))?;
        // Report objects that could not be deleted as an error. Otherwise, they would be listed
        // again forever.
        match output.errors().first() {
            None => Ok(()),
            Some(error) => Err(AwsError::Refused {
                operation: OPERATION,
                code: error.code().unwrap_or_default().to_owned(),
                message: error.message().unwrap_or_default().to_owned(),
            }),
        }
    }
}

fn is_gone_or_busy(error_code: Option<&str>) -> bool {
    matches!(error_code, Some(TABLE_NOT_FOUND | TABLE_IN_USE))
}

fn versions_and_markers(page: &ListObjectVersionsOutput) -> Vec<ObjectIdentifier> {
    let mut identifiers = Vec::new();
    for version in page.versions() {
        identifiers.extend(object_identifier(version.key(), version.version_id()));
    }
    for marker in page.delete_markers() {
        identifiers.extend(object_identifier(marker.key(), marker.version_id()));
    }
    identifiers
}

fn object_identifier(key: Option<&str>, version_id: Option<&str>) -> Option<ObjectIdentifier> {
    let identifier = ObjectIdentifier::builder().key(key?);
    identifier.set_version_id(version_id.map(str::to_owned)).build().ok()
}
