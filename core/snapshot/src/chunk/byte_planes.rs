//! Byte planes of numbers. The first plane contains the lowest byte of every number, the second
//! plane the second byte, and so on.

use super::bytes::padded_word;

/// Maximum number of planes, and the number of numbers that are read together.
const MAX_PLANES: usize = 8;
/// Steps that exchange halves, quarters and eighths of words: the distance between two words in the
/// list, and the bits that stay in the second one.
const STEPS: [(usize, u64); 3] =
    [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)];

/// Returns the byte of a number that is in a plane.
pub(super) fn plane_byte(number: u64, plane_index: u32) -> u8 {
    (number >> (8 * plane_index)).to_le_bytes()[0]
}

/// Returns the numbers whose planes are concatenated, each of `count` bytes. More than 8 planes are
/// ignored.
pub(super) fn numbers_of_planes(plane_bytes: &[u8], count: usize) -> Vec<u64> {
    let mut numbers = vec![0; count];
    let mut planes: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
    planes.iter_mut().zip(plane_bytes.chunks_exact(count.max(1))).for_each(|(plane, bytes)| {
        *plane = bytes;
    });
    for (block_index, block) in numbers.chunks_mut(MAX_PLANES).enumerate() {
        let mut words = [0; MAX_PLANES];
        for (word, plane) in words.iter_mut().zip(planes) {
            *word = word_at(plane, block_index * MAX_PLANES);
        }
        let transposed = transposed(words);
        if let Some(block) = block.as_mut_array() {
            *block = transposed;
        } else {
            block.iter_mut().zip(transposed).for_each(|(number, word)| *number = word);
        }
    }
    numbers
}

/// Returns the 8 bytes from an index on. Bytes beyond the end are 0.
fn word_at(plane: &[u8], index: usize) -> u64 {
    let bytes = plane.get(index..).unwrap_or_default();
    u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_else(|| padded_word(bytes)))
}

/// Returns words whose `i`-th bytes are those of the `i`-th given word.
fn transposed(mut words: [u64; MAX_PLANES]) -> [u64; MAX_PLANES] {
    for (distance, mask) in STEPS {
        let shift = 8 * distance;
        for pair in words.chunks_exact_mut(2 * distance) {
            let (first_half, second_half) = pair.split_at_mut(distance);
            for (first, second) in first_half.iter_mut().zip(second_half) {
                let exchanged = ((*first >> shift) ^ *second) & mask;
                *second ^= exchanged;
                *first ^= exchanged << shift;
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_have_a_byte_of_each_plane(
            numbers in proptest::collection::vec(any::<u64>(), 0..40),
            plane_count in 0..=MAX_PLANES,
        ) {
            let planes = (0..plane_count)
                .flat_map(|plane| numbers.iter().map(move |number| number.to_le_bytes()[plane]));
            let planes: Vec<u8> = planes.collect();
            let kept_bits = 8 * u32::try_from(plane_count).unwrap();
            let mask = u64::MAX.checked_shr(64 - kept_bits).unwrap_or(0);
            let expected: Vec<u64> = numbers.iter().map(|number| number & mask).collect();
            prop_assert_eq!(numbers_of_planes(&planes, numbers.len()), expected);
        }
    }
}
