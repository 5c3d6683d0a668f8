//! The bucket of the bundles: deploying finds it or makes it, so that no account has to be prepared.

use aws_sdk_s3::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_s3::operation::head_bucket::HeadBucketError;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, BucketLocationConstraint,
    CreateBucketConfiguration, ExpirationStatus, LifecycleRule, LifecycleRuleFilter,
    PublicAccessBlockConfiguration,
};
use serde_json::json;

use super::{Aws, AwsError};

/// The region whose buckets are made without saying where.
const FIRST_REGION: &str = "us-east-1";
/// The header that says in which region a bucket is.
const REGION_HEADER: &str = "x-amz-bucket-region";
/// Days after which parts of an upload that did not end are deleted.
const ABORT_AFTER_DAYS: i32 = 1;

/// Something to upload. Equal keys are equal bytes: each has the hash of its content in it.
#[derive(Debug, Clone)]
pub(crate) struct Artifact {
    /// Its key.
    pub(crate) key: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// What came of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uploaded {
    /// It is there now.
    Now,
    /// It was there.
    Before,
}

impl Aws {
    /// The name that the bucket has if none is given: of this account, in this region.
    pub(crate) fn artifact_bucket_name(&self) -> String {
        format!("cellar-artifacts-{}-{}", self.account, self.region)
    }

    /// Finds the bucket, or makes it. True if it was made.
    ///
    /// # Errors
    /// [`AwsError`]. If it ends between making the bucket and its settings, only what S3 itself sets
    /// holds: no public access.
    pub(crate) async fn ensure_artifact_bucket(&self, bucket: &str) -> Result<bool, AwsError> {
        let head = self.s3.head_bucket().bucket(bucket).expected_bucket_owner(&self.account);
        let made = match head.send().await {
            Ok(_) => return Ok(false),
            Err(error) if is_missing(&error) => self.create_bucket(bucket).await?,
            Err(error) if status(&error) == Some(403) => {
                return Err(AwsError::BucketClosed { bucket: bucket.to_owned() });
            }
            Err(error) if status(&error) == Some(301) => {
                let (bucket, here) = (bucket.to_owned(), self.region.clone());
                return Err(AwsError::BucketElsewhere { bucket, there: region_of(&error), here });
            }
            Err(error) => return Err(AwsError::of("look for the bucket of the bundles", &error)),
        };
        Ok(made)
    }

    async fn create_bucket(&self, bucket: &str) -> Result<bool, AwsError> {
        let what = "make the bucket of the bundles";
        let mut request = self.s3.create_bucket().bucket(bucket);
        if self.region != FIRST_REGION {
            let place = BucketLocationConstraint::from(self.region.as_str());
            let place = CreateBucketConfiguration::builder().location_constraint(place).build();
            request = request.create_bucket_configuration(place);
        }
        match request.send().await {
            Ok(_) => {}
            // Another run was faster.
            Err(error) if error.code() == Some("BucketAlreadyOwnedByYou") => {}
            Err(error) if error.code() == Some("BucketAlreadyExists") => {
                return Err(AwsError::BucketOfOthers { bucket: bucket.to_owned() });
            }
            Err(error) => return Err(AwsError::of(what, &error)),
        }
        let block = PublicAccessBlockConfiguration::builder()
            .block_public_acls(true)
            .block_public_policy(true)
            .ignore_public_acls(true)
            .restrict_public_buckets(true)
            .build();
        let blocked = self.s3.put_public_access_block().bucket(bucket);
        let blocked = blocked.public_access_block_configuration(block).send().await;
        blocked.map_err(|error| AwsError::of(what, &error))?;
        let policy = self.s3.put_bucket_policy().bucket(bucket).policy(self.tls_only(bucket));
        policy.send().await.map_err(|error| AwsError::of(what, &error))?;
        let lifecycle = self.s3.put_bucket_lifecycle_configuration().bucket(bucket);
        let lifecycle = lifecycle.lifecycle_configuration(no_left_overs()?).send().await;
        lifecycle.map_err(|error| AwsError::of(what, &error))?;
        Ok(true)
    }

