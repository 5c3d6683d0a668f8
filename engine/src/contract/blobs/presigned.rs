//! Contract tests for presigned URLs: a URL permits exactly the granted request (invariant I18).

use bytes::Bytes;

use super::{key, sha256, stored};
use crate::ports::{BlobKey, Blobs, Clock as _, PortError, PresignedRequest, UploadGrant};
use crate::system::SystemClock;
use cellar_base::limits::MAX_PRESIGNED_S;

const BYTES: &[u8] = b"what was granted";
const VALID_S: u64 = 300;
const MEDIA_TYPE: &str = "application/vnd.cellar.test";
const ENCODING: &str = "zstd";
/// Query parameter that contains the signature of an AWS presigned URL.
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

/// A way to tamper with a presigned upload. The store must reject the request and store nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    /// The body contains different bytes of the same length.
    OtherBytes,
    /// The body is longer or shorter.
    OtherLength,
    /// The body contains different bytes, and the checksum header is updated to match.
    OtherChecksum,
    /// The request targets a different object key.
    OtherKey,
    /// The request uses another method, such as GET or DELETE.
    OtherMethod,
    /// The URL has expired.
    Expired,
    /// The expiry time in the URL is extended.
    LongerExpiry,
    /// A signed header is omitted.
    MissingHeader,
    /// The media type or content encoding differs, which changes how browsers interpret the bytes.
    OtherMeaning,
    /// The tag is not `pending`, so the upload would never expire.
    OtherTag,
    /// An unsigned header that the store interprets is added.
    AddedHeader,
    /// The signature in the URL is altered.
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

/// Checks a store that serves presigned URLs. `send` sends a request and returns the response.
/// Tampering in `waived` is not checked, since a test store may accept it.
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

