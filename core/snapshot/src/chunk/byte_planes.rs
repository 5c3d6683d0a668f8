//! Byte planes of numbers. The first plane contains the lowest byte of every number, the second
//! plane the second byte, and so on.

use std::ops::{BitOr, Shl};

/// Maximum number of planes.
const MAX_PLANES: usize = 8;
/// Numbers that are read together.
const BLOCK_LENGTH: usize = 64;

/// Returns the byte of a number that is in a plane.
pub(super) fn plane_byte(number: u64, plane_index: u32) -> u8 {
    (number >> (8 * plane_index)).to_le_bytes()[0]
}

/// Returns the numbers whose planes are concatenated, each of `count` bytes. More than 8 planes are
/// ignored.
pub(super) fn numbers_of_planes(plane_bytes: &[u8], count: usize) -> Vec<u64> {
    let mut numbers = vec![0; count];
    let mut blocks = [[0; BLOCK_LENGTH]; MAX_PLANES];
    for (block_index, block_of_numbers) in numbers.chunks_mut(BLOCK_LENGTH).enumerate() {
        for (block, plane) in blocks.iter_mut().zip(plane_bytes.chunks_exact(count)) {
            copy_block(plane.get(block_index * BLOCK_LENGTH..).unwrap_or_default(), block);
        }
        let joined = join_planes(&blocks);
        if let Some(block_of_numbers) = block_of_numbers.as_mut_array() {
            *block_of_numbers = joined;
        } else {
            block_of_numbers.iter_mut().zip(joined).for_each(|(number, word)| *number = word);
        }
    }
    numbers
}

/// Copies the first bytes, as many as there are.
fn copy_block(bytes: &[u8], block: &mut [u8; BLOCK_LENGTH]) {
    if let Some(whole_block) = bytes.first_chunk() {
        *block = *whole_block;
    } else {
        block.iter_mut().zip(bytes).for_each(|(copied, byte)| *copied = *byte);
    }
}

/// Joins bytes to numbers in three steps. Processors perform each of them for many numbers at once.
fn join_planes(planes: &[[u8; BLOCK_LENGTH]; MAX_PLANES]) -> [u64; BLOCK_LENGTH] {
    let [first, second, third, fourth, fifth, sixth, seventh, eighth] = planes;
    let low = join::<u16, u32>(&join(first, second), &join(third, fourth));
    let high = join::<u16, u32>(&join(fifth, sixth), &join(seventh, eighth));
    join(&low, &high)
}

/// Returns numbers of twice as many bits, from their lower and their upper halves.
fn join<T, U>(low: &[T; BLOCK_LENGTH], high: &[T; BLOCK_LENGTH]) -> [U; BLOCK_LENGTH]
where
    T: Copy,
    U: From<T> + Default + Copy + Shl<usize, Output = U> + BitOr<Output = U>,
{
    let mut joined = [U::default(); BLOCK_LENGTH];
    for ((number, low), high) in joined.iter_mut().zip(low).zip(high) {
        *number = U::from(*low) | U::from(*high) << (8 * size_of::<T>());
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_have_a_byte_of_each_plane(
            numbers in proptest::collection::vec(any::<u64>(), 0..200),
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
