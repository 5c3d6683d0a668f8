//! The requests of S3 that Cellar and its clients use, over files. Others are answered "not
//! implemented", in S3's own words.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use cellar_base::limits::MAX_BLOB_KEY_BYTES;
use s3s::auth::Credentials;
use s3s::dto::{
    ChecksumMode, DeleteObjectInput, DeleteObjectOutput, DeleteObjectTaggingInput,
    DeleteObjectTaggingOutput, ETag, ETagCondition, GetObjectInput, GetObjectOutput,
    GetObjectTaggingInput, GetObjectTaggingOutput, HeadBucketInput, HeadBucketOutput,
    HeadObjectInput, HeadObjectOutput, ListObjectVersionsInput, ListObjectVersionsOutput,
    ListObjectsV2Input, ListObjectsV2Output, PutObjectInput, PutObjectOutput,
    PutObjectTaggingInput, PutObjectTaggingOutput, StreamingBlob, Timestamp,
};
use s3s::{S3, S3Error, S3Request, S3Response, S3Result, s3_error};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use super::access;
use super::record::{Headers, Record};
use super::store::{Bucket, Stored};
use super::upload::Upload;
use super::{list, now_s, tags, versions};
use crate::roles::{Roles, objects};

/// Bytes of an object that are read at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// What S3 calls the version of an object that was written without versions.
const NO_VERSION: &str = "null";

/// The object of a request, and who asks for it.
struct Object<'a> {
    bucket: &'a str,
    key: &'a str,
    asked_by: Option<&'a Credentials>,
}

/// Answers requests to these buckets.
pub(super) struct Requests {
    buckets: BTreeMap<String, Arc<Bucket>>,
    roles: Arc<Roles>,
}

impl Requests {
    pub(super) fn new(buckets: BTreeMap<String, Arc<Bucket>>, roles: Arc<Roles>) -> Self {
        Self { buckets, roles }
    }

    fn bucket(&self, name: &str) -> S3Result<&Arc<Bucket>> {
        self.buckets.get(name).ok_or_else(|| s3_error!(NoSuchBucket))
    }

    fn record(&self, object: &Object<'_>, version: Option<&str>) -> S3Result<Arc<Record>> {
        no_version(version)?;
        let found = self.bucket(object.bucket)?.record(object.key);
        found.ok_or_else(|| self.missing(object))
    }

    /// Only who could list an object is told that there is none.
    fn missing(&self, object: &Object<'_>) -> S3Error {
        let ask = objects::to_know_it_is_missing(object.bucket, object.key);
        let told = access::check(&self.roles, object.asked_by, &ask);
        told.err().unwrap_or_else(|| s3_error!(NoSuchKey))
    }

    async fn set_tags(&self, object: &Object<'_>, tags: BTreeMap<String, String>) -> S3Result<()> {
        let (bucket, key) = (Arc::clone(self.bucket(object.bucket)?), object.key.to_owned());
        let found = blocking(move || bucket.set_tags(&key, tags)).await?;
        if found { Ok(()) } else { Err(self.missing(object)) }
    }
}

/// Runs what waits for the disk.
pub(super) async fn blocking<T, F>(work: F) -> S3Result<T>
where
    F: FnOnce() -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    tokio::task::spawn_blocking(work).await.map_err(S3Error::internal_error)?.map_err(failed)
}

/// A disk that cannot be read or written.
pub(super) fn failed(error: io::Error) -> S3Error {
    tracing::error!(%error, "the local S3 cannot use its files");
    S3Error::internal_error(error)
}

/// An object's length, for S3's signed numbers.
pub(super) fn length(record: &Record) -> i64 {
    i64::try_from(record.length).unwrap_or(i64::MAX)
}

/// When an object was written.
pub(super) fn time(record: &Record) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_secs(record.modified_s))
}

fn no_version(version: Option<&str>) -> S3Result<()> {
    match version {
        None | Some(NO_VERSION) => Ok(()),
        Some(_) => Err(s3_error!(NotImplemented, "Only the newest version is kept here")),
    }
}

