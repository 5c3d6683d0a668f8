//! Layouts of integer lists.

use crate::chunk::bit_packing::{self, BLOCK};
use crate::chunk::bytes::{Reader, write_signed};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate;

/// Layout of an integer list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One integer, to which all integers of the list are equal.
    Constant,
    /// Each integer as a varint.
    Each,
    /// Blocks of at most `BLOCK` integers. Each block consists of its minimum, a bit width, and the
    /// bit-packed offsets from the minimum.
    Packed,
    /// The minimum, a width in bytes, and the offsets from the minimum as byte planes: the lowest
    /// byte of every offset first, then the second byte, and so on.
    Planes,
}

/// Maximum list length for which the layout `Each` is tried.
const MAX_EACH: usize = 64;

/// Returns the layouts worth trying.
pub(super) fn candidate_layouts(values: &[i64]) -> &'static [Layout] {
    let are_equal = values.first().is_none_or(|first| values.iter().all(|value| value == first));
    match values.len() {
        _ if are_equal => &[Layout::Constant],
        0..=MAX_EACH => &[Layout::Each, Layout::Packed, Layout::Planes],
        _ => &[Layout::Packed, Layout::Planes],
    }
}

impl Layout {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Constant => 0,
            Self::Each => 1,
            Self::Packed => 2,
            Self::Planes => 3,
        }
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        let all = [Self::Constant, Self::Each, Self::Packed, Self::Planes];
        all.into_iter().find(|layout| layout.number() == number)
    }

    pub(super) fn write(self, out: &mut Vec<u8>, values: &[i64]) {
        match self {
            Self::Constant => {
                if let Some(value) = values.first() {
                    write_signed(out, *value);
                }
            }
            Self::Each => values.iter().for_each(|value| write_signed(out, *value)),
            Self::Packed => values.chunks(BLOCK).for_each(|block| {
                let (min, range) = min_and_range(block);
                let width = bit_packing::width(range);
                write_signed(out, min);
                out.push(u8::try_from(width).unwrap_or(u8::MAX));
                out.reserve(bit_packing::packed_len(block.len(), width));
                bit_packing::pack(out, block, min, width);
            }),
            Self::Planes => write_planes(out, values),
        }
    }

    /// Estimates the compressed size of the encoded bytes. Planes are estimated separately because
    /// their statistics differ.
    pub(super) fn estimate_cost(self, bytes: &[u8], count: usize) -> usize {
        match self {
            // A 1/63 penalty favors bit packing, which decodes faster than planes.
            Self::Planes => estimate::packed_planes(bytes, count) * 64 / 63,
            _ => estimate::packed_bytes(bytes),
        }
    }

    /// Decodes `count` integers and appends them to `values`.
    pub(super) fn read(
        self,
        reader: &mut Reader<'_>,
        values: &mut Vec<i64>,
        count: usize,
    ) -> Result<(), UnreadableChunk> {
        match self {
            Self::Constant if count == 0 => {}
            Self::Constant => values.resize(values.len() + count, reader.signed()?),
            Self::Each => {
                for _ in 0..count {
                    values.push(reader.signed()?);
                }
            }
            Self::Packed => {
                for first in (0..count).step_by(BLOCK) {
                    let block = BLOCK.min(count - first);
                    let min = reader.signed()?;
                    let width = u32::from(reader.byte()?);
                    let bytes = reader.bytes(bit_packing::packed_len(block, width))?;
                    bit_packing::unpack(values, bytes, block, min, width)?;
                }
            }
            Self::Planes => read_planes(reader, values, count)?,
        }
        Ok(())
    }
}

/// Returns the minimum and the range (maximum minus minimum).
fn min_and_range(values: &[i64]) -> (i64, u64) {
    let bounds = |(min, max): (i64, i64), value: &i64| (min.min(*value), max.max(*value));
    let (min, max) = values.iter().fold((i64::MAX, i64::MIN), bounds);
    (min, max.abs_diff(min))
}

fn write_planes(out: &mut Vec<u8>, values: &[i64]) {
    let (min, range) = min_and_range(values);
    let planes = bit_packing::width(range).div_ceil(8);
    write_signed(out, min);
    out.push(u8::try_from(planes).unwrap_or(u8::MAX));
    out.reserve(values.len().saturating_mul(usize::try_from(planes).unwrap_or(0)));
    for plane in 0..planes {
        let plane_byte = |value: &i64| {
            let difference = value.wrapping_sub(min).cast_unsigned() >> (8 * plane);
            difference.to_le_bytes()[0]
        };
        out.extend(values.iter().map(plane_byte));
    }
}

fn read_planes(
    reader: &mut Reader<'_>,
    values: &mut Vec<i64>,
    count: usize,
) -> Result<(), UnreadableChunk> {
    let min = reader.signed()?;
    let planes = reader.byte()?;
    if planes > 7 {
        return Err(UnreadableChunk::Malformed("integers have too many bytes"));
    }
    let first = values.len();
    values.resize(first + count, min);
    for plane in 0..planes {
        let bytes = reader.bytes(count)?;
        let values = values.get_mut(first..).unwrap_or_default();
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = value.wrapping_add(i64::from(*byte) << (8 * plane));
        }
    }
    Ok(())
}
