//! A store of which one request, by its number, goes wrong.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::super::Fault;
use super::*;
use crate::ports::{BlobHead, BlobPage, Kept, PresignedRequest, UploadGrant};

/// Objects in memory, behind a network that loses something.
pub(super) struct FaultyBlobs {
    pub(super) memory: MemoryBlobs,
    faulty_call: u64,
    fault: Fault,
    calls: AtomicU64,
    running: AtomicUsize,
    most_running: AtomicUsize,
}

impl FaultyBlobs {
    pub(super) fn new(clock: Arc<ManualClock>, faulty_call: u64, fault: Fault) -> Self {
        let (calls, running, most_running) = Default::default();
        let memory = MemoryBlobs::new(clock);
        Self { memory, faulty_call, fault, calls, running, most_running }
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// The most requests that were under way at the same time.
    pub(super) fn most_running(&self) -> usize {
        self.most_running.load(Ordering::SeqCst)
    }

    async fn sent<T>(
        &self,
        request: impl Future<Output = Result<T, PortError>>,
    ) -> Result<T, PortError> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let is_faulty = self.calls.fetch_add(1, Ordering::SeqCst) == self.faulty_call;
        let lost = || Err(PortError::temporary("lost"));
        let answer = match (is_faulty, self.fault) {
            (true, Fault::Before) => lost(),
            (true, Fault::ReplyLost) => {
                let _ = request.await;
                lost()
            }
            (false, _) => request.await,
        };
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

#[async_trait]
impl Blobs for FaultyBlobs {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        self.sent(self.memory.put(blob)).await
    }

    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<Got, PortError> {
        self.sent(self.memory.get(key, max_bytes)).await
    }

    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError> {
        self.sent(self.memory.head(key)).await
    }

    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        self.sent(self.memory.pending(key)).await
    }

    async fn keep(&self, key: &BlobKey) -> Result<Kept, PortError> {
        self.sent(self.memory.keep(key)).await
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        self.sent(self.memory.delete(key)).await
    }

    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError> {
        self.sent(self.memory.list(prefix, after, limit)).await
    }

    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.memory.presign_put(grant, now_s).await
    }

    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.memory.presign_get(key, valid_s, now_s).await
    }
}
