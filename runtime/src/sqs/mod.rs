//! Queues in SQS.

mod count;
mod queue;

pub use queue::SqsQueue;

use std::sync::Arc;
use std::time::Duration;

use aws_config::{SdkConfig, retry::RetryConfig};
use aws_sdk_sqs::Client;
use cellar_engine::meter::Meter;

use crate::sdk;

/// A receive request must not time out while it waits for messages.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// A retry may send a message twice, which is safe, because consumers tolerate duplicate messages.
const MAX_ATTEMPTS: u32 = 3;

/// Creates a client for an endpoint outside AWS, such as the local stack or an emulator.
#[must_use]
pub fn client_for_endpoint(
    url: &str,
    region: &'static str,
    access_key: &str,
    secret_key: &str,
    meter: &Arc<Meter>,
) -> Client {
    client(&sdk::for_endpoint(url, region, access_key, secret_key), meter)
}

/// Creates a client that retries failed requests and counts every attempt.
#[must_use]
pub fn client(config: &SdkConfig, meter: &Arc<Meter>) -> Client {
    let config = aws_sdk_sqs::config::Builder::from(config)
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS))
        .timeout_config(sdk::timeouts(REQUEST_TIMEOUT))
        .interceptor(count::CountRequests(Arc::clone(meter)))
        .build();
    Client::from_conf(config)
}
