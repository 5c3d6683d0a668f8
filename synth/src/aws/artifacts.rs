//! Manages the artifact bucket, which stores Lambda bundles and CloudFormation templates. The first
//! deployment creates the bucket.

use aws_sdk_s3::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_s3::operation::head_bucket::HeadBucketError;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{BucketLocationConstraint, BucketNamespace, CreateBucketConfiguration};

use super::bucket_settings::SettingsRepair;
use super::connect::Aws;
use super::error::AwsError;

/// Region of an S3 bucket that has no location constraint.
const DEFAULT_REGION: &str = "us-east-1";
/// Regions without account-regional bucket names, according to the S3 user guide of November 2026.
const REGIONS_WITH_GLOBAL_NAMES: [&str; 2] = ["me-central-1", "me-south-1"];
/// End of each account-regional name, after the account and the region. S3 requires it.
const REGIONAL_NAME_END: &str = "-an";
const REGION_HEADER: &str = "x-amz-bucket-region";
const HTTP_MOVED_PERMANENTLY: u16 = 301;
const HTTP_FORBIDDEN: u16 = 403;
const HTTP_NOT_FOUND: u16 = 404;

/// The key contains a hash of the content, so objects with equal keys have equal bytes.
#[derive(Debug, Clone)]
pub(crate) struct Artifact {
    pub(crate) key: String,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum ArtifactBucket {
    Created,
    Existing(SettingsRepair),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UploadResult {
    Uploaded,
    AlreadyUploaded,
}

impl Aws {
    /// Returns the name of Cellar's bucket in this account and region, which may not exist yet.
    ///
    /// A new bucket has an account-regional name, which no other account can take. If this account
    /// already has the bucket of earlier versions, that bucket is used.
    pub(crate) async fn default_artifact_bucket(&self) -> Result<String, AwsError> {
        let global_name = self.global_bucket_name();
        if !has_regional_names(&self.region) || self.owns_bucket(&global_name).await? {
            return Ok(global_name);
        }
        Ok(self.regional_bucket_name())
    }

    /// Returns the name that earlier versions gave to the bucket. Another account may have taken
    /// it.
    fn global_bucket_name(&self) -> String {
        format!("cellar-artifacts{}", self.name_suffix())
    }

    fn regional_bucket_name(&self) -> String {
        format!("{}{REGIONAL_NAME_END}", self.global_bucket_name())
    }

    fn name_suffix(&self) -> String {
        format!("-{}-{}", self.account, self.region)
    }

    fn is_regional_name(&self, bucket: &str) -> bool {
        bucket.ends_with(&format!("{}{REGIONAL_NAME_END}", self.name_suffix()))
    }

    /// Returns `false` if the bucket belongs to another account or is in another region, or if its
    /// owner is unknown because access is denied.
    async fn owns_bucket(&self, bucket: &str) -> Result<bool, AwsError> {
        match self.has_artifact_bucket(bucket).await {
            Err(AwsError::BucketClosed { .. } | AwsError::BucketElsewhere { .. }) => Ok(false),
            result => result,
        }
    }

    /// A new bucket gets all settings, even if its name is custom.
    ///
    /// If a bucket with the default name exists, settings that have drifted are restored. The
    /// settings of an existing bucket with a custom name are not changed. If the process dies after
    /// the bucket was created and before its settings were applied, the bucket keeps the S3
    /// defaults, which block public access.
    pub(crate) async fn ensure_artifact_bucket(
        &self,
        bucket: &str,
    ) -> Result<ArtifactBucket, AwsError> {
        if self.has_artifact_bucket(bucket).await? {
            self.restore_default_bucket_settings(bucket).await
        } else {
            self.create_bucket(bucket).await?;
            Ok(ArtifactBucket::Created)
        }
    }

    /// Returns [`AwsError::BucketClosed`] or [`AwsError::BucketElsewhere`] if a bucket with this
    /// name exists but cannot be used.
    async fn has_artifact_bucket(&self, bucket: &str) -> Result<bool, AwsError> {
        let head_request =
            self.s3.head_bucket().bucket(bucket).expected_bucket_owner(&self.account);
        let error = match head_request.send().await {
            Ok(_) => return Ok(true),
            Err(error) => error,
        };
        match http_status(&error) {
            Some(HTTP_NOT_FOUND) => Ok(false),
            Some(HTTP_FORBIDDEN) => Err(AwsError::BucketClosed { bucket: bucket.to_owned() }),
            Some(HTTP_MOVED_PERMANENTLY) => Err(AwsError::BucketElsewhere {
                bucket: bucket.to_owned(),
                bucket_region: bucket_region_from_error(&error),
                stack_region: self.region.clone(),
            }),
            _ => Err(AwsError::from_sdk("find the artifact bucket", &error)),
        }
    }

    /// Restores drifted settings of an existing bucket, but only if the bucket has the default
    /// name.
    async fn restore_default_bucket_settings(
        &self,
        bucket: &str,
    ) -> Result<ArtifactBucket, AwsError> {
        let mut repair = SettingsRepair::default();
        if bucket == self.global_bucket_name() || bucket == self.regional_bucket_name() {
            repair = self.repair_settings(bucket).await?;
        }
        Ok(ArtifactBucket::Existing(repair))
    }

    async fn create_bucket(&self, bucket: &str) -> Result<(), AwsError> {
        let mut request = self.s3.create_bucket().bucket(bucket);
        if self.is_regional_name(bucket) {
            request = request.bucket_namespace(BucketNamespace::AccountRegional);
        }
        if self.region != DEFAULT_REGION {
            let region = BucketLocationConstraint::from(self.region.as_str());
            let location = CreateBucketConfiguration::builder().location_constraint(region).build();
            request = request.create_bucket_configuration(location);
        }
        if let Err(error) = request.send().await {
            match error.code() {
                // Another deployment created the bucket at the same time.
                Some("BucketAlreadyOwnedByYou") => {}
                Some("BucketAlreadyExists") => {
                    return Err(AwsError::BucketOfOthers { bucket: bucket.to_owned() });
                }
                _ => return Err(AwsError::from_sdk("create the artifact bucket", &error)),
            }
        }
        self.apply_bucket_settings(bucket).await
    }

    pub(crate) async fn has_artifact(&self, bucket: &str, key: &str) -> Result<bool, AwsError> {
        const OPERATION: &str = "find the bundle";
        let head_request = self.s3.head_object().bucket(bucket).key(key);
        let error = match head_request.expected_bucket_owner(&self.account).send().await {
            Ok(_) => return Ok(true),
            Err(error) => error,
        };
        match http_status(&error) {
            Some(HTTP_NOT_FOUND) => Ok(false),
            // An error response to a HEAD request has no body, so S3 does not name the denied
            // action. Add the action to the message.
            Some(HTTP_FORBIDDEN) => {
                let object_arn = format!("arn:{}:s3:::{bucket}/{key}", self.partition);
                let message = format!(
                    "S3 returned 403: the caller is not authorized to perform: s3:GetObject on \
                     {object_arn}"
                );
                Err(AwsError::Denied { operation: OPERATION, message })
            }
            _ => Err(AwsError::from_sdk(OPERATION, &error)),
        }
    }

    /// Uploads an object unless the bucket already contains an object with the same key and length.
    pub(crate) async fn upload_unless_present(
        &self,
        bucket: &str,
        artifact: Artifact,
    ) -> Result<UploadResult, AwsError> {
        let head_request = self.s3.head_object().bucket(bucket).key(&artifact.key);
        let head_result = head_request.expected_bucket_owner(&self.account).send().await;
        let byte_length = i64::try_from(artifact.bytes.len()).ok();
        if head_result.is_ok_and(|head| head.content_length() == byte_length) {
            return Ok(UploadResult::AlreadyUploaded);
        }
        self.put_artifact(bucket, artifact).await?;
        Ok(UploadResult::Uploaded)
    }

    /// Uploads an object, overwriting any existing object with the same key.
    pub(crate) async fn put_artifact(
        &self,
        bucket: &str,
        artifact: Artifact,
    ) -> Result<(), AwsError> {
        let Artifact { key, bytes } = artifact;
        let request = self.s3.put_object().bucket(bucket).key(&key).body(ByteStream::from(bytes));
        let result = request.expected_bucket_owner(&self.account).send().await;
        result.map_err(|error| AwsError::from_sdk("upload to the artifact bucket", &error))?;
        Ok(())
    }

    pub(crate) fn artifact_url(&self, bucket: &str, key: &str) -> String {
        match &self.endpoint_url {
            Some(endpoint) => format!("{endpoint}/{bucket}/{key}"),
            None => format!("https://s3.{}.{}/{bucket}/{key}", self.region, self.domain()),
        }
    }
}

fn has_regional_names(region: &str) -> bool {
    !REGIONS_WITH_GLOBAL_NAMES.contains(&region)
}

/// A failed HEAD request has a status but no error code.
fn http_status<E>(error: &SdkError<E>) -> Option<u16> {
    error.raw_response().map(|response| response.status().as_u16())
}

/// S3 reports the region in the error response to a request that was sent to another region.
fn bucket_region_from_error(error: &SdkError<HeadBucketError>) -> String {
    let region = error.raw_response().and_then(|response| response.headers().get(REGION_HEADER));
    region.unwrap_or("another region").to_owned()
}
