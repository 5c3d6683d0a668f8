//! The report of a run, as a table or as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::check::CheckResults;
use crate::measured::{RequestKind, RequestStatistics};
use crate::memory::{self, Sample};
use crate::plan::Plan;
use crate::watch::Watch;

const MEGABYTE: u64 = 1_000_000;
/// Number of memory samples in the table.
const MAX_SHOWN_SAMPLES: usize = 12;

/// The report of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    scenario: String,
    clients: u32,
    spreadsheets: u32,
    rhythm: String,
    kills: u32,
    snapshot_entries: u32,
    /// Duration of the load, in milliseconds.
    loaded_ms: u64,
    requests: Vec<RequestResults>,
    backlog: Backlog,
    memory: Option<Memory>,
    /// Processor time that the stack used from its start to the end of the load, in milliseconds.
    cpu_ms: Option<u64>,
    found: CheckResults,
    violations: Vec<String>,
}

/// Results for requests of one kind.
#[derive(Debug, Clone, Serialize)]
struct RequestResults {
    kind: RequestKind,
    answered: u64,
    /// Number of attempts, not counting the first attempt of each request.
    repeated: u64,
    attempts: BTreeMap<String, u64>,
    p50_us: u64,
    p90_us: u64,
    p99_us: u64,
    max_us: u64,
}

/// Measurements of the load, excluding the requests of the checks.
pub(crate) struct Loaded {
    /// Duration of the load.
    pub(crate) time: Duration,
    /// Measurements for each kind of request.
    pub(crate) kinds: BTreeMap<RequestKind, RequestStatistics>,
}

/// Work that was unfinished at the end of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Backlog {
    /// Number of requests that were due but never sent.
    pub requests: u64,
    /// Number of unfinished snapshots and of their records.
    pub snapshots: u64,
    /// Time until all snapshots were finished, in milliseconds.
    pub snapshots_ms: u64,
}

/// Memory of the local stack, in bytes.
#[derive(Debug, Clone, Serialize)]
struct Memory {
    start: u64,
    peak: u64,
    end: u64,
    /// Medians of the middle third and the last third, if the increase is checked.
    thirds: Option<(u64, u64)>,
    samples: Vec<Sample>,
}

impl Report {
    pub(crate) fn new(
        plan: &Plan,
        loaded: &Loaded,
        watch: &Watch,
        backlog: Backlog,
        found: CheckResults,
    ) -> Self {
        let mut requests = Vec::new();
        for (kind, statistics) in &loaded.kinds {
            if !statistics.attempts.is_empty() {
                requests.push(RequestResults::of(*kind, statistics));
            }
        }
        Self {
            scenario: plan.scenario.to_string(),
            clients: plan.clients,
            spreadsheets: plan.spreadsheets,
            rhythm: plan.rhythm.to_string(),
            kills: plan.kills,
            snapshot_entries: plan.snapshot_entries,
            loaded_ms: u64::try_from(loaded.time.as_millis()).unwrap_or(u64::MAX),
            requests,
            backlog,
            memory: Memory::of(watch.samples(), plan.checks_growth),
            cpu_ms: watch.cpu_ms(),
            violations: found.violations.clone(),
            found,
        }
    }

    /// Returns the violations, which are empty if all checks passed.
    #[must_use]
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    /// Returns the results of the checks.
    #[must_use]
    pub fn found(&self) -> &CheckResults {
        &self.found
    }

    /// Returns the number of requests of all kinds that received a response.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.requests.iter().map(|requests| requests.answered).sum()
    }

    /// Returns the number of attempts, not counting the first attempt of each request.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.requests.iter().map(|requests| requests.repeated).sum()
    }
}

impl RequestResults {
    fn of(kind: RequestKind, statistics: &RequestStatistics) -> Self {
        let attempt_count: u64 = statistics.attempts.values().sum();
        Self {
            kind,
            answered: statistics.answered,
            repeated: attempt_count.saturating_sub(statistics.answered),
            attempts: statistics.attempts.clone(),
            p50_us: statistics.latency_us.value_at_quantile(0.5),
            p90_us: statistics.latency_us.value_at_quantile(0.9),
            p99_us: statistics.latency_us.value_at_quantile(0.99),
            max_us: statistics.latency_us.max(),
        }
    }
}

