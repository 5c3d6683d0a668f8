//! Receives the bytes of a new object, writes them to a data file on disk and verifies their
//! checksums.

use std::io::Write as _;
use std::sync::Arc;

use axum::body::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cellar_base::limits::MAX_BLOB_BYTES;
use http_body_util::BodyExt as _;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Crc32, Crc32c, Crc64Nvme, Md5, Sha1, Sha256};
use s3s::dto::PutObjectInput;
use s3s::{Body, S3Result, TrailingHeaders, s3_error};

use super::blocking::run_blocking;
use super::record::hex;
use super::store::{Bucket, new_data_name};

/// Bytes that are written at once. Nearly all objects are shorter, and need a single task on another
/// thread.
const WRITE_BYTES: usize = 1024 * 1024;

const ETAG_BYTES: usize = 16;

/// The data file is deleted when an incomplete upload is dropped.
pub(super) struct Upload {
    bucket: Arc<Bucket>,
    data_name: Option<String>,
    pub(super) length: u64,
    checksums: s3s::dto::Checksum,
    /// `None` if the client did not send one.
    md5: Option<Vec<u8>>,
    etag: String,
}

impl Upload {
    /// Reads the complete body and verifies the checksums that the client sent.
    pub(super) async fn receive(
        bucket: &Arc<Bucket>,
        input: &mut PutObjectInput,
        trailers: Option<&TrailingHeaders>,
    ) -> S3Result<Self> {
        check_length(input.content_length)?;
        let body = input.body.take().map_or_else(Body::empty, Body::from);
        let hasher = new_checksum_hasher(input, trailers.is_some());
        let md5_hasher = input.content_md5.as_ref().map(|_| Md5::new());
        let upload = Self::write_data_file(bucket, body, hasher, md5_hasher).await?;
        upload.verify_checksums(input, trailers)?;
        Ok(upload)
    }

    async fn write_data_file(
        bucket: &Arc<Bucket>,
        mut body: Body,
        mut checksum_hasher: ChecksumHasher,
        mut md5_hasher: Option<Md5>,
    ) -> S3Result<Self> {
        let data_name = new_data_name();
        // From this point on, the data file is deleted if an error drops the upload.
        let mut upload = Self {
            bucket: Arc::clone(bucket),
            data_name: Some(data_name.clone()),
            length: 0,
            checksums: s3s::dto::Checksum::default(),
            md5: None,
            etag: String::new(),
        };
        let mut data_file = None;
        let mut etag_hasher = blake3::Hasher::new();
        loop {
            let Received { parts, is_end } = receive_parts(&mut body).await?;
            for part in &parts {
                upload.length += part.len() as u64;
                checksum_hasher.update(part);
                etag_hasher.update(part);
                if let Some(md5_hasher) = &mut md5_hasher {
                    md5_hasher.update(part);
                }
            }
            if upload.length > MAX_BLOB_BYTES {
                return Err(s3_error!(EntityTooLarge));
            }
            let (file_bucket, file_name) = (Arc::clone(bucket), data_name.clone());
            let file = run_blocking(move || {
                let mut file = match data_file {
                    Some(file) => file,
                    None => file_bucket.create_data(&file_name)?,
                };
                for part in &parts {
                    file.write_all(part)?;
                }
                if is_end {
                    file.sync_all()?;
                }
                Ok(file)
            });
            data_file = Some(file.await?);
            if is_end {
                upload.checksums = checksum_hasher.finalize();
                upload.md5 = md5_hasher.map(|hasher| hasher.finalize().as_ref().to_vec());
                upload.etag = etag_of(&etag_hasher);
                return Ok(upload);
            }
        }
    }

    fn verify_checksums(
        &self,
        input: &PutObjectInput,
        trailers: Option<&TrailingHeaders>,
    ) -> S3Result<()> {
        let trailers = trailers.and_then(TrailingHeaders::take).unwrap_or_default();
        for (algorithm, header_checksum, computed_checksum) in [
            ("sha256", &input.checksum_sha256, &self.checksums.checksum_sha256),
            ("sha1", &input.checksum_sha1, &self.checksums.checksum_sha1),
            ("crc32", &input.checksum_crc32, &self.checksums.checksum_crc32),
            ("crc32c", &input.checksum_crc32c, &self.checksums.checksum_crc32c),
            ("crc64nvme", &input.checksum_crc64nvme, &self.checksums.checksum_crc64nvme),
        ] {
            let trailer = trailers.get(format!("x-amz-checksum-{algorithm}"));
            let trailer_checksum = trailer.and_then(|value| value.to_str().ok());
            for sent_checksum in [header_checksum.as_deref(), trailer_checksum] {
                if sent_checksum.is_some() && sent_checksum != computed_checksum.as_deref() {
                    let message = format!("The {algorithm} you specified did not match");
                    return Err(s3_error!(BadDigest, "{message}"));
                }
            }
        }
        let computed_md5 = self.md5.as_ref().map(|md5| STANDARD.encode(md5));
        if input.content_md5 != computed_md5 {
            return Err(s3_error!(BadDigest, "The Content-MD5 you specified did not match"));
        }
        Ok(())
    }

    pub(super) fn etag(&self) -> String {
        self.etag.clone()
    }

    /// Afterwards, the data file is no longer deleted on drop.
    pub(super) fn into_data_name(mut self) -> String {
        self.data_name.take().unwrap_or_default()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(name) = self.data_name.take() {
            self.bucket.delete_data(&name);
        }
    }
}

