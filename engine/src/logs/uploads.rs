//! Large entries: a grant to upload an object, and its completion.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_PRESIGNED_S, MAX_UPLOAD_AGE_S, MAX_UPLOAD_BYTES};
use cellar_base::position::Position;
use cellar_log::append::{Appended, MutationResult, Request, Upload};
use cellar_log::entry::{Content, decode_external_body};
use cellar_sheet::operation::Operation;
use uuid::Uuid;

use super::{LogError, Logs};
use crate::ports::{BlobKey, Got, Kept, PortError, PresignedRequest, UploadGrant};
use crate::sha256::sha256;

/// A completed upload that is to become an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Which upload.
    pub upload: Uuid,
    /// Bytes of the object.
    pub bytes: u64,
    /// SHA-256 of the object.
    pub sha256: [u8; 32],
    /// Whose mutations these are.
    pub client: ClientKey,
    /// Who completes it.
    pub author: Option<String>,
    /// The incarnation that the base is of.
    pub incarnation: u32,
    /// The last id that the client knows to be in the log.
    pub acknowledged: u64,
    /// Id of the first mutation.
    pub first_id: u64,
    /// The position that their author had seen.
    pub base: Position,
}

/// Why an upload cannot become an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadFault {
    /// Longer than any.
    #[error("the upload has {bytes} bytes; at most {MAX_UPLOAD_BYTES} are allowed; split it")]
    TooLong {
        /// Its bytes.
        bytes: u64,
    },
    /// It never came, or is gone: one that is not completed is deleted after three days.
    #[error("the upload has no object; create a new upload and send the body again")]
    Absent,
    /// Another object than the one that was announced.
    #[error("the length or SHA-256 of the object differs from the announced one")]
    Other,
    /// Too long ago.
    #[error("the upload is more than 24 hours old; create a new one and send the body again")]
    TooOld,
    /// An object that is no body of an entry.
    #[error("the object cannot become an entry: {0}")]
    Unreadable(String),
}

/// The media type that an upload must have: one that no browser shows.
const CONTENT_TYPE: &str = "application/octet-stream";

/// The key of an upload.
fn key(log: LogId, upload: Uuid) -> Result<BlobKey, LogError> {
    let key = BlobKey::new(format!("{}{log}/{upload}", cellar_base::schema::UPLOADS_PREFIX));
    key.map_err(|error| LogError::Store(PortError::permanent(error.to_string())))
}

impl Logs {
    /// Grants one upload of one object to a log that exists.
    ///
    /// # Errors
    /// [`LogError::Upload`] if it is too long, [`LogError::NotFound`], [`LogError::Store`].
    pub async fn grant_upload(
        &self,
        log: LogId,
        upload: Uuid,
        bytes: u64,
        sha256: [u8; 32],
    ) -> Result<PresignedRequest, LogError> {
        if bytes > u64::try_from(MAX_UPLOAD_BYTES).unwrap_or(u64::MAX) {
            return Err(LogError::Upload(UploadFault::TooLong { bytes }));
        }
        self.head(log, None).await?;
        let key = key(log, upload)?;
        let grant = UploadGrant {
            key,
            length: bytes,
            sha256,
            content_type: Some(CONTENT_TYPE.to_owned()),
            content_encoding: None,
            valid_s: MAX_PRESIGNED_S,
        };
        let now_s = self.clock.now_ms() / 1_000;
        self.blobs.presign_put(&grant, now_s).await.map_err(LogError::Store)
    }

    /// Makes an uploaded object an entry: once, however often it is repeated.
    ///
    /// The object is read and checked first: an entry whose body nobody can read would stop every
    /// reader. The `pending` tag goes last; if that fails, the relay does it.
    ///
    /// # Errors
    /// [`LogError::Upload`] with what is wrong with it; otherwise as [`Logs::append`].
    pub async fn complete_upload(
        &self,
        log: LogId,
        completion: Completion,
    ) -> Result<Appended, LogError> {
        let key = key(log, completion.upload)?;
        let operations = self.check_upload(&key, &completion).await?;
        let upload = Upload {
            object: key.as_str().to_owned(),
            bytes: completion.bytes,
            sha256: completion.sha256,
            operations,
            base: completion.base,
        };
        let Completion { client, author, incarnation, acknowledged, first_id, .. } = completion;
        let request =
            Request::upload(log, client, author, incarnation, acknowledged, first_id, upload)
                .map_err(|error| LogError::Upload(UploadFault::Unreadable(error.to_string())))?;
        let appended = self.append(request).await?;
        if self.refers(log, &appended, &key).await? {
            self.keep(&key).await;
        }
        Ok(appended)
    }

    /// Reads the object and returns the operations of its mutations.
    async fn check_upload(
        &self,
        key: &BlobKey,
        told: &Completion,
    ) -> Result<Arc<[Operation]>, LogError> {
        let fault = |fault| Err(LogError::Upload(fault));
        let max_bytes = u64::try_from(MAX_UPLOAD_BYTES).unwrap_or(u64::MAX);
        let (head, bytes) = match self.retry_read(|| self.blobs.get(key, max_bytes)).await? {
            Got::Found { head, bytes } => (head, bytes),
            Got::Absent => return fault(UploadFault::Absent),
            Got::TooLong { length } => return fault(UploadFault::TooLong { bytes: length }),
        };
        if u64::try_from(bytes.len()) != Ok(told.bytes) || sha256(&bytes) != told.sha256 {
            return fault(UploadFault::Other);
        }
        let now_s = self.clock.now_ms() / 1_000;
        let too_old = now_s > head.modified_s.saturating_add(MAX_UPLOAD_AGE_S);
        // One that was completed in time is only being repeated.
        if too_old && self.retry_read(|| self.blobs.pending(key)).await? != Some(false) {
            return fault(UploadFault::TooOld);
        }
        let unreadable = |why: String| LogError::Upload(UploadFault::Unreadable(why));
        let operations =
            decode_external_body(&bytes).map_err(|error| unreadable(error.to_string()))?;
        for operation in &operations {
            operation.clone().validated().map_err(|error| unreadable(error.to_string()))?;
        }
        Ok(operations.into())
    }

    /// Whether the entry that holds the mutations is this very upload: they may have come another
    /// way, or have been rejected.
    async fn refers(
        &self,
        log: LogId,
        appended: &Appended,
        key: &BlobKey,
    ) -> Result<bool, LogError> {
        let position = match appended.results.first() {
            Some(MutationResult { rejection: None, position: Some(position), .. }) => *position,
            _ => return Ok(false),
        };
        let known = self.tails.entries_from(self.clock.now_ms(), log, position);
        let entry = match known.into_iter().next() {
            Some(entry) => Some(entry),
            None => self.retry_read(|| self.get(log, position)).await?,
        };
        Ok(entry.is_some_and(|entry| match &entry.content {
            Content::External(external) => external.object == key.as_str(),
            _ => false,
        }))
    }

    async fn keep(&self, key: &BlobKey) {
        match self.retry_read(|| self.blobs.keep(key)).await {
            Ok(Kept::Kept) => {}
            Ok(Kept::Absent) => tracing::error!(%key, "a completed upload is gone"),
            Err(error) => tracing::warn!(%key, %error, "the relay has to remove the pending tag"),
        }
    }
}
