//! The outcome of a load: latencies, throttles, use of the limits, and cost.

use std::sync::atomic::Ordering::Relaxed;

use cellar_api::cost::Prices;

use super::editors::EditorOutcome;
use super::limits::{ALL, Limit};
use super::load::Load;
use super::pipeline::SNAPSHOT_S;
use super::region::{Meters, Region};
use super::throughput::Hottest;

/// Share of throttled requests from which a limit counts as reached.
const THROTTLED_SHARE: f64 = 0.001;
/// Latency of edits from which the appends of a sheet count as a limit, in milliseconds.
const SLOW_MS: f64 = 1_000.0;
/// Price of an invocation, and of a megabyte-second on arm64, in dollars (us-east-1).
const INVOCATION_DOLLARS: f64 = 0.2e-6;
const MEGABYTE_SECOND_DOLLARS: f64 = 13.3334e-6 / 1_024.0;
/// Price of the log lines of an invocation: 700 bytes, as in `synth cost`.
const INVOCATION_LOG_DOLLARS: f64 = 700.0 * 0.5 / 1_073_741_824.0;
const SECONDS_PER_HOUR: f64 = 3_600.0;

/// Writes and reads of the feed index.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FeedUnits {
    writes: u64,
    reads: u64,
}

pub(super) struct Outcome {
    pub(super) load: Load,
    meters: Meters,
    feed: FeedUnits,
    /// In ascending order.
    edit_latencies_s: Vec<f64>,
    open_latencies_s: Vec<f64>,
    snapshot_delays_s: Vec<f64>,
    feed_delays_s: Vec<f64>,
    pub(super) unsent: u64,
    pub(super) most_running: u32,
    pub(super) environments: u32,
    pub(super) running_by_s: Vec<u32>,
    hottest: Hottest,
    for_s: f64,
}

impl FeedUnits {
    pub(super) fn of(region: &Region) -> Self {
        let index = region.pipeline.index.lock().unwrap();
        let index = index.as_ref().unwrap();
        let writes = index.puts.load(Relaxed) + index.marks.load(Relaxed);
        Self { writes, reads: index.reads.load(Relaxed) }
    }
}

fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers
}

fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or(0.0)
}

