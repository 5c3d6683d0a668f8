//! The limits of an AWS region and of a stack, each with its source.

use std::fmt;

use cellar_base::count::grouped;
use cellar_base::limits::{SNAPSHOT_BYTES, SNAPSHOT_ENTRIES};
use cellar_log::upkeep::LogPolicy;

/// A limit that the load can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// Functions that run at the same time.
    Functions,
    /// Invocations per second.
    Invocations,
    /// New execution environments.
    Starts,
    /// Write units of one sheet.
    SheetWrites,
    /// Write units of the partitions that a table has.
    TableWrites,
    /// Read units of one sheet.
    SheetReads,
    /// Read units of the partitions that a table has.
    TableReads,
    /// Appends of one sheet, which are written one after the other.
    Appends,
    /// Snapshot jobs that run at the same time.
    Snapshots,
}

/// All limits, in the order of the table and the picture.
pub(super) const ALL: [Limit; 9] = [
    Limit::Functions,
    Limit::Invocations,
    Limit::Starts,
    Limit::TableWrites,
    Limit::TableReads,
    Limit::SheetWrites,
    Limit::SheetReads,
    Limit::Appends,
    Limit::Snapshots,
];

/// The values of the limits. A model with one of them raised shows which limit is reached next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Functions of an account and region that run at the same time. AWS Lambda, "Lambda quotas":
    /// 1,000 by default, which a request to the service quotas raises; new accounts have fewer, such
    /// as 10.
    pub(super) functions: u32,
    /// Invocations per second for each of these functions. AWS Lambda, "Understanding Lambda function
    /// scaling": ten times the concurrency, in all functions of the account together.
    pub(super) invocations_per_function: u32,
    /// New execution environments per second of one function. AWS Lambda, "Lambda scaling behavior":
    /// 1,000 in 10 seconds, refilled continuously. It cannot be raised.
    pub(super) starts_per_s: f64,
    /// New execution environments of one function at once, same source.
    pub(super) starts_at_once: u32,
    /// Write units per second of a partition, and thus of the entries of one sheet. Amazon DynamoDB,
    /// "Best practices for designing partition keys": 1,000. It cannot be raised.
    pub(super) partition_writes: u32,
    /// Read units per second of a partition, same source: 3,000.
    pub(super) partition_reads: u32,
    /// Partitions of each table. Amazon DynamoDB, "Warm throughput": a new on-demand table serves 4,000
    /// write units and 12,000 read units a second, which are the limits of four partitions.
    pub(super) partitions: u32,
    /// Appends per second of one sheet, without a limit of AWS: each entry is written after the one
    /// before, which takes 4 to 6 ms (`docs/measurements.md`).
    pub(super) appends_per_s: u32,
    /// Snapshot jobs that run at the same time: `MAX_CONCURRENCY` of
    /// `stacks/src/cellar/snapshots.rs`.
    pub(super) snapshot_jobs: u32,
    /// Entries between two snapshots: `snapshots.entries` of `cellar.yaml`.
    pub(super) snapshot_entries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            functions: 1_000,
            invocations_per_function: 10,
            starts_per_s: 100.0,
            starts_at_once: 1_000,
            partition_writes: 1_000,
            partition_reads: 3_000,
            partitions: 4,
            appends_per_s: 180,
            snapshot_jobs: 4,
            snapshot_entries: SNAPSHOT_ENTRIES,
        }
    }
}

impl Limits {
    /// Returns the policy of a log whose next Snapshot entry is due after `snapshot_entries`.
    pub(super) fn log_policy(&self, snapshot_entries: u32) -> LogPolicy {
        let factor = u64::from((self.snapshot_entries / SNAPSHOT_ENTRIES).max(1));
        let snapshot_bytes = SNAPSHOT_BYTES * factor;
        LogPolicy { snapshot_entries, snapshot_bytes, ..LogPolicy::default() }
    }

    pub(super) fn invocations_per_s(&self) -> u32 {
        self.functions * self.invocations_per_function
    }
}

impl Limit {
    /// Returns the value of the limit, with its unit.
    pub(super) fn default_of(self, limits: &Limits) -> String {
        let tables = |units: u32| grouped(limits.partitions * units);
        match self {
            Self::Functions => {
                format!("{} in an account and region", grouped(limits.functions))
            }
            Self::Invocations => {
                format!("{} in all functions", grouped(limits.invocations_per_s()))
            }
            Self::Starts => {
                format!("{} in 10 s, for each function", grouped(limits.starts_at_once))
            }
            Self::TableWrites => format!("{} units/s at first", tables(limits.partition_writes)),
            Self::TableReads => format!("{} units/s at first", tables(limits.partition_reads)),
            Self::SheetWrites => format!("{} units/s", grouped(limits.partition_writes)),
            Self::SheetReads => format!("{} units/s", grouped(limits.partition_reads)),
            Self::Appends => format!("about {}/s, one after the other", limits.appends_per_s),
            Self::Snapshots => format!("{} at once", limits.snapshot_jobs),
        }
    }

    /// Returns the setting that moves the limit.
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Functions | Self::Invocations => "service quota of Lambda: concurrent executions",
            Self::Starts => "none for one stack; several stacks",
            Self::TableWrites | Self::TableReads => "warm throughput of the tables; grows with use",
            Self::SheetWrites | Self::SheetReads | Self::Appends => {
                "several spreadsheets instead of one"
            }
            Self::Snapshots => "`snapshots.entries` in `cellar.yaml`, or several stacks",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Functions => "concurrent functions",
            Self::Invocations => "invocations a second",
            Self::Starts => "new functions",
            Self::SheetWrites => "writes of a sheet",
            Self::TableWrites => "writes of a table",
            Self::SheetReads => "reads of a sheet",
            Self::TableReads => "reads of a table",
            Self::Appends => "appends of a sheet",
            Self::Snapshots => "snapshot jobs",
        })
    }
}
