//! The log service: the core's rules, driven over the ports.

mod append;
mod cached_tails;
mod cells;
mod changes;
mod committed;
mod create;
mod error;
mod fork;
mod head;
mod history;
mod imports;
mod inherited;
mod load;
mod lost_cells;
mod numbering;
mod pages;
mod pull;
mod push;
mod resolve;
mod revert;
mod roll;
mod snapshot;
mod stats;
mod undo;
mod upkeep;
mod uploads;
mod urls;
mod view;
mod walk;
mod workbook;

#[cfg(test)]
pub(crate) mod tests;

pub use cells::{CellsQuery, CellsRead, SheetName};
pub use create::Created;
pub use error::LogError;
pub use fork::{ForkFault, Forked, NewFork};
pub use head::Headed;
pub use history::History;
pub use imports::{ChunkToUpload, ImportFault};
pub use load::Loaded;
pub use lost_cells::{LostCell, LostCells, ReplacedCells};
pub use pull::{News, Pulled};
pub use push::{PushClient, Pushing};
pub use upkeep::Upkept;
pub use uploads::{Completion, UploadFault};
pub use view::View;
pub use workbook::WorkbookRead;

pub(crate) use committed::Reading;
pub(crate) use pages::{OffloadedRead, is_whole, read_offloaded};

use std::future::Future;
use std::sync::Arc;

use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_log::append::Inputs;
use cellar_log::entry::{Entry, FIRST_INCARNATION};

use crate::ports::{Blobs, Clock, Entries, NoPokes, Pokes, PortError, Random, Segments};
use crate::snapshots::ObjectStore;
use cached_tails::CachedTails;
use inherited::KnownLineages;
use numbering::KnownClients;
use pages::LastOffloaded;
use snapshot::KnownRoots;

/// Logs: create, fork, append, upload, import, roll, load, update, head, cells and history. One per process, shared by its requests.
pub struct Logs {
    entries: Arc<dyn Entries>,
    segments: Arc<dyn Segments>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    known: CachedTails,
    clients: KnownClients,
    last_offloaded: LastOffloaded,
    objects: ObjectStore,
    roots: KnownRoots,
    pokes: Arc<dyn Pokes>,
    lineages: KnownLineages,
    incarnation: u32,
}

impl Logs {
    /// The service over these ports, knowing no tails yet.
    #[must_use]
    pub fn new(
        entries: Arc<dyn Entries>,
        segments: Arc<dyn Segments>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let (known, clients) = (CachedTails::default(), KnownClients::default());
        let last_offloaded = LastOffloaded::default();
        let objects = ObjectStore::with_memory(Arc::clone(&blobs));
        let (roots, lineages) = (KnownRoots::default(), KnownLineages::default());
        let incarnation = FIRST_INCARNATION;
        Self {
            entries,
            segments,
            blobs,
            clock,
            random,
            known,
            clients,
            last_offloaded,
            objects,
            roots,
            pokes: Arc::new(NoPokes),
            lineages,
            incarnation,
        }
    }

    /// The same over tables of this incarnation: new logs begin with it, and whatever comes from an offloaded segment
    /// has at least it, as what comes from the tables.
    #[must_use]
    pub fn at_incarnation(mut self, incarnation: u32) -> Self {
        self.incarnation = incarnation;
        self
    }

    /// The same, telling followers of whatever is appended.
    #[must_use]
    pub fn poking(mut self, pokes: Arc<dyn Pokes>) -> Self {
        self.pokes = pokes;
        self
    }

    /// Whether each table answers, by its name in the stack.
    pub async fn reachable(&self) -> [(&'static str, bool); 2] {
        let (entries, segments) = tokio::join!(self.entries.reachable(), self.segments.reachable());
        [("entries", entries), ("segments", segments)]
    }

    fn inputs(&self) -> Inputs {
        Inputs { now_s: self.clock.now_ms() / 1_000, random: self.random.next() }
    }

    /// Waits before attempt `attempt` (the first retry is 1).
    async fn pause(&self, attempt: u32) {
        self.clock.sleep_ms(full_jitter_ms(attempt, self.random.next())).await;
    }

    /// Learns what was read or written of one log.
    fn learn(&self, entries: &[Arc<Entry>]) {
        self.known.learn(self.clock.now_ms(), entries);
    }

    /// Repeats a read while its failure is temporary, at most `MAX_READ_ATTEMPTS` times (I6).
    async fn read<T, F>(&self, read: impl Fn() -> F) -> Result<T, LogError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.clock.as_ref(), self.random.as_ref(), read).await
    }
}

/// Repeats what changes nothing when it is repeated, as [`Logs::read`].
async fn retried<T, F>(
    clock: &dyn Clock,
    random: &dyn Random,
    request: impl Fn() -> F,
) -> Result<T, LogError>
where
    F: Future<Output = Result<T, PortError>>,
{
    let mut attempt = 1;
    loop {
        match request().await {
            Ok(value) => return Ok(value),
            Err(error) if error.temporary && attempt < MAX_READ_ATTEMPTS => {
                tracing::warn!(attempt, %error, "a read failed, trying again");
                clock.sleep_ms(full_jitter_ms(attempt, random.next())).await;
                attempt += 1;
            }
            Err(error) => return Err(LogError::Store(error)),
        }
    }
}
