//! Implements the S3 operations that Cellar and its clients use. All other operations return the S3
//! error `NotImplemented`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use cellar_base::limits::MAX_BLOB_KEY_BYTES;
use hyper::{HeaderMap, header};
use s3s::auth::Credentials;
use s3s::dto::{
    ChecksumMode, DeleteObjectInput, DeleteObjectOutput, DeleteObjectTaggingInput,
    DeleteObjectTaggingOutput, ETag, ETagCondition, GetObjectInput, GetObjectOutput,
    GetObjectTaggingInput, GetObjectTaggingOutput, HeadBucketInput, HeadBucketOutput,
    HeadObjectInput, HeadObjectOutput, ListObjectVersionsInput, ListObjectVersionsOutput,
    ListObjectsV2Input, ListObjectsV2Output, PutObjectInput, PutObjectOutput,
    PutObjectTaggingInput, PutObjectTaggingOutput, Range as RequestedRange, StreamingBlob,
};
use s3s::{Body, S3, S3Error, S3ErrorCode, S3Request, S3Response, S3Result, s3_error};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use super::access;
use super::blocking::{run_blocking, to_s3_error};
use super::record::{Headers, Record};
use super::store::{Bucket, Deletion, StoreOutcome, WriteMode};
use super::upload::Upload;
use super::{list, tags, versions};
use crate::roles::{Roles, objects};

const CHUNK_BYTES: usize = 64 * 1024;
/// Maximum length of a part of an object that is read at once.
const MAX_READ_BYTES: u64 = 1024 * 1024;
/// Version id that S3 uses in unversioned buckets.
const NO_VERSION: &str = "null";

struct RequestedObject<'a> {
    bucket: &'a str,
    key: &'a str,
    signer: Option<&'a Credentials>,
}

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

    fn record(
        &self,
        object: &RequestedObject<'_>,
        version_id: Option<&str>,
    ) -> S3Result<Arc<Record>> {
        check_version(version_id)?;
        match self.bucket(object.bucket)?.record(object.key) {
            Some(record) => Ok(record),
            None => Err(self.missing_error(object)),
        }
    }

    /// Returns the error for a missing object. A signer who is not allowed to list the object
    /// receives "access denied" instead of "not found", which would reveal that the object does not
    /// exist.
    fn missing_error(&self, object: &RequestedObject<'_>) -> S3Error {
        for list_request in objects::list_requests(object.bucket, object.key) {
            if let Err(denied) = access::check_permission(&self.roles, object.signer, &list_request)
            {
                return denied;
            }
        }
        s3_error!(NoSuchKey)
    }

    async fn set_tags(
        &self,
        object: &RequestedObject<'_>,
        tags: BTreeMap<String, String>,
    ) -> S3Result<()> {
        let bucket = Arc::clone(self.bucket(object.bucket)?);
        let key = object.key.to_owned();
        let object_exists = run_blocking(move || bucket.set_tags(&key, tags)).await?;
        if object_exists { Ok(()) } else { Err(self.missing_tags_error(object)) }
    }

    /// Returns the error for a tag request whose object is missing. In a versioned bucket, a deleted
    /// object leaves a delete marker, which has no tags and does not allow tag requests.
    fn missing_tags_error(&self, object: &RequestedObject<'_>) -> S3Error {
        let has_marker =
            self.bucket(object.bucket).is_ok_and(|bucket| bucket.has_delete_marker(object.key));
        match self.missing_error(object) {
            error if has_marker && *error.code() == S3ErrorCode::NoSuchKey => s3_error!(
                MethodNotAllowed,
                "The specified method is not allowed against this resource."
            ),
            error => error,
        }
    }
}

fn check_version(version_id: Option<&str>) -> S3Result<()> {
    match version_id {
        None | Some(NO_VERSION) => Ok(()),
        Some(_) => Err(s3_error!(NotImplemented, "Only the newest version is stored")),
    }
}

fn reject_condition<T>(condition: Option<&T>) -> S3Result<()> {
    if condition.is_some() {
        return Err(s3_error!(NotImplemented, "This condition is not supported"));
    }
    Ok(())
}

/// Rejects a read with the status 304 if the client has the object.
fn reject_unchanged(known: Option<&ETagCondition>, record: &Record) -> S3Result<()> {
    let etag = ETag::Strong(record.etag.clone());
    let is_unchanged = match known {
        None => false,
        Some(ETagCondition::Any) => true,
        Some(ETagCondition::ETag(known_etag)) => known_etag.weak_cmp(&etag),
    };
    if !is_unchanged {
        return Ok(());
    }
    let mut not_modified = s3_error!(NotModified);
    if let Ok(value) = etag.to_http_header() {
        not_modified.set_headers(HeaderMap::from_iter([(header::ETAG, value)]));
    }
    Err(not_modified)
}

