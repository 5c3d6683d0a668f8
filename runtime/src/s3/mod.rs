//! The objects of the stack, in S3.

mod blobs;
mod head;
mod presigned;
mod versions;

use std::sync::Arc;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{SdkConfig, retry::RetryConfig};
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
use cellar_engine::meter::Meter;

use crate::sdk;

/// Until the head of an answer is there: a large object takes a while to send.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Region of endpoints that have none.
const REGION: &str = "us-east-1";

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

/// A client for an endpoint that is not AWS: the local cloud's, or an emulator's.
#[must_use]
pub fn client_for_endpoint(url: &str, access_key: &str, secret_key: &str) -> Client {
    client(&sdk::for_endpoint(url, REGION, access_key, secret_key))
}

/// A client that never retries by itself, so that each request is counted; whoever calls the port
/// retries. With an endpoint of its own the bucket is in the path: only AWS has a host for each.
#[must_use]
pub fn client(config: &SdkConfig) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(REQUEST_TIMEOUT)
        .build();
    let config = aws_sdk_s3::config::Builder::from(config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .force_path_style(config.endpoint_url().is_some())
        // Every object is sent with its SHA-256: the SDK need not add a CRC of its own.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenSupported)
        .build();
    Client::from_conf(config)
}
