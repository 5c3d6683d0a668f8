//! Encodes and decodes lists of integers whose length is known: numbers, lengths, codes and row
//! gaps. A list with only one integer is stored unchanged. A longer list may first be transformed
//! to deltas or deltas of deltas. It is then stored in a layout: as a constant, varints, bit-packed
//! blocks or byte planes. The encoder chooses the combination of transform and layout with the
//! smallest estimated size.

mod integer_range;
mod layout;
mod transform;

use super::bytes::{ChunkReader, write_signed_varint};
use super::error::UnreadableChunk;
use super::estimate::{self, EncodingCandidate};
use layout::{IntegerBlocks, Layout};
use transform::{Transform, TransformedIntegers};

/// An `f64` represents all integers up to this magnitude exactly.
pub(super) const MAX_INTEGER: i64 = (1 << 53) - 1;

/// First byte of a list: the transform in the lowest bits, and the layout in the bits above.
const TRANSFORM_MASK: u8 = 0x03;
const LAYOUT_SHIFT: u8 = 2;

/// Encodes integers of magnitude at most [`MAX_INTEGER`]. Returns their estimated compressed size.
pub(super) fn write_integers(output: &mut Vec<u8>, values: &[i64]) -> usize {
    const SINGLE_VALUE_SIZE: usize = 2;
    if values.len() < 2 {
        for value in values {
            write_signed_varint(output, *value);
        }
        return SINGLE_VALUE_SIZE;
    }
    let transform = transform::choose_transform(values);
    let mut smallest = encode_with_transform(values, transform);
    // Also try the untransformed integers. If the distribution of values is skewed, deltas may need
    // fewer bits but have a higher entropy.
    if transform != Transform::None {
        let untransformed = encode_with_transform(values, Transform::None);
        if untransformed.estimated_size < smallest.estimated_size {
            smallest = untransformed;
        }
    }
    output.extend_from_slice(&smallest.bytes);
    smallest.estimated_size
}

fn encode_with_transform(values: &[i64], transform: Transform) -> EncodingCandidate {
    let TransformedIntegers { leading_integers, body } = transform.apply(values);
    let blocks = IntegerBlocks::of(&body);
    let mut smallest = EncodingCandidate { bytes: Vec::new(), estimated_size: usize::MAX };
    for layout in blocks.candidate_layouts() {
        let mut bytes = head_of_list(transform, *layout, &leading_integers);
        let head_bytes = bytes.len();
        layout.write(&mut bytes, &blocks);
        let body_bytes = bytes.get(head_bytes..).unwrap_or_default();
        let estimated_size = head_bytes + estimate::estimate_compressed_size(body_bytes);
        if estimated_size < smallest.estimated_size {
            smallest = EncodingCandidate { bytes, estimated_size };
        }
    }
    if !blocks.are_equal() {
        let mut bytes = head_of_list(transform, Layout::Planes, &leading_integers);
        let estimated_size = bytes.len() + blocks.estimate_size_of_planes();
        if estimated_size < smallest.estimated_size {
            Layout::Planes.write(&mut bytes, &blocks);
            smallest = EncodingCandidate { bytes, estimated_size };
        }
    }
    smallest
}

/// Returns the bytes in front of the layout of a list.
fn head_of_list(transform: Transform, layout: Layout, leading_integers: &[i64]) -> Vec<u8> {
    let mut bytes = vec![transform.number() | layout.number() << LAYOUT_SHIFT];
    for leading_integer in leading_integers {
        write_signed_varint(&mut bytes, *leading_integer);
    }
    bytes
}

/// Returns what `to_values` makes of the integers. The caller must have checked `count`, because memory
/// is reserved for all integers.
pub(super) fn map_integers<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    to_values: impl FnOnce(&[i64]) -> Vec<T>,
) -> Result<Vec<T>, UnreadableChunk> {
    let out_of_range = UnreadableChunk::Malformed("an integer is out of range");
    map_between(reader, count, (-MAX_INTEGER, MAX_INTEGER), out_of_range, to_values)
}

/// `range` must contain 0.
fn map_between<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    (min, max): (i64, i64),
    out_of_range: UnreadableChunk,
    to_values: impl FnOnce(&[i64]) -> Vec<T>,
) -> Result<Vec<T>, UnreadableChunk> {
    let mut integers = reader.take_integers();
    integers.reserve(count);
    if count < 2 {
        read_varints(reader, &mut integers, count)?;
    } else {
        read_transformed_integers(reader, &mut integers, count)?;
    }
    if !are_between(&integers, min, max) {
        return Err(out_of_range);
    }
    let values = to_values(&integers);
    reader.reuse_integers(integers);
    Ok(values)
}

/// Returns whether all values are in a range that contains 0. Differences to its ends are negative
/// exactly for the values outside. The loop has no branch, so that processors compute several at once.
fn are_between(values: &[i64], min: i64, max: i64) -> bool {
    let differences = |value: i64| value.wrapping_sub(min) | max.wrapping_sub(value);
    values.iter().fold(0, |any, value| any | differences(*value)) >= 0
}

fn read_varints(
    reader: &mut ChunkReader<'_>,
    values: &mut Vec<i64>,
    count: usize,
) -> Result<(), UnreadableChunk> {
    for _ in 0..count {
        values.push(reader.read_signed_varint()?);
    }
    Ok(())
}