impl Memory {
    fn of(samples: Vec<Sample>, checks_growth: bool) -> Option<Self> {
        Some(Self {
            start: samples.first()?.resident_bytes,
            peak: samples.iter().map(|sample| sample.resident_bytes).max()?,
            end: samples.last()?.resident_bytes,
            thirds: memory::growth_medians(&samples, checks_growth),
            samples,
        })
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: u64| bytes / MEGABYTE;
        let Self { start, peak, end, thirds, samples } = self;
        let (start, peak, end) = (megabytes(*start), megabytes(*peak), megabytes(*end));
        write!(
            formatter,
            "memory      {start} MB at first, {peak} MB at most, {end} MB in the end"
        )?;
        if let Some((middle, last)) = thirds {
            let (middle, last) = (megabytes(*middle), megabytes(*last));
            write!(formatter, "; median {middle} MB in the middle third, {last} MB in the last")?;
        }
        write!(formatter, "\n            over time, MB:")?;
        let step = samples.len().div_ceil(MAX_SHOWN_SAMPLES).max(1);
        for sample in samples.iter().step_by(step) {
            write!(formatter, " {}", megabytes(sample.resident_bytes))?;
        }
        writeln!(formatter)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.loaded_ms as f64 / 1_000.0;
        writeln!(
            formatter,
            "{}: {} clients, {} spreadsheets, {}, {seconds:.0} s, {} kills, a snapshot each {} entries\n",
            self.scenario,
            self.clients,
            self.spreadsheets,
            self.rhythm,
            self.kills,
            self.snapshot_entries
        )?;
        write_requests(formatter, &self.requests, seconds)?;
        let rate = self.answered() as f64 / seconds.max(0.001);
        writeln!(formatter, "\nthroughput  {rate:.1} requests/s, {} repeated", self.repeated())?;
        for requests in &self.requests {
            let mut attempts = Vec::new();
            for (outcome, count) in &requests.attempts {
                attempts.push(format!("{count} × {outcome}"));
            }
            writeln!(formatter, "  {:<10}{}", requests.kind.name(), attempts.join("; "))?;
        }
        match &self.memory {
            Some(memory) => memory.write(formatter)?,
            None => writeln!(formatter, "memory      unknown on this system")?,
        }
        match self.cpu_ms {
            Some(cpu_ms) => {
                writeln!(formatter, "processor   {:.1} s of the cloud", cpu_ms as f64 / 1_000.0)?;
            }
            None => writeln!(formatter, "processor   unknown on this system")?,
        }
        let Backlog { requests, snapshots, snapshots_ms } = self.backlog;
        writeln!(
            formatter,
            "backlog     {requests} requests due and not sent; {snapshots} snapshots to make, made after \
             {snapshots_ms} ms"
        )?;
        write_found(formatter, &self.found)?;
        for violation in &self.violations {
            writeln!(formatter, "VIOLATION   {violation}")?;
        }
        writeln!(formatter, "{}", if self.violations.is_empty() { "well" } else { "FAILED" })
    }
}

fn write_requests(
    formatter: &mut fmt::Formatter<'_>,
    requests: &[RequestResults],
    seconds: f64,
) -> fmt::Result {
    writeln!(
        formatter,
        "{:<10}{:>10}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "kind", "answered", "per s", "repeated", "p50 ms", "p90 ms", "p99 ms", "max ms"
    )?;
    for RequestResults { kind, answered, repeated, p50_us, p90_us, p99_us, max_us, .. } in requests
    {
        let to_ms = |us: &u64| *us as f64 / 1_000.0;
        writeln!(
            formatter,
            "{:<10}{answered:>10}{:>8.1}{repeated:>10}{:>10.1}{:>10.1}{:>10.1}{:>10.1}",
            kind.name(),
            *answered as f64 / seconds.max(0.001),
            to_ms(p50_us),
            to_ms(p90_us),
            to_ms(p99_us),
            to_ms(max_us)
        )?;
    }
    Ok(())
}

fn write_found(formatter: &mut fmt::Formatter<'_>, found: &CheckResults) -> fmt::Result {
    let CheckResults { entries, acknowledged, snapshots, compared, .. } = found;
    let (there, absent) = (found.unknown_in_the_log, found.unknown_and_absent);
    writeln!(
        formatter,
        "checked     {acknowledged} acknowledged edits in {entries} entries, {} without an answer ({there} of \
         them in the log); {snapshots} snapshots; {compared} reads of all cells",
        there + absent
    )
}
