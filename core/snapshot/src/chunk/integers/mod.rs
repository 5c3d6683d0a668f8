//! Encodes and decodes lists of integers whose length is known: numbers, lengths, codes and row
//! gaps. A list with only one integer is stored unchanged. A longer list may first be transformed
//! to deltas or deltas of deltas. It is then stored in a layout: as a constant, varints, bit-packed
//! blocks or byte planes. The encoder chooses the combination of transform and layout with the
//! smallest estimated size.

mod layout;
mod transform;

use super::bytes::{ChunkReader, write_signed_varint};
use super::error::UnreadableChunk;
use super::estimate::EncodingCandidate;
use layout::Layout;
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
    let transformed = transform.apply(values);
    let layouts = layout::candidate_layouts(&transformed.body);
    let candidates =
        layouts.iter().map(|layout| encode_with_layout(&transformed, transform, *layout));
    let smallest = candidates.min_by_key(|candidate| candidate.estimated_size);
    smallest.unwrap_or_else(|| encode_with_layout(&transformed, transform, Layout::Varints))
}

fn encode_with_layout(
    transformed: &TransformedIntegers<'_>,
    transform: Transform,
    layout: Layout,
) -> EncodingCandidate {
    /// Maximum number of bytes that precede the layout of a list.
    const MAX_HEAD_BYTES: usize = 32;
    let mut bytes = Vec::with_capacity(MAX_HEAD_BYTES.saturating_add(transformed.body.len()));
    bytes.push(transform.number() | layout.number() << LAYOUT_SHIFT);
    for leading_integer in &transformed.leading_integers {
        write_signed_varint(&mut bytes, *leading_integer);
    }
    let head_bytes = bytes.len();
    layout.write(&mut bytes, &transformed.body);
    let body_bytes = bytes.get(head_bytes..).unwrap_or_default();
    let body_size = layout.estimate_compressed_size(body_bytes, transformed.body.len());
    EncodingCandidate { bytes, estimated_size: head_bytes + body_size }
}

/// The caller must have checked `count`, because memory is reserved for all integers.
pub(super) fn read_integers(
    reader: &mut ChunkReader<'_>,
    count: usize,
) -> Result<Vec<i64>, UnreadableChunk> {
    let mut values = Vec::with_capacity(count);
    if count < 2 {
        read_varints(reader, &mut values, count)?;
    } else {
        read_transformed_integers(reader, &mut values, count)?;
    }
    // A loop without branches is faster than a loop that stops at the first integer out of range.
    let greatest_magnitude =
        values.iter().fold(0, |greatest: u64, value| greatest.max(value.unsigned_abs()));
    if greatest_magnitude > MAX_INTEGER.unsigned_abs() {
        return Err(UnreadableChunk::Malformed("an integer is out of range"));
    }
    Ok(values)
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
    let values = read_integers(reader, count)?;
    // Check the range in a second loop, because two loops without branches are faster than one loop
    // with branches.
    let is_in_range = |value: &i64| (0..=i64::from(max)).contains(value);
    let are_all_in_range =
        values.iter().fold(true, |are_in_range, value| are_in_range & is_in_range(value));
    if !are_all_in_range {
        return Err(UnreadableChunk::Malformed("a count or code is out of range"));
    }
    Ok(values.into_iter().map(|value| u32::try_from(value).unwrap_or(u32::MAX)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round(values: &[i64]) -> usize {
        let mut bytes = Vec::new();
        write_integers(&mut bytes, values);
        let mut reader = ChunkReader::new(&bytes);
        assert_eq!(read_integers(&mut reader, values.len()).unwrap(), values);
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
            if let Ok(values) = read_integers(&mut ChunkReader::new(&bytes), count) {
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
            assert_eq!(read_integers(&mut reader, alternating.len()).unwrap(), alternating);
        }
        round(&alternating);
        let mut bytes = Vec::new();
        write_signed_varint(&mut bytes, MAX_INTEGER + 1);
        assert!(read_integers(&mut ChunkReader::new(&bytes), 1).is_err());
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
