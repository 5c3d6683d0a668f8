//! Large entries, whose operations are uploaded as a separate object. Grants uploads and appends
//! entries that reference the uploaded objects.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_PRESIGNED_S, MAX_UPLOAD_AGE_S, MAX_UPLOAD_BYTES};
use cellar_base::position::Position;
use cellar_base::table_attributes::UPLOADS_PREFIX;
use cellar_log::append::{Appended, MutationResult, Request, Upload};
use cellar_log::entry::{Content, decode_external_body};
use cellar_sheet::operation::Operation;
use uuid::Uuid;

use super::{LogError, Logs, blob_key};
use crate::ports::{BlobHead, BlobKey, GetOutcome, KeepOutcome, PresignedRequest, UploadGrant};
use crate::sha256::sha256;

/// Request to append an uploaded object as an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub upload: Uuid,
    /// Object length in bytes.
    pub bytes: u64,
    pub sha256: [u8; 32],
    /// Client that created the mutations.
    pub client: ClientKey,
    /// Author of the entry.
    pub author: Option<String>,
    /// Incarnation of the base.
    pub incarnation: u32,
    /// Id of the latest mutation that the client knows to be in the log.
    pub acknowledged: u64,
    /// Id of the first mutation.
    pub first_id: u64,
    /// Position on which the mutations are based.
    pub base: Position,
}

/// Reason why an uploaded object cannot be appended as an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadFault {
    /// The upload exceeds the maximum length.
    #[error(
        "the upload is {bytes} bytes long, but the maximum is {MAX_UPLOAD_BYTES} bytes; split it"
    )]
    TooLong {
        /// Length in bytes.
        bytes: u64,
    },
    /// The object was never uploaded or has expired. Uploads expire after three days unless they
    /// are completed.
    #[error("the upload has no object; create a new upload and send the body again")]
    Absent,
    /// The length or checksum of the object differs from the declared one.
    #[error("the length or SHA-256 checksum of the object differs from the declared one")]
    Mismatch,
    /// The upload is too old.
    #[error("the upload is more than 24 hours old; create a new one and send the body again")]
    TooOld,
    /// The object is not a valid external body.
    #[error("the object cannot become an entry: {0}")]
    Unreadable(String),
}

/// Prevents browsers from rendering the content.
const CONTENT_TYPE: &str = "application/octet-stream";

fn upload_key(log_id: LogId, upload_id: Uuid) -> Result<BlobKey, LogError> {
    blob_key(format!("{UPLOADS_PREFIX}{log_id}/{upload_id}"))
}

fn decode_valid_operations(body: &[u8]) -> Result<Vec<Operation>, UploadFault> {
    let operations =
        decode_external_body(body).map_err(|error| UploadFault::Unreadable(error.to_string()))?;
    for operation in &operations {
        let validation = operation.clone().validated();
        validation.map_err(|error| UploadFault::Unreadable(error.to_string()))?;
    }
    Ok(operations)
}

impl Logs {
    /// Returns a presigned request with which a client uploads one object to an existing log.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Upload`] if the object is too long, [`LogError::NotFound`] if the log
    /// does not exist, or [`LogError::Store`] if the store fails.
    pub async fn grant_upload(
        &self,
        log_id: LogId,
        upload_id: Uuid,
        bytes: u64,
        sha256: [u8; 32],
    ) -> Result<PresignedRequest, LogError> {
        if bytes > u64::try_from(MAX_UPLOAD_BYTES).unwrap_or(u64::MAX) {
            return Err(LogError::Upload(UploadFault::TooLong { bytes }));
        }
        self.check_exists(log_id).await?;
        let grant = UploadGrant {
            key: upload_key(log_id, upload_id)?,
            length: bytes,
            sha256,
            content_type: Some(CONTENT_TYPE.to_owned()),
            content_encoding: None,
            valid_s: MAX_PRESIGNED_S,
        };
        let now_s = self.clock.now_ms() / 1_000;
        self.blobs.presign_put(&grant, now_s).await.map_err(LogError::Store)
    }

