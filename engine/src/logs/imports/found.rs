//! Objects of an import that were found in the store, before and after verification.

use bytes::Bytes;
use cellar_base::limits::MAX_UPLOAD_AGE_S;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::chunk;
use cellar_snapshot::index::{ChildIndex, ChildTile, Children, IndexChunk};
use cellar_snapshot::level::{ChunkHash, ChunkRef};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::tile::{NamedText, Tile};

use super::ImportFault;
use crate::ports::BlobHead;

pub(super) struct UnverifiedObject {
    hash: ChunkHash,
    stored: Bytes,
    is_published: bool,
}

pub(super) struct VerifiedObject {
    pub(super) hash: ChunkHash,
    pub(super) stored: Bytes,
    /// Whether the object was published so recently that it will not be garbage collected before an
    /// entry references it.
    pub(super) is_published: bool,
}

/// Returns whether an object may be garbage collected before an entry references it, because it was
/// published long ago.
pub(super) fn is_old(head: &BlobHead, now_s: u64) -> bool {
    now_s > head.modified_s.saturating_add(MAX_UPLOAD_AGE_S)
}

impl UnverifiedObject {
    pub(super) fn staged(hash: ChunkHash, stored: Bytes) -> Self {
        Self { hash, stored, is_published: false }
    }

    pub(super) fn published(hash: ChunkHash, stored: Bytes, head: &BlobHead, now_s: u64) -> Self {
        Self { hash, stored, is_published: !is_old(head, now_s) }
    }

    pub(super) fn check_length(self, chunk: &ChunkRef) -> Result<Self, ImportFault> {
        if self.has_length_of(chunk) {
            return Ok(self);
        }
        let (actual_bytes, stated_bytes) = (self.stored.len(), chunk.bytes);
        let reason = format!(
            "the object is {actual_bytes} bytes long, but the request or index states {stated_bytes} bytes"
        );
        Err(self.fault(&reason))
    }

    pub(super) fn into_tile(
        self,
        locations: &[ChildTile],
    ) -> Result<(VerifiedObject, Tile), ImportFault> {
        let bytes = self.unpacked(Bounds::CHUNK)?;
        let tile = chunk::decode(&bytes).map_err(|error| self.fault(&error.to_string()))?;
        for location in locations {
            if !self.has_length_of(&location.chunk) {
                return Err(self.fault("the object's length does not match the tile index"));
            }
            location.check(&tile).map_err(|error| self.unreadable(&error))?;
        }
        Ok((self.verified(), tile))
    }

    pub(super) fn into_text(self, named_text: &NamedText) -> Result<VerifiedObject, ImportFault> {
        let text = String::from_utf8(self.unpacked(Bounds::TEXT)?);
        let text = text.map_err(|_| self.fault("it is not valid UTF-8"))?;
        named_text.check(&text).map_err(|error| self.unreadable(&error))?;
        Ok(self.verified())
    }

    /// The caller must verify the chunks that this chunk references before it publishes this chunk.
    pub(super) fn into_index(self) -> Result<(VerifiedObject, Children), ImportFault> {
        let index = self.decoded_index()?;
        let children = index.children().map_err(|error| self.unreadable(&error))?;
        let children = children
            .ok_or_else(|| self.fault("the object is not a chunk of an import's tile index"))?;
        children.check_stripes().map_err(|error| self.unreadable(&error))?;
        Ok((self.verified(), children))
    }

    pub(super) fn into_child_index(
        self,
        child: &ChildIndex,
    ) -> Result<VerifiedObject, ImportFault> {
        child.check(&self.decoded_index()?).map_err(|error| self.unreadable(&error))?;
        Ok(self.verified())
    }

    fn decoded_index(&self) -> Result<IndexChunk, ImportFault> {
        let bytes = self.unpacked(Bounds::CHUNK)?;
        IndexChunk::decode(&bytes).map_err(|error| self.unreadable(&error))
    }

    fn unpacked(&self, bounds: Bounds) -> Result<Vec<u8>, ImportFault> {
        unpack(self.hash, &self.stored, bounds).map_err(|error| self.unreadable(&error))
    }

    fn has_length_of(&self, chunk: &ChunkRef) -> bool {
        u64::try_from(self.stored.len())
            .is_ok_and(|byte_length| chunk.accepts_stored_bytes(byte_length))
    }

    fn verified(self) -> VerifiedObject {
        let Self { hash, stored, is_published } = self;
        VerifiedObject { hash, stored, is_published }
    }

    fn fault(&self, reason: &str) -> ImportFault {
        ImportFault::Unreadable { hash: self.hash, why: reason.to_owned() }
    }

    fn unreadable(&self, error: &SnapshotError) -> ImportFault {
        ImportFault::unreadable(self.hash, error)
    }
}