fn read_transformed_integers(
    reader: &mut ChunkReader<'_>,
    values: &mut Vec<i64>,
    count: usize,
) -> Result<(), UnreadableChunk> {
    let unknown_encoding = UnreadableChunk::Malformed("a list of integers has an unknown encoding");
    let encoding_byte = reader.read_byte()?;
    let transform =
        Transform::from_number(encoding_byte & TRANSFORM_MASK).ok_or(unknown_encoding)?;
    let layout = Layout::from_number(encoding_byte >> LAYOUT_SHIFT).ok_or(unknown_encoding)?;
    let leading_count = transform.leading_integer_count().min(count);
    read_varints(reader, values, leading_count)?;
    layout.read(reader, values, count - leading_count)?;
    transform.undo(values);
    Ok(())
}

/// Returns the estimated compressed size.
pub(super) fn write_lengths(output: &mut Vec<u8>, lengths: impl Iterator<Item = usize>) -> usize {
    let values: Vec<i64> =
        lengths.map(|length| i64::try_from(length).unwrap_or(i64::MAX)).collect();
    write_integers(output, &values)
}

pub(super) fn read_unsigned_integers(
    reader: &mut ChunkReader<'_>,
    count: usize,
    max: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    map_unsigned_integers(reader, count, max, |integer| integer)
}

/// Returns what `to_value` makes of each integer, which must be from 0 to `max`.
pub(super) fn map_unsigned_integers<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    max: u32,
    to_value: impl Fn(u32) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    const LOW_BITS: i64 = u32::MAX as i64;
    let out_of_range = UnreadableChunk::Malformed("a count or code is out of range");
    map_between(reader, count, (0, i64::from(max)), out_of_range, |integers| {
        // The integers fit. The mask spares the check of each.
        let low_bits = |integer: &i64| u32::try_from(integer & LOW_BITS).unwrap_or(max);
        integers.iter().map(|integer| to_value(low_bits(integer))).collect()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round(values: &[i64]) -> usize {
        let mut bytes = Vec::new();
        write_integers(&mut bytes, values);
        let mut reader = ChunkReader::new(&bytes);
        assert_eq!(map_integers(&mut reader, values.len(), <[_]>::to_vec).unwrap(), values);
        assert_eq!(reader.unread_byte_count(), 0);
        bytes.len()
    }

    proptest! {
        #[test]
        fn integers_read_back(
            values in proptest::collection::vec(-MAX_INTEGER..=MAX_INTEGER, 0..40),
            shift in 0..54_u32,
            repeat in 1..60_usize,
        ) {
            let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
            round(&values);
            round(&values.repeat(repeat));
        }

        #[test]
        fn any_bytes_are_integers_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            count in 0..5_000_usize,
        ) {
            if let Ok(values) = map_integers(&mut ChunkReader::new(&bytes), count, <[_]>::to_vec) {
                prop_assert_eq!(values.len(), count);
            }
        }
    }

    #[test]
    fn the_extremes_read_back_in_every_transform() {
        let alternating: Vec<i64> = (0..3_000)
            .map(|index| if index % 2 == 0 { MAX_INTEGER } else { -MAX_INTEGER })
            .collect();
        for transform in [Transform::None, Transform::Differences, Transform::SecondDifferences] {
            let bytes = encode_with_transform(&alternating, transform).bytes;
            let mut reader = ChunkReader::new(&bytes);
            assert_eq!(
                map_integers(&mut reader, alternating.len(), <[_]>::to_vec).unwrap(),
                alternating
            );
        }
        round(&alternating);
    }

    #[test]
    fn integers_out_of_range_are_refused() {
        let written = |value| {
            let mut bytes = Vec::new();
            write_signed_varint(&mut bytes, value);
            bytes
        };
        for (value, is_in_range) in [
            (MAX_INTEGER, true),
            (MAX_INTEGER + 1, false),
            (-MAX_INTEGER, true),
            (-MAX_INTEGER - 1, false),
            (i64::MAX, false),
            (i64::MIN, false),
        ] {
            let read = map_integers(&mut ChunkReader::new(&written(value)), 1, <[_]>::to_vec);
            assert_eq!(read.is_ok(), is_in_range, "{value}");
        }
        for (value, max, expected) in [
            (0, 0, Some(0)),
            (1, 0, None),
            (-1, 5, None),
            (i64::from(u32::MAX), u32::MAX, Some(u32::MAX)),
            (i64::from(u32::MAX) + 1, u32::MAX, None),
            (i64::MIN, u32::MAX, None),
            (i64::MAX, u32::MAX, None),
        ] {
            let read = read_unsigned_integers(&mut ChunkReader::new(&written(value)), 1, max);
            assert_eq!(read.ok(), expected.map(|value| vec![value]), "{value}");
        }
    }

    #[test]
    fn regular_integers_take_next_to_nothing() {
        let rising: Vec<i64> = (1_000_000..1_010_000).collect();
        assert!(round(&rising) < 8);
        assert!(round(&[-7; 10_000]) < 4);
        let squares: Vec<i64> = (0..10_000).map(|number| number * number).collect();
        assert!(round(&squares) < 8);
        assert_eq!(round(&[5]), 1);
    }
}