    /// Appends an entry whose operations are in an uploaded object. The entry is appended exactly
    /// once, even if the request is retried.
    ///
    /// The object is verified before the append, since an entry with unreadable operations would
    /// make the log unreadable. After the append, the object's `pending` tag is removed. If this
    /// fails, the relay removes the tag later.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Upload`] if the object cannot become an entry, or another [`LogError`]
    /// if the append fails.
    pub async fn complete_upload(
        &self,
        log_id: LogId,
        completion: Completion,
    ) -> Result<Appended, LogError> {
        let key = upload_key(log_id, completion.upload)?;
        let operations = self.read_verified_upload(&key, &completion).await?;
        let upload = Upload {
            object: key.as_str().to_owned(),
            bytes: completion.bytes,
            sha256: completion.sha256,
            operations,
            base: completion.base,
        };
        let Completion { client, author, incarnation, acknowledged, first_id, .. } = completion;
        let request =
            Request::of_upload(log_id, client, author, incarnation, acknowledged, first_id, upload)
                .map_err(|error| LogError::Upload(UploadFault::Unreadable(error.to_string())))?;
        let appended = self.append(request).await?;
        if self.entry_references(log_id, &appended, &key).await? {
            self.remove_pending_tag(&key).await;
        }
        Ok(appended)
    }

    async fn read_verified_upload(
        &self,
        key: &BlobKey,
        declared: &Completion,
    ) -> Result<Arc<[Operation]>, LogError> {
        let max_bytes = u64::try_from(MAX_UPLOAD_BYTES).unwrap_or(u64::MAX);
        let (head, body) = match self.retry_read(|| self.blobs.get(key, max_bytes)).await? {
            GetOutcome::Found { head, bytes } => (head, bytes),
            GetOutcome::Absent => return Err(UploadFault::Absent.into()),
            GetOutcome::TooLong { length } => {
                return Err(UploadFault::TooLong { bytes: length }.into());
            }
        };
        let has_declared_length = u64::try_from(body.len()) == Ok(declared.bytes);
        if !has_declared_length || sha256(&body) != declared.sha256 {
            return Err(UploadFault::Mismatch.into());
        }
        self.check_upload_age(key, &head).await?;
        Ok(decode_valid_operations(&body)?.into())
    }

    async fn check_upload_age(&self, key: &BlobKey, head: &BlobHead) -> Result<(), LogError> {
        let now_s = self.clock.now_ms() / 1_000;
        if now_s <= head.modified_s.saturating_add(MAX_UPLOAD_AGE_S) {
            return Ok(());
        }
        // If an old upload has no `pending` tag, an earlier request completed it in time. This
        // request is a retry, so it is accepted.
        let is_pending = self.retry_read(|| self.blobs.pending(key)).await?;
        if is_pending != Some(false) {
            return Err(UploadFault::TooOld.into());
        }
        Ok(())
    }

    /// Returns `false` if the mutations were rejected, or if another request appended them.
    async fn entry_references(
        &self,
        log_id: LogId,
        appended: &Appended,
        key: &BlobKey,
    ) -> Result<bool, LogError> {
        let Some(MutationResult { rejection: None, position: Some(position), .. }) =
            appended.results.first()
        else {
            return Ok(false);
        };
        let cached_entries = self.tails.entries_from(self.clock.now_ms(), log_id, *position);
        let entry = match cached_entries.into_iter().next() {
            Some(cached_entry) => Some(cached_entry),
            None => self.retry_read(|| self.get_entry(log_id, *position)).await?,
        };
        let references_upload = entry.is_some_and(|entry| match &entry.content {
            Content::External(external) => external.object == key.as_str(),
            _ => false,
        });
        Ok(references_upload)
    }

    /// A failure is only logged, since the relay removes the tag later.
    async fn remove_pending_tag(&self, key: &BlobKey) {
        match self.retry_read(|| self.blobs.keep(key)).await {
            Ok(KeepOutcome::Kept) => {}
            Ok(KeepOutcome::Absent) => {
                tracing::error!(%key, "the object of a completed upload is missing");
            }
            Err(error) => {
                tracing::warn!(%key, %error, "cannot remove the pending tag; the relay will remove it");
            }
        }
    }
}
