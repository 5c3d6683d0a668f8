//! The stack's objects in S3.

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

/// Timeout until the headers of a response arrive; sending a large object takes a while.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Region of endpoints outside AWS that have none.
const REGION: &str = "us-east-1";

/// An S3 bucket. Counts every request that is sent, whether or not it succeeds.
#[derive(Debug, Clone)]
pub struct S3Blobs {
    client: Client,
    bucket: String,
    meter: Arc<Meter>,
}

impl S3Blobs {
    #[must_use]
    pub fn new(bucket: String, client: Client, meter: Arc<Meter>) -> Self {
        Self { client, bucket, meter }
    }
}

/// Creates a client for an endpoint outside AWS: the local stack's or an emulator's.
#[must_use]
pub fn client_for_endpoint(url: &str, access_key: &str, secret_key: &str) -> Client {
    client(&sdk::for_endpoint(url, REGION, access_key, secret_key))
}

/// Creates a client without automatic retries, so that every request is counted; the callers of the
/// port retry. With a custom endpoint the bucket is part of the path, because only AWS has a host
/// name per bucket.
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
        // Every object is sent with its SHA-256, so that the SDK's own CRC is unnecessary.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenSupported)
        .build();
    Client::from_conf(config)
}
