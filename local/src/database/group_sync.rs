//! Syncs the database to disk once for many operations.
//!
//! An operation counts as durable when a sync that began after it has ended. While one sync runs,
//! other operations end and wait. One of them begins the next sync, which is enough for all of them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

/// Whether an operation may change data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Read,
    Write,
}

/// A sync to disk failed. Earlier writes may be lost, even if a later sync succeeds.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the database could not be synced to disk: {why}; stop the local stack and check the disk")]
pub struct SyncError {
    why: String,
}

/// Syncs for many operations at once.
#[derive(Clone)]
pub(crate) struct GroupSync {
    shared: Arc<Shared>,
}

struct Shared {
    /// Writes all earlier changes to disk, and blocks its thread. It takes less than half a millisecond
    /// on a fast disk, and waking another thread for it half as long.
    sync: Box<dyn Fn() -> io::Result<()> + Send + Sync>,
    /// Number of writes that have begun.
    begun_writes: AtomicU64,
    /// Number of writes that have ended.
    ended_writes: AtomicU64,
    /// Number of writes that had begun when all of them were last known to be on disk.
    durable_writes: AtomicU64,
    begun_syncs: AtomicU64,
    /// Held during a sync. Contains the error of the first sync that failed.
    first_error: Mutex<Option<SyncError>>,
}

impl GroupSync {
    /// `sync` must write all earlier changes to disk.
    pub(crate) fn new(sync: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        let shared = Shared {
            sync: Box::new(sync),
            begun_writes: AtomicU64::new(0),
            ended_writes: AtomicU64::new(0),
            durable_writes: AtomicU64::new(0),
            begun_syncs: AtomicU64::new(0),
            first_error: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Runs an operation, and returns its result when everything that it has written or read is on
    /// disk.
    pub(crate) async fn run<T>(
        &self,
        kind: OperationKind,
        operation: impl FnOnce() -> T,
    ) -> Result<T, SyncError> {
        let is_write = kind == OperationKind::Write;
        self.shared.begun_writes.fetch_add(u64::from(is_write), Ordering::SeqCst);
        let result = operation();
        self.shared.ended_writes.fetch_add(u64::from(is_write), Ordering::SeqCst);
        if is_write || !self.shared.is_all_durable() {
            self.wait_for_sync().await?;
        }
        Ok(result)
    }

    /// Returns when a sync that began after this call has ended.
    async fn wait_for_sync(&self) -> Result<(), SyncError> {
        let syncs_before = self.shared.begun_syncs.load(Ordering::SeqCst);
        let mut first_error = self.shared.first_error.lock().await;
        if let Some(error) = &*first_error {
            return Err(error.clone());
        }
        // No sync is running, because this call holds the lock.
        if self.shared.begun_syncs.load(Ordering::SeqCst) > syncs_before {
            return Ok(());
        }
        let result = self.shared.sync_once();
        *first_error = result.clone().err();
        result
    }
}

impl Shared {
    /// Whether no write is running, and all that have ended are on disk.
    fn is_all_durable(&self) -> bool {
        let durable_writes = self.durable_writes.load(Ordering::SeqCst);
        durable_writes == self.begun_writes.load(Ordering::SeqCst)
    }

    fn sync_once(&self) -> Result<(), SyncError> {
        self.begun_syncs.fetch_add(1, Ordering::SeqCst);
        let ended_writes = self.ended_writes.load(Ordering::SeqCst);
        let begun_writes = self.begun_writes.load(Ordering::SeqCst);
        (self.sync)().map_err(|error| SyncError { why: error.to_string() })?;
        if begun_writes == ended_writes {
            self.durable_writes.store(begun_writes, Ordering::SeqCst);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;

    /// A disk to which data is written, and which can be made slow or broken.
    #[derive(Debug, Default)]
    struct TestDisk {
        written: AtomicU64,
        synced: AtomicU64,
        syncs: AtomicU64,
        is_broken: AtomicBool,
    }

    fn group_sync(disk: &Arc<TestDisk>, sync_ms: u64) -> GroupSync {
        let disk = Arc::clone(disk);
        GroupSync::new(move || {
            let written = disk.written.load(Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(sync_ms));
            if disk.is_broken.load(Ordering::SeqCst) {
                return Err(io::Error::other("broken"));
            }
            disk.synced.fetch_max(written, Ordering::SeqCst);
            disk.syncs.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn every_answer_is_on_disk_and_few_syncs_serve_many_writes() {
        const OPERATIONS: u64 = 200;
        let disk = Arc::new(TestDisk::default());
        let group = group_sync(&disk, 5);
        let mut operations = tokio::task::JoinSet::new();
        for number in 0..OPERATIONS {
            let (disk, group) = (Arc::clone(&disk), group.clone());
            operations.spawn(async move {
                let kind = if number % 4 == 0 { OperationKind::Read } else { OperationKind::Write };
                let seen = group.run(kind, || match kind {
                    OperationKind::Read => disk.written.load(Ordering::SeqCst),
                    OperationKind::Write => disk.written.fetch_add(1, Ordering::SeqCst) + 1,
                });
                let seen = seen.await.unwrap();
                assert!(disk.synced.load(Ordering::SeqCst) >= seen, "{kind:?}");
            });
        }
        while let Some(ended) = operations.join_next().await {
            ended.unwrap();
        }
        let syncs = disk.syncs.load(Ordering::SeqCst);
        assert!(syncs < OPERATIONS / 4, "{syncs}");
    }

    #[tokio::test]
    async fn a_read_needs_no_sync_if_all_writes_are_on_disk() {
        let disk = Arc::new(TestDisk::default());
        let group = group_sync(&disk, 0);
        group.run(OperationKind::Read, || ()).await.unwrap();
        assert_eq!(disk.syncs.load(Ordering::SeqCst), 0);
        group.run(OperationKind::Write, || ()).await.unwrap();
        group.run(OperationKind::Read, || ()).await.unwrap();
        assert_eq!(disk.syncs.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_caller_that_goes_away_does_not_stop_the_others() {
        let disk = Arc::new(TestDisk::default());
        let group = group_sync(&disk, 100);
        let write = |group: GroupSync, disk: Arc<TestDisk>| async move {
            group.run(OperationKind::Write, || disk.written.fetch_add(1, Ordering::SeqCst)).await
        };
        let first = tokio::spawn(write(group.clone(), Arc::clone(&disk)));
        while group.shared.begun_syncs.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let second = write(group.clone(), Arc::clone(&disk));
        assert!(tokio::time::timeout(Duration::from_millis(10), second).await.is_err());
        write(group, Arc::clone(&disk)).await.unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(disk.synced.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn nothing_is_durable_after_a_sync_that_failed() {
        let disk = Arc::new(TestDisk::default());
        let group = group_sync(&disk, 0);
        disk.is_broken.store(true, Ordering::SeqCst);
        let error = group.run(OperationKind::Write, || ()).await.unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
        disk.is_broken.store(false, Ordering::SeqCst);
        for kind in [OperationKind::Write, OperationKind::Read] {
            assert!(group.run(kind, || ()).await.is_err(), "{kind:?}");
        }
    }
}
