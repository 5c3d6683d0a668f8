//! Adapter for the stack's S3 bucket.

mod blobs;
mod head;
mod presigned;
mod versions;

use std::sync::Arc;
use std::time::Duration;

use aws_config::{SdkConfig, retry::RetryConfig};
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
use cellar_engine::meter::Meter;

use crate::sdk;

/// Timeout of one attempt, measured until the response headers arrive. The timeout includes the
/// upload of the body, so it is long enough for a large object.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);
/// Etag that matches every existing object in a condition.
const ANY_ETAG: &str = "*";
/// Region for endpoints outside AWS, which ignore the region.
const REGION: &str = "us-east-1";

/// An S3 bucket. Counts all requests sent, including failed ones.
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

/// Creates a client for an endpoint outside AWS, such as the local stack or an emulator.
#[must_use]
pub fn client_for_endpoint(url: &str, access_key: &str, secret_key: &str) -> Client {
    client(&sdk::for_endpoint(url, REGION, access_key, secret_key))
}

/// Creates a client without automatic retries, so that every request is counted; the callers of the
/// port retry instead. With a custom endpoint, the bucket name is part of the URL path, because
/// only AWS provides a host name per bucket.
#[must_use]
pub fn client(config: &SdkConfig) -> Client {
    let config = aws_sdk_s3::config::Builder::from(config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(sdk::timeouts(REQUEST_TIMEOUT))
        .force_path_style(config.endpoint_url().is_some())
        // Disable the SDK's CRC checksum: every object is already sent with its SHA-256 checksum.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenSupported)
        .build();
    Client::from_conf(config)
}