/// Returns the stored checksum of the full object if the request asks for checksums, and `None`
/// otherwise.
fn requested_checksum(record: &Record, mode: Option<&ChecksumMode>) -> Option<String> {
    let is_requested = mode.is_some_and(|mode| mode.as_str() == ChecksumMode::ENABLED);
    if is_requested { record.sha256.clone() } else { None }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn metadata_headers(record: &Record) -> Option<s3s::dto::Metadata> {
    let headers = &record.headers.metadata;
    if headers.is_empty() { None } else { Some(headers.clone().into_iter().collect()) }
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
        data: upload.into_data_name(),
    })
}

fn content_range(byte_range: &Range<u64>, object_length: u64) -> String {
    let last_byte = byte_range.end.saturating_sub(1);
    format!("bytes {}-{last_byte}/{object_length}", byte_range.start)
}

/// An object whose contents can be read even if it is replaced or deleted.
struct OpenedObject {
    record: Arc<Record>,
    /// The requested part of the object.
    byte_range: S3Result<Range<u64>>,
    content: Content,
}

enum Content {
    /// The requested part.
    Bytes(Bytes),
    /// The whole object, because the requested part is longer than `MAX_READ_BYTES`.
    File(File),
}

impl OpenedObject {
    fn open(bucket: &Bucket, key: &str, range: Option<RequestedRange>) -> io::Result<Option<Self>> {
        let Some((record, mut file)) = bucket.open_object(key)? else { return Ok(None) };
        let byte_range = match range {
            None => Ok(0..record.length),
            Some(range) => {
                range.check(record.length).map_err(|error| s3_error!(error, InvalidRange))
            }
        };
        let length = byte_range.as_ref().map_or(0, |range| range.end.saturating_sub(range.start));
        let content = if length > MAX_READ_BYTES {
            Content::File(file)
        } else {
            let start = byte_range.as_ref().map_or(0, |range| range.start);
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
            file.take(length).read_to_end(&mut bytes)?;
            Content::Bytes(bytes.into())
        };
        Ok(Some(Self { record, byte_range, content }))
    }
}