fn no_condition(conditions: [bool; 2]) -> S3Result<()> {
    if conditions.contains(&true) {
        return Err(s3_error!(NotImplemented, "This condition is not implemented here"));
    }
    Ok(())
}

/// The whole object's checksum, if it is asked for.
fn checksum(record: &Record, mode: Option<&ChecksumMode>) -> Option<String> {
    let asked = mode.is_some_and(|mode| mode.as_str() == ChecksumMode::ENABLED);
    record.sha256.clone().filter(|_| asked)
}

fn metadata(record: &Record) -> Option<s3s::dto::Metadata> {
    let metadata = &record.headers.metadata;
    (!metadata.is_empty()).then(|| metadata.clone().into_iter().collect())
}

fn new_record(input: PutObjectInput, upload: Upload) -> S3Result<Record> {
    Ok(Record {
        key: input.key,
        length: upload.length,
        modified_s: now_s(),
        etag: upload.etag(),
        sha256: input.checksum_sha256,
        tags: tags::from_header(input.tagging.as_deref())?,
        headers: Headers {
            content_type: input.content_type,
            content_encoding: input.content_encoding,
            content_disposition: input.content_disposition,
            content_language: input.content_language,
            cache_control: input.cache_control,
            metadata: input.metadata.unwrap_or_default().into_iter().collect(),
        },
        data: upload.take(),
    })
}

#[async_trait::async_trait]
impl S3 for Requests {
    async fn head_bucket(
        &self,
        request: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let mut input = request.input;
        let bucket = Arc::clone(self.bucket(&input.bucket)?);
        if input.key.len() > MAX_BLOB_KEY_BYTES {
            return Err(s3_error!(KeyTooLongError));
        }
        let only_new = match &input.if_none_match {
            None => false,
            Some(ETagCondition::Any) => true,
            Some(_) => return Err(s3_error!(NotImplemented, "Only `*` is a condition here")),
        };
        no_condition([input.if_match.is_some(), input.write_offset_bytes.is_some()])?;
        // The body is read to its end even if the answer is no: it would break the connection.
        let trailers = request.trailing_headers.as_ref();
        let upload = Upload::receive(&bucket, &mut input, trailers).await?;
        let record = new_record(input, upload)?;
        let (etag, sha256) = (record.etag.clone(), record.sha256.clone());
        let stored = blocking(move || {
            let data = record.data.clone();
            let stored = bucket.store(record, only_new);
            if matches!(stored, Ok(Stored::Exists)) {
                bucket.drop_data(&data);
            }
            stored
        });
        match stored.await? {
            Stored::Exists => Err(s3_error!(
                PreconditionFailed,
                "At least one of the pre-conditions you specified did not hold"
            )),
            Stored::Stored => Ok(S3Response::new(PutObjectOutput {
                e_tag: Some(ETag::Strong(etag)),
                checksum_sha256: sha256,
                ..PutObjectOutput::default()
            })),
        }
    }

