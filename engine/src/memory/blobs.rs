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
    ListedVersion, NewBlob, PortError, PresignedRequest, UploadGrant, VersionMarker, VersionPage,
};

/// In-memory object store. Its presigned URLs are not web addresses; pass the requests to
/// [`MemoryBlobs::send`].
pub struct MemoryBlobs {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    grants: Grants,
    /// Version id of the latest write.
    version: u64,
}

impl State {
    fn put(&mut self, key: String, object: Object) {
        self.version += 1;
        self.objects.insert(key, Object { version: self.version, ..object });
    }
}

#[derive(Clone)]
struct Object {
    /// Version id of the object. Older versions are not retained.
    version: u64,
    head: BlobHead,
    bytes: Bytes,
    pending: bool,
}

impl MemoryBlobs {
    /// Creates an empty store. `clock` supplies write times and determines when URLs expire.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// Responds to a presigned request like S3.
    #[must_use]
    pub fn send(&self, request: &UrlRequest) -> UrlReply {
        let now_s = self.now_s();
        let mut state = self.lock();
        let reply = |status, body| UrlReply { status, body };
        let Some(grant) = state.grants.find(request, now_s) else {
            return reply(403, Bytes::new());
        };
        let key = grant.key().as_str().to_owned();
        let Some(upload) = grant.upload() else {
            let object = state.objects.get(&key).map(|object| object.bytes.clone());
            return object.map_or(reply(404, Bytes::new()), |bytes| reply(200, bytes));
        };
        if state.objects.contains_key(&key) {
            return reply(412, Bytes::new());
        }
        let new = NewBlob { bytes: request.body.clone(), ..upload };
        match check_and_build(new, now_s) {
            Ok(object) => {
                state.put(key, object);
                reply(200, Bytes::new())
            }
            Err(_) => reply(400, Bytes::new()),
        }
    }

    /// Returns an independent copy of the store.
    #[cfg(test)]
    pub(crate) fn copied(&self, clock: Arc<dyn Clock>) -> Self {
        let state = self.lock();
        let (objects, version) = (state.objects.clone(), state.version);
        let state = State { objects, grants: Grants::default(), version };
        Self { clock, state: Mutex::new(state) }
    }

    /// Returns each object's content, and whether the object has the pending tag.
    #[cfg(test)]
    pub(crate) fn contents(&self) -> BTreeMap<String, (Bytes, bool)> {
        let object = |(key, object): (&String, &Object)| {
            (key.clone(), (object.bytes.clone(), object.pending))
        };
        self.lock().objects.iter().map(object).collect()
    }

    fn now_s(&self) -> u64 {
        self.clock.now_ms() / 1_000
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds the stored form of an object. Returns an error if the content is too long or does not
/// match its checksum.
fn check_and_build(new: NewBlob, now_s: u64) -> Result<Object, PortError> {
    let length = new.bytes.len() as u64;
    if length > MAX_BLOB_BYTES {
        return Err(PortError::permanent(format!(
            "the object has {length} bytes; at most {MAX_BLOB_BYTES} are allowed"
        )));
    }
    if <[u8; 32]>::from(Sha256::digest(&new.bytes)) != new.sha256 {
        return Err(PortError::permanent(format!(
            "the content of {} does not match its checksum",
            new.key
        )));
    }
    let head = BlobHead {
        length,
        sha256: Some(new.sha256),
        modified_s: now_s,
        content_type: new.content_type,
        content_encoding: new.content_encoding,
    };
    Ok(Object { version: 0, head, bytes: new.bytes, pending: new.pending })
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, blob: NewBlob) -> Result<(), PortError> {
        let key = blob.key.as_str().to_owned();
        let object = check_and_build(blob, self.now_s())?;
        self.lock().put(key, object);
        Ok(())
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
        let mut rest = state
            .objects
            .range::<str, _>((start, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(key, object)| ListedBlob {
                key: key.clone(),
                length: object.head.length,
                modified_s: object.head.modified_s,
            });
        let blobs: Vec<ListedBlob> = rest.by_ref().take(limit).collect();
        let more = rest.next().is_some();
        let next = blobs.last().filter(|_| more).map(|last| last.key.clone());
        Ok(BlobPage { blobs, next })
    }

    async fn presign_put(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.lock().grants.upload(grant, now_s)
    }

    async fn presign_get(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        self.lock().grants.download(key, valid_s, now_s)
    }
}

#[async_trait]
impl BlobVersions for MemoryBlobs {
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        let after = after.map(|after| after.key.as_str());
        let page = self.list(prefix, after, MAX_LISTED_BLOBS).await?;
        let state = self.lock();
        let listed = |ListedBlob { key, length, modified_s }: ListedBlob| {
            let version = state.objects.get(&key)?.version.to_string();
            Some(ListedVersion { key, version, length, modified_s })
        };
        let versions = page.blobs.into_iter().filter_map(listed).collect();
        Ok(VersionPage {
            versions,
            next: page.next.map(|key| VersionMarker { key, version: None }),
        })
    }

    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError> {
        let mut state = self.lock();
        let is_requested = |object: &Object| object.version.to_string() == version;
        if state.objects.get(key.as_str()).is_some_and(is_requested) {
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
