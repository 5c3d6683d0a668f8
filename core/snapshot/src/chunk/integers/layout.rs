//! How integers stand in the bytes.

use crate::chunk::bit_packing::{self, BLOCK};
use crate::chunk::bytes::{Reader, write_signed};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate;

/// How integers are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// All are equal: one.
    Constant,
    /// One by one, 7 bits a byte.
    Each,
    /// Blocks of 1,024: the least, a width, and what each is above the least, packed.
    Packed,
    /// The least, a width in bytes, and what each is above it: the low bytes of all, and so on.
    Planes,
}

/// More integers than this are not written one by one.
const MOST_EACH: usize = 64;

/// The layouts that may be the smallest.
pub(super) fn worth_trying(values: &[i64]) -> &'static [Layout] {
    let equal = values.first().is_none_or(|first| values.iter().all(|value| value == first));
    match values.len() {
        _ if equal => &[Layout::Constant],
        0..=MOST_EACH => &[Layout::Each, Layout::Packed, Layout::Planes],
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
                values.first().into_iter().for_each(|value| write_signed(out, *value));
            }
            Self::Each => values.iter().for_each(|value| write_signed(out, *value)),
            Self::Packed => values.chunks(BLOCK).for_each(|block| {
                let (least, range) = least_and_range(block);
                let width = bit_packing::width(range);
                write_signed(out, least);
                out.push(u8::try_from(width).unwrap_or(u8::MAX));
                out.reserve(bit_packing::packed_len(block.len(), width));
                bit_packing::pack(out, block, least, width);
            }),
            Self::Planes => write_planes(out, values),
        }
    }

    /// What its bytes will take compressed: planes differ too much to be counted together.
    pub(super) fn cost(self, bytes: &[u8], count: usize) -> usize {
        match self {
            // Packed bits are quicker to read: what is hardly smaller is not worth it.
            Self::Planes => estimate::packed_planes(bytes, count) * 64 / 63,
            _ => estimate::packed_bytes(bytes),
        }
    }

    /// Adds `count` integers to `values`.
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
                    let least = reader.signed()?;
                    let width = u32::from(reader.byte()?);
                    let bytes = reader.bytes(bit_packing::packed_len(block, width))?;
                    bit_packing::unpack(values, bytes, block, least, width)?;
                }
            }
            Self::Planes => read_planes(reader, values, count)?,
        }
        Ok(())
    }
}

fn least_and_range(values: &[i64]) -> (i64, u64) {
    let bounds = |(least, most): (i64, i64), value: &i64| (least.min(*value), most.max(*value));
    let (least, most) = values.iter().fold((i64::MAX, i64::MIN), bounds);
    (least, most.abs_diff(least))
}

fn write_planes(out: &mut Vec<u8>, values: &[i64]) {
    let (least, range) = least_and_range(values);
    let planes = bit_packing::width(range).div_ceil(8);
    write_signed(out, least);
    out.push(u8::try_from(planes).unwrap_or(u8::MAX));
    out.reserve(values.len().saturating_mul(usize::try_from(planes).unwrap_or(0)));
    for plane in 0..planes {
        let byte = |value: &i64| {
            let above = value.wrapping_sub(least).cast_unsigned() >> (8 * plane);
            above.to_le_bytes()[0]
        };
        out.extend(values.iter().map(byte));
    }
}

fn read_planes(
    reader: &mut Reader<'_>,
    values: &mut Vec<i64>,
    count: usize,
) -> Result<(), UnreadableChunk> {
    let least = reader.signed()?;
    let planes = reader.byte()?;
    if planes > 7 {
        return Err(UnreadableChunk::Malformed("integers have too many bytes"));
    }
    let first = values.len();
    values.resize(first + count, least);
    for plane in 0..planes {
        let bytes = reader.bytes(count)?;
        let values = values.get_mut(first..).unwrap_or_default();
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = value.wrapping_add(i64::from(*byte) << (8 * plane));
        }
    }
    Ok(())
}
