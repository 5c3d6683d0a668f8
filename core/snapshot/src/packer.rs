//! Decides which parts of a snapshot are stored inline in the root and which parts become chunks.

use std::collections::HashSet;

use minicbor::Encode;

use super::cbor::{self, Body, Kind};
use super::level::{ChunkHash, ChunkRef};
use super::packed::{Bounds, PackedObject, pack};
use crate::error::SnapshotError;
use cellar_base::limits::{
    IMPORT_INDEX_CHUNK_BYTES, IMPORT_NAMED_BYTES, INLINE_FORMATS_BYTES, INLINE_IMPORT_BYTES,
    INLINE_INDEX_BYTES, INLINE_LEVEL_0_BYTES, INLINE_LEVEL_BYTES, TARGET_CHUNK_BYTES,
};

/// Length limits of inline parts and chunks, in bytes. Lengths are uncompressed unless they are
/// called stored lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackLimits {
    /// Maximum length of one inline part, which is a sheet's tile index, its axis maps with its
    /// cleared regions, or its formats.
    pub inline_bytes: usize,
    /// Maximum total length of all inline parts.
    pub inline_total_bytes: usize,
    /// Target length of a chunk. Only a chunk with a single item may be longer.
    pub chunk_bytes: usize,
    /// Maximum total stored length of the chunks that one inline part or chunk references. Only a
    /// chunk with a single item may exceed this limit.
    pub referenced_bytes: u64,
}

/// Both lengths count toward the limits of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight {
    /// Uncompressed item length in bytes.
    pub(super) bytes: usize,
    /// Total stored length of the chunks that the item references, in bytes.
    pub(super) referenced_bytes: u64,
}

impl Weight {
    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            referenced_bytes: self.referenced_bytes.saturating_add(other.referenced_bytes),
        }
    }

    fn plus_bytes(self, bytes: usize) -> Self {
        Self { bytes: self.bytes + bytes, ..self }
    }
}

impl PackLimits {
    /// Limits of a level that is stored in chunks.
    pub const LEVEL: Self = Self {
        inline_bytes: INLINE_INDEX_BYTES,
        inline_total_bytes: INLINE_LEVEL_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        referenced_bytes: u64::MAX,
    };
    /// Limits of level 0. It is stored entirely in the root unless its axis maps or cleared regions
    /// are very large.
    pub const LEVEL_0: Self = Self {
        inline_bytes: INLINE_LEVEL_0_BYTES,
        inline_total_bytes: INLINE_LEVEL_0_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        referenced_bytes: u64::MAX,
    };
    /// Limits of an imported sheet's tile index, which is stored in a log entry. Chunks are short,
    /// so that the server can verify a chunk and all objects that it references within one request.
    pub const IMPORT: Self = Self {
        inline_bytes: INLINE_IMPORT_BYTES,
        inline_total_bytes: INLINE_IMPORT_BYTES,
        chunk_bytes: IMPORT_INDEX_CHUNK_BYTES,
        referenced_bytes: IMPORT_NAMED_BYTES,
    };
    /// Limits of range formats and of sheet ids, both inline and in chunks.
    pub const METADATA: Self = Self {
        inline_bytes: INLINE_FORMATS_BYTES,
        inline_total_bytes: INLINE_LEVEL_BYTES,
        chunk_bytes: TARGET_CHUNK_BYTES,
        referenced_bytes: u64::MAX,
    };
}

pub(super) struct Packer {
    limits: PackLimits,
    /// Remaining space for inline parts in the root, in bytes.
    available_bytes: usize,
    objects: Vec<PackedObject>,
    packed_hashes: HashSet<ChunkHash>,
}

impl Packer {
    pub(super) fn new(limits: PackLimits) -> Self {
        let available_bytes = limits.inline_total_bytes;
        Self { limits, available_bytes, objects: Vec::new(), packed_hashes: HashSet::new() }
    }

    /// Each chunk follows the chunks that it references.
    pub(super) fn into_objects(self) -> Vec<PackedObject> {
        self.objects
    }

    /// Returns whether a part is small enough to be stored inline. If so, reserves space for the
    /// part.
    pub(super) fn reserve_inline<T: Encode<()>>(&mut self, part: &T) -> bool {
        self.reserve_inline_with_chunks(part, 0)
    }

    /// Like [`Packer::reserve_inline`], for a part that references chunks. `referenced_bytes` is
    /// the total stored length of these chunks.
    pub(super) fn reserve_inline_with_chunks<T: Encode<()>>(
        &mut self,
        part: &T,
        referenced_bytes: u64,
    ) -> bool {
        let part_bytes = cbor::encoded_byte_length(part);
        let fits_inline = part_bytes <= self.limits.inline_bytes
            && part_bytes <= self.available_bytes
            && referenced_bytes <= self.limits.referenced_bytes;
        if fits_inline {
            self.available_bytes -= part_bytes;
        }
        fits_inline
    }

    /// `referenced_bytes` is the total stored length of the chunks that the part references.
    pub(super) fn fits_chunk<T: Encode<()>>(&self, part: &T, referenced_bytes: u64) -> bool {
        let weight = Weight { bytes: cbor::encoded_byte_length(part), referenced_bytes };
        !self.exceeds_chunk(weight)
    }

    /// Identical chunks are stored only once.
    pub(super) fn pack_chunk<T: Body>(
        &mut self,
        kind: Kind,
        body: &T,
    ) -> Result<ChunkRef, SnapshotError> {
        let object = pack(&cbor::encode(kind, body), Bounds::CHUNK)?;
        let chunk = object.chunk;
        let is_new = self.packed_hashes.insert(chunk.hash);
        if is_new {
            self.objects.push(object);
        }
        Ok(chunk)
    }

    /// Each group is as large as the limits allow. `overhead_bytes` is the CBOR overhead of the
    /// list and of each item.
    pub(super) fn split_into_chunks<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        overhead_bytes: usize,
        weigh_item: impl Fn(&T) -> Weight,
    ) -> Vec<Vec<T>> {
        let empty_group_weight = Weight { bytes: overhead_bytes, referenced_bytes: 0 };
        let mut groups = Vec::new();
        let mut group = Vec::new();
        let mut group_weight = empty_group_weight;
        for item in items {
            let item_weight = weigh_item(&item).plus_bytes(overhead_bytes);
            if !group.is_empty() && self.exceeds_chunk(group_weight.plus(item_weight)) {
                groups.push(std::mem::take(&mut group));
                group_weight = empty_group_weight;
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
        weight.bytes > self.limits.chunk_bytes
            || weight.referenced_bytes > self.limits.referenced_bytes
    }
}
