//! Ports in memory that fail as planned: at one request, before it is done, after it, or for ever.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use cellar_core::entry::Entry;
use cellar_core::identity::LogId;
use cellar_core::pending_snapshot::PendingSnapshot;
use cellar_core::position::Position;
use cellar_core::segment::Segment;
use cellar_core::snapshot_job::SnapshotJob;
use tokio::sync::Notify;

use super::*;
use crate::memory::{
    ManualClock, MemoryBlobs, MemoryPendingSnapshots, MemoryQueue, MemoryTables, QueueRules,
};
use crate::ports::{
    BlobHead, BlobKey, BlobPage, Blobs, CreateOutcome, ForkPage, ForkRecords, Got, Kept, NewBlob,
    Page, PresignedRequest, PutOutcome, Received, UploadGrant,
};

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not done, and an error says so.
    Refused,
    /// It is done, and its answer is an error.
    ReplyLost,
    /// It and those that follow are not done, for longer than anybody tries again.
    Outage,
    /// The worker dies before it is done.
    DiesBefore,
    /// The worker dies when it is done.
    DiesAfter,
    /// The worker stands still, and it is done when it wakes up.
    FreezesBefore,
    /// It is done, and then the worker stands still.
    FreezesAfter,
    /// Whoever stands still goes on beside the one whose request this is.
    Wakes,
}

impl Fault {
    /// Whether the request is done before it fails.
    pub(crate) fn is_after(self) -> bool {
        matches!(self, Self::ReplyLost | Self::DiesAfter | Self::FreezesAfter)
    }
}

/// Requests that an outage takes: more than anybody's attempts.
const OUTAGE_REQUESTS: usize = MAX_READ_ATTEMPTS as usize + 2;

/// Counts the requests and lets some of them fail.
#[derive(Default)]
pub(crate) struct Trouble {
    requests: AtomicUsize,
    /// The numbers of those that read.
    reads: Mutex<HashSet<usize>>,
    over: AtomicBool,
    running: AtomicUsize,
    most_running: AtomicUsize,
    planned: Vec<(usize, Fault)>,
    /// The worker of the request is dead.
    pub(crate) died: Notify,
    /// The worker of the request stands still.
    pub(crate) froze: Notify,
    /// Whoever stands still is to go on.
    pub(crate) wakes: Notify,
}

impl Trouble {
    fn fault_at(&self, number: usize) -> Option<Fault> {
        let at = |(first, fault): &&(usize, Fault)| match fault {
            Fault::Outage => (*first..*first + OUTAGE_REQUESTS).contains(&number),
            _ => *first == number,
        };
        self.planned.iter().find(at).map(|(_, fault)| *fault)
    }

    /// From now on nothing fails.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.wakes.notify_waiters();
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// How many requests there were since the last call; they are numbered anew.
    pub(crate) fn take_requests(&self) -> usize {
        self.requests.swap(0, Ordering::SeqCst)
    }

    /// Whether the request with this number reads: whether it was done before it failed or not is the
    /// same, then.
    pub(crate) fn reads(&self, number: usize) -> bool {
        self.reads.lock().unwrap().contains(&number)
    }

    async fn read<T>(
        &self,
        request: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        self.reads.lock().unwrap().insert(self.requests());
        self.around(request, Err).await
    }

    /// The most requests that were under way at the same time.
    pub(crate) fn most_running(&self) -> usize {
        self.most_running.load(Ordering::SeqCst)
    }

