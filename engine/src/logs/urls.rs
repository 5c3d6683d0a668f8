//! Presigned URLs with which clients read objects directly for a few minutes.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PRESIGNED_S;
use cellar_log::entry::ExternalEdits;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;

use super::{LogError, Logs, blob_key};
use crate::ports::PresignedRequest;

/// Presigned URLs from which a client reads snapshot chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkUrls {
    pub urls: Vec<String>,
    /// Time at which the earliest of the URLs expires, in seconds since the Unix epoch.
    pub expires_s: u64,
}

impl Logs {
    /// Returns a presigned URL for the object that contains the operations of a large entry.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the URL cannot be signed.
    pub async fn external_url(&self, external: &ExternalEdits) -> Result<String, LogError> {
        Ok(self.object_url(&external.object).await?.url)
    }

    /// Returns a presigned request for reading an object.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the request cannot be signed.
    pub async fn object_url(&self, key: &str) -> Result<PresignedRequest, LogError> {
        let key = blob_key(key)?;
        let now_s = self.clock.now_ms() / 1_000;
        let presigned = self.blobs.presign_get(&key, MAX_PRESIGNED_S, now_s).await;
        presigned.map_err(LogError::Store)
    }

    /// Returns presigned URLs for the snapshot chunks of a log, in the order of `hashes`. Does not
    /// check whether the chunks exist.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if a URL cannot be signed.
    pub async fn chunk_urls(
        &self,
        log_id: LogId,
        hashes: &[ChunkHash],
    ) -> Result<ChunkUrls, LogError> {
        let family = self.family(log_id).await?;
        let mut urls = Vec::with_capacity(hashes.len());
        let mut expires_s = self.clock.now_ms() / 1_000 + MAX_PRESIGNED_S;
        for hash in hashes {
            let presigned = self.object_url(&chunk_key(family, *hash)).await?;
            expires_s = expires_s.min(presigned.expires_s);
            urls.push(presigned.url);
        }
        Ok(ChunkUrls { urls, expires_s })
    }
}
