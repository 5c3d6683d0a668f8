//! Presigned URLs through which clients read objects directly. They are valid for a few minutes.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PRESIGNED_S;
use cellar_log::entry::ExternalEdits;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;

use super::{LogError, Logs};
use crate::ports::{BlobKey, PortError};

impl Logs {
    /// Returns a presigned URL for reading the external body of a large entry.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the URL cannot be signed.
    pub async fn external_url(&self, external: &ExternalEdits) -> Result<String, LogError> {
        Ok(self.object_url(&external.object).await?.0)
    }

    /// Returns a presigned URL for reading an object, and its expiry time in seconds since the Unix
    /// epoch.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::external_url`].
    pub async fn object_url(&self, key: &str) -> Result<(String, u64), LogError> {
        let key = BlobKey::new(key)
            .map_err(|error| LogError::Store(PortError::permanent(error.to_string())))?;
        let now_s = self.clock.now_ms() / 1_000;
        let presigned = self.blobs.presign_get(&key, MAX_PRESIGNED_S, now_s).await;
        let presigned = presigned.map_err(LogError::Store)?;
        Ok((presigned.url, presigned.expires_s))
    }

    /// Returns presigned URLs for reading a log's snapshot chunks, in the order of `hashes`, and
    /// their expiry time in seconds since the Unix epoch. Sends no request, so the existence of the
    /// chunks is not checked.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::external_url`].
    pub async fn chunk_urls(
        &self,
        log: LogId,
        hashes: &[ChunkHash],
    ) -> Result<(Vec<String>, u64), LogError> {
        let family = self.family(log).await?;
        let mut urls = Vec::with_capacity(hashes.len());
        let mut first_expiry_s = self.clock.now_ms() / 1_000 + MAX_PRESIGNED_S;
        for hash in hashes {
            let (url, expires_s) = self.object_url(&chunk_key(family, *hash)).await?;
            first_expiry_s = first_expiry_s.min(expires_s);
            urls.push(url);
        }
        Ok((urls, first_expiry_s))
    }
}
