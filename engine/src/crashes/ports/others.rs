//! Pending snapshots, job queues, objects and random numbers, with injected faults.

use async_trait::async_trait;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::{FaultyPorts, after};
use crate::ports::{
    BlobHead, BlobKey, BlobPage, BlobVersions, Blobs, GetOutcome, Jobs, KeepOutcome, NewBlob,
    PendingSnapshots, PortError, PresignedRequest, PutNewOutcome, Random, Receipt, Received,
    UploadGrant, VersionMarker, VersionPage, WriteOutcome,
};

fn write_failed(error: PortError) -> WriteOutcome {
    if error.temporary { WriteOutcome::Unknown(error) } else { WriteOutcome::Failed(error) }
}

#[async_trait]
impl PendingSnapshots for FaultyPorts {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.faults.read(self.pending.first_up_to(job)).await
    }
    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.faults.read(self.pending.first_after(job)).await
    }
    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        let create = self.record_write(record, self.pending.create(record));
        self.faults.send_with_fault(create, write_failed).await
    }
    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let replace = self.record_write(record, self.pending.replace(record, increment));
        self.faults.send_with_fault(replace, write_failed).await
    }
    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        self.faults.send_with_fault(self.pending.delete(job, run), Err).await
    }
}

#[async_trait]
impl Jobs for FaultyPorts {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        self.faults.send_with_fault(self.queue.send(body), Err).await
    }
    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        self.queue.receive(max, visibility_s).await
    }
    async fn change_visibility(&self, receipt: &Receipt, s: u32) -> Result<bool, PortError> {
        self.faults.send_with_fault(self.queue.change_visibility(receipt, s), Err).await
    }
    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.faults.send_with_fault(self.queue.delete(receipt), Err).await
    }
}

#[async_trait]
impl Blobs for FaultyPorts {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        self.faults.send_with_fault(self.blobs.put(blob), Err).await
    }
    async fn put_new(&self, blob: NewBlob) -> Result<PutNewOutcome, PortError> {
        self.faults.send_with_fault(self.blobs.put_new(blob), Err).await
    }
    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError> {
        self.faults.read(after(&self.latencies.bucket_ms, self.blobs.get(key, max_bytes))).await
    }
    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError> {
        self.faults.read(self.blobs.head(key)).await
    }
    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        self.faults.read(Blobs::pending(&self.blobs, key)).await
    }
    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError> {
        self.faults.send_with_fault(self.blobs.keep(key), Err).await
    }
    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        self.faults.send_with_fault(self.blobs.delete(key), Err).await
    }
    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError> {
        self.faults.read(self.blobs.list(prefix, after, limit)).await
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

#[async_trait]
impl BlobVersions for FaultyPorts {
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        self.faults.read(self.blobs.list_versions(prefix, after)).await
    }
    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError> {
        self.faults.send_with_fault(self.blobs.delete_version(key, version), Err).await
    }
}

impl Random for FaultyPorts {
    fn next(&self) -> u64 {
        7
    }
}
