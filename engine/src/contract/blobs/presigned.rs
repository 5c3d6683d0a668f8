//! Contract tests for presigned URLs: a URL permits only the request for which it was signed
//! (invariant I18).

use bytes::Bytes;

use super::{contract_key, sha256, stored_bytes};
use crate::ports::{BlobKey, Blobs, Clock as _, PortError, PresignedRequest, UploadGrant};
use crate::system::SystemClock;
use cellar_base::limits::MAX_PRESIGNED_S;

const BYTES: &[u8] = b"what was granted";
const VALID_S: u64 = 300;
const MEDIA_TYPE: &str = "application/vnd.cellar.test";
const ENCODING: &str = "zstd";
const SIGNATURE: &str = "X-Amz-Signature=";
const EXPIRES: &str = "X-Amz-Expires=";

/// An HTTP request to a presigned URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRequest {
    pub method: String,
    pub url: String,
    /// Headers, except for `host` and `content-length`, which the HTTP client adds.
    pub headers: Vec<(String, String)>,
    /// Request body; may be empty.
    pub body: Bytes,
}

/// Response to a [`UrlRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlReply {
    pub status: u16,
    pub body: Bytes,
}

impl UrlReply {
    pub(crate) fn without_body(status: u16) -> Self {
        Self { status, body: Bytes::new() }
    }
}

/// A change to a presigned upload request. The store must reject the changed request and store
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    /// The body is replaced by different bytes of the same length.
    OtherBytes,
    /// The body is longer or shorter.
    OtherLength,
    /// The body is replaced by different bytes, and the checksum header is updated to match.
    OtherChecksum,
    /// The request targets a different object key.
    OtherKey,
    /// The request uses another method, such as GET or DELETE.
    OtherMethod,
    /// The URL has expired.
    Expired,
    /// The expiry time in the URL is postponed.
    LongerExpiry,
    /// A signed header is omitted.
    MissingHeader,
    /// The media type or content encoding is changed, so that browsers would interpret the object
    /// differently.
    OtherMeaning,
    /// The tag is not `pending`, so the bucket's lifecycle rule would never delete the upload.
    OtherTag,
    /// An unsigned header that affects the stored object is added.
    AddedHeader,
    /// The signature in the URL is changed.
    OtherSignature,
}

impl Tampering {
    /// Every kind of tampering.
    pub const ALL: [Self; 12] = [
        Self::OtherBytes,
        Self::OtherLength,
        Self::OtherChecksum,
        Self::OtherKey,
        Self::OtherMethod,
        Self::Expired,
        Self::LongerExpiry,
        Self::MissingHeader,
        Self::OtherMeaning,
        Self::OtherTag,
        Self::AddedHeader,
        Self::OtherSignature,
    ];
}

/// Checks a store that serves presigned URLs. `send` sends an HTTP request and returns the
/// response. The changes in `waived` are not tested, since a test store may accept them.
pub async fn presigned<F, R>(blobs: &dyn Blobs, waived: &[Tampering], send: F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    an_upload_succeeds_once(blobs, &send).await;
    for tampering in Tampering::ALL.into_iter().filter(|kind| !waived.contains(kind)) {
        assert_rejected(blobs, tampering, &send).await;
    }
    a_download_reads_one_object(blobs, waived, &send).await;
    the_time_is_bounded(blobs).await;
}

fn now_s() -> u64 {
    SystemClock.now_ms() / 1_000
}

fn upload_grant(key: &BlobKey) -> UploadGrant {
    let length = BYTES.len() as u64;
    UploadGrant {
        key: key.clone(),
        length,
        sha256: sha256(BYTES),
        content_type: Some(MEDIA_TYPE.to_owned()),
        content_encoding: Some(ENCODING.to_owned()),
        valid_s: VALID_S,
    }
}

fn client_request(presigned: PresignedRequest, body: &'static [u8]) -> UrlRequest {
    let mut headers = presigned.headers;
    headers.retain(|(name, _)| name != "content-length");
    let (method, url) = (presigned.method, presigned.url);
    UrlRequest { method, url, headers, body: Bytes::from_static(body) }
}

fn expect_signed(result: Result<PresignedRequest, PortError>) -> PresignedRequest {
    result.unwrap_or_else(|error| panic!("the request could not be signed: {error}"))
}

