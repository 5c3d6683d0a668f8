//! DynamoDB adapters for the engine's ports.

mod cancellation;
mod capacity;
mod conditional;
mod entries;
mod feed;
mod items;
mod pending_snapshots;
mod presences;
mod retention;
mod segments;
mod streams;
mod webhook;

pub use feed::DynamoFeed;
pub use pending_snapshots::DynamoPendingSnapshots;
pub use streams::DynamoStreams;

use std::sync::Arc;
use std::time::Duration;

use aws_config::{SdkConfig, retry::RetryConfig};
use aws_sdk_dynamodb::Client;
use cellar_engine::meter::Meter;
use cellar_log::entry::FIRST_INCARNATION;

use capacity::CapacityMeter;

use crate::sdk;
use crate::settings::ApiSettings;

/// After a timeout, the request may or may not have taken effect, and the calling state machine
/// decides whether to retry it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Region name for endpoints outside AWS, which ignore it.
const REGION: &str = "local";

/// The Entry table and the Segment table.
#[derive(Debug, Clone)]
pub struct DynamoTables {
    client: Client,
    entry_table: String,
    segment_table: String,
    incarnation: u32,
    capacity: CapacityMeter,
}

impl DynamoTables {
    /// Uses the tables of `settings`. Entries that were written before a restore are returned with
    /// the incarnation (number of table restores) of `settings`. All requests are counted on
    /// `meter`.
    #[must_use]
    pub fn new(settings: &ApiSettings, client: Client, meter: Arc<Meter>) -> Self {
        let tables = Self::named(&settings.entry_table, &settings.segment_table, client, meter);
        Self { incarnation: settings.incarnation, ..tables }
    }

    /// Uses the tables with the given names. Entries are returned with the incarnation (number of
    /// table restores) with which they were written. All requests are counted on `meter`.
    #[must_use]
    pub fn named(
        entry_table: &str,
        segment_table: &str,
        client: Client,
        meter: Arc<Meter>,
    ) -> Self {
        let (entry_table, segment_table) = (entry_table.to_owned(), segment_table.to_owned());
        let capacity = CapacityMeter::new(meter);
        Self { client, entry_table, segment_table, incarnation: FIRST_INCARNATION, capacity }
    }
}

/// Creates a client for an endpoint outside AWS, such as the local stack.
#[must_use]
pub fn client_for_endpoint(url: &str, access_key: &str, secret_key: &str) -> Client {
    client(&sdk::for_endpoint(url, REGION, access_key, secret_key))
}

/// Creates a client without automatic retries, because only the calling state machine knows whether
/// a request may be retried.
#[must_use]
pub fn client(config: &SdkConfig) -> Client {
    let config = aws_sdk_dynamodb::config::Builder::from(config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(sdk::timeouts(REQUEST_TIMEOUT))
        .build();
    Client::from_conf(config)
}
