//! What stays in a root, and what becomes a chunk of its own.

use std::collections::HashSet;

use minicbor::Encode;

use super::SnapshotError;
use super::cbor::{self, Kind};
use super::level::{ChunkHash, ChunkRef};
use super::packed::{Bounds, PackedObject, pack};
use cellar_base::limits::{
    IMPORT_INDEX_CHUNK_BYTES, IMPORT_NAMED_BYTES, INLINE_FORMATS_BYTES, INLINE_IMPORT_BYTES,
    INLINE_INDEX_BYTES, INLINE_LEVEL_0_BYTES, INLINE_LEVEL_BYTES, TARGET_CHUNK_BYTES,
};

/// How much stays in the root, and how long chunks become; all in bytes before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackLimits {
    /// Of one sheet's index, of its moves, or of its formats, in the root.
    pub inline_bytes: usize,
    /// Of all sheets together in the root.
    pub inline_total_bytes: usize,
    /// Of a chunk, unless a single element of it is longer.
    pub chunk_bytes: usize,
    /// Of all chunks, as stored, that are named by something in the root, or by one chunk unless a
    /// single element of it names more.
    pub named_bytes: u64,
}

/// How much something takes in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight {
    /// Its own bytes before compression.
    pub(super) bytes: usize,
    /// Bytes of the chunks that it names, as stored.
    pub(super) named_bytes: u64,
}

impl PackLimits {
    /// Of a level.
    pub const LEVEL: Self = Self {
        inline_bytes: INLINE_INDEX_BYTES,
        inline_total_bytes: INLINE_LEVEL_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        named_bytes: u64::MAX,
    };
    /// Of level 0: all of it in the root, unless its maps or its clears are very large.
    pub const LEVEL_0: Self = Self {
        inline_bytes: INLINE_LEVEL_0_BYTES,
        inline_total_bytes: INLINE_LEVEL_0_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        named_bytes: u64::MAX,
    };
    /// Of an imported sheet, in an entry of the log. Its chunks are short, so that each can be checked
    /// with all that it names in one request.
    pub const IMPORT: Self = Self {
        inline_bytes: INLINE_IMPORT_BYTES,
        inline_total_bytes: INLINE_IMPORT_BYTES,
        chunk_bytes: IMPORT_INDEX_CHUNK_BYTES,
        named_bytes: IMPORT_NAMED_BYTES,
    };
    /// Of the formats of ranges, and of the numbers of sheets.
    pub const AROUND: Self = Self {
        inline_bytes: INLINE_FORMATS_BYTES,
        inline_total_bytes: INLINE_LEVEL_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        named_bytes: u64::MAX,
    };
}

/// Collects the chunks that something is packed into.
pub(super) struct Packer {
    limits: PackLimits,
    /// What is left of the bytes that may stay in the root.
    left_bytes: usize,
    objects: Vec<PackedObject>,
    written: HashSet<ChunkHash>,
}

impl Packer {
    pub(super) fn new(limits: PackLimits) -> Self {
        let left_bytes = limits.inline_total_bytes;
        Self { limits, left_bytes, objects: Vec::new(), written: HashSet::new() }
    }

    /// The chunks to write, those first that others refer to.
    pub(super) fn into_objects(self) -> Vec<PackedObject> {
        self.objects
    }

    /// Whether something small stays in the root; then it takes its part of the bytes.
    pub(super) fn stays<T: Encode<()>>(&mut self, part: &T) -> bool {
        self.stays_naming(part, 0)
    }

    /// The same for something that names so many bytes of chunks.
    pub(super) fn stays_naming<T: Encode<()>>(&mut self, part: &T, named_bytes: u64) -> bool {
        let bytes = cbor::encoded_bytes(part);
        let stays = bytes <= self.limits.inline_bytes.min(self.left_bytes)
            && named_bytes <= self.limits.named_bytes;
        if stays {
            self.left_bytes = self.left_bytes.saturating_sub(bytes);
        }
        stays
    }

    /// Whether something that names so many bytes of chunks fits into a chunk with others.
    pub(super) fn fits_chunk<T: Encode<()>>(&self, part: &T, named_bytes: u64) -> bool {
        cbor::encoded_bytes(part) <= self.limits.chunk_bytes
            && named_bytes <= self.limits.named_bytes
    }

    /// Makes a chunk; equal ones are written once.
    pub(super) fn chunk<T: Encode<()>>(
        &mut self,
        kind: Kind,
        body: &T,
    ) -> Result<ChunkRef, SnapshotError> {
        let object = pack(&cbor::encode(kind, body), Bounds::CHUNK)?;
        let chunk = object.chunk;
        if self.written.insert(chunk.hash) {
            self.objects.push(object);
        }
        Ok(chunk)
    }

    /// Cuts a list into the contents of chunks, each as full as it can be; `frame_bytes` are what an
    /// item takes in a list besides its own.
    pub(super) fn cut<T>(
        &self,
        list: impl IntoIterator<Item = T>,
        frame_bytes: usize,
        weight: impl Fn(&T) -> Weight,
    ) -> Vec<Vec<T>> {
        let nothing = Weight { bytes: frame_bytes, named_bytes: 0 };
        let (mut cut, mut part, mut taken) = (Vec::new(), Vec::new(), nothing);
        for item in list {
            let item_weight = weight(&item);
            let with = |taken: Weight| Weight {
                bytes: taken.bytes.saturating_add(item_weight.bytes).saturating_add(frame_bytes),
                named_bytes: taken.named_bytes.saturating_add(item_weight.named_bytes),
            };
            let full = with(taken).bytes > self.limits.chunk_bytes
                || with(taken).named_bytes > self.limits.named_bytes;
            if !part.is_empty() && full {
                cut.push(std::mem::take(&mut part));
                taken = nothing;
            }
            taken = with(taken);
            part.push(item);
        }
        if !part.is_empty() {
            cut.push(part);
        }
        cut
    }
}
