//! The tables in DynamoDB.

mod entries;
mod index;
mod items;
mod pending_snapshots;
mod retention;
mod segments;
mod streams;
mod webhook;

pub use index::DynamoFeed;
pub use pending_snapshots::DynamoPendingSnapshots;
pub use streams::DynamoStreams;

use std::sync::Arc;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{SdkConfig, retry::RetryConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::ConsumedCapacity;
use cellar_engine::meter::Meter;
use cellar_log::entry::FIRST_INCARNATION;

use crate::sdk;
use crate::settings::ApiSettings;

/// A request that takes longer has an unknown outcome and is tried again by the state machines.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Write units are counted per started kilobyte.
const WRITE_UNIT_BYTES: usize = 1_024;
/// Region of endpoints that have none.
const REGION: &str = "local";

/// Both tables, behind one client; counts what they consume.
#[derive(Debug, Clone)]
pub struct DynamoTables {
    client: Client,
    entry_table: String,
    segment_table: String,
    incarnation: u32,
    meter: Arc<Meter>,
}

impl DynamoTables {
    /// The tables that the settings name: every entry that is read has at least their incarnation.
    #[must_use]
    pub fn new(settings: &ApiSettings, client: Client, meter: Arc<Meter>) -> Self {
        let tables = Self::named(&settings.entry_table, &settings.segment_table, client, meter);
        Self { incarnation: settings.incarnation, ..tables }
    }

    /// The tables of these names, whose entries are read as they were written.
    #[must_use]
    pub fn named(
        entry_table: &str,
        segment_table: &str,
        client: Client,
        meter: Arc<Meter>,
    ) -> Self {
        let (entry_table, segment_table) = (entry_table.to_owned(), segment_table.to_owned());
        Self { client, entry_table, segment_table, incarnation: FIRST_INCARNATION, meter }
    }

    fn count_read(&self, consumed: Option<&ConsumedCapacity>) {
        self.meter.count(consumed_units(consumed), 0.0);
    }

    fn count_write(&self, consumed: &[ConsumedCapacity]) {
        self.meter.count(0.0, consumed_write_units(consumed));
    }

    /// Counts a write that a condition refused, from bytes: errors report no capacity.
    fn count_refused(&self, write_units: usize) {
        self.meter.count(0.0, refused_units(write_units));
    }
}

fn consumed_units(consumed: Option<&ConsumedCapacity>) -> f64 {
    consumed.and_then(ConsumedCapacity::capacity_units).unwrap_or(0.0)
}

fn consumed_write_units(consumed: &[ConsumedCapacity]) -> f64 {
    consumed.iter().filter_map(ConsumedCapacity::capacity_units).sum()
}

fn refused_units(write_units: usize) -> f64 {
    f64::from(u32::try_from(write_units).unwrap_or(u32::MAX))
}

/// Whether a conditional update failed by its condition.
fn update_refused(error: &SdkError<UpdateItemError>) -> bool {
    let service = error.as_service_error();
    service.is_some_and(UpdateItemError::is_conditional_check_failed_exception)
}

/// Write units of an item: one for every started kilobyte.
fn write_units(bytes: usize) -> usize {
    bytes.div_ceil(WRITE_UNIT_BYTES)
}

/// A client for an endpoint that is not AWS: the local cloud's, or a test's.
#[must_use]
pub fn client_for_endpoint(url: &str, access_key: &str, secret_key: &str) -> Client {
    client(&sdk::for_endpoint(url, REGION, access_key, secret_key))
}

/// A client that never retries by itself: only the state machines know what may be retried.
#[must_use]
pub fn client(config: &SdkConfig) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(REQUEST_TIMEOUT)
        .build();
    let config = aws_sdk_dynamodb::config::Builder::from(config)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .build();
    Client::from_conf(config)
}
