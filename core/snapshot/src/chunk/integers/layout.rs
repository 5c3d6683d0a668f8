//! Layouts of integer lists.

use crate::chunk::bit_packing::{self, MAX_BLOCK_LENGTH};
use crate::chunk::byte_planes::numbers_of_planes;
use crate::chunk::bytes::{ChunkReader, write_signed_varint};
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

pub(super) fn candidate_layouts(values: &[i64]) -> &'static [Layout] {
    let are_equal = values.first().is_none_or(|first| values.iter().all(|value| value == first));
    if are_equal {
        &[Layout::Constant]
    } else if values.len() <= MAX_VARINTS_LENGTH {
        &[Layout::Varints, Layout::Packed, Layout::Planes]
    } else {
        &[Layout::Packed, Layout::Planes]
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

    pub(super) fn write(self, output: &mut Vec<u8>, values: &[i64]) {
        match self {
            Self::Constant => {
                if let Some(value) = values.first() {
                    write_signed_varint(output, *value);
                }
            }
            Self::Varints => {
                for value in values {
                    write_signed_varint(output, *value);
                }
            }
            Self::Packed => {
                for block in values.chunks(MAX_BLOCK_LENGTH) {
                    write_packed_block(output, block);
                }
            }
            Self::Planes => write_planes(output, values),
        }
    }

    /// Each plane is estimated separately, because the statistics of planes differ.
    pub(super) fn estimate_compressed_size(self, bytes: &[u8], count: usize) -> usize {
        match self {
            // Penalize byte planes by 1/63 of their size, because bit packing decodes faster.
            Self::Planes => estimate::estimate_compressed_planes(bytes, count) * 64 / 63,
            Self::Constant | Self::Varints | Self::Packed => {
                estimate::estimate_compressed_size(bytes)
            }
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

struct MinAndRange {
    min: i64,
    range: u64,
}

impl MinAndRange {
    fn of(values: &[i64]) -> Self {
        let mut min = i64::MAX;
        let mut max = i64::MIN;
        for value in values {
            min = min.min(*value);
            max = max.max(*value);
        }
        Self { min, range: max.abs_diff(min) }
    }
}

fn write_packed_block(output: &mut Vec<u8>, block: &[i64]) {
    let MinAndRange { min, range } = MinAndRange::of(block);
    let bit_width = bit_packing::significant_bits(range);
    write_signed_varint(output, min);
    output.push(u8::try_from(bit_width).unwrap_or(u8::MAX));
    output.reserve(bit_packing::packed_byte_length(block.len(), bit_width));
    bit_packing::pack_integers(output, block, min, bit_width);
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

fn write_planes(output: &mut Vec<u8>, values: &[i64]) {
    let MinAndRange { min, range } = MinAndRange::of(values);
    let plane_count = bit_packing::significant_bits(range).div_ceil(8);
    write_signed_varint(output, min);
    output.push(u8::try_from(plane_count).unwrap_or(u8::MAX));
    output.reserve(values.len().saturating_mul(to_usize(plane_count)));
    for plane_index in 0..plane_count {
        let plane_byte = |value: &i64| {
            let offset = value.wrapping_sub(min).cast_unsigned();
            (offset >> (8 * plane_index)).to_le_bytes()[0]
        };
        output.extend(values.iter().map(plane_byte));
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
