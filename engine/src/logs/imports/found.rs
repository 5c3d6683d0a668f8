//! Uploaded objects of an import: as they are found, and once their bytes are verified.

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

/// An object as it was read. Nothing in it is trusted.
pub(super) struct Found {
    hash: ChunkHash,
    stored: Bytes,
    is_published: bool,
}

/// An object whose bytes have the name that they are stored under and are what they must be.
pub(super) struct Verified {
    pub(super) hash: ChunkHash,
    pub(super) stored: Bytes,
    /// Published, and recently enough that an entry may still name it.
    pub(super) is_published: bool,
}

/// Returns whether an object was published so long ago that it may be collected as garbage before an
/// entry names it.
pub(super) fn is_old(head: &BlobHead, now_s: u64) -> bool {
    now_s > head.modified_s.saturating_add(MAX_UPLOAD_AGE_S)
}

impl Found {
    /// An object that a client uploaded and nobody has verified.
    pub(super) fn staged(hash: ChunkHash, stored: Bytes) -> Self {
        Self { hash, stored, is_published: false }
    }

    /// An object of the family: a worker wrote it, or it was verified before.
    pub(super) fn published(hash: ChunkHash, stored: Bytes, head: &BlobHead, now_s: u64) -> Self {
        Self { hash, stored, is_published: !is_old(head, now_s) }
    }

    /// Verifies the length that a request or an index states.
    pub(super) fn with_length_of(self, said: &ChunkRef) -> Result<Self, ImportFault> {
        if self.accepts_stored_bytes(said) {
            return Ok(self);
        }
        let why = format!("it has {} bytes, and {} are said", self.stored.len(), said.bytes);
        Err(self.fault(&why))
    }

    /// Verifies a tile in all of its places in the index.
    pub(super) fn tile(self, places: &[ChildTile]) -> Result<(Verified, Tile), ImportFault> {
        let bytes = self.unpacked(Bounds::CHUNK)?;
        let tile = chunk::decode(&bytes).map_err(|why| self.fault(&why.to_string()))?;
        for place in places {
            if !self.accepts_stored_bytes(&place.chunk) {
                return Err(self.fault("the index gives it another length"));
            }
            place.check(&tile).map_err(|why| self.unreadable(&why))?;
        }
        Ok((self.verified(), tile))
    }

    /// Verifies a text that a tile names.
    pub(super) fn text(self, named: &NamedText) -> Result<Verified, ImportFault> {
        let text = String::from_utf8(self.unpacked(Bounds::TEXT)?);
        let text = text.map_err(|_| self.fault("it is no text"))?;
        named.check(&text).map_err(|why| self.unreadable(&why))?;
        Ok(self.verified())
    }

    /// Verifies a chunk of an index by itself. What it names is to be verified before it is published.
    pub(super) fn index(self) -> Result<(Verified, Children), ImportFault> {
        let index = self.decoded_index()?;
        let children = index.children().map_err(|why| self.unreadable(&why))?;
        let children =
            children.ok_or_else(|| self.fault("it is no chunk of the index of an import"))?;
        children.check_stripes().map_err(|why| self.unreadable(&why))?;
        Ok((self.verified(), children))
    }

    /// Verifies a chunk of an index in its place in another.
    pub(super) fn child_index(self, child: &ChildIndex) -> Result<Verified, ImportFault> {
        child.check(&self.decoded_index()?).map_err(|why| self.unreadable(&why))?;
        Ok(self.verified())
    }

    fn decoded_index(&self) -> Result<IndexChunk, ImportFault> {
        let bytes = self.unpacked(Bounds::CHUNK)?;
        IndexChunk::decode(&bytes).map_err(|why| self.unreadable(&why))
    }

    /// Unpacks the object and verifies that its name is the hash of its bytes.
    fn unpacked(&self, bounds: Bounds) -> Result<Vec<u8>, ImportFault> {
        unpack(self.hash, &self.stored, bounds).map_err(|why| self.unreadable(&why))
    }

    fn accepts_stored_bytes(&self, said: &ChunkRef) -> bool {
        u64::try_from(self.stored.len()).is_ok_and(|bytes| said.accepts_stored_bytes(bytes))
    }

    fn verified(self) -> Verified {
        let Self { hash, stored, is_published } = self;
        Verified { hash, stored, is_published }
    }

    fn fault(&self, why: &str) -> ImportFault {
        ImportFault::Unreadable { hash: self.hash, why: why.to_owned() }
    }

    fn unreadable(&self, why: &SnapshotError) -> ImportFault {
        ImportFault::unreadable(self.hash, why)
    }
}
