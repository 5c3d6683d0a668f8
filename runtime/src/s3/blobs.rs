//! Implements the [`Blobs`] port with S3.

use async_trait::async_trait;
use aws_sdk_s3::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::operation::put_object::{PutObjectError, PutObjectOutput};
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use aws_sdk_s3::types::{ChecksumMode, Object};
use cellar_base::limits::{MAX_BLOB_BYTES, MAX_LISTED_BLOBS};
use cellar_engine::meter::ObjectRequest;
use cellar_engine::ports::{
    BlobHead, BlobKey, BlobPage, Blobs, GetOutcome, KeepOutcome, ListedBlob, NewBlob, PortError,
    PresignedRequest, PutNewOutcome, STATE_PENDING, STATE_TAG, UploadGrant,
};

use super::head::{ObjectMetadata, encode_sha256, has_no_tags, is_absent, unix_seconds};
use super::{ANY_ETAG, S3Blobs};
use crate::outcome::port_error;

/// Error code for a condition that is not met.
const PRECONDITION_FAILED: &str = "PreconditionFailed";

impl S3Blobs {
    /// Sends the object, on the condition `if_none_match`, if there is one.
    async fn send_put(
        &self,
        blob: NewBlob,
        if_none_match: Option<String>,
    ) -> Result<PutObjectOutput, SdkError<PutObjectError>> {
        let pending_tag =
            if blob.pending { Some(format!("{STATE_TAG}={STATE_PENDING}")) } else { None };
        self.client
            .put_object()
            .bucket(&self.bucket)
            .key(blob.key.as_str())
            .checksum_sha256(encode_sha256(&blob.sha256))
            .set_content_type(blob.content_type)
            .set_content_encoding(blob.content_encoding)
            .set_tagging(pending_tag)
            .set_if_none_match(if_none_match)
            .body(ByteStream::new(SdkBody::from(blob.bytes)))
            .customize()
            // The signed headers contain the checksum, so that the payload need not be hashed again.
            .disable_payload_signing()
            .send()
            .await
    }

    fn check_and_count(&self, blob: &NewBlob) -> Result<(), PortError> {
        let byte_length = blob.bytes.len() as u64;
        if byte_length > MAX_BLOB_BYTES {
            let message =
                format!("an object has {byte_length} bytes; at most {MAX_BLOB_BYTES} are allowed");
            return Err(PortError::permanent(message));
        }
        self.meter.count_object(ObjectRequest::Put, byte_length);
        Ok(())
    }

    async fn read_body(
        &self,
        reply: GetObjectOutput,
        max_bytes: u64,
    ) -> Result<GetOutcome, PortError> {
        let metadata = ObjectMetadata {
            length: reply.content_length(),
            sha256: reply.checksum_sha256(),
            modified_at: reply.last_modified(),
            content_type: reply.content_type(),
            content_encoding: reply.content_encoding(),
        };
        let head = metadata.into_blob_head()?;
        if head.length > max_bytes {
            return Ok(GetOutcome::TooLong { length: head.length });
        }
        let body = match reply.body.collect().await {
            Ok(body) => body.into_bytes(),
            // The connection broke, or the checksum does not match; a retry may succeed.
            Err(error) => {
                let message = format!("cannot read the body of an object: {error}");
                return Err(PortError::temporary(message));
            }
        };
        self.meter.add_object_bytes_received(body.len() as u64);
        Ok(GetOutcome::Found { head, bytes: body })
    }
}

fn to_listed_blob(object: &Object) -> Result<ListedBlob, PortError> {
    let length = object.size().and_then(|size| u64::try_from(size).ok());
    let modified_s = object.last_modified().and_then(unix_seconds);
    match (object.key(), length, modified_s) {
        (Some(key), Some(length), Some(modified_s)) => {
            Ok(ListedBlob { key: key.to_owned(), length, modified_s })
        }
        _ => {
            Err(PortError::permanent("S3 listed an object without key, size or modification time"))
        }
    }
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        self.check_and_count(&blob)?;
        self.send_put(blob, None).await.map_err(|error| port_error(&error))?;
        Ok(())
    }

    async fn put_new(&self, blob: NewBlob) -> Result<PutNewOutcome, PortError> {
        self.check_and_count(&blob)?;
        match self.send_put(blob, Some(ANY_ETAG.to_owned())).await {
            Ok(_) => Ok(PutNewOutcome::Stored),
            Err(error) if error.code() == Some(PRECONDITION_FAILED) => {
                Ok(PutNewOutcome::AlreadyExists)
            }
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError> {
        self.meter.count_object(ObjectRequest::Get, 0);
        let reply = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key.as_str())
            .checksum_mode(ChecksumMode::Enabled)
            .send()
            .await;
        match reply {
            Ok(reply) => self.read_body(reply, max_bytes).await,
            Err(error) if is_absent(&error) => Ok(GetOutcome::Absent),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError> {
        self.meter.count_object(ObjectRequest::Get, 0);
        let reply = self
            .client
            .head_object()
            .bucket(&self.bucket)
            .key(key.as_str())
            .checksum_mode(ChecksumMode::Enabled)
            .send()
            .await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(port_error(&error)),
        };
        let metadata = ObjectMetadata {
            length: reply.content_length(),
            sha256: reply.checksum_sha256(),
            modified_at: reply.last_modified(),
            content_type: reply.content_type(),
            content_encoding: reply.content_encoding(),
        };
        Ok(Some(metadata.into_blob_head()?))
    }

    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        self.meter.count_object(ObjectRequest::Get, 0);
        let get_tags = self.client.get_object_tagging().bucket(&self.bucket).key(key.as_str());
        match get_tags.send().await {
            Ok(reply) => {
                let is_pending = reply
                    .tag_set()
                    .iter()
                    .any(|tag| tag.key() == STATE_TAG && tag.value() == STATE_PENDING);
                Ok(Some(is_pending))
            }
            Err(error) if has_no_tags(&error) => Ok(None),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError> {
        self.meter.count_object(ObjectRequest::Tag, 0);
        // Deleting all tags removes only the pending tag, because Cellar's objects have no other
        // tags.
        let delete_tags =
            self.client.delete_object_tagging().bucket(&self.bucket).key(key.as_str());
        match delete_tags.send().await {
            Ok(_) => Ok(KeepOutcome::Kept),
            Err(error) if has_no_tags(&error) => Ok(KeepOutcome::Absent),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        self.meter.count_object(ObjectRequest::Delete, 0);
        let delete = self.client.delete_object().bucket(&self.bucket).key(key.as_str());
        match delete.send().await {
            Ok(_) => Ok(()),
            Err(error) if is_absent(&error) => Ok(()),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError> {
        self.meter.count_object(ObjectRequest::Put, 0);
        let reply = self
            .client
            .list_objects_v2()
            .bucket(&self.bucket)
            .prefix(prefix)
            .set_start_after(after.map(str::to_owned))
            .max_keys(limit.clamp(1, MAX_LISTED_BLOBS).into())
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let mut blobs = Vec::new();
        for object in reply.contents() {
            blobs.push(to_listed_blob(object)?);
        }
        let has_next_page = reply.is_truncated() == Some(true);
        let next = if has_next_page { blobs.last().map(|blob| blob.key.clone()) } else { None };
        Ok(BlobPage { blobs, next })
    }

    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.sign_upload(grant, now_s).await
    }

    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.sign_download(key, valid_s, now_s).await
    }
}
