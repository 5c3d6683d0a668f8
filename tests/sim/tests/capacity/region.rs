//! A region in simulated time: its tables with their limits, its functions, and what they use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cellar_base::identity::{LogId, SubjectKey};
use cellar_catalog::access::{Principal, Role, Scope};
use cellar_catalog::spreadsheet::{CatalogAction, Name};
use cellar_engine::catalog::CatalogStore;
use cellar_engine::logs::Logs;
use cellar_engine::memory::{MemoryBlobs, MemoryStreams, MemoryTables};
use cellar_engine::ports::{Clock, Random};
use tokio::time::{Instant, sleep};

use super::functions::Functions;
use super::limits::{Limit, Limits};
use super::pipeline::Pipeline;
use super::throughput::Throughput;

/// Latency of a write in each direction, in microseconds: a write takes 4 to 6 ms.
pub(super) const WRITE_ONE_WAY_US: std::ops::Range<u64> = 2_000..3_000;
/// Latency of a read in each direction, in microseconds: a read takes 2 to 4 ms.
pub(super) const READ_ONE_WAY_US: std::ops::Range<u64> = 1_000..2_000;

/// Usage since the start of the measurement.
#[derive(Debug, Clone, Default)]
pub(super) struct Meters {
    pub(super) write_units: f64,
    pub(super) read_units: f64,
    /// Invocations of the API that were not throttled.
    pub(super) api_invocations: u64,
    pub(super) other_invocations: u64,
    /// Run time multiplied by memory.
    pub(super) megabyte_seconds: f64,
    pub(super) queue_requests: u64,
    pub(super) object_puts: u64,
    pub(super) object_gets: u64,
    pub(super) throttles: BTreeMap<Limit, u64>,
    pub(super) snapshots_requested: u64,
    pub(super) snapshot_delays_s: Vec<f64>,
    pub(super) feed_delays_s: Vec<f64>,
    pub(super) feed_invocations: u64,
    pub(super) feed_megabyte_seconds: f64,
}

pub(super) struct Region {
    pub(super) limits: Limits,
    pub(super) sheets: Vec<LogId>,
    pub(super) principal: Principal,
    pub(super) tables: Arc<MemoryTables>,
    pub(super) streams: Arc<MemoryStreams>,
    pub(super) entry_throughput: Mutex<Throughput>,
    pub(super) segment_throughput: Mutex<Throughput>,
    pub(super) catalog_throughput: Mutex<Throughput>,
    pub(super) functions: Functions,
    pub(super) pipeline: Pipeline,
    random: Mutex<fastrand::Rng>,
    begun: Instant,
    meters: Mutex<Meters>,
}

/// A process of the API, which handles one request at a time.
pub(super) struct Process {
    pub(super) logs: Logs,
    pub(super) catalog: CatalogStore,
}

impl Region {
    /// Creates a region with sheets that have one entry each.
    pub(super) async fn with_sheets(limits: Limits, sheet_count: usize) -> Arc<Self> {
        let id = |sheet: usize| {
            LogId::derive(&SubjectKey::new("cellar", "alice"), &format!("sheet {sheet}")).unwrap()
        };
        let region = Arc::new(Self {
            limits,
            sheets: (0..sheet_count).map(id).collect(),
            principal: Principal {
                subject: SubjectKey::new("cellar", "alice"),
                author: "alice".to_owned(),
                issuer: "cellar".to_owned(),
                scope: Scope::Shared,
                role: Role::Owner,
            },
            tables: Arc::default(),
            streams: Arc::default(),
            entry_throughput: Mutex::new(Throughput::new(&limits)),
            segment_throughput: Mutex::new(Throughput::new(&limits)),
            catalog_throughput: Mutex::new(Throughput::new(&limits)),
            functions: Functions::new(&limits),
            pipeline: Pipeline::new(&limits),
            random: Mutex::new(fastrand::Rng::with_seed(1)),
            begun: Instant::now(),
            meters: Mutex::default(),
        });
        region.create_sheets().await;
        region
    }

    /// Creates the sheets without latency.
    async fn create_sheets(self: &Arc<Self>) {
        let (tables, time) = (&self.tables, || Arc::clone(self));
        let blobs = Arc::new(MemoryBlobs::new(time()));
        let logs = Logs::new(tables.clone(), tables.clone(), blobs, time(), time());
        let catalog = CatalogStore::new(self.streams.clone(), time(), time());
        for sheet in &self.sheets {
            logs.create(*sheet, None).await.unwrap();
            let create = CatalogAction::Create { name: Name::default(), source: None };
            let owner = self.principal.by(*sheet).unwrap();
            catalog.change(*sheet, owner, create, None).await.unwrap();
        }
    }

    pub(super) fn new_process(self: &Arc<Self>) -> Process {
        let port = || Arc::clone(self);
        let blobs = Arc::new(MemoryBlobs::new(port()));
        Process {
            logs: Logs::new(port(), port(), blobs, port(), port()),
            catalog: CatalogStore::new(port(), port(), port()),
        }
    }

    pub(super) fn now_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Returns whether a time has come. The clock counts nanoseconds, so a time in seconds may lie a
    /// fraction of one after its moment.
    pub(super) fn is_due(&self, at_s: f64) -> bool {
        const FRACTION_S: f64 = 1e-6;
        self.now_s() + FRACTION_S >= at_s
    }

    /// Returns the moment that is `at_s` seconds after the start.
    pub(super) fn moment(&self, at_s: f64) -> Instant {
        self.begun + Duration::from_secs_f64(at_s)
    }

    pub(super) fn meters(&self) -> MutexGuard<'_, Meters> {
        self.meters.lock().unwrap()
    }

    /// Discards what was measured so far, such as the start of the load.
    pub(super) fn begin_measuring(&self) {
        *self.meters() = Meters::default();
        self.entry_throughput.lock().unwrap().begin_measuring();
        self.functions.begin_measuring();
    }

    pub(super) fn count_throttle(&self, limit: Limit) {
        *self.meters().throttles.entry(limit).or_default() += 1;
    }

    /// Waits for a random time, in microseconds.
    pub(super) async fn travel(&self, one_way_us: std::ops::Range<u64>) {
        let delay_us = self.random.lock().unwrap().u64(one_way_us);
        sleep(Duration::from_micros(delay_us)).await;
    }
}

#[async_trait]
impl Clock for Region {
    fn now_ms(&self) -> u64 {
        1_795_246_133_000 + u64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        sleep(Duration::from_millis(delay_ms)).await;
    }
}

impl Random for Region {
    fn next(&self) -> u64 {
        self.random.lock().unwrap().u64(..)
    }
}
