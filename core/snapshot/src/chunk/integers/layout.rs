//! Layouts of integer lists.

use super::integer_range::IntegerRange;
use crate::chunk::bit_packing::{self, MAX_BLOCK_LENGTH};
use crate::chunk::byte_planes::{self, numbers_of_planes};
use crate::chunk::bytes::{ChunkReader, signed_varint_byte_length, write_signed_varint};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate;
use crate::saturate::to_usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A single integer, to which all integers of the list are equal.
    Constant = 0,
    Varints = 1,
    /// Blocks of at most `MAX_BLOCK_LENGTH` integers. A block consists of its minimum, a bit width,
    /// and the bit-packed offsets of its integers from the minimum.
    Packed = 2,
    /// The minimum, a width in bytes, and the byte planes of the offsets from the minimum. The
    /// first plane contains the lowest byte of every offset, the second plane the second byte, and
    /// so on.
    Planes = 3,
}

/// Maximum list length for which storing each integer as a varint is tried.
const MAX_VARINTS_LENGTH: usize = 64;

/// A list of integers, and the ranges of its blocks.
pub(super) struct IntegerBlocks<'a> {
    integers: &'a [i64],
    block_ranges: Vec<IntegerRange>,
    /// Range of all integers.
    range: IntegerRange,
}

impl<'a> IntegerBlocks<'a> {
    pub(super) fn of(integers: &'a [i64]) -> Self {
        let blocks = integers.chunks(MAX_BLOCK_LENGTH);
        let block_ranges: Vec<IntegerRange> = blocks.map(IntegerRange::of).collect();
        let range = block_ranges.iter().copied().fold(IntegerRange::EMPTY, IntegerRange::joined);
        Self { integers, block_ranges, range }
    }

    pub(super) fn are_equal(&self) -> bool {
        self.range.offset_bits() == 0
    }

    /// Returns the layouts other than planes that may be the smallest one.
    pub(super) fn candidate_layouts(&self) -> &'static [Layout] {
        if self.are_equal() {
            &[Layout::Constant]
        } else if self.integers.len() <= MAX_VARINTS_LENGTH {
            &[Layout::Varints, Layout::Packed]
        } else {
            &[Layout::Packed]
        }
    }

    fn plane_count(&self) -> u32 {
        self.range.offset_bits().div_ceil(8)
    }

    fn plane_byte(&self, integer: i64, plane_index: u32) -> u8 {
        byte_planes::plane_byte(integer.wrapping_sub(self.range.min).cast_unsigned(), plane_index)
    }

    /// Estimates the compressed size of the layout [`Layout::Planes`]. Each plane is estimated
    /// separately, because the statistics of planes differ.
    pub(super) fn estimate_size_of_planes(&self) -> usize {
        const PLANE_COUNT_SIZE: usize = 1;
        let min_size = signed_varint_byte_length(self.range.min);
        let plane_size = |plane_index| {
            let byte_of = |integer: &i64| self.plane_byte(*integer, plane_index);
            estimate::estimate_compressed_plane(self.integers, byte_of)
        };
        let planes_size: usize = (0..self.plane_count()).map(plane_size).sum();
        // Penalize byte planes by 1/63 of their size, because bit packing decodes faster.
        (min_size + PLANE_COUNT_SIZE + planes_size) * 64 / 63
    }
}

impl Layout {
    pub(super) fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        let layouts = [Self::Constant, Self::Varints, Self::Packed, Self::Planes];
        layouts.into_iter().find(|layout| layout.number() == number)
    }

    pub(super) fn write(self, output: &mut Vec<u8>, blocks: &IntegerBlocks<'_>) {
        match self {
            Self::Constant => {
                if let Some(integer) = blocks.integers.first() {
                    write_signed_varint(output, *integer);
                }
            }
            Self::Varints => {
                for integer in blocks.integers {
                    write_signed_varint(output, *integer);
                }
            }
            Self::Packed => {
                let integers = blocks.integers.chunks(MAX_BLOCK_LENGTH);
                for (block, range) in integers.zip(&blocks.block_ranges) {
                    write_packed_block(output, block, *range);
                }
            }
            Self::Planes => write_planes(output, blocks),
        }
    }

    pub(super) fn read(
        self,
        reader: &mut ChunkReader<'_>,
        values: &mut Vec<i64>,
        count: usize,
    ) -> Result<(), UnreadableChunk> {
        match self {
            Self::Constant if count == 0 => Ok(()),
            Self::Constant => {
                values.resize(values.len() + count, reader.read_signed_varint()?);
                Ok(())
            }
            Self::Varints => super::read_varints(reader, values, count),
            Self::Packed => read_packed_blocks(reader, values, count),
            Self::Planes => read_planes(reader, values, count),
        }
    }
}

fn write_packed_block(output: &mut Vec<u8>, block: &[i64], range: IntegerRange) {
    let bit_width = range.offset_bits();
    write_signed_varint(output, range.min);
    output.push(u8::try_from(bit_width).unwrap_or(u8::MAX));
    output.reserve(bit_packing::packed_byte_length(block.len(), bit_width));
    bit_packing::pack_integers(output, block, range.min, bit_width);
}

fn read_packed_blocks(
    reader: &mut ChunkReader<'_>,
    values: &mut Vec<i64>,
    count: usize,
) -> Result<(), UnreadableChunk> {
    for block_start in (0..count).step_by(MAX_BLOCK_LENGTH) {
        let block_length = MAX_BLOCK_LENGTH.min(count - block_start);
        let min = reader.read_signed_varint()?;
        let bit_width = u32::from(reader.read_byte()?);
        let packed_bytes =
            reader.read_bytes(bit_packing::packed_byte_length(block_length, bit_width))?;
        bit_packing::unpack_integers(values, packed_bytes, block_length, min, bit_width)?;
    }
    Ok(())
}

fn write_planes(output: &mut Vec<u8>, blocks: &IntegerBlocks<'_>) {
    let plane_count = blocks.plane_count();
    write_signed_varint(output, blocks.range.min);
    output.push(u8::try_from(plane_count).unwrap_or(u8::MAX));
    output.reserve(blocks.integers.len().saturating_mul(to_usize(plane_count)));
    for plane_index in 0..plane_count {
        let integers = blocks.integers.iter();
        output.extend(integers.map(|integer| blocks.plane_byte(*integer, plane_index)));
    }
}

fn read_planes(
    reader: &mut ChunkReader<'_>,
    values: &mut Vec<i64>,
    count: usize,
) -> Result<(), UnreadableChunk> {
    /// Second differences have the greatest offsets. They are at most 8 times `MAX_INTEGER`, and
    /// therefore take at most 7 bytes.
    const MAX_PLANES: u8 = 7;
    let min = reader.read_signed_varint()?;
    let plane_count = reader.read_byte()?;
    if plane_count > MAX_PLANES {
        return Err(UnreadableChunk::Malformed("integers have too many bytes"));
    }
    let plane_bytes = reader.read_bytes(count.saturating_mul(usize::from(plane_count)))?;
    let offsets = numbers_of_planes(plane_bytes, count);
    values.extend(offsets.into_iter().map(|offset| min.wrapping_add(offset.cast_signed())));
    Ok(())
}
