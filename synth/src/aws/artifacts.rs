//! The bucket of the bundles: deploying finds it or makes it, so that no account has to be prepared.

use aws_sdk_s3::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_s3::operation::head_bucket::HeadBucketError;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration};

use super::bucket_settings::PutBack;
use super::{Aws, AwsError};

/// The region whose buckets are made without saying where.
const FIRST_REGION: &str = "us-east-1";
/// The header that says in which region a bucket is.
const REGION_HEADER: &str = "x-amz-bucket-region";

/// Something to upload. Equal keys are equal bytes: each has the hash of its content in it.
#[derive(Debug, Clone)]
pub(crate) struct Artifact {
    /// Its key.
    pub(crate) key: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Where the bucket of the bundles comes from.
#[derive(Debug)]
pub(crate) enum Found {
    /// It was made just now.
    Made,
    /// It was there; this was put back of its settings.
    Before(PutBack),
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

    /// Finds the bucket, or makes it. If it has the name that we give, it is ours, and what somebody has
    /// changed of its settings is put back; a bucket with another name is set up as its owner wants it.
    ///
    /// # Errors
    /// [`AwsError`]. If it ends between making the bucket and its settings, only what S3 itself sets
    /// holds: no public access.
    pub(crate) async fn ensure_artifact_bucket(&self, bucket: &str) -> Result<Found, AwsError> {
        let head = self.s3.head_bucket().bucket(bucket).expected_bucket_owner(&self.account);
        match head.send().await {
            Ok(_) if bucket == self.artifact_bucket_name() => {
                self.put_back(bucket).await.map(Found::Before)
            }
            Ok(_) => Ok(Found::Before(PutBack::default())),
            Err(error) if is_missing(&error) => {
                self.create_bucket(bucket).await.map(|()| Found::Made)
            }
            Err(error) if status(&error) == Some(403) => {
                Err(AwsError::BucketClosed { bucket: bucket.to_owned() })
            }
            Err(error) if status(&error) == Some(301) => {
                let (bucket, here) = (bucket.to_owned(), self.region.clone());
                Err(AwsError::BucketElsewhere { bucket, there: region_of(&error), here })
            }
            Err(error) => Err(AwsError::of("look for the bucket of the bundles", &error)),
        }
    }

    async fn create_bucket(&self, bucket: &str) -> Result<(), AwsError> {
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
        self.set_up_bucket(bucket).await
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