async fn stream_range(data_file: File, start: u64, length: u64) -> S3Result<StreamingBlob> {
    let mut file = tokio::fs::File::from_std(data_file);
    file.seek(SeekFrom::Start(start)).await.map_err(to_s3_error)?;
    let stream = ReaderStream::with_capacity(file.take(length), CHUNK_BYTES);
    Ok(StreamingBlob::wrap(stream))
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
        let write_mode = match &input.if_none_match {
            None => WriteMode::CreateOrReplace,
            Some(ETagCondition::Any) => WriteMode::CreateOnly,
            Some(_) => return Err(s3_error!(NotImplemented, "If-None-Match supports only `*`")),
        };
        reject_condition(input.if_match.as_ref())?;
        reject_condition(input.write_offset_bytes.as_ref())?;
        // Read the whole body even if the request will fail, because responding before the body has
        // arrived would break the connection.
        let trailers = request.trailing_headers.as_ref();
        let upload = Upload::receive(&bucket, &mut input, trailers).await?;
        let record = new_record(input, upload)?;
        let etag = record.etag.clone();
        let sha256 = record.sha256.clone();
        match run_blocking(move || bucket.store(record, write_mode)).await? {
            StoreOutcome::Exists => Err(s3_error!(
                PreconditionFailed,
                "At least one of the pre-conditions you specified did not hold"
            )),
            StoreOutcome::Stored => Ok(S3Response::new(PutObjectOutput {
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
        check_version(input.version_id.as_deref())?;
        reject_condition(input.if_match.as_ref())?;
        reject_condition(input.if_unmodified_since.as_ref())?;
        let bucket = Arc::clone(self.bucket(&input.bucket)?);
        // An object that the client has need not be read.
        if let Some(record) = bucket.record(&input.key) {
            reject_unchanged(input.if_none_match.as_ref(), &record)?;
        }
        let key = input.key.clone();
        let range = input.range;
        let opened = run_blocking(move || OpenedObject::open(&bucket, &key, range)).await?;
        let Some(OpenedObject { record, byte_range, content }) = opened else {
            let signer = request.credentials.as_ref();
            let object = RequestedObject { bucket: &input.bucket, key: &input.key, signer };
            return Err(self.missing_error(&object));
        };
        let byte_range = byte_range?;
        let body_length = byte_range.end.saturating_sub(byte_range.start);
        let (content_range, checksum_sha256) = match range {
            None => (None, requested_checksum(&record, input.checksum_mode.as_ref())),
            // A checksum is returned only for the whole object, because the stored checksum does
            // not match a range of it.
            Some(_) => (Some(content_range(&byte_range, record.length)), None),
        };
        let body = match content {
            Content::Bytes(bytes) => StreamingBlob::from(Body::from(bytes)),
            Content::File(file) => stream_range(file, byte_range.start, body_length).await?,
        };
        let headers = &record.headers;
        Ok(S3Response::new(GetObjectOutput {
            body: Some(body),
            accept_ranges: Some("bytes".to_owned()),
            content_length: i64::try_from(body_length).ok(),
            content_range,
            e_tag: Some(ETag::Strong(record.etag.clone())),
            last_modified: Some(record.modified()),
            checksum_sha256,
            content_type: headers.content_type.clone(),
            content_encoding: headers.content_encoding.clone(),
            content_disposition: headers.content_disposition.clone(),
            content_language: headers.content_language.clone(),
            cache_control: headers.cache_control.clone(),
            metadata: metadata_headers(&record),
            tag_count: i32::try_from(record.tags.len()).ok().filter(|count| *count > 0),
            ..GetObjectOutput::default()
        }))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = request.input;
        reject_condition(input.if_match.as_ref())?;
        reject_condition(input.if_unmodified_since.as_ref())?;
        let signer = request.credentials.as_ref();
        let object = RequestedObject { bucket: &input.bucket, key: &input.key, signer };
        let record = self.record(&object, input.version_id.as_deref())?;
        reject_unchanged(input.if_none_match.as_ref(), &record)?;
        let headers = &record.headers;
        Ok(S3Response::new(HeadObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            content_length: Some(record.signed_length()),
            e_tag: Some(ETag::Strong(record.etag.clone())),
            last_modified: Some(record.modified()),
            checksum_sha256: requested_checksum(&record, input.checksum_mode.as_ref()),
            content_type: headers.content_type.clone(),
            content_encoding: headers.content_encoding.clone(),
            content_disposition: headers.content_disposition.clone(),
            content_language: headers.content_language.clone(),
            cache_control: headers.cache_control.clone(),
            metadata: metadata_headers(&record),
            ..HeadObjectOutput::default()
        }))
    }

    async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let input = request.input;
        let bucket = Arc::clone(self.bucket(&input.bucket)?);
        let requested_version = input.version_id.filter(|version_id| version_id != NO_VERSION);
        let deletion =
            if requested_version.is_some() { Deletion::OfVersion } else { Deletion::OfKey };
        let is_requested = move |record: &Record| match &requested_version {
            Some(version_id) => *version_id == versions::version_id(record),
            None => true,
        };
        run_blocking(move || bucket.delete(&input.key, deletion, is_requested)).await?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    async fn list_object_versions(
        &self,
        request: S3Request<ListObjectVersionsInput>,
    ) -> S3Result<S3Response<ListObjectVersionsOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(versions::list_page(bucket, request.input)?))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let bucket = self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(list::list_page(bucket, request.input)))
    }

    async fn get_object_tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<S3Response<GetObjectTaggingOutput>> {
        let input = request.input;
        let signer = request.credentials.as_ref();
        let object = RequestedObject { bucket: &input.bucket, key: &input.key, signer };
        check_version(input.version_id.as_deref())?;
        let Some(record) = self.bucket(object.bucket)?.record(object.key) else {
            return Err(self.missing_tags_error(&object));
        };
        let tag_set = tags::to_xml(&record.tags);
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set, ..Default::default() }))
    }

    async fn put_object_tagging(
        &self,
        request: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<S3Response<PutObjectTaggingOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let tags = tags::from_xml(input.tagging.tag_set)?;
        let signer = request.credentials.as_ref();
        let object = RequestedObject { bucket: &input.bucket, key: &input.key, signer };
        self.set_tags(&object, tags).await?;
        Ok(S3Response::new(PutObjectTaggingOutput::default()))
    }

    async fn delete_object_tagging(
        &self,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> S3Result<S3Response<DeleteObjectTaggingOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let signer = request.credentials.as_ref();
        let object = RequestedObject { bucket: &input.bucket, key: &input.key, signer };
        self.set_tags(&object, BTreeMap::new()).await?;
        Ok(S3Response::new(DeleteObjectTaggingOutput::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::store::tests::store;

    #[test]
    fn long_parts_of_objects_are_not_read_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        let longest = usize::try_from(MAX_READ_BYTES).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(longest + 1).collect();
        store(&bucket, "longest", &bytes[..longest], 7, &[]);
        store(&bucket, "longer", &bytes, 7, &[]);
        let open = |key, range| OpenedObject::open(&bucket, key, range).unwrap().unwrap();
        assert!(
            matches!(open("longest", None).content, Content::Bytes(found) if found == bytes[..longest])
        );
        assert!(matches!(open("longer", None).content, Content::File(_)));
        let part = RequestedRange::Int { first: 1, last: None };
        assert!(
            matches!(open("longer", Some(part)).content, Content::Bytes(found) if found == bytes[1..])
        );
        let after_end = RequestedRange::Int { first: MAX_READ_BYTES + 1, last: None };
        assert!(open("longer", Some(after_end)).byte_range.is_err());
        assert!(OpenedObject::open(&bucket, "missing", None).unwrap().is_none());
    }
}