fn to_f64(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

impl Outcome {
    pub(super) fn of(load: Load, region: &Region, feed_before: FeedUnits) -> Self {
        let meters = region.meters().clone();
        let feed_now = FeedUnits::of(region);
        let throughput = region.entry_throughput.lock().unwrap();
        let for_s = load.habits.for_s - load.habits.measured_from_s;
        Self {
            load,
            feed: FeedUnits {
                writes: feed_now.writes - feed_before.writes,
                reads: feed_now.reads - feed_before.reads,
            },
            edit_latencies_s: Vec::new(),
            open_latencies_s: Vec::new(),
            snapshot_delays_s: sorted(meters.snapshot_delays_s.clone()),
            feed_delays_s: sorted(meters.feed_delays_s.clone()),
            unsent: 0,
            most_running: region.functions.most_running(),
            environments: region.functions.environments(),
            running_by_s: region.functions.running_by_s(),
            hottest: throughput.hottest(),
            meters,
            for_s,
        }
    }

    pub(super) fn add_editor(&mut self, editor: EditorOutcome) {
        self.unsent += editor.unsent;
        self.edit_latencies_s.extend(editor.edit_latencies_s);
        self.open_latencies_s.extend(editor.open_latencies_s);
    }

    pub(super) fn edits_per_s(&self) -> f64 {
        to_f64(u64::try_from(self.edit_latencies_s.len()).unwrap() - self.unsent) / self.for_s
    }

    pub(super) fn requests_per_s(&self) -> f64 {
        to_f64(self.meters.api_invocations) / self.for_s
    }

    pub(super) fn edit_latency_ms(&self, percent: usize) -> f64 {
        percentile(&self.edit_latencies_s, percent) * 1_000.0
    }

    pub(super) fn open_latency_ms(&self, percent: usize) -> f64 {
        percentile(&self.open_latencies_s, percent) * 1_000.0
    }

    pub(super) fn snapshot_delay_s(&self) -> f64 {
        percentile(&self.snapshot_delays_s, 99)
    }

    pub(super) fn feed_delay_s(&self) -> f64 {
        percentile(&self.feed_delays_s, 99)
    }

    pub(super) fn throttles(&self) -> u64 {
        self.meters.throttles.values().sum()
    }

    /// Returns the share of requests and background invocations that were throttled.
    pub(super) fn throttled_share(&self) -> f64 {
        let throttles = to_f64(self.throttles());
        throttles / (throttles + to_f64(self.meters.api_invocations)).max(1.0)
    }

    pub(super) fn throttles_of(&self, limit: Limit) -> u64 {
        self.meters.throttles.get(&limit).copied().unwrap_or_default()
    }

    pub(super) fn sort_latencies(&mut self) {
        self.edit_latencies_s.sort_by(f64::total_cmp);
        self.open_latencies_s.sort_by(f64::total_cmp);
    }

    /// Returns the write units per second of the partition with the most.
    pub(super) fn hottest_partition(&self) -> f64 {
        self.hottest.partition_writes / self.for_s
    }

    /// Returns how much of a limit is used: 1 if the limit is reached.
    pub(super) fn use_of(&self, limit: Limit) -> f64 {
        let (limits, meters) = (&self.load.limits, &self.meters);
        let per_s = |amount: f64, limit: u32| amount / self.for_s / f64::from(limit);
        let invocations =
            meters.api_invocations + meters.other_invocations + meters.feed_invocations;
        let share = match limit {
            Limit::Functions => f64::from(self.most_running) / f64::from(limits.functions),
            Limit::Invocations => per_s(to_f64(invocations), limits.invocations_per_s()),
            Limit::Starts => f64::from(self.environments) / f64::from(limits.starts_at_once),
            Limit::TableWrites => per_s(self.hottest.partition_writes, limits.partition_writes),
            Limit::TableReads => per_s(self.hottest.partition_reads, limits.partition_reads),
            Limit::SheetWrites => per_s(self.hottest.sheet_writes, limits.partition_writes),
            Limit::SheetReads => per_s(self.hottest.sheet_reads, limits.partition_reads),
            Limit::Appends => {
                let sheets = u32::try_from(self.load.sheets).unwrap();
                self.edits_per_s() / f64::from(sheets) / f64::from(limits.appends_per_s)
            }
            Limit::Snapshots => {
                per_s(to_f64(meters.snapshots_requested) * SNAPSHOT_S, limits.snapshot_jobs)
            }
        };
        if self.is_throttled_by(limit) { share.max(1.0) } else { share }
    }

    fn is_throttled_by(&self, limit: Limit) -> bool {
        let requests = to_f64(self.meters.api_invocations + self.throttles());
        to_f64(self.throttles_of(limit)) > requests * THROTTLED_SHARE
    }

    /// Returns the limit that gives way: the one that throttles most, or that delays most.
    pub(super) fn reached(&self) -> Option<Limit> {
        let throttling = ALL.into_iter().filter(|limit| self.is_throttled_by(*limit));
        let most_throttling = throttling.max_by_key(|limit| self.throttles_of(*limit));
        let delaying = if self.use_of(Limit::Snapshots) >= 1.0 {
            Some(Limit::Snapshots)
        } else if self.edit_latency_ms(99) > SLOW_MS {
            Some(Limit::Appends)
        } else {
            None
        };
        most_throttling.or(delaying)
    }

    /// Returns the limit of which most is used.
    pub(super) fn nearest(&self) -> Limit {
        let by_use = |a: &Limit, b: &Limit| self.use_of(*a).total_cmp(&self.use_of(*b));
        ALL.into_iter().max_by(by_use).unwrap()
    }

    /// Returns the cost of an hour of this load with `feed: catalog`.
    pub(super) fn dollars_an_hour(&self) -> f64 {
        let meters = &self.meters;
        let invocations = to_f64(meters.api_invocations + meters.other_invocations);
        let dollars = table_dollars(meters.write_units, meters.read_units)
            + invocations * (INVOCATION_DOLLARS + INVOCATION_LOG_DOLLARS)
            + meters.megabyte_seconds * MEGABYTE_SECOND_DOLLARS
            + to_f64(meters.queue_requests) * dollars(Prices::US_EAST_1.queue_request)
            + to_f64(meters.object_puts) * dollars(Prices::US_EAST_1.object_put)
            + to_f64(meters.object_gets) * dollars(Prices::US_EAST_1.object_get);
        dollars / self.for_s * SECONDS_PER_HOUR
    }

    /// Returns what `feed: everything` adds to the cost of an hour.
    pub(super) fn feed_dollars_an_hour(&self) -> f64 {
        let invocations = to_f64(self.meters.feed_invocations);
        let dollars = table_dollars(to_f64(self.feed.writes), to_f64(self.feed.reads) / 2.0)
            + invocations * (INVOCATION_DOLLARS + INVOCATION_LOG_DOLLARS)
            + self.meters.feed_megabyte_seconds * MEGABYTE_SECOND_DOLLARS;
        dollars / self.for_s * SECONDS_PER_HOUR
    }
}

/// Converts a price in pico-dollars.
fn dollars(picodollars: u64) -> f64 {
    to_f64(picodollars) * 1e-12
}

fn table_dollars(write_units: f64, read_units: f64) -> f64 {
    let Prices { write_unit, read_half_unit, .. } = Prices::US_EAST_1;
    write_units * dollars(write_unit) + 2.0 * read_units * dollars(read_half_unit)
}
