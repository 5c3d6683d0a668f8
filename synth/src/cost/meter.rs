//! AWS billing meters and their prices.

use cellar_api::cost::Prices;

use super::units::{GB, MONTH_HOURS};

/// The items of a bill are in the order of these variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meter {
    /// Write request units.
    TableWrites,
    /// Read request units of the tables. Each half unit counts as one.
    TableReads,
    /// Byte-hours of data in tables.
    TableStorage,
    /// Table data that is covered by point-in-time recovery, in byte-hours.
    TableBackup,
    Invocations,
    /// Function run time on arm64, in megabyte-milliseconds.
    ArmTime,
    /// Function run time on x86_64, in megabyte-milliseconds.
    X86Time,
    /// S3 requests that write objects or tags.
    ObjectWrites,
    ObjectReads,
    /// Byte-hours of objects in the bucket.
    ObjectStorage,
    QueueRequests,
    LogBytes,
    /// Byte-hours of stored logs.
    LogStorage,
    Traces,
    /// Alarms, in hours. The free alarms of the account are not counted.
    Alarms,
    /// Dashboard-hours.
    Dashboards,
    /// Hours of customer-managed KMS keys.
    KmsKeys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) service: &'static str,
    pub(crate) item: &'static str,
    pub(crate) unit: &'static str,
    /// Number of metered units per billed unit. For example, storage is metered in byte-hours and
    /// billed in GB-months.
    pub(crate) amount_per_unit: u128,
    /// Price per billed unit in pico-dollars (10⁻¹² dollars).
    pub(crate) unit_price: u128,
}

const DYNAMODB: &str = "DynamoDB";
const S3: &str = "S3";
const CLOUDWATCH: &str = "CloudWatch";

impl Rate {
    const fn new(
        service: &'static str,
        item: &'static str,
        unit: &'static str,
        amount_per_unit: u128,
        unit_price: u128,
    ) -> Self {
        Self { service, item, unit, amount_per_unit, unit_price }
    }
}

/// Number of pico-dollars in a thousandth of a US dollar.
const MILLIDOLLAR: u128 = 1_000_000_000;
const GB_MONTH: u128 = GB * MONTH_HOURS;
/// Number of megabyte-milliseconds in a gigabyte-second, the unit in which Lambda bills run time.
const GB_SECOND: u128 = 1_024 * 1_000;

impl Meter {
    /// Returns the public on-demand price of this meter in the region us-east-1.
    pub(crate) fn rate(self) -> Rate {
        let prices = Prices::US_EAST_1;
        let picodollars = u128::from;
        match self {
            Self::TableWrites => {
                Rate::new(DYNAMODB, "writes", "units", 1, picodollars(prices.write_unit))
            }
            Self::TableReads => {
                Rate::new(DYNAMODB, "reads", "units", 2, 2 * picodollars(prices.read_half_unit))
            }
            Self::TableStorage => {
                Rate::new(DYNAMODB, "storage", "GB-months", GB_MONTH, 250 * MILLIDOLLAR)
            }
            Self::TableBackup => {
                Rate::new(DYNAMODB, "backup", "GB-months", GB_MONTH, 200 * MILLIDOLLAR)
            }
            Self::Invocations => Rate::new("Lambda", "invocations", "invocations", 1, 200_000),
            Self::ArmTime => {
                Rate::new("Lambda", "time, arm64", "GB-seconds", GB_SECOND, 13_333_400)
            }
            Self::X86Time => {
                Rate::new("Lambda", "time, x86_64", "GB-seconds", GB_SECOND, 16_666_700)
            }
            Self::ObjectWrites => {
                Rate::new(S3, "PUTs and tags", "requests", 1, picodollars(prices.object_put))
            }
            Self::ObjectReads => {
                Rate::new(S3, "GETs", "requests", 1, picodollars(prices.object_get))
            }
            Self::ObjectStorage => {
                Rate::new(S3, "storage", "GB-months", GB_MONTH, 23 * MILLIDOLLAR)
            }
            Self::QueueRequests => Rate::new(
                "SQS",
                "requests after free ones",
                "requests",
                1,
                picodollars(prices.queue_request),
            ),
            Self::LogBytes => Rate::new(CLOUDWATCH, "logs written", "GB", GB, 500 * MILLIDOLLAR),
            Self::LogStorage => {
                Rate::new(CLOUDWATCH, "logs stored", "GB-months", GB_MONTH, 30 * MILLIDOLLAR)
            }
            Self::Traces => Rate::new("X-Ray", "traces (maximum)", "traces", 1, 5_000_000),
            Self::Alarms => Rate::new(
                CLOUDWATCH,
                "alarms after free ones",
                "months",
                MONTH_HOURS,
                100 * MILLIDOLLAR,
            ),
            Self::Dashboards => {
                Rate::new(CLOUDWATCH, "dashboard", "months", MONTH_HOURS, 3_000 * MILLIDOLLAR)
            }
            Self::KmsKeys => Rate::new("KMS", "key", "months", MONTH_HOURS, 1_000 * MILLIDOLLAR),
        }
    }
}
