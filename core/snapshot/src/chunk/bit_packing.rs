//! Packs integers with a fixed number of bits each, without padding and with the least significant
//! bit first.

use super::error::UnreadableChunk;
use crate::saturate::to_usize;

/// All integers of a block have the same bit width.
pub(super) const MAX_BLOCK_LENGTH: usize = 1_024;
/// An integer of this width fits into 8 bytes at any bit offset.
pub(super) const MAX_BIT_WIDTH: u32 = 56;
/// Integers that are unpacked together. They take as many bytes as each of them takes bits.
const GROUP_LENGTH: usize = 8;
/// Length in bytes of the words from which integers are read.
const WORD_BYTES: usize = 8;
/// Maximum number of integers that end less than a word before the last packed byte: those of 9 groups
/// with one bit each.
const MAX_TAIL_LENGTH: usize = 9 * GROUP_LENGTH;
/// Length in bytes of these integers and of the word of the last one: at most two groups of the maximum
/// bit width, and the word.
const TAIL_BYTES: usize = 2 * 56 + WORD_BYTES;

pub(super) fn packed_byte_length(count: usize, bit_width: u32) -> usize {
    count.saturating_mul(to_usize(bit_width)).div_ceil(8)
}

pub(super) fn significant_bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Packs the difference between each value and `base` into `bit_width` bits. Each difference must
/// be nonnegative and fit.
pub(super) fn pack_integers(output: &mut Vec<u8>, values: &[i64], base: i64, bit_width: u32) {
    let mut word = 0_u64;
    let mut used_bits = 0_u32;
    for value in values {
        let offset = value.wrapping_sub(base).cast_unsigned();
        word |= offset << used_bits;
        used_bits += bit_width;
        if used_bits >= u64::BITS {
            output.extend_from_slice(&word.to_le_bytes());
            used_bits -= u64::BITS;
            // Carry over the bits that did not fit into the full word. There are none if
            // `used_bits` is 0.
            word = offset.checked_shr(bit_width - used_bits).unwrap_or(0);
        }
    }
    let used_bytes = to_usize(used_bits.div_ceil(8));
    output.extend(word.to_le_bytes().iter().take(used_bytes));
}

/// Unpacks `count` offsets (at most [`MAX_BLOCK_LENGTH`]), adds `base` to each, and appends the
/// results to `values`.
pub(super) fn unpack_integers(
    values: &mut Vec<i64>,
    packed_bytes: &[u8],
    count: usize,
    base: i64,
    bit_width: u32,
) -> Result<(), UnreadableChunk> {
    let malformed =
        UnreadableChunk::Malformed("a block of bit-packed integers has an invalid length");
    if bit_width == 0 {
        values.resize(values.len() + count, base);
        return Ok(());
    }
    if bit_width > MAX_BIT_WIDTH || packed_bytes.len() != packed_byte_length(count, bit_width) {
        return Err(malformed);
    }
    let first_index = values.len();
    values.resize(first_index + count, 0);
    let unpacked = values.get_mut(first_index..).unwrap_or_default();
    unpack_block(packed_bytes, base, bit_width, unpacked);
    Ok(())
}

/// Unpacks with a width that is known at compile time, so that the place of each integer in a group
/// is a constant.
fn unpack_block(packed_bytes: &[u8], base: i64, bit_width: u32, values: &mut [i64]) {
    macro_rules! unpack_with_one_of {
        ($($width:literal)*) => {
            match bit_width {
                $($width => unpack_with_width::<$width>(packed_bytes, base, values),)*
                _ => {}
            }
        };
    }
    unpack_with_one_of!(
        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28
        29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56
    );
}

fn unpack_with_width<const BIT_WIDTH: usize>(packed_bytes: &[u8], base: i64, values: &mut [i64]) {
    let readable_groups = packed_bytes.len().saturating_sub(WORD_BYTES) / BIT_WIDTH;
    let inner_groups = readable_groups.min(values.len() / GROUP_LENGTH);
    let (inner_values, tail_values) = values.split_at_mut(inner_groups * GROUP_LENGTH);
    unpack_groups::<BIT_WIDTH>(packed_bytes, base, inner_values);
    let unread_bytes = packed_bytes.get(inner_groups * BIT_WIDTH..).unwrap_or_default();
    let mut padded_bytes = [0; TAIL_BYTES];
    if let Some(tail_bytes) = padded_bytes.get_mut(..unread_bytes.len()) {
        tail_bytes.copy_from_slice(unread_bytes);
    }
    let mut unpacked = [0; MAX_TAIL_LENGTH];
    let tail_length = tail_values.len();
    if let Some(tail_groups) = unpacked.get_mut(..tail_length.next_multiple_of(GROUP_LENGTH)) {
        unpack_groups::<BIT_WIDTH>(&padded_bytes, base, tail_groups);
    }
    if let Some(unpacked) = unpacked.get(..tail_length) {
        tail_values.copy_from_slice(unpacked);
    }
}

/// Unpacks whole groups. The bytes contain a word from the start of each integer on.
fn unpack_groups<const BIT_WIDTH: usize>(bytes: &[u8], base: i64, values: &mut [i64]) {
    let mask = (1_u64 << BIT_WIDTH) - 1;
    for (group_index, group) in values.as_chunks_mut::<GROUP_LENGTH>().0.iter_mut().enumerate() {
        let start = group_index * BIT_WIDTH;
        let Some(bytes) = bytes.get(start..start + BIT_WIDTH + WORD_BYTES) else { return };
        for (index, value) in group.iter_mut().enumerate() {
            let first_bit = index * BIT_WIDTH;
            let word = bytes.get(first_bit / 8..).and_then(<[u8]>::first_chunk);
            let word = u64::from_le_bytes(word.copied().unwrap_or_default());
            *value = base.wrapping_add(((word >> (first_bit % 8)) & mask).cast_signed());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_every_width_read_back(
            numbers in proptest::collection::vec(any::<u64>(), 0..200),
            base: i64,
            bits in 0..=MAX_BIT_WIDTH,
        ) {
            let mask = (1_u64 << bits) - 1;
            let above = |number: &u64| base.wrapping_add((number & mask).cast_signed());
            let values: Vec<i64> = numbers.iter().map(above).collect();
            let mut bytes = Vec::new();
            pack_integers(&mut bytes, &values, base, bits);
            prop_assert_eq!(bytes.len(), packed_byte_length(values.len(), bits));
            let mut read = Vec::new();
            unpack_integers(&mut read, &bytes, values.len(), base, bits).unwrap();
            prop_assert_eq!(read, values);
        }
    }

    #[test]
    fn a_full_block_of_the_greatest_width_reads_back() {
        let values: Vec<i64> = (0..1_024).map(|number| (1 << 56) - 1 - number).collect();
        let mut bytes = Vec::new();
        pack_integers(&mut bytes, &values, 0, MAX_BIT_WIDTH);
        let mut read = Vec::new();
        unpack_integers(&mut read, &bytes, MAX_BLOCK_LENGTH, 0, MAX_BIT_WIDTH).unwrap();
        assert_eq!(read, values);
        assert!(
            unpack_integers(&mut read, &bytes, MAX_BLOCK_LENGTH, 0, MAX_BIT_WIDTH + 1).is_err()
        );
        assert!(
            unpack_integers(&mut read, &bytes[1..], MAX_BLOCK_LENGTH, 0, MAX_BIT_WIDTH).is_err()
        );
    }
}
