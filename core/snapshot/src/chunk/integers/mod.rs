//! A row of integers whose count is known: numbers, lengths, codes, distances of rows.
//!
//! One number is written as it is. More of them are transformed (differences, differences of these)
//! and laid out (all equal, one by one, packed bits, planes of bytes), as will be smallest.

mod layout;
mod transform;

use super::bytes::{Reader, write_signed};
use super::error::UnreadableChunk;
use layout::Layout;
use transform::Transform;

/// The greatest magnitude of an integer: what an `f64` holds exactly.
pub(super) const MAX_INTEGER: i64 = (1 << 53) - 1;

/// Writes integers, each at most [`MAX_INTEGER`] in magnitude. Says what they will take compressed.
pub(super) fn write(out: &mut Vec<u8>, values: &[i64]) -> usize {
    if let [] | [_] = values {
        values.iter().for_each(|value| write_signed(out, *value));
        return 2;
    }
    let transform = transform::choose(values);
    let mut best = candidate(values, transform);
    // Differences of skewed numbers may have fewer bits and yet more entropy.
    if transform != Transform::None {
        let plain = candidate(values, Transform::None);
        if plain.1 < best.1 {
            best = plain;
        }
    }
    out.extend_from_slice(&best.0);
    best.1
}

/// Bytes before those of the layout, at most.
const HEAD_BYTES: usize = 32;

/// The bytes with a transform, and what they will take compressed.
fn candidate(values: &[i64], transform: Transform) -> (Vec<u8>, usize) {
    let (heads, rest) = transform.apply(values);
    let written = |layout: Layout| {
        let mut bytes = Vec::with_capacity(HEAD_BYTES.saturating_add(rest.len()));
        bytes.push(transform.number() | layout.number() << 2);
        heads.iter().for_each(|head| write_signed(&mut bytes, *head));
        let front = bytes.len();
        layout.write(&mut bytes, &rest);
        let cost = front + layout.cost(bytes.get(front..).unwrap_or_default(), rest.len());
        (bytes, cost)
    };
    let layouts = layout::worth_trying(&rest);
    let best = layouts.iter().map(|layout| written(*layout)).min_by_key(|(_, cost)| *cost);
    best.unwrap_or_else(|| written(Layout::Each))
}

/// Reads integers. The caller has checked `count`: so much memory is reserved.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<Vec<i64>, UnreadableChunk> {
    let mut values = Vec::with_capacity(count);
    if count < 2 {
        for _ in 0..count {
            values.push(reader.signed()?);
        }
    } else {
        let head = reader.byte()?;
        let malformed = UnreadableChunk::Malformed("a row of integers is of an unknown kind");
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

/// Writes integers that are not negative.
pub(super) fn write_counts(out: &mut Vec<u8>, counts: impl Iterator<Item = usize>) -> usize {
    let values: Vec<i64> = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX)).collect();
    write(out, &values)
}

/// Reads integers of 0 to `most`.
pub(super) fn read_counts(
    reader: &mut Reader<'_>,
    count: usize,
    most: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    let values = read(reader, count)?;
    // Two loops without a branch in them are quicker than one with.
    let within = |value: &i64| (0..=i64::from(most)).contains(value);
    if !values.iter().fold(true, |all, value| all & within(value)) {
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
        for transform in [Transform::None, Transform::Differences, Transform::Curve] {
            let (bytes, _) = candidate(&alternating, transform);
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
