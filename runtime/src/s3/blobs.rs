//! Implements the [`Blobs`] port with S3.

use async_trait::async_trait;
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::operation::put_object::builders::PutObjectFluentBuilder;
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use aws_sdk_s3::types::{ChecksumMode, Object};
use cellar_base::limits::{MAX_BLOB_BYTES, MAX_LISTED_BLOBS};
use cellar_engine::meter::ObjectRequest;
use cellar_engine::ports::{
    BlobHead, BlobKey, BlobPage, Blobs, GetOutcome, KeepOutcome, ListedBlob, NewBlob, PortError,
    PresignedRequest, STATE_PENDING, STATE_TAG, UploadGrant,
};

use super::S3Blobs;
use super::head::{Fields, encode_sha256, is_absent, unix_seconds};
use crate::outcome::port_error;

impl S3Blobs {
    fn put_request(&self, blob: NewBlob) -> PutObjectFluentBuilder {
        let tag = blob.pending.then(|| format!("{STATE_TAG}={STATE_PENDING}"));
        self.client
            .put_object()
            .bucket(&self.bucket)
            .key(blob.key.as_str())
            .checksum_sha256(encode_sha256(&blob.sha256))
            .set_content_type(blob.content_type)
            .set_content_encoding(blob.content_encoding)
            .set_tagging(tag)
            .body(ByteStream::new(SdkBody::from(blob.bytes)))
    }

    /// Reads the body of a GET response, limited to `max_bytes`. Errors if the body is longer.
    async fn read_body(
        &self,
        reply: GetObjectOutput,
        max_bytes: u64,
    ) -> Result<GetOutcome, PortError> {
        let head = Fields {
            length: reply.content_length(),
            sha256: reply.checksum_sha256(),
            modified: reply.last_modified(),
            content_type: reply.content_type(),
            content_encoding: reply.content_encoding(),
        };
        let head = head.read()?;
        if head.length > max_bytes {
            return Ok(GetOutcome::TooLong { length: head.length });
        }
        // The connection broke, or the checksum does not match.
        let incomplete =
            |error| PortError::temporary(format!("cannot read the body of an object: {error}"));
        let bytes = reply.body.collect().await.map_err(incomplete)?.into_bytes();
        self.meter.add_object_bytes_received(bytes.len() as u64);
        Ok(GetOutcome::Found { head, bytes })
    }
}

fn to_listed_blob(object: &Object) -> Option<ListedBlob> {
    Some(ListedBlob {
        key: object.key()?.to_owned(),
        length: u64::try_from(object.size()?).ok()?,
        modified_s: unix_seconds(object.last_modified()?)?,
    })
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        let length = blob.bytes.len() as u64;
        if length > MAX_BLOB_BYTES {
            let message =
                format!("an object has {length} bytes; at most {MAX_BLOB_BYTES} are allowed");
            return Err(PortError::permanent(message));
        }
        self.meter.count_object(ObjectRequest::Put, length);
        let reply = self.put_request(blob).send().await;
        reply.map(drop).map_err(|error| port_error(&error))
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
        let head = Fields {
            length: reply.content_length(),
            sha256: reply.checksum_sha256(),
            modified: reply.last_modified(),
            content_type: reply.content_type(),
            content_encoding: reply.content_encoding(),
        };
        head.read().map(Some)
    }

    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        self.meter.count_object(ObjectRequest::Get, 0);
        let tags = self.client.get_object_tagging().bucket(&self.bucket).key(key.as_str());
        match tags.send().await {
            Ok(reply) => {
                let mut tags = reply.tag_set().iter();
                Ok(Some(tags.any(|tag| (tag.key(), tag.value()) == (STATE_TAG, STATE_PENDING))))
            }
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError> {
        self.meter.count_object(ObjectRequest::Tag, 0);
        // Delete all tags; Cellar's objects have no others.
        let tags = self.client.delete_object_tagging().bucket(&self.bucket).key(key.as_str());
        match tags.send().await {
            Ok(_) => Ok(KeepOutcome::Kept),
            Err(error) if is_absent(&error) => Ok(KeepOutcome::Absent),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        self.meter.count_object(ObjectRequest::Delete, 0);
        let object = self.client.delete_object().bucket(&self.bucket).key(key.as_str());
        match object.send().await {
            Err(error) if !is_absent(&error) => Err(port_error(&error)),
            _ => Ok(()),
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
        let blobs: Option<Vec<ListedBlob>> = reply.contents().iter().map(to_listed_blob).collect();
        let blobs = blobs.ok_or_else(|| {
            PortError::permanent("S3 listed an object without key, size or modification time")
        })?;
        let is_truncated = reply.is_truncated() == Some(true);
        let next = if is_truncated { blobs.last().map(|last| last.key.clone()) } else { None };
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