async fn an_upload_succeeds_once<F, R>(blobs: &dyn Blobs, send: &F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    let key = contract_key("presigned/once");
    let now_s = now_s();
    let presigned = expect_signed(blobs.presign_put(&upload_grant(&key), now_s).await);
    assert_eq!(presigned.method, "PUT");
    assert_eq!(presigned.expires_s, now_s + VALID_S);
    let header_names: Vec<&str> = presigned.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert!(header_names.is_sorted() && !header_names.contains(&"host"), "{header_names:?}");
    let request = client_request(presigned, BYTES);
    let reply = send(request.clone()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_stored_as_granted(blobs, &key).await;
    // A repeated upload is rejected even if the URL has not expired, since an entry may already
    // reference the first upload.
    assert!(blobs.keep(&key).await.is_ok());
    assert_eq!(send(request).await.status, 412);
    assert_eq!(blobs.pending(&key).await, Ok(Some(false)), "a replay changed the tag");
}

async fn assert_stored_as_granted(blobs: &dyn Blobs, key: &BlobKey) {
    assert_eq!(stored_bytes(blobs, key).await.as_deref(), Some(BYTES));
    let inspection = blobs.inspect(key).await.ok().flatten();
    let is_pending = inspection.as_ref().is_some_and(|inspection| inspection.pending);
    let head = inspection.map(|inspection| inspection.head);
    let checksum = head.as_ref().and_then(|head| head.sha256);
    assert!(is_pending && checksum == Some(sha256(BYTES)), "no checksum or tag was stored");
    let stored_types = head.map(|head| (head.content_type, head.content_encoding));
    let granted_types = (Some(MEDIA_TYPE.to_owned()), Some(ENCODING.to_owned()));
    assert_eq!(stored_types, Some(granted_types), "the media type or encoding was not stored");
}

async fn assert_rejected<F, R>(blobs: &dyn Blobs, tampering: Tampering, send: &F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    let target_key = contract_key(&format!("presigned/{tampering:?}"));
    let other_key = contract_key(&format!("presigned/{tampering:?}-other"));
    let is_expired = tampering == Tampering::Expired;
    let signed_s = if is_expired { expired_signing_time_s() } else { now_s() };
    let presigned = expect_signed(blobs.presign_put(&upload_grant(&target_key), signed_s).await);
    let valid_request = client_request(presigned, BYTES);
    let requests = match tampering {
        Tampering::OtherKey => {
            let url = valid_request.url.replacen(target_key.as_str(), other_key.as_str(), 1);
            vec![UrlRequest { url, ..valid_request.clone() }]
        }
        tampering => tampered_requests(tampering, &valid_request),
    };
    assert!(!requests.is_empty() && (is_expired || !requests.contains(&valid_request)));
    for request in requests {
        let reply = send(request.clone()).await;
        let is_refused = matches!(reply.status, 400 | 403 | 405);
        assert!(is_refused, "{tampering:?} got the response {reply:?}: {request:?}");
        for key in [&target_key, &other_key] {
            assert_eq!(blobs.head(key).await, Ok(None), "{tampering:?} stored something");
        }
    }
    if !is_expired {
        let reply = send(valid_request).await;
        assert_eq!(
            reply.status, 200,
            "after {tampering:?} the valid request was rejected: {reply:?}"
        );
    }
}

/// Returns no copies for [`Tampering::OtherKey`], since only the caller knows another key.
fn tampered_requests(tampering: Tampering, valid_request: &UrlRequest) -> Vec<UrlRequest> {
    match tampering {
        Tampering::OtherBytes => vec![with_body(valid_request, b"what was GRANTED")],
        Tampering::OtherLength => vec![
            with_body(valid_request, b"what was granted!"),
            with_body(valid_request, b"what was"),
            with_body(valid_request, b""),
        ],
        Tampering::OtherChecksum => vec![with_other_checksum(valid_request)],
        Tampering::OtherKey => vec![],
        Tampering::OtherMethod => ["GET", "DELETE", "HEAD", "POST"]
            .map(|method| UrlRequest { method: method.to_owned(), ..valid_request.clone() })
            .into(),
        Tampering::Expired => vec![valid_request.clone()],
        Tampering::LongerExpiry => {
            let signed_expiry = format!("{EXPIRES}{VALID_S}");
            let longer_expiry = format!("{EXPIRES}900");
            let url = valid_request.url.replace(&signed_expiry, &longer_expiry);
            vec![UrlRequest { url, ..valid_request.clone() }]
        }
        Tampering::MissingHeader => (0..valid_request.headers.len())
            .map(|header_index| without_header(valid_request, header_index))
            .collect(),
        Tampering::OtherMeaning => vec![
            with_header(valid_request, "content-type", "text/html"),
            with_header(valid_request, "content-encoding", "gzip"),
        ],
        Tampering::OtherTag => vec![with_header(valid_request, "x-amz-tagging", "state=kept")],
        Tampering::AddedHeader => vec![with_header(valid_request, "x-amz-meta-added", "1")],
        Tampering::OtherSignature => vec![with_other_signature(valid_request)],
    }
}

fn with_body(request: &UrlRequest, body: &'static [u8]) -> UrlRequest {
    UrlRequest { body: Bytes::from_static(body), ..request.clone() }
}

fn with_other_checksum(request: &UrlRequest) -> UrlRequest {
    // Base64-encoded SHA-256 checksum of the changed body.
    const OTHER_CHECKSUM: &str = "rGP8PjLC+/fKEoNAEytj53207gVYOOstXeDejBDfnJQ=";
    with_body(&with_header(request, CHECKSUM, OTHER_CHECKSUM), b"what was GRANTED")
}

const CHECKSUM: &str = "x-amz-checksum-sha256";

fn without_header(request: &UrlRequest, header_index: usize) -> UrlRequest {
    let mut tampered_request = request.clone();
    tampered_request.headers.remove(header_index);
    tampered_request
}

fn with_header(request: &UrlRequest, name: &str, value: &str) -> UrlRequest {
    let mut tampered_request = request.clone();
    tampered_request.headers.retain(|(header_name, _)| header_name != name);
    tampered_request.headers.push((name.to_owned(), value.to_owned()));
    tampered_request
}

/// Changes one character of the URL: the first character of the AWS signature, or the last
/// character of a URL without an AWS signature.
fn with_other_signature(request: &UrlRequest) -> UrlRequest {
    let url = &request.url;
    let changed_index = match url.find(SIGNATURE) {
        Some(parameter_index) => parameter_index + SIGNATURE.len(),
        None => url.len() - 1,
    };
    let mut tampered_url = String::new();
    for (index, character) in url.char_indices() {
        tampered_url.push(match character {
            '0' if index == changed_index => '1',
            _ if index == changed_index => '0',
            character => character,
        });
    }
    UrlRequest { url: tampered_url, ..request.clone() }
}

fn expired_signing_time_s() -> u64 {
    const MARGIN_S: u64 = 5;
    now_s() - VALID_S - MARGIN_S
}

async fn a_download_reads_one_object<F, R>(blobs: &dyn Blobs, waived: &[Tampering], send: &F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    let target = super::contract_blob("download/1", BYTES);
    let other = super::contract_blob("download/2", "other");
    for blob in [&target, &other] {
        assert!(blobs.put(blob.clone()).await.is_ok());
    }
    let presigned = blobs.presign_get(&target.key, VALID_S, now_s()).await;
    let valid_request = client_request(expect_signed(presigned), b"");
    assert_eq!(valid_request.method, "GET");
    for _ in 0..2 {
        let reply = send(valid_request.clone()).await;
        assert!(reply.status == 200 && reply.body == BYTES, "{reply:?}");
    }
    let expired = blobs.presign_get(&target.key, VALID_S, expired_signing_time_s()).await;
    let expired_request = client_request(expect_signed(expired), b"");
    let other_url = valid_request.url.replacen(target.key.as_str(), other.key.as_str(), 1);
    let put_request =
        UrlRequest { method: "PUT".into(), body: "replaced".into(), ..valid_request.clone() };
    for (tampering, request) in [
        (Tampering::Expired, expired_request),
        (Tampering::OtherKey, UrlRequest { url: other_url, ..valid_request.clone() }),
        (Tampering::OtherMethod, put_request),
        (Tampering::OtherSignature, with_other_signature(&valid_request)),
    ] {
        if !waived.contains(&tampering) {
            let reply = send(request).await;
            assert!(matches!(reply.status, 400 | 403), "{tampering:?}: {reply:?}");
        }
    }
    assert_eq!(stored_bytes(blobs, &target.key).await.as_deref(), Some(BYTES));
}

async fn the_time_is_bounded(blobs: &dyn Blobs) {
    let key = contract_key("presigned/long");
    for (valid_s, is_allowed) in [(MAX_PRESIGNED_S, true), (MAX_PRESIGNED_S + 1, false), (0, false)]
    {
        let upload =
            blobs.presign_put(&UploadGrant { valid_s, ..upload_grant(&key) }, now_s()).await;
        let download = blobs.presign_get(&key, valid_s, now_s()).await;
        assert_eq!((upload.is_ok(), download.is_ok()), (is_allowed, is_allowed), "{valid_s}");
    }
}