fn grant(key: &BlobKey) -> UploadGrant {
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

/// Builds the request that an HTTP client would send.
fn request(presigned: PresignedRequest, body: &'static [u8]) -> UrlRequest {
    let mut headers = presigned.headers;
    headers.retain(|(name, _)| name != "content-length");
    let (method, url) = (presigned.method, presigned.url);
    UrlRequest { method, url, headers, body: Bytes::from_static(body) }
}

#[allow(clippy::panic, reason = "a contract suite fails like a test")]
fn signed(result: Result<PresignedRequest, PortError>) -> PresignedRequest {
    result.unwrap_or_else(|error| panic!("the request could not be signed: {error}"))
}

async fn an_upload_succeeds_once<F, R>(blobs: &dyn Blobs, send: &F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    let key = key("presigned/once");
    let now_s = now_s();
    let presigned = signed(blobs.presign_put(&grant(&key), now_s).await);
    assert_eq!((presigned.method.as_str(), presigned.expires_s), ("PUT", now_s + VALID_S));
    let names: Vec<&str> = presigned.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.is_sorted() && !names.contains(&"host"), "{names:?}");
    let request = request(presigned, BYTES);
    let reply = send(request.clone()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(stored(blobs, &key).await.as_deref(), Some(BYTES));
    let inspected = blobs.inspect(&key).await.ok().flatten();
    let pending = inspected.as_ref().is_some_and(|inspected| inspected.pending);
    let head = inspected.map(|inspected| inspected.head);
    let checksum = head.as_ref().and_then(|head| head.sha256);
    assert!(pending && checksum == Some(sha256(BYTES)), "no checksum or tag was stored");
    let meaning = head.map(|head| (head.content_type, head.content_encoding));
    let signed = (Some(MEDIA_TYPE.to_owned()), Some(ENCODING.to_owned()));
    assert_eq!(meaning, Some(signed), "the media type or encoding was not stored");
    // A replay of the upload is rejected even before the URL expires: it may arrive after the
    // upload was completed.
    assert!(blobs.keep(&key).await.is_ok());
    assert_eq!(send(request).await.status, 412);
    assert_eq!(blobs.pending(&key).await, Ok(Some(false)), "a replay changed the tag");
}

async fn assert_rejected<F, R>(blobs: &dyn Blobs, tampering: Tampering, send: &F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    let target = key(&format!("presigned/{tampering:?}"));
    let other = key(&format!("presigned/{tampering:?}-other"));
    let signed_s = if tampering == Tampering::Expired { now_s() - VALID_S - 5 } else { now_s() };
    let right = request(signed(blobs.presign_put(&grant(&target), signed_s).await), BYTES);
    let mut requests = tampered(tampering, &right);
    if tampering == Tampering::OtherKey {
        let url = right.url.replacen(target.as_str(), other.as_str(), 1);
        requests.push(UrlRequest { url, ..right.clone() });
    }
    assert!(
        !requests.is_empty() && (tampering == Tampering::Expired || !requests.contains(&right))
    );
    for request in requests {
        let reply = send(request.clone()).await;
        let refused = matches!(reply.status, 400 | 403 | 405);
        assert!(refused, "{tampering:?} was answered {reply:?}: {request:?}");
        for key in [&target, &other] {
            assert_eq!(blobs.head(key).await, Ok(None), "{tampering:?} stored something");
        }
    }
    if tampering != Tampering::Expired {
        let reply = send(right).await;
        assert_eq!(
            reply.status, 200,
            "after {tampering:?} the valid request was rejected: {reply:?}"
        );
    }
}

/// Returns copies of the valid request `right`, each tampered with in this way.
fn tampered(tampering: Tampering, right: &UrlRequest) -> Vec<UrlRequest> {
    let body = |body: &'static [u8]| vec![UrlRequest { body: body.into(), ..right.clone() }];
    let url = |url: String| vec![UrlRequest { url, ..right.clone() }];
    match tampering {
        Tampering::OtherBytes => body(b"what was GRANTED"),
        Tampering::OtherLength => {
            [body(b"what was granted!"), body(b"what was"), body(b"")].concat()
        }
        Tampering::OtherChecksum => vec![other_checksum(right)],
        Tampering::OtherKey => vec![],
        Tampering::OtherMethod => ["GET", "DELETE", "HEAD", "POST"]
            .map(|method| UrlRequest { method: method.to_owned(), ..right.clone() })
            .into(),
        Tampering::Expired => vec![right.clone()],
        Tampering::LongerExpiry => {
            url(right.url.replace(&format!("{EXPIRES}{VALID_S}"), &format!("{EXPIRES}900")))
        }
        Tampering::MissingHeader => (0..right.headers.len()).map(|at| without(right, at)).collect(),
        Tampering::OtherMeaning => vec![
            with_header(right, "content-type", "text/html"),
            with_header(right, "content-encoding", "gzip"),
        ],
        Tampering::OtherTag => vec![with_header(right, "x-amz-tagging", "state=kept")],
        Tampering::AddedHeader => vec![with_header(right, "x-amz-meta-added", "1")],
        Tampering::OtherSignature => url(other_signature(&right.url)),
    }
}

fn other_checksum(right: &UrlRequest) -> UrlRequest {
    // Base64-encoded SHA-256 of the altered bytes, for the checksum header.
    let request = with_header(right, CHECKSUM, "rGP8PjLC+/fKEoNAEytj53207gVYOOstXeDejBDfnJQ=");
    UrlRequest { body: Bytes::from_static(b"what was GRANTED"), ..request }
}

const CHECKSUM: &str = "x-amz-checksum-sha256";

fn without(right: &UrlRequest, at: usize) -> UrlRequest {
    let mut request = right.clone();
    request.headers.remove(at);
    request
}

fn with_header(right: &UrlRequest, name: &str, value: &str) -> UrlRequest {
    let mut request = right.clone();
    request.headers.retain(|(header, _)| header != name);
    request.headers.push((name.to_owned(), value.to_owned()));
    request
}

/// Replaces one character of the URL: the first character of the AWS signature, or the URL's last
/// character if it has no AWS signature.
fn other_signature(url: &str) -> String {
    let other = |char: char| if char == '0' { '1' } else { '0' };
    let at = url.find(SIGNATURE).map_or(url.len() - 1, |at| at + SIGNATURE.len());
    url.char_indices().map(|(index, char)| if index == at { other(char) } else { char }).collect()
}

async fn a_download_reads_one_object<F, R>(blobs: &dyn Blobs, waived: &[Tampering], send: &F)
where
    F: Fn(UrlRequest) -> R,
    R: Future<Output = UrlReply>,
{
    let (target, other) = (super::blob("download/1", BYTES), super::blob("download/2", "other"));
    assert!(blobs.put(target.clone()).await.is_ok() && blobs.put(other.clone()).await.is_ok());
    let get = |signed_s| blobs.presign_get(&target.key, VALID_S, signed_s);
    let right = request(signed(get(now_s()).await), b"");
    assert_eq!(right.method, "GET");
    for _ in 0..2 {
        let reply = send(right.clone()).await;
        assert!(reply.status == 200 && reply.body == BYTES, "{reply:?}");
    }
    let expired = request(signed(get(now_s() - VALID_S - 5).await), b"");
    let other_key = right.url.replacen(target.key.as_str(), other.key.as_str(), 1);
    let put = UrlRequest { method: "PUT".into(), body: "replaced".into(), ..right.clone() };
    for (tampering, request) in [
        (Tampering::Expired, expired),
        (Tampering::OtherKey, UrlRequest { url: other_key, ..right.clone() }),
        (Tampering::OtherMethod, put),
        (Tampering::OtherSignature, UrlRequest { url: other_signature(&right.url), ..right }),
    ] {
        if !waived.contains(&tampering) {
            let reply = send(request).await;
            assert!(matches!(reply.status, 400 | 403), "{tampering:?}: {reply:?}");
        }
    }
    assert_eq!(stored(blobs, &target.key).await.as_deref(), Some(BYTES));
}

async fn the_time_is_bounded(blobs: &dyn Blobs) {
    let key = key("presigned/long");
    for (valid_s, allowed) in [(MAX_PRESIGNED_S, true), (MAX_PRESIGNED_S + 1, false), (0, false)] {
        let put = blobs.presign_put(&UploadGrant { valid_s, ..grant(&key) }, now_s()).await;
        let get = blobs.presign_get(&key, valid_s, now_s()).await;
        assert_eq!((put.is_ok(), get.is_ok()), (allowed, allowed), "{valid_s}");
    }
}
