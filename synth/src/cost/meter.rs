//! What AWS bills of a stack, and the price.

use cellar_api::cost::Prices;

use super::{GB, MONTH_HOURS};

/// Something that is counted and billed, in the order in which it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meter {
    /// Write request units.
    TableWrites,
    /// Halves of read request units.
    TableReads,
    /// Bytes in tables, for hours.
    TableStorage,
    /// Bytes that can be restored to any second, for hours.
    TableBackup,
    /// Calls of functions.
    Calls,
    /// Megabytes of memory, for milliseconds, on ARM.
    TimeOnArm,
    /// The same on x86.
    TimeOnX86,
    /// Requests that write objects or tags.
    ObjectWrites,
    /// Requests that read objects.
    ObjectReads,
    /// Bytes in the bucket, for hours.
    ObjectStorage,
    /// Requests to queues.
    QueueRequests,
    /// Bytes that are logged.
    LogBytes,
    /// Bytes of logs that are kept, for hours.
    LogStorage,
    /// Calls that are traced.
    Traces,
    /// Alarms beyond those that every account has for nothing, for hours.
    Alarms,
    /// Dashboards, for hours.
    Dashboards,
    /// Keys of the customer's own, for hours.
    Keys,
}

/// How a meter is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// The service.
    pub(crate) service: &'static str,
    /// What of it.
    pub(crate) what: &'static str,
    /// What its price is for.
    pub(crate) unit: &'static str,
    /// Amounts in a unit.
    pub(crate) per_unit: u128,
    /// Pico-dollars (10⁻¹² dollars) of a unit.
    pub(crate) price: u128,
}

const fn rate(
    service: &'static str,
    what: &'static str,
    unit: &'static str,
    per_unit: u128,
    price: u128,
) -> Rate {
    Rate { service, what, unit, per_unit, price }
}

/// Pico-dollars of a thousandth of a dollar.
const MILLI: u128 = 1_000_000_000;
/// A GB for a month.
const GB_MONTH: u128 = GB * MONTH_HOURS;
/// A GB of memory for a second.
const GB_SECOND: u128 = 1_024 * 1_000;

impl Meter {
    /// The public on-demand prices of us-east-1.
    pub(crate) fn rate(self) -> Rate {
        let prices = Prices::US_EAST_1;
        let of = u128::from;
        let (db, s3, watch) = ("DynamoDB", "S3", "CloudWatch");
        match self {
            Self::TableWrites => rate(db, "writes", "units", 1, of(prices.write_unit)),
            Self::TableReads => rate(db, "reads", "units", 2, 2 * of(prices.read_half_unit)),
            Self::TableStorage => rate(db, "storage", "GB-months", GB_MONTH, 250 * MILLI),
            Self::TableBackup => rate(db, "backup", "GB-months", GB_MONTH, 200 * MILLI),
            Self::Calls => rate("Lambda", "calls", "calls", 1, 200_000),
            Self::TimeOnArm => rate("Lambda", "time, ARM", "GB-seconds", GB_SECOND, 13_333_400),
            Self::TimeOnX86 => rate("Lambda", "time, x86", "GB-seconds", GB_SECOND, 16_666_700),
            Self::ObjectWrites => rate(s3, "PUTs and tags", "requests", 1, of(prices.object_put)),
            Self::ObjectReads => rate(s3, "GETs", "requests", 1, of(prices.object_get)),
            Self::ObjectStorage => rate(s3, "storage", "GB-months", GB_MONTH, 23 * MILLI),
            Self::QueueRequests => {
                rate("SQS", "requests, beyond those free", "requests", 1, of(prices.queue_request))
            }
            Self::LogBytes => rate(watch, "logs, written", "GB", GB, 500 * MILLI),
            Self::LogStorage => rate(watch, "logs, kept", "GB-months", GB_MONTH, 30 * MILLI),
            Self::Traces => rate("X-Ray", "traces, at most", "traces", 1, 5_000_000),
            Self::Alarms => {
                rate(watch, "alarms, beyond those free", "months", MONTH_HOURS, 100 * MILLI)
            }
            Self::Dashboards => rate(watch, "dashboard", "months", MONTH_HOURS, 3_000 * MILLI),
            Self::Keys => rate("KMS", "key", "months", MONTH_HOURS, 1_000 * MILLI),
        }
    }
}