/// Returns half of the hash, because an entity tag is as long as an MD5 hash.
fn etag_of(hasher: &blake3::Hasher) -> String {
    let mut half_hash = [0; ETAG_BYTES];
    hasher.finalize_xof().fill(&mut half_hash);
    hex(&half_hash)
}

/// Consecutive bytes of a body.
struct Received {
    parts: Vec<Bytes>,
    is_end: bool,
}

/// Returns at least `WRITE_BYTES`, or the rest of the body.
async fn receive_parts(body: &mut Body) -> S3Result<Received> {
    let mut parts = Vec::new();
    let mut byte_count = 0;
    while byte_count < WRITE_BYTES {
        let Some(frame) = body.frame().await else { return Ok(Received { parts, is_end: true }) };
        let frame = frame.map_err(|error| s3_error!(IncompleteBody, "{error}"))?;
        let Ok(part) = frame.into_data() else { continue };
        byte_count += part.len();
        parts.push(part);
    }
    Ok(Received { parts, is_end: false })
}

/// Checks that the client declared the object's length, which S3 requires, and that the object does
/// not exceed the maximum length.
fn check_length(content_length: Option<i64>) -> S3Result<()> {
    match content_length.map(u64::try_from) {
        Some(Ok(0..=MAX_BLOB_BYTES)) => Ok(()),
        Some(_) => Err(s3_error!(EntityTooLarge)),
        None => Err(s3_error!(MissingContentLength)),
    }
}

/// Computes the checksums that the client has sent in headers, and all of them if it may send others
/// after the body.
fn new_checksum_hasher(input: &PutObjectInput, has_trailers: bool) -> ChecksumHasher {
    let is_needed = |sent: &Option<String>| has_trailers || sent.is_some();
    ChecksumHasher {
        crc32: is_needed(&input.checksum_crc32).then(Crc32::new),
        crc32c: is_needed(&input.checksum_crc32c).then(Crc32c::new),
        sha1: is_needed(&input.checksum_sha1).then(Sha1::new),
        sha256: is_needed(&input.checksum_sha256).then(Sha256::new),
        crc64nvme: is_needed(&input.checksum_crc64nvme).then(Crc64Nvme::new),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use s3s::dto::{Checksum as Checksums, StreamingBlob};
    use tokio_util::io::ReaderStream;

    use super::*;

    const BODY: &str = "the bytes of an object";

    /// Receives an object. `send` adds checksums to the request, either of its body or of other bytes.
    async fn received(send: fn(&mut PutObjectInput, Checksums), of_body: bool) -> S3Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Arc::new(Bucket::open(folder.path().to_owned()).unwrap());
        let mut hasher = new_checksum_hasher(&PutObjectInput::default(), true);
        hasher.update(if of_body { BODY } else { "other bytes" }.as_bytes());
        let mut input = PutObjectInput {
            body: Some(StreamingBlob::from(Body::from(BODY.to_owned()))),
            content_length: Some(i64::try_from(BODY.len()).unwrap()),
            ..PutObjectInput::default()
        };
        send(&mut input, hasher.finalize());
        Upload::receive(&bucket, &mut input, None).await.map(drop)
    }

    #[tokio::test]
    async fn each_checksum_in_a_header_is_verified() {
        let senders: [fn(&mut PutObjectInput, Checksums); 5] = [
            |input, sums| input.checksum_crc32 = sums.checksum_crc32,
            |input, sums| input.checksum_crc32c = sums.checksum_crc32c,
            |input, sums| input.checksum_crc64nvme = sums.checksum_crc64nvme,
            |input, sums| input.checksum_sha1 = sums.checksum_sha1,
            |input, sums| input.checksum_sha256 = sums.checksum_sha256,
        ];
        for (number, send) in senders.into_iter().enumerate() {
            received(send, true).await.unwrap();
            let error = received(send, false).await.unwrap_err();
            assert_eq!(error.code().as_str(), "BadDigest", "{number}");
        }
        received(|_, _| (), false).await.unwrap();
    }

    #[tokio::test]
    async fn an_md5_hash_in_a_header_is_verified() {
        received(|input, _| input.content_md5 = Some("kAFQmDzST7DWlj99KOF/cg==".into()), true)
            .await
            .unwrap_err();
        // The MD5 hash of `BODY`.
        received(|input, _| input.content_md5 = Some("gQKZY2IKJEDiY+xQrTUwHw==".into()), true)
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn a_long_body_is_written_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Arc::new(Bucket::open(folder.path().to_owned()).unwrap());
        let bytes: Vec<u8> = (0..=250).cycle().take(3 * WRITE_BYTES + 1).collect();
        let parts = ReaderStream::with_capacity(Cursor::new(bytes.clone()), WRITE_BYTES / 2 + 1);
        let mut input = PutObjectInput {
            body: Some(StreamingBlob::wrap(parts)),
            content_length: Some(i64::try_from(bytes.len()).unwrap()),
            ..PutObjectInput::default()
        };
        let upload = Upload::receive(&bucket, &mut input, None).await.unwrap();
        assert_eq!(upload.length, bytes.len() as u64);
        let name = upload.into_data_name();
        let stored = std::fs::read(folder.path().join("data").join(name)).unwrap();
        assert!(stored == bytes);
    }

    #[test]
    fn requires_a_length_within_the_limit() {
        let max = i64::try_from(MAX_BLOB_BYTES).unwrap();
        assert!(check_length(Some(0)).is_ok() && check_length(Some(max)).is_ok());
        for length in [None, Some(-1), Some(max + 1)] {
            assert!(check_length(length).is_err(), "{length:?}");
        }
    }
}
