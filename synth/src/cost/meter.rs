//! AWS billing meters and their prices.

use cellar_api::cost::Prices;

use super::units::{GB, MONTH_HOURS};

/// A billed quantity. The variant order is the bill's item order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meter {
    /// Write request units.
    TableWrites,
    /// Read request units, counted in half units.
    TableReads,
    /// Byte-hours of table data.
    TableStorage,
    /// Byte-hours covered by point-in-time recovery.
    TableBackup,
    /// Function invocations.
    Invocations,
    /// Function run time on arm64, in megabyte-milliseconds.
    ArmTime,
    /// Function run time on x86_64, in megabyte-milliseconds.
    X86Time,
    /// S3 requests that write objects or tags.
    ObjectWrites,
    /// S3 requests that read objects.
    ObjectReads,
    /// Byte-hours of bucket objects.
    ObjectStorage,
    /// Requests to queues.
    QueueRequests,
    /// Bytes written to logs.
    LogBytes,
    /// Byte-hours of stored logs.
    LogStorage,
    /// Traced invocations.
    Traces,
    /// Alarm-hours beyond the free alarms of the account.
    Alarms,
    /// Dashboard-hours.
    Dashboards,
    /// Hours of customer-managed KMS keys.
    KmsKeys,
}

/// A meter's price, and its names in the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Name of the service.
    pub(crate) service: &'static str,
    /// Name of the quantity.
    pub(crate) item: &'static str,
    /// Billed unit.
    pub(crate) unit: &'static str,
    /// Meter amount per billed unit.
    pub(crate) amount_per_unit: u128,
    /// Price per billed unit in pico-dollars (10⁻¹² dollars).
    pub(crate) unit_price: u128,
}

const fn rate(
    service: &'static str,
    item: &'static str,
    unit: &'static str,
    amount_per_unit: u128,
    unit_price: u128,
) -> Rate {
    Rate { service, item, unit, amount_per_unit, unit_price }
}

/// Number of pico-dollars in a thousandth of a dollar.
const MILLI: u128 = 1_000_000_000;
/// Number of byte-hours in a GB-month.
const GB_MONTH: u128 = GB * MONTH_HOURS;
/// Number of megabyte-milliseconds in a GB-second.
const GB_SECOND: u128 = 1_024 * 1_000;

impl Meter {
    /// Returns the meter's public on-demand price in us-east-1.
    pub(crate) fn rate(self) -> Rate {
        let prices = Prices::US_EAST_1;
        let picodollars = u128::from;
        let (db, s3, watch) = ("DynamoDB", "S3", "CloudWatch");
        match self {
            Self::TableWrites => rate(db, "writes", "units", 1, picodollars(prices.write_unit)),
            Self::TableReads => {
                rate(db, "reads", "units", 2, 2 * picodollars(prices.read_half_unit))
            }
            Self::TableStorage => rate(db, "storage", "GB-months", GB_MONTH, 250 * MILLI),
            Self::TableBackup => rate(db, "backup", "GB-months", GB_MONTH, 200 * MILLI),
            Self::Invocations => rate("Lambda", "invocations", "invocations", 1, 200_000),
            Self::ArmTime => rate("Lambda", "time, arm64", "GB-seconds", GB_SECOND, 13_333_400),
            Self::X86Time => rate("Lambda", "time, x86_64", "GB-seconds", GB_SECOND, 16_666_700),
            Self::ObjectWrites => {
                rate(s3, "PUTs and tags", "requests", 1, picodollars(prices.object_put))
            }
            Self::ObjectReads => rate(s3, "GETs", "requests", 1, picodollars(prices.object_get)),
            Self::ObjectStorage => rate(s3, "storage", "GB-months", GB_MONTH, 23 * MILLI),
            Self::QueueRequests => rate(
                "SQS",
                "requests after free ones",
                "requests",
                1,
                picodollars(prices.queue_request),
            ),
            Self::LogBytes => rate(watch, "logs written", "GB", GB, 500 * MILLI),
            Self::LogStorage => rate(watch, "logs stored", "GB-months", GB_MONTH, 30 * MILLI),
            Self::Traces => rate("X-Ray", "traces (maximum)", "traces", 1, 5_000_000),
            Self::Alarms => {
                rate(watch, "alarms after free ones", "months", MONTH_HOURS, 100 * MILLI)
            }
            Self::Dashboards => rate(watch, "dashboard", "months", MONTH_HOURS, 3_000 * MILLI),
            Self::KmsKeys => rate("KMS", "key", "months", MONTH_HOURS, 1_000 * MILLI),
        }
    }
}
