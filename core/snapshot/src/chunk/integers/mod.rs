//! Encodes and decodes integer lists of known length: numbers, lengths, codes and row gaps.
//!
//! A single integer is stored as is. A longer list is first transformed (into deltas or deltas of
//! deltas) and then laid out as a constant, varints, bit-packed blocks or byte planes. The encoder
//! chooses the combination with the smallest estimated size.

mod layout;
mod transform;

use super::bytes::{Reader, write_signed};
use super::error::UnreadableChunk;
use layout::Layout;
use transform::Transform;

/// Maximum magnitude of an integer; an `f64` represents every integer up to it exactly.
pub(super) const MAX_INTEGER: i64 = (1 << 53) - 1;

/// Encodes integers of magnitude at most [`MAX_INTEGER`]. Returns their estimated compressed size.
pub(super) fn write(out: &mut Vec<u8>, values: &[i64]) -> usize {
    const SINGLE_VALUE_COST: usize = 2;
    if let [] | [_] = values {
        for value in values {
            write_signed(out, *value);
        }
        return SINGLE_VALUE_COST;
    }
    let transform = transform::choose_transform(values);
    let (mut bytes, mut cost) = encode_with(values, transform);
    // If the values are skewed, their deltas may have fewer bits but higher entropy.
    if transform != Transform::None {
        let (plain_bytes, plain_cost) = encode_with(values, Transform::None);
        if plain_cost < cost {
            (bytes, cost) = (plain_bytes, plain_cost);
        }
    }
    out.extend_from_slice(&bytes);
    cost
}

/// Maximum number of bytes before the laid-out integers.
const HEAD_BYTES: usize = 32;

/// Encodes integers with the given transform and the best layout. Returns the bytes and their
/// estimated compressed size.
fn encode_with(values: &[i64], transform: Transform) -> (Vec<u8>, usize) {
    let (heads, rest) = transform.apply(values);
    let encode_layout = |layout: Layout| {
        let mut bytes = Vec::with_capacity(HEAD_BYTES.saturating_add(rest.len()));
        bytes.push(transform.number() | layout.number() << 2);
        heads.iter().for_each(|head| write_signed(&mut bytes, *head));
        let head_bytes = bytes.len();
        layout.write(&mut bytes, &rest);
        let layout_bytes = bytes.get(head_bytes..).unwrap_or_default();
        let cost = head_bytes + layout.estimate_cost(layout_bytes, rest.len());
        (bytes, cost)
    };
    let layouts = layout::candidate_layouts(&rest);
    let best = layouts.iter().map(|layout| encode_layout(*layout)).min_by_key(|(_, cost)| *cost);
    best.unwrap_or_else(|| encode_layout(Layout::Each))
}

/// Decodes `count` integers. Reserves memory for all of them, so the caller must have checked
/// `count`.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<Vec<i64>, UnreadableChunk> {
    let mut values = Vec::with_capacity(count);
    if count < 2 {
        for _ in 0..count {
            values.push(reader.signed()?);
        }
    } else {
        let head = reader.byte()?;
        let malformed =
            UnreadableChunk::Malformed("a list of integers is encoded in an unknown form");
        let transform = Transform::from_number(head & 3).ok_or(malformed)?;
        let layout = Layout::from_number(head >> 2).ok_or(malformed)?;
        let heads = transform.heads().min(count);
        for _ in 0..heads {
            values.push(reader.signed()?);
        }
        layout.read(reader, &mut values, count - heads)?;
        transform.undo(&mut values);
    }
    let greatest = values.iter().fold(0, |most: u64, value| most.max(value.unsigned_abs()));
    if greatest > MAX_INTEGER.unsigned_abs() {
        return Err(UnreadableChunk::Malformed("an integer is out of range"));
    }
    Ok(values)
}

/// Encodes nonnegative integers. Returns their estimated compressed size.
pub(super) fn write_counts(out: &mut Vec<u8>, counts: impl Iterator<Item = usize>) -> usize {
    let values: Vec<i64> = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX)).collect();
    write(out, &values)
}

/// Decodes integers from 0 to `max`.
pub(super) fn read_counts(
    reader: &mut Reader<'_>,
    count: usize,
    max: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    let values = read(reader, count)?;
    // Two branch-free loops are faster than one loop with branches.
    let is_in_range = |value: &i64| (0..=i64::from(max)).contains(value);
    if !values.iter().fold(true, |all, value| all & is_in_range(value)) {
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
        write(&mut bytes, values);
        let mut reader = Reader::new(&bytes);
        assert_eq!(read(&mut reader, values.len()).unwrap(), values);
        assert_eq!(reader.len(), 0);
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
            if let Ok(values) = read(&mut Reader::new(&bytes), count) {
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
            let (bytes, _) = encode_with(&alternating, transform);
            let mut reader = Reader::new(&bytes);
            assert_eq!(read(&mut reader, alternating.len()).unwrap(), alternating);
        }
        round(&alternating);
        let mut bytes = Vec::new();
        write_signed(&mut bytes, MAX_INTEGER + 1);
        assert!(read(&mut Reader::new(&bytes), 1).is_err());
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