    async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = request.input;
        no_version(input.version_id.as_deref())?;
        no_condition([input.if_match.is_some(), input.if_unmodified_since.is_some()])?;
        let bucket = Arc::clone(self.bucket(&input.bucket)?);
        let key = input.key.clone();
        let found = blocking(move || bucket.read(&key)).await?;
        let asked_by = request.credentials.as_ref();
        let object = Object { bucket: &input.bucket, key: &input.key, asked_by };
        let (record, file) = found.ok_or_else(|| self.missing(&object))?;
        let mut file = tokio::fs::File::from_std(file);
        let range = match input.range {
            None => None,
            Some(range) => {
                Some(range.check(record.length).map_err(|error| s3_error!(error, InvalidRange))?)
            }
        };
        let read = range.clone().unwrap_or(0..record.length);
        file.seek(io::SeekFrom::Start(read.start)).await.map_err(failed)?;
        let read_bytes = read.end.saturating_sub(read.start);
        let stream = ReaderStream::with_capacity(file.take(read_bytes), CHUNK_BYTES);
        let whole = input.checksum_mode.as_ref().filter(|_| range.is_none());
        let content_range = range.map(|range| {
            format!("bytes {}-{}/{}", range.start, range.end.saturating_sub(1), record.length)
        });
        let headers = &record.headers;
        Ok(S3Response::new(GetObjectOutput {
            body: Some(StreamingBlob::wrap(stream)),
            accept_ranges: Some("bytes".to_owned()),
            content_length: i64::try_from(read_bytes).ok(),
            content_range,
            e_tag: Some(ETag::Strong(record.etag.clone())),
            last_modified: Some(time(&record)),
            checksum_sha256: checksum(&record, whole),
            content_type: headers.content_type.clone(),
            content_encoding: headers.content_encoding.clone(),
            content_disposition: headers.content_disposition.clone(),
            content_language: headers.content_language.clone(),
            cache_control: headers.cache_control.clone(),
            metadata: metadata(&record),
            tag_count: i32::try_from(record.tags.len()).ok().filter(|count| *count > 0),
            ..GetObjectOutput::default()
        }))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = request.input;
        no_condition([input.if_match.is_some(), input.if_unmodified_since.is_some()])?;
        let asked_by = request.credentials.as_ref();
        let object = Object { bucket: &input.bucket, key: &input.key, asked_by };
        let record = self.record(&object, input.version_id.as_deref())?;
        let headers = &record.headers;
        Ok(S3Response::new(HeadObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            content_length: Some(length(&record)),
            e_tag: Some(ETag::Strong(record.etag.clone())),
            last_modified: Some(time(&record)),
            checksum_sha256: checksum(&record, input.checksum_mode.as_ref()),
            content_type: headers.content_type.clone(),
            content_encoding: headers.content_encoding.clone(),
            content_disposition: headers.content_disposition.clone(),
            content_language: headers.content_language.clone(),
            cache_control: headers.cache_control.clone(),
            metadata: metadata(&record),
            ..HeadObjectOutput::default()
        }))
    }

    async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let input = request.input;
        let bucket = Arc::clone(self.bucket(&input.bucket)?);
        let named = input.version_id.filter(|version| version != NO_VERSION);
        let is_named = move |record: &Record| {
            named.as_ref().is_none_or(|named| *named == versions::version(record))
        };
        blocking(move || bucket.delete(&input.key, is_named)).await?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    async fn list_object_versions(
        &self,
        request: S3Request<ListObjectVersionsInput>,
    ) -> S3Result<S3Response<ListObjectVersionsOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(versions::page(bucket, request.input)?))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let bucket = self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(list::page(bucket, request.input)))
    }

    async fn get_object_tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<S3Response<GetObjectTaggingOutput>> {
        let input = request.input;
        let asked_by = request.credentials.as_ref();
        let object = Object { bucket: &input.bucket, key: &input.key, asked_by };
        let record = self.record(&object, input.version_id.as_deref())?;
        let tag_set = tags::to_xml(&record.tags);
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set, ..Default::default() }))
    }

    async fn put_object_tagging(
        &self,
        request: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<S3Response<PutObjectTaggingOutput>> {
        let input = request.input;
        no_version(input.version_id.as_deref())?;
        let tags = tags::from_xml(input.tagging.tag_set)?;
        let asked_by = request.credentials.as_ref();
        let object = Object { bucket: &input.bucket, key: &input.key, asked_by };
        self.set_tags(&object, tags).await?;
        Ok(S3Response::new(PutObjectTaggingOutput::default()))
    }

    async fn delete_object_tagging(
        &self,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> S3Result<S3Response<DeleteObjectTaggingOutput>> {
        let input = request.input;
        no_version(input.version_id.as_deref())?;
        let asked_by = request.credentials.as_ref();
        let object = Object { bucket: &input.bucket, key: &input.key, asked_by };
        self.set_tags(&object, BTreeMap::new()).await?;
        Ok(S3Response::new(DeleteObjectTaggingOutput::default()))
    }
}
