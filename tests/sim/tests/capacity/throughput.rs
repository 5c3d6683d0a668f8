//! The throughput of a table: its partitions, and the entries of each sheet.

use std::collections::HashMap;

use cellar_base::identity::LogId;

use super::bucket::Bucket;
use super::limits::{Limit, Limits};

/// Tokens of a partition or of a sheet.
struct Units {
    writes: Bucket,
    reads: Bucket,
    written: f64,
    read: f64,
}

/// A table whose partitions each have a share of the sheets. Partitions are not split during a run,
/// and the burst capacity that AWS does not guarantee is left out.
pub(super) struct Throughput {
    limits: Limits,
    partitions: Vec<Units>,
    /// Only sheets that were written or read.
    sheets: HashMap<LogId, Units>,
}

/// Units of the partition and of the sheet with the most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hottest {
    pub(super) partition_writes: f64,
    pub(super) partition_reads: f64,
    pub(super) sheet_writes: f64,
    pub(super) sheet_reads: f64,
}

impl Units {
    fn new(limits: &Limits) -> Self {
        let writes = Bucket::of_one_second(limits.partition_writes);
        Self {
            writes,
            reads: Bucket::of_one_second(limits.partition_reads),
            written: 0.0,
            read: 0.0,
        }
    }
}

impl Throughput {
    pub(super) fn new(limits: &Limits) -> Self {
        let partitions = (0..limits.partitions).map(|_| Units::new(limits)).collect();
        Self { limits: *limits, partitions, sheets: HashMap::new() }
    }

    /// Returns the number of the partition that has a sheet.
    pub(super) fn partition_of(&self, sheet: LogId) -> usize {
        let hash = u128::from_be_bytes(*sheet.as_bytes());
        usize::try_from(hash % u128::try_from(self.partitions.len()).unwrap()).unwrap()
    }

    pub(super) fn write(&mut self, now_s: f64, sheet: LogId, units: f64) -> Result<(), Limit> {
        let partition = self.partition_of(sheet);
        let own = self.sheets.entry(sheet).or_insert_with(|| Units::new(&self.limits));
        if !own.writes.take(now_s, units) {
            return Err(Limit::SheetWrites);
        }
        let shared = &mut self.partitions[partition];
        if !shared.writes.take(now_s, units) {
            return Err(Limit::TableWrites);
        }
        own.written += units;
        shared.written += units;
        Ok(())
    }

    pub(super) fn read(&mut self, now_s: f64, sheet: LogId, units: f64) -> Result<(), Limit> {
        let partition = self.partition_of(sheet);
        let own = self.sheets.entry(sheet).or_insert_with(|| Units::new(&self.limits));
        if !own.reads.take(now_s, units) {
            return Err(Limit::SheetReads);
        }
        let shared = &mut self.partitions[partition];
        if !shared.reads.take(now_s, units) {
            return Err(Limit::TableReads);
        }
        own.read += units;
        shared.read += units;
        Ok(())
    }

    pub(super) fn begin_measuring(&mut self) {
        for units in self.partitions.iter_mut().chain(self.sheets.values_mut()) {
            (units.written, units.read) = (0.0, 0.0);
        }
    }

    /// Returns the written and read units of the partition and of the sheet with the most.
    pub(super) fn hottest(&self) -> Hottest {
        let most = |written: f64, units: &Units| written.max(units.written);
        let most_read = |read: f64, units: &Units| read.max(units.read);
        Hottest {
            partition_writes: self.partitions.iter().fold(0.0, most),
            partition_reads: self.partitions.iter().fold(0.0, most_read),
            sheet_writes: self.sheets.values().fold(0.0, most),
            sheet_reads: self.sheets.values().fold(0.0, most_read),
        }
    }
}
