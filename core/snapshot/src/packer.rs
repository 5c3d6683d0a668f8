//! Determines which snapshot parts are stored inline in the root and which become chunks.

use std::collections::HashSet;

use minicbor::Encode;

use super::cbor::{self, Kind};
use super::level::{ChunkHash, ChunkRef};
use super::packed::{Bounds, PackedObject, pack};
use crate::error::SnapshotError;
use cellar_base::limits::{
    IMPORT_INDEX_CHUNK_BYTES, IMPORT_NAMED_BYTES, INLINE_FORMATS_BYTES, INLINE_IMPORT_BYTES,
    INLINE_INDEX_BYTES, INLINE_LEVEL_0_BYTES, INLINE_LEVEL_BYTES, TARGET_CHUNK_BYTES,
};

/// Length limits of inline parts and chunks, in bytes. Lengths are uncompressed unless stated
/// otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackLimits {
    /// Maximum length of one inline part: a sheet's tile index, moves or formats.
    pub inline_bytes: usize,
    /// Maximum total length of all inline parts.
    pub inline_total_bytes: usize,
    /// Target chunk length, exceeded only by a chunk with a single item.
    pub chunk_bytes: usize,
    /// Maximum total stored length of the chunks that an inline part or a chunk may reference. A
    /// chunk with a single item may exceed this limit.
    pub named_bytes: u64,
}

/// How much a list item counts toward chunk limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight {
    /// Uncompressed item length in bytes.
    pub(super) bytes: usize,
    /// Total stored length of the chunks that the item references, in bytes.
    pub(super) named_bytes: u64,
}

impl Weight {
    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            named_bytes: self.named_bytes.saturating_add(other.named_bytes),
        }
    }

    fn plus_bytes(self, bytes: usize) -> Self {
        Self { bytes: self.bytes.saturating_add(bytes), ..self }
    }
}

impl PackLimits {
    /// Limits of a level stored in chunks.
    pub const LEVEL: Self = Self {
        inline_bytes: INLINE_INDEX_BYTES,
        inline_total_bytes: INLINE_LEVEL_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        named_bytes: u64::MAX,
    };
    /// Limits of level 0, which is stored entirely in the root, unless its axis maps or cleared
    /// regions are very large.
    pub const LEVEL_0: Self = Self {
        inline_bytes: INLINE_LEVEL_0_BYTES,
        inline_total_bytes: INLINE_LEVEL_0_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        named_bytes: u64::MAX,
    };
    /// Limits of an imported sheet's tile index, which is stored in a log entry. Chunks are short,
    /// so that the server can verify a chunk and everything it references within one request.
    pub const IMPORT: Self = Self {
        inline_bytes: INLINE_IMPORT_BYTES,
        inline_total_bytes: INLINE_IMPORT_BYTES,
        chunk_bytes: IMPORT_INDEX_CHUNK_BYTES,
        named_bytes: IMPORT_NAMED_BYTES,
    };
    /// Limits of range formats and sheet ids.
    pub const METADATA: Self = Self {
        inline_bytes: INLINE_FORMATS_BYTES,
        inline_total_bytes: INLINE_LEVEL_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        named_bytes: u64::MAX,
    };
}

/// Packs parts of a snapshot into chunks and collects the chunks to write.
pub(super) struct Packer {
    limits: PackLimits,
    /// Remaining space for inline parts in the root, in bytes.
    available_bytes: usize,
    objects: Vec<PackedObject>,
    written: HashSet<ChunkHash>,
}

impl Packer {
    pub(super) fn new(limits: PackLimits) -> Self {
        let available_bytes = limits.inline_total_bytes;
        Self { limits, available_bytes, objects: Vec::new(), written: HashSet::new() }
    }

    /// Returns the chunks to write, each after the chunks that it references.
    pub(super) fn into_objects(self) -> Vec<PackedObject> {
        self.objects
    }

    /// Returns whether a part is small enough to be stored inline, and reserves the space if so.
    pub(super) fn reserve_inline<T: Encode<()>>(&mut self, part: &T) -> bool {
        self.reserve_inline_naming(part, 0)
    }

    /// Like [`Packer::reserve_inline`], but for a part that references chunks with a total stored
    /// length of `named_bytes`.
    pub(super) fn reserve_inline_naming<T: Encode<()>>(
        &mut self,
        part: &T,
        named_bytes: u64,
    ) -> bool {
        let bytes = cbor::encoded_bytes(part);
        let fits = bytes <= self.limits.inline_bytes
            && bytes <= self.available_bytes
            && named_bytes <= self.limits.named_bytes;
        if fits {
            self.available_bytes = self.available_bytes.saturating_sub(bytes);
        }
        fits
    }

    /// Returns whether a part that references `named_bytes` of chunks fits into a chunk.
    pub(super) fn fits_chunk<T: Encode<()>>(&self, part: &T, named_bytes: u64) -> bool {
        cbor::encoded_bytes(part) <= self.limits.chunk_bytes
            && named_bytes <= self.limits.named_bytes
    }

    /// Packs a chunk and returns a reference to it. Identical chunks are written only once.
    pub(super) fn pack_chunk<T: Encode<()>>(
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

    /// Splits a list into one group per chunk, each as large as the limits allow. `frame_bytes` is
    /// the CBOR overhead of a list and of each item.
    pub(super) fn split_into_chunks<T>(
        &self,
        list: impl IntoIterator<Item = T>,
        frame_bytes: usize,
        weight: impl Fn(&T) -> Weight,
    ) -> Vec<Vec<T>> {
        let empty = Weight { bytes: frame_bytes, named_bytes: 0 };
        let mut groups = Vec::new();
        let mut group = Vec::new();
        let mut group_weight = empty;
        for item in list {
            let item_weight = weight(&item).plus_bytes(frame_bytes);
            if !group.is_empty() && self.exceeds_chunk(group_weight.plus(item_weight)) {
                groups.push(std::mem::take(&mut group));
                group_weight = empty;
            }
            group_weight = group_weight.plus(item_weight);
            group.push(item);
        }
        if !group.is_empty() {
            groups.push(group);
        }
        groups
    }

    fn exceeds_chunk(&self, weight: Weight) -> bool {
        weight.bytes > self.limits.chunk_bytes || weight.named_bytes > self.limits.named_bytes
    }
}