    pub(crate) async fn around<T>(
        &self,
        request: impl Future<Output = T> + Send,
        failed: impl FnOnce(PortError) -> T + Send,
    ) -> T {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        let answer = self.answer(request, failed).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    async fn answer<T>(
        &self,
        request: impl Future<Output = T> + Send,
        failed: impl FnOnce(PortError) -> T + Send,
    ) -> T {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        // Whoever works beside this one gets a turn.
        tokio::task::yield_now().await;
        if self.over.load(Ordering::SeqCst) {
            return request.await;
        }
        match self.fault_at(number) {
            None => request.await,
            Some(Fault::Refused | Fault::Outage) => failed(PortError::temporary("planned")),
            Some(Fault::ReplyLost) => {
                request.await;
                failed(PortError::temporary("planned"))
            }
            Some(Fault::DiesBefore) => self.die().await,
            Some(Fault::DiesAfter) => {
                request.await;
                self.die().await
            }
            Some(Fault::FreezesBefore) => {
                self.freeze().await;
                request.await
            }
            Some(Fault::FreezesAfter) => {
                let done = request.await;
                self.freeze().await;
                done
            }
            Some(Fault::Wakes) => {
                self.wakes.notify_waiters();
                request.await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        std::future::pending().await
    }

    async fn freeze(&self) {
        self.froze.notify_one();
        self.wakes.notified().await;
    }
}

/// Ports in trouble.
pub(crate) struct FaultyPorts {
    pub(crate) trouble: Trouble,
    pub(crate) tables: MemoryTables,
    pub(crate) blobs: MemoryBlobs,
    pub(crate) pending: MemoryPendingSnapshots,
    pub(crate) queue: MemoryQueue,
    pub(crate) clock: Arc<ManualClock>,
    /// What was to become the root of which entry, and what stands there.
    pub(crate) roots: Mutex<Vec<(Position, String, String)>>,
    /// The increments of records as they were written, one after the other.
    pub(crate) increments: Mutex<Vec<(Position, u64)>>,
}

impl FaultyPorts {
    /// Over these tables and these objects, with an empty queue.
    pub(crate) fn new(
        planned: Vec<(usize, Fault)>,
        tables: MemoryTables,
        blobs: MemoryBlobs,
        clock: Arc<ManualClock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            trouble: Trouble { planned, ..Trouble::default() },
            tables,
            blobs,
            pending: MemoryPendingSnapshots::default(),
            queue: MemoryQueue::new(clock.clone(), QueueRules::LONGEST),
            clock,
            roots: Mutex::default(),
            increments: Mutex::default(),
        })
    }

    async fn written(
        &self,
        record: &PendingSnapshot,
        write: impl Future<Output = WriteOutcome>,
    ) -> WriteOutcome {
        let outcome = write.await;
        if outcome == WriteOutcome::Written {
            let written = (record.job.position, record.increment);
            self.increments.lock().unwrap().push(written);
        }
        outcome
    }

    /// Asserts that no root and no record was ever written over by another's: each increment follows
    /// the last, and no two workers made different roots.
    pub(crate) fn assert_nothing_was_lost(&self, what: &str) {
        for (at, wanted, stands) in self.roots.lock().unwrap().iter() {
            assert_eq!(wanted, stands, "{what}: two roots of {at}");
        }
        let mut last = HashMap::new();
        for (at, increment) in self.increments.lock().unwrap().iter() {
            let before = last.insert(*at, *increment).unwrap_or(0);
            let follows = *increment == before + 1 || *increment == 1;
            assert!(follows, "{what}: a record of {at} written over: {before}, {increment}");
        }
    }

    /// Workers over them.
    pub(crate) fn snapshots(self: &Arc<Self>, builder: Arc<dyn SnapshotBuilder>) -> Snapshots {
        let ports = SnapshotPorts {
            entries: self.clone(),
            segments: self.clone(),
            pending: self.clone(),
            jobs: self.clone(),
            clock: self.clock.clone(),
            random: self.clone(),
        };
        Snapshots::new(ports, builder)
    }
}

#[async_trait]
impl PendingSnapshots for FaultyPorts {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.trouble.read(self.pending.first_up_to(job)).await
    }
    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.trouble.read(self.pending.first_after(job)).await
    }
    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        let create = self.written(record, self.pending.create(record));
        self.trouble.around(create, WriteOutcome::Unknown).await
    }
    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let replace = self.written(record, self.pending.replace(record, increment));
        self.trouble.around(replace, WriteOutcome::Unknown).await
    }
    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        self.trouble.around(self.pending.delete(job, run), Err).await
    }
}

