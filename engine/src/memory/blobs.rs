//! In-memory object store.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use cellar_base::limits::{MAX_BLOB_BYTES, MAX_LISTED_BLOBS};
use sha2::{Digest as _, Sha256};

use super::presigned::Grants;
use crate::contract::{UrlReply, UrlRequest};
use crate::ports::{
    BlobHead, BlobKey, BlobPage, BlobVersions, Blobs, Clock, GetOutcome, KeepOutcome, ListedBlob,
    ListedVersion, NewBlob, PortError, PresignedRequest, PutNewOutcome, UploadGrant, VersionMarker,
    VersionPage,
};

/// An in-memory object store. Its presigned URLs are not web addresses. Pass presigned requests to
/// [`MemoryBlobs::send`] instead of sending them over HTTP.
pub struct MemoryBlobs {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

mod status {
    pub(super) const OK: u16 = 200;
    pub(super) const BAD_REQUEST: u16 = 400;
    pub(super) const FORBIDDEN: u16 = 403;
    pub(super) const NOT_FOUND: u16 = 404;
    pub(super) const PRECONDITION_FAILED: u16 = 412;
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    grants: Grants,
    version: u64,
}

impl State {
    fn put(&mut self, key: String, object: Object) {
        self.version += 1;
        self.objects.insert(key, Object { version: self.version, ..object });
    }

    fn accept_upload(&mut self, key: String, blob: NewBlob, now_s: u64) -> UrlReply {
        if self.objects.contains_key(&key) {
            return UrlReply::without_body(status::PRECONDITION_FAILED);
        }
        match check_and_build(blob, now_s) {
            Ok(object) => {
                self.put(key, object);
                UrlReply::without_body(status::OK)
            }
            Err(_) => UrlReply::without_body(status::BAD_REQUEST),
        }
    }

    fn download(&self, key: &str) -> UrlReply {
        match self.objects.get(key) {
            Some(object) => UrlReply { status: status::OK, body: object.bytes.clone() },
            None => UrlReply::without_body(status::NOT_FOUND),
        }
    }
}

#[derive(Clone)]
struct Object {
    version: u64,
    head: BlobHead,
    bytes: Bytes,
    pending: bool,
}

impl MemoryBlobs {
    /// Creates an empty store. `clock` provides the write times and the time at which URLs expire.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// Responds to a presigned request like S3.
    #[must_use]
    pub fn send(&self, request: &UrlRequest) -> UrlReply {
        let now_s = self.now_s();
        let mut state = self.lock();
        let Some(grant) = state.grants.find(request, now_s) else {
            return UrlReply::without_body(status::FORBIDDEN);
        };
        let key = grant.key().as_str().to_owned();
        match grant.granted_upload() {
            Some(granted_upload) => {
                let blob = NewBlob { bytes: request.body.clone(), ..granted_upload };
                state.accept_upload(key, blob, now_s)
            }
            None => state.download(&key),
        }
    }

    #[cfg(test)]
    pub(crate) fn copied(&self, clock: Arc<dyn Clock>) -> Self {
        let state = self.lock();
        let copied_state = State {
            objects: state.objects.clone(),
            grants: Grants::default(),
            version: state.version,
        };
        Self { clock, state: Mutex::new(copied_state) }
    }

    /// Returns, for each object key, the content and whether the object has the pending tag.
    #[cfg(test)]
    pub(crate) fn contents(&self) -> BTreeMap<String, (Bytes, bool)> {
        let mut contents = BTreeMap::new();
        for (key, object) in &self.lock().objects {
            contents.insert(key.clone(), (object.bytes.clone(), object.pending));
        }
        contents
    }

