//! The data of a stack: how much it is, and how it goes with it.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::{Delete, ObjectIdentifier};

use super::{Aws, AwsError};

/// What DynamoDB says of a table that is not there.
const NO_TABLE: &str = "ResourceNotFoundException";
/// What it says of a table that is being deleted.
const IN_USE: &str = "ResourceInUseException";
/// What S3 says of a bucket that is not there.
const NO_BUCKET: &str = "NoSuchBucket";

impl Aws {
    /// Bytes in a table, as DynamoDB counted them in the last hours.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn table_bytes(&self, table: &str) -> Result<u64, AwsError> {
        let described = self.dynamodb.describe_table().table_name(table).send().await;
        let described =
            described.map_err(|error| AwsError::of("read how large a table is", &error))?;
        let bytes = described.table().and_then(|table| table.table_size_bytes());
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default())
    }

    /// Deletes a table, protected or not. One that is not there, or is being deleted, is fine.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn delete_table(&self, table: &str) -> Result<(), AwsError> {
        let open = self.dynamodb.update_table().table_name(table);
        match open.deletion_protection_enabled(false).send().await {
            Ok(_) => {}
            Err(error) if matches!(error.code(), Some(NO_TABLE)) => return Ok(()),
            // It has no protection, or is on its way out.
            Err(error) if matches!(error.code(), Some(IN_USE | "ValidationException")) => {}
            Err(error) => return Err(AwsError::of("take the protection from a table", &error)),
        }
        match self.dynamodb.delete_table().table_name(table).send().await {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.code(), Some(NO_TABLE | IN_USE)) => Ok(()),
            Err(error) => Err(AwsError::of("delete a table", &error)),
        }
    }

    /// Deletes a bucket with every version of everything in it; `progress` is told how many so far.
    /// One that is not there is fine.
    ///
    /// # Errors
    /// [`AwsError`]; what was deleted until then is gone.
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
                Err(error) => return Err(AwsError::of("list what is in the bucket", &error)),
            };
            let versions = page.versions().iter().map(|it| (it.key(), it.version_id()));
            let markers = page.delete_markers().iter().map(|it| (it.key(), it.version_id()));
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
            Err(error) => Err(AwsError::of("delete the bucket", &error)),
        }
    }

    async fn delete_objects(
        &self,
        bucket: &str,
        objects: Vec<ObjectIdentifier>,
    ) -> Result<(), AwsError> {
        let what = "delete what is in the bucket";
        let delete = Delete::builder().set_objects(Some(objects)).quiet(true).build();
        let delete = delete.map_err(|_| AwsError::Reply { missing: "objects" })?;
        let request = self.s3.delete_objects().bucket(bucket).delete(delete);
        let reply = request.expected_bucket_owner(&self.account).send().await;
        let reply = reply.map_err(|error| AwsError::of(what, &error))?;
        // Otherwise they would be listed again, for ever.
        match reply.errors().first() {
            None => Ok(()),
            Some(error) => Err(AwsError::Refused {
                what,
                code: error.code().unwrap_or_default().to_owned(),
                message: error.message().unwrap_or_default().to_owned(),
            }),
        }
    }
}
