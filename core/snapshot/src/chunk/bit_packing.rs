//! Packs integers with a fixed number of bits each, without padding and with the least significant
//! bit first.

use super::error::UnreadableChunk;
use crate::saturate::to_usize;

/// All integers of a block have the same bit width.
pub(super) const MAX_BLOCK_LENGTH: usize = 1_024;
/// An integer of this width fits into 8 bytes at any bit offset.
pub(super) const MAX_BIT_WIDTH: u32 = 56;
/// Length in bytes of a full block with the maximum bit width, plus 8 bytes of padding. With the
/// padding, 8 bytes can be read from the start of any integer without a bounds check.
const PADDED_BLOCK_BYTES: usize = MAX_BLOCK_LENGTH * 7 + 8;

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
    let mut padded_bytes = [0; PADDED_BLOCK_BYTES];
    let unpadded_bytes = padded_bytes.get_mut(..packed_bytes.len()).ok_or(malformed)?;
    unpadded_bytes.copy_from_slice(packed_bytes);
    let offset_mask = (1_u64 << bit_width) - 1;
    let bits_per_integer = to_usize(bit_width);
    values.extend((0..count).map(|index| {
        let first_bit = index * bits_per_integer;
        let word_bytes = padded_bytes.get(first_bit / 8..).and_then(<[u8]>::first_chunk);
        let word = u64::from_le_bytes(word_bytes.copied().unwrap_or_default());
        let offset = (word >> (first_bit % 8)) & offset_mask;
        base.wrapping_add(offset.cast_signed())
    }));
    Ok(())
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