#[async_trait]
impl Entries for FaultyPorts {
    async fn page(&self, log: LogId, from: Position, consistent: bool) -> Result<Page, PortError> {
        self.trouble.read(self.tables.page(log, from, consistent)).await
    }
    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        consistent: bool,
    ) -> Result<Page, PortError> {
        self.trouble.read(self.tables.page_back(log, from, limit, consistent)).await
    }
    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        self.trouble.read(self.tables.last(log, segment, consistent)).await
    }
    async fn get(&self, log: LogId, at: Position) -> Result<Option<Arc<Entry>>, PortError> {
        self.trouble.read(self.tables.get(log, at)).await
    }
    async fn put(&self, entry: &Entry) -> PutOutcome {
        self.trouble.around(self.tables.put(entry), PutOutcome::Unknown).await
    }
    async fn set_root(&self, log: LogId, at: Position, root: &str) -> Result<String, PortError> {
        let set = async {
            let stands = self.tables.set_root(log, at, root).await?;
            self.roots.lock().unwrap().push((at, root.to_owned(), stands.clone()));
            Ok(stands)
        };
        self.trouble.around(set, Err).await
    }
    async fn replace_root(
        &self,
        log: LogId,
        at: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        self.trouble.around(self.tables.replace_root(log, at, replaces, root), Err).await
    }
    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Segments for FaultyPorts {
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistent: bool,
    ) -> Result<Vec<Segment>, PortError> {
        self.trouble.read(self.tables.newest(log, limit, consistent)).await
    }
    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Segment>, PortError> {
        self.trouble.read(self.tables.segment(log, segment, consistent)).await
    }
    async fn roll(&self, transaction: &cellar_core::roll::Transaction) -> CreateOutcome {
        self.trouble.around(self.tables.roll(transaction), CreateOutcome::Unknown).await
    }
    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError> {
        self.trouble.around(self.tables.raise_last_snapshot(log, at), Err).await
    }
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        self.trouble.around(self.tables.create(segment, entry), CreateOutcome::Unknown).await
    }
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        self.trouble.around(self.tables.fork(records), CreateOutcome::Unknown).await
    }
    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        self.trouble.read(self.tables.forks(source, after, limit)).await
    }
    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Jobs for FaultyPorts {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        self.trouble.around(self.queue.send(body), Err).await
    }
    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        self.queue.receive(max, visibility_s).await
    }
    async fn change_visibility(&self, receipt: &Receipt, s: u32) -> Result<bool, PortError> {
        self.trouble.around(self.queue.change_visibility(receipt, s), Err).await
    }
    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.trouble.around(self.queue.delete(receipt), Err).await
    }
}

#[async_trait]
impl Blobs for FaultyPorts {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        self.trouble.around(self.blobs.put(blob), Err).await
    }
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<Got, PortError> {
        self.trouble.read(self.blobs.get(key, max_bytes)).await
    }
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError> {
        self.trouble.read(self.blobs.head(key)).await
    }
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        self.trouble.read(Blobs::pending(&self.blobs, key)).await
    }
    async fn keep(&self, key: &BlobKey) -> Result<Kept, PortError> {
        self.trouble.around(self.blobs.keep(key), Err).await
    }
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        self.trouble.around(self.blobs.delete(key), Err).await
    }
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError> {
        self.trouble.read(self.blobs.list(prefix, after, limit)).await
    }
    async fn presign_put(
        &self,
        grant: &UploadGrant,
        s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.blobs.presign_put(grant, s).await
    }
    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.blobs.presign_get(key, valid_s, now_s).await
    }
}

impl Random for FaultyPorts {
    fn next(&self) -> u64 {
        7
    }
}
