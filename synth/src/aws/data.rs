//! Reads table sizes, and deletes tables and buckets.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::{Delete, ObjectIdentifier};

use super::connect::Aws;
use super::error::AwsError;

/// Error code for a table that does not exist.
const NO_TABLE: &str = "ResourceNotFoundException";
/// Error code for a table that is being deleted.
const IN_USE: &str = "ResourceInUseException";
/// Error code for a bucket that does not exist.
const NO_BUCKET: &str = "NoSuchBucket";

impl Aws {
    /// Returns the table size in bytes. DynamoDB updates this value every few hours.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn table_bytes(&self, table: &str) -> Result<u64, AwsError> {
        let described = self.dynamodb.describe_table().table_name(table).send().await;
        let described =
            described.map_err(|error| AwsError::from_sdk("read the size of a table", &error))?;
        let bytes = described.table().and_then(|table| table.table_size_bytes());
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default())
    }

    /// Deletes a table, regardless of deletion protection. No-op if the table does not exist or is
    /// already being deleted.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn delete_table(&self, table: &str) -> Result<(), AwsError> {
        let update = self.dynamodb.update_table().table_name(table);
        match update.deletion_protection_enabled(false).send().await {
            Ok(_) => {}
            Err(error) if matches!(error.code(), Some(NO_TABLE)) => return Ok(()),
            // The table has no deletion protection, or is already being deleted.
            Err(error) if matches!(error.code(), Some(IN_USE | "ValidationException")) => {}
            Err(error) => {
                return Err(AwsError::from_sdk(
                    "turn off the deletion protection of a table",
                    &error,
                ));
            }
        }
        match self.dynamodb.delete_table().table_name(table).send().await {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.code(), Some(NO_TABLE | IN_USE)) => Ok(()),
            Err(error) => Err(AwsError::from_sdk("delete a table", &error)),
        }
    }

    /// Deletes a bucket with all its object versions. No-op if the bucket does not exist.
    ///
    /// `progress` is called with the number of versions deleted so far.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails. Some objects may already be deleted.
    pub(crate) async fn delete_bucket(
        &self,
        bucket: &str,
        mut progress: impl FnMut(usize),
    ) -> Result<(), AwsError> {
        let mut deleted = 0_usize;
        loop {
            let versions = self.s3.list_object_versions().bucket(bucket);
            let versions = versions.expected_bucket_owner(&self.account).send().await;
            let page = match versions {
                Ok(page) => page,
                Err(error) if error.code() == Some(NO_BUCKET) => return Ok(()),
                Err(error) => {
                    return Err(AwsError::from_sdk("list the objects of the bucket", &error));
                }
            };
            let versions = page.versions().iter().map(|object| (object.key(), object.version_id()));
            let markers =
                page.delete_markers().iter().map(|marker| (marker.key(), marker.version_id()));
            let objects: Vec<ObjectIdentifier> = versions
                .chain(markers)
                .filter_map(|(key, version)| {
                    let object = ObjectIdentifier::builder().key(key?);
                    object.set_version_id(version.map(str::to_owned)).build().ok()
                })
                .collect();
            if objects.is_empty() {
                break;
            }
            deleted = deleted.saturating_add(objects.len());
            self.delete_objects(bucket, objects).await?;
            progress(deleted);
        }
        match self.s3.delete_bucket().bucket(bucket).send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(NO_BUCKET) => Ok(()),
            Err(error) => Err(AwsError::from_sdk("delete the bucket", &error)),
        }
    }

    async fn delete_objects(
        &self,
        bucket: &str,
        objects: Vec<ObjectIdentifier>,
    ) -> Result<(), AwsError> {
        let operation = "delete the objects of the bucket";
        let delete = Delete::builder().set_objects(Some(objects)).quiet(true).build();
        let delete = delete.map_err(|_| AwsError::Reply { missing: "objects" })?;
        let request = self.s3.delete_objects().bucket(bucket).delete(delete);
        let reply = request.expected_bucket_owner(&self.account).send().await;
        let reply = reply.map_err(|error| AwsError::from_sdk(operation, &error))?;
        // A failed object deletion must be an error; otherwise the object would be listed again
        // forever.
        match reply.errors().first() {
            None => Ok(()),
            Some(error) => Err(AwsError::Refused {
                operation,
                code: error.code().unwrap_or_default().to_owned(),
                message: error.message().unwrap_or_default().to_owned(),
            }),
        }
    }
}