    fn now_s(&self) -> u64 {
        self.clock.now_ms() / 1_000
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns an error if the content is too long or does not match its checksum.
fn check_and_build(blob: NewBlob, now_s: u64) -> Result<Object, PortError> {
    let length = blob.bytes.len() as u64;
    if length > MAX_BLOB_BYTES {
        return Err(PortError::permanent(format!(
            "the object is {length} bytes long, but the maximum is {MAX_BLOB_BYTES} bytes"
        )));
    }
    if <[u8; 32]>::from(Sha256::digest(&blob.bytes)) != blob.sha256 {
        return Err(PortError::permanent(format!(
            "the content of {} does not match its checksum",
            blob.key
        )));
    }
    let head = BlobHead {
        length,
        sha256: Some(blob.sha256),
        modified_s: now_s,
        content_type: blob.content_type,
        content_encoding: blob.content_encoding,
    };
    Ok(Object { version: 0, head, bytes: blob.bytes, pending: blob.pending })
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        let key = blob.key.as_str().to_owned();
        let object = check_and_build(blob, self.now_s())?;
        self.lock().put(key, object);
        Ok(())
    }

    async fn put_new(&self, blob: NewBlob) -> Result<PutNewOutcome, PortError> {
        let key = blob.key.as_str().to_owned();
        let object = check_and_build(blob, self.now_s())?;
        let mut state = self.lock();
        if state.objects.contains_key(&key) {
            return Ok(PutNewOutcome::AlreadyExists);
        }
        state.put(key, object);
        Ok(PutNewOutcome::Stored)
    }

    async fn get(&self, key: &BlobKey, max_bytes: u64) -> Result<GetOutcome, PortError> {
        Ok(match self.lock().objects.get(key.as_str()) {
            None => GetOutcome::Absent,
            Some(object) if object.head.length > max_bytes => {
                GetOutcome::TooLong { length: object.head.length }
            }
            Some(object) => {
                GetOutcome::Found { head: object.head.clone(), bytes: object.bytes.clone() }
            }
        })
    }

    async fn head(&self, key: &BlobKey) -> Result<Option<BlobHead>, PortError> {
        Ok(self.lock().objects.get(key.as_str()).map(|object| object.head.clone()))
    }

    async fn pending(&self, key: &BlobKey) -> Result<Option<bool>, PortError> {
        Ok(self.lock().objects.get(key.as_str()).map(|object| object.pending))
    }

    async fn keep(&self, key: &BlobKey) -> Result<KeepOutcome, PortError> {
        Ok(match self.lock().objects.get_mut(key.as_str()) {
            None => KeepOutcome::Absent,
            Some(object) => {
                object.pending = false;
                KeepOutcome::Kept
            }
        })
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), PortError> {
        self.lock().objects.remove(key.as_str());
        Ok(())
    }

    async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<BlobPage, PortError> {
        let limit = usize::from(limit.clamp(1, MAX_LISTED_BLOBS));
        let state = self.lock();
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let mut blobs = Vec::new();
        for (key, object) in state.objects.range::<str, _>((start, Bound::Unbounded)) {
            if !key.starts_with(prefix) {
                break;
            }
            if blobs.len() == limit {
                let next = blobs.last().map(|blob: &ListedBlob| blob.key.clone());
                return Ok(BlobPage { blobs, next });
            }
            let BlobHead { length, modified_s, .. } = object.head;
            blobs.push(ListedBlob { key: key.clone(), length, modified_s });
        }
        Ok(BlobPage { blobs, next: None })
    }

    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.lock().grants.grant_upload(grant, now_s)
    }

    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.lock().grants.grant_download(key, valid_s, now_s)
    }
}

#[async_trait]
impl BlobVersions for MemoryBlobs {
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        let after_key = after.map(|marker| marker.key.as_str());
        let page = self.list(prefix, after_key, MAX_LISTED_BLOBS).await?;
        let state = self.lock();
        let mut versions = Vec::new();
        for ListedBlob { key, length, modified_s } in page.blobs {
            if let Some(object) = state.objects.get(&key) {
                let version = object.version.to_string();
                versions.push(ListedVersion { key, version, length, modified_s });
            }
        }
        let next = page.next.map(|key| VersionMarker { key, version: None });
        Ok(VersionPage { versions, next })
    }

    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError> {
        let mut state = self.lock();
        if let Some(object) = state.objects.get(key.as_str())
            && object.version.to_string() == version
        {
            state.objects.remove(key.as_str());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;
    use crate::system::SystemClock;

    #[tokio::test]
    async fn memory_passes_the_contract() {
        let blobs = MemoryBlobs::new(Arc::new(SystemClock));
        contract::blobs(&blobs, &[]).await;
        contract::blob_versions(&blobs).await;
        contract::presigned(&blobs, &[], async |request| blobs.send(&request)).await;
    }

    #[tokio::test]
    async fn pages_of_a_list_are_bounded() {
        let blobs = MemoryBlobs::new(Arc::new(SystemClock));
        let put = async |number: u16| {
            let key = BlobKey::new(format!("list/{number:05}")).unwrap();
            let (bytes, sha256) = (Bytes::from_static(b"x"), crate::sha256::sha256(b"x"));
            let (content_type, content_encoding, pending) = (None, None, false);
            let blob = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
            blobs.put(blob).await.unwrap();
        };
        for number in 0..MAX_LISTED_BLOBS {
            put(number).await;
        }
        let most = usize::from(MAX_LISTED_BLOBS);
        let page = blobs.list("list/", None, u16::MAX).await.unwrap();
        assert_eq!((page.blobs.len(), page.next), (most, None));
        put(MAX_LISTED_BLOBS).await;
        let page = blobs.list("list/", None, u16::MAX).await.unwrap();
        assert_eq!((page.blobs.len(), page.next.is_some()), (most, true));
    }
}
