//! Presigned URLs for clients to read objects directly, valid for a few minutes.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PRESIGNED_S;
use cellar_log::entry::ExternalEdits;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;

use super::{LogError, Logs};
use crate::ports::{BlobKey, PortError};

impl Logs {
    /// Returns a presigned URL of the body of a large entry.
    ///
    /// # Errors
    /// [`LogError::Store`] if the URL cannot be signed.
    pub async fn external_url(&self, external: &ExternalEdits) -> Result<String, LogError> {
        Ok(self.object_url(&external.object).await?.0)
    }

    /// Returns a presigned URL of an object, and its expiry in Unix seconds.
    ///
    /// # Errors
    /// As [`Logs::external_url`].
    pub async fn object_url(&self, key: &str) -> Result<(String, u64), LogError> {
        let key = BlobKey::new(key)
            .map_err(|error| LogError::Store(PortError::permanent(error.to_string())))?;
        let now_s = self.clock.now_ms() / 1_000;
        let signed = self.blobs.presign_get(&key, MAX_PRESIGNED_S, now_s).await;
        let signed = signed.map_err(LogError::Store)?;
        Ok((signed.url, signed.expires_s))
    }

    /// Returns presigned URLs of chunks of a log's snapshots, in the order of `hashes`, and their
    /// expiry in Unix seconds. Sends no request, so it does not check that the chunks exist.
    ///
    /// # Errors
    /// As [`Logs::external_url`].
    pub async fn chunk_urls(
        &self,
        log: LogId,
        hashes: &[ChunkHash],
    ) -> Result<(Vec<String>, u64), LogError> {
        let family = self.family(log).await?;
        let mut urls = Vec::with_capacity(hashes.len());
        let mut expires_s = self.clock.now_ms() / 1_000 + MAX_PRESIGNED_S;
        for hash in hashes {
            let (url, until_s) = self.object_url(&chunk_key(family, *hash)).await?;
            expires_s = expires_s.min(until_s);
            urls.push(url);
        }
        Ok((urls, expires_s))
    }
}
