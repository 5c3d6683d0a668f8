//! The simulated bucket.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_engine::ports::{
    BlobHead, BlobKey, BlobPage, Blobs, GetOutcome, KeepOutcome, NewBlob, PendingTags, PortError,
    PresignedRequest, PutNewOutcome, UploadGrant,
};

use crate::process::Process;
use crate::rare::RareEvent;

/// Key prefix of objects with offloaded segments.
const OFFLOADED: &str = "offload";

#[async_trait]
impl Blobs for Process {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        let (process, key) = (self.clone(), blob.key.clone());
        let effect = async move {
            let stored = process.world().blobs.put(blob).await;
            process.event(format_args!("an object is stored: {}", stored.is_ok()));
            stored
        };
        self.call_bucket(format!("put object {key}"), effect).await.and_then(|stored| stored)
    }

    async fn put_new(&self, blob: NewBlob) -> Result<PutNewOutcome, PortError> {
        let (world, key) = (Arc::clone(self.world()), blob.key.clone());
        let effect = async move { world.blobs.put_new(blob).await };
        self.call_bucket(format!("create object {key}"), effect).await.and_then(|created| created)
    }

    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError> {
        let world = Arc::clone(self.world());
        let effect_key = key.clone();
        let effect = async move { world.blobs.get(&effect_key, max_bytes).await };
        let got = self.call_bucket(format!("get object {key}"), effect).await.and_then(|got| got);
        if key.as_str().starts_with(OFFLOADED) && matches!(got, Ok(GetOutcome::Found { .. })) {
            self.world().count(RareEvent::ReadOffloaded);
        }
        got
    }

    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError> {
        let world = Arc::clone(self.world());
        let effect_key = key.clone();
        let effect = async move { world.blobs.head(&effect_key).await };
        self.call_bucket(format!("head object {key}"), effect).await.and_then(|head| head)
    }

    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        let world = Arc::clone(self.world());
        let effect_key = key.clone();
        let effect = async move { world.blobs.pending(&effect_key).await };
        self.call_bucket(format!("tags of object {key}"), effect).await.and_then(|tags| tags)
    }

    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError> {
        let world = Arc::clone(self.world());
        let effect_key = key.clone();
        let effect = async move { world.blobs.keep(&effect_key).await };
        self.call_bucket(format!("keep object {key}"), effect).await.and_then(|kept| kept)
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        let world = Arc::clone(self.world());
        let effect_key = key.clone();
        let effect = async move { world.blobs.delete(&effect_key).await };
        self.call_bucket(format!("delete object {key}"), effect).await.and_then(|deleted| deleted)
    }

    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError> {
        let world = Arc::clone(self.world());
        let effect_prefix = prefix.to_owned();
        let last_key = after.map(str::to_owned);
        let effect =
            async move { world.blobs.list(&effect_prefix, last_key.as_deref(), limit).await };
        self.call_bucket(format!("list objects {prefix}"), effect).await.and_then(|page| page)
    }

    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.world().blobs.presign_put(grant, now_s).await
    }

    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.world().blobs.presign_get(key, valid_s, now_s).await
    }
}

#[async_trait]
impl PendingTags for Process {
    async fn remove_pending_tag(&self, key: &str) -> Result<bool, PortError> {
        let key = BlobKey::new(key).map_err(|error| PortError::permanent(error.to_string()))?;
        Ok(self.keep(&key).await? == KeepOutcome::Kept)
    }
}
