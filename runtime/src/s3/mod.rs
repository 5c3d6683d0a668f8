//! The objects of the stack, in S3.

mod blobs;
mod head;
mod presigned;

use std::sync::Arc;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig};
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{
    Credentials, RequestChecksumCalculation, ResponseChecksumValidation, SharedCredentialsProvider,
};
use cellar_engine::meter::Meter;

/// Until the head of an answer is there: a large object takes a while to send.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Region of endpoints that have none.
const REGION: &str = "us-east-1";
/// Variables that name an endpoint which is not AWS.
const ENDPOINT_VARIABLES: [&str; 2] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];

/// A bucket behind a client; counts each request that is sent, whatever comes of it.
#[derive(Debug, Clone)]
pub struct S3Blobs {
    client: Client,
    bucket: String,
    meter: Arc<Meter>,
}

impl S3Blobs {
    /// The bucket of this name.
    #[must_use]
    pub fn new(bucket: String, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, bucket, meter }
    }
}

/// A client with the region, credentials and endpoint of the environment.
pub async fn client_from_environment() -> Client {
    let config = aws_config::load_defaults(BehaviorVersion::latest()).await;
    let custom = config.endpoint_url().is_some()
        || ENDPOINT_VARIABLES.iter().any(|name| std::env::var_os(name).is_some());
    client(&config, custom)
}

/// A client for an endpoint that is not AWS: the local cloud's, or an emulator's.
#[must_use]
pub fn client_for_endpoint(url: &str, access_key: &str, secret_key: &str) -> Client {
    let credentials = Credentials::new(access_key, secret_key, None, None, "endpoint");
    let config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(REGION))
        .endpoint_url(url)
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build();
    client(&config, true)
}

/// A client that never retries by itself, so that each request is counted; whoever calls the port
/// retries. `path_style` puts the bucket into the path: only AWS has a host for each bucket.
#[must_use]
pub fn client(config: &SdkConfig, path_style: bool) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(REQUEST_TIMEOUT)
        .build();
    let config = aws_sdk_s3::config::Builder::from(config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .force_path_style(path_style)
        // Every object is sent with its SHA-256: the SDK need not add a CRC of its own.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenSupported)
        .build();
    Client::from_conf(config)
}
