//! The log service, which runs the state machines of `cellar-log` with the tables and objects of a
//! stack.

mod append;
mod append_queue;
mod cached_tails;
mod calculate;
mod cell_history;
mod cells;
mod changes;
mod committed;
mod create;
mod dependents;
mod entry_history;
mod error;
mod fork;
mod head;
mod history;
mod imports;
mod inherited;
mod kept_calculations;
mod line_places;
mod load;
mod lost_cells;
mod lost_references;
mod merge;
mod numbering;
mod outdated;
mod pages;
mod pull;
mod push;
mod recovered_sheets;
mod replacing_import;
mod resolve;
mod restorable;
mod reversals;
mod revert;
mod roll;
mod row_bands;
mod search;
mod sheet_places;
mod snapshot;
mod spills;
mod stats;
mod times;
mod trace;
mod undo;
mod upkeep;
mod uploads;
mod urls;
mod view;
mod walk;
mod workbook;

#[cfg(test)]
pub(crate) mod tests;

pub use cell_history::{CellHistory, CellHistoryQuery};
pub use cells::{CellsQuery, CellsRead, SheetName};
pub use create::Created;
pub use error::LogError;
pub use fork::{ForkFault, Forked, NewFork};
pub use head::LogHead;
pub use history::History;
pub use imports::{ChunkToUpload, ImportFault};
pub use load::Loaded;
pub use lost_cells::{LostCell, LostCells, ReplacedCells};
pub use merge::{MergeFault, MergedEdit, MergedEdits, NewMerge};
pub use pull::{PullDelta, PullOutcome};
pub use push::{PushClient, Pushing};
pub use resolve::WhenUnchanged;
pub use search::{FilterQuery, Filtered, FindQuery, Found};
pub use trace::TraceQuery;
pub use upkeep::UpkeepOutcome;
pub use uploads::{Completion, UploadFault};
pub use urls::ChunkUrls;
pub use view::View;
pub use workbook::WorkbookRead;

pub(crate) use committed::{EntryCursor, ReadUntil};
pub(crate) use outdated::{CalculatedResults, CalculationPieces};
pub(crate) use pages::{OffloadedRead, is_complete_segment, read_offloaded};

use std::future::Future;
use std::sync::Arc;

use cellar_base::backoff::full_jitter_ms;
use cellar_base::identity::LogId;
use cellar_log::append::Inputs;
use cellar_log::entry::{Entry, FIRST_INCARNATION};

use crate::ports::{BlobKey, Blobs, Clock, Entries, NoPokes, Pokes, PortError, Random, Segments};
use crate::retry::retry_with_jitter;
use crate::snapshots::ObjectStore;
use append_queue::AppendQueue;
use cached_tails::TailCache;
use inherited::LineageCache;
use kept_calculations::KeptCalculations;
use numbering::LastIdCache;
use pages::OffloadedCache;
use snapshot::RootCache;

/// Creates, forks, reads and appends to logs, and accepts uploads and imports. A process uses a
/// single `Logs` for all requests.
pub struct Logs {
    entries: Arc<dyn Entries>,
    segments: Arc<dyn Segments>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    append_queue: AppendQueue,
    tails: TailCache,
    last_ids: LastIdCache,
    last_offloaded: OffloadedCache,
    objects: ObjectStore,
    roots: RootCache,
    pokes: Arc<dyn Pokes>,
    lineages: LineageCache,
    calculations: Arc<KeptCalculations>,
    incarnation: u32,
}

impl Logs {
    /// Creates a log service with empty caches.
    #[must_use]
    pub fn new(
        entries: Arc<dyn Entries>,
        segments: Arc<dyn Segments>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self {
            objects: ObjectStore::with_cache(Arc::clone(&blobs)),
            entries,
            segments,
            blobs,
            clock,
            random,
            append_queue: AppendQueue::default(),
            tails: TailCache::default(),
            last_ids: LastIdCache::default(),
            last_offloaded: OffloadedCache::default(),
            roots: RootCache::default(),
            pokes: Arc::new(NoPokes),
            lineages: LineageCache::default(),
            calculations: Arc::default(),
            incarnation: FIRST_INCARNATION,
        }
    }

    /// Sets how many times the tables have been restored. New logs get this number, and entries
    /// from offloaded segments get at least this number.
    #[must_use]
    pub fn with_incarnation(mut self, incarnation: u32) -> Self {
        self.incarnation = incarnation;
        self
    }

    /// Uses `pokes` to notify clients after each append.
    #[must_use]
    pub fn with_pokes(mut self, pokes: Arc<dyn Pokes>) -> Self {
        self.pokes = pokes;
        self
    }

    /// Returns the name of each table and whether the table responds.
    pub async fn reachable(&self) -> [(&'static str, bool); 2] {
        let (entries_reachable, segments_reachable) =
            tokio::join!(self.entries.reachable(), self.segments.reachable());
        [("entries", entries_reachable), ("segments", segments_reachable)]
    }

    fn inputs(&self) -> Inputs {
        Inputs { now_s: self.clock.now_ms() / 1_000, random: self.random.next() }
    }

    /// The delay grows exponentially and has full jitter. `attempt` is 1 before the first retry.
    async fn pause_before_retry(&self, attempt: u32) {
        self.clock.sleep_ms(full_jitter_ms(attempt, self.random.next())).await;
    }

    async fn check_exists(&self, log_id: LogId) -> Result<(), LogError> {
        self.head(log_id, None).await?;
        Ok(())
    }

    fn cache_entries(&self, entries: &[Arc<Entry>]) {
        self.tails.add(self.clock.now_ms(), entries);
    }

    /// Temporary failures are retried until `MAX_READ_ATTEMPTS` attempts have failed (I6).
    async fn retry_read<T, F>(&self, send_read: impl Fn() -> F) -> Result<T, LogError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        let result = retry_with_jitter(self.clock.as_ref(), self.random.as_ref(), send_read).await;
        result.map_err(LogError::Store)
    }
}

fn blob_key(key: impl Into<String>) -> Result<BlobKey, LogError> {
    BlobKey::new(key).map_err(|error| LogError::Store(PortError::from_permanent(error)))
}