    fn tls_only(&self, bucket: &str) -> String {
        let arn = format!("arn:{}:s3:::{bucket}", self.partition);
        json!({
            "Version": "2012-10-17",
            "Statement": [{
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [arn, format!("{arn}/*")],
                "Condition": { "Bool": { "aws:SecureTransport": "false" } },
            }],
        })
        .to_string()
    }

    /// Whether something is in the bucket.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn has_artifact(&self, bucket: &str, key: &str) -> Result<bool, AwsError> {
        let head = self.s3.head_object().bucket(bucket).key(key);
        match head.expected_bucket_owner(&self.account).send().await {
            Ok(_) => Ok(true),
            Err(error) if status(&error) == Some(404) => Ok(false),
            // A HEAD has no body to name it in.
            Err(error) if status(&error) == Some(403) => {
                let object = format!("arn:{}:s3:::{bucket}/{key}", self.partition);
                let message = format!(
                    "S3 answers 403, as to somebody who is not authorized to perform: s3:GetObject on \
                     {object}"
                );
                Err(AwsError::Denied { what: "look for the bundle", message })
            }
            Err(error) => Err(AwsError::of("look for the bundle", &error)),
        }
    }

    /// Uploads something, unless it is there.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn upload(
        &self,
        bucket: &str,
        artifact: Artifact,
    ) -> Result<Uploaded, AwsError> {
        let head = self.s3.head_object().bucket(bucket).key(&artifact.key);
        let there = head.expected_bucket_owner(&self.account).send().await;
        let length = i64::try_from(artifact.bytes.len()).ok();
        if there.is_ok_and(|head| head.content_length() == length) {
            return Ok(Uploaded::Before);
        }
        self.put_artifact(bucket, artifact).await.map(|()| Uploaded::Now)
    }

    /// Uploads something, whatever is there.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn put_artifact(
        &self,
        bucket: &str,
        artifact: Artifact,
    ) -> Result<(), AwsError> {
        let Artifact { key, bytes } = artifact;
        let put = self.s3.put_object().bucket(bucket).key(&key).body(ByteStream::from(bytes));
        let put = put.expected_bucket_owner(&self.account).send().await;
        put.map(drop).map_err(|error| AwsError::of("upload to the bucket of the bundles", &error))
    }

    /// The URL by which CloudFormation reads an object.
    pub(crate) fn artifact_url(&self, bucket: &str, key: &str) -> String {
        match &self.endpoint_url {
            Some(endpoint) => format!("{endpoint}/{bucket}/{key}"),
            None => format!("https://s3.{}.{}/{bucket}/{key}", self.region, self.domain()),
        }
    }
}

/// Bundles stay: a deployment that fails goes back to the one before.
fn no_left_overs() -> Result<BucketLifecycleConfiguration, AwsError> {
    let reply = |_| AwsError::Reply { missing: "a lifecycle" };
    let abort = AbortIncompleteMultipartUpload::builder().days_after_initiation(ABORT_AFTER_DAYS);
    let rule = LifecycleRule::builder()
        .id("abort-uploads")
        .status(ExpirationStatus::Enabled)
        .filter(LifecycleRuleFilter::builder().prefix("").build())
        .abort_incomplete_multipart_upload(abort.build())
        .build()
        .map_err(reply)?;
    BucketLifecycleConfiguration::builder().rules(rule).build().map_err(reply)
}

/// What is asked by a head has no body to say it in.
fn status<E>(error: &SdkError<E>) -> Option<u16> {
    error.raw_response().map(|response| response.status().as_u16())
}

fn is_missing(error: &SdkError<HeadBucketError>) -> bool {
    status(error) == Some(404)
}

/// Where a bucket is, as S3 says it to whoever asks elsewhere.
fn region_of(error: &SdkError<HeadBucketError>) -> String {
    let region = error.raw_response().and_then(|it| it.headers().get(REGION_HEADER));
    region.unwrap_or("another one").to_owned()
}
