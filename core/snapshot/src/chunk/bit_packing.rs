//! Fixed-width integers, bit-packed from the least significant bit without padding.

use super::error::UnreadableChunk;

/// Maximum number of integers per block; all integers of a block share one bit width.
pub(super) const BLOCK: usize = 1_024;
/// Maximum bit width. An integer of this width fits into 8 bytes at any bit offset.
pub(super) const MAX_WIDTH: u32 = 56;
/// Length of a full block at the maximum width, plus 8 bytes of padding so that an 8-byte read at
/// the start of any integer stays in bounds.
const PADDED_BYTES: usize = BLOCK * 7 + 8;

/// Returns the packed length of `count` integers, in bytes.
pub(super) fn packed_len(count: usize, width: u32) -> usize {
    count.saturating_mul(usize::try_from(width).unwrap_or(usize::MAX)).div_ceil(8)
}

/// Returns the number of significant bits of `value`.
pub(super) fn width(number: u64) -> u32 {
    64 - number.leading_zeros()
}

/// Bit-packs the offsets of `values` from `base`. Each offset must fit into `width` bits.
pub(super) fn pack(out: &mut Vec<u8>, values: &[i64], base: i64, width: u32) {
    let (mut word, mut used_bits) = (0_u64, 0_u32);
    for value in values {
        let value = value.wrapping_sub(base).cast_unsigned();
        word |= value << used_bits;
        used_bits += width;
        if used_bits >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            used_bits -= 64;
            // Carry the bits that did not fit into the current word. If `used_bits` is 0, there are
            // none.
            word = value.checked_shr(width - used_bits).unwrap_or(0);
        }
    }
    let bytes = usize::try_from(used_bits.div_ceil(8)).unwrap_or(8);
    out.extend(word.to_le_bytes().iter().take(bytes));
}

/// Unpacks `count` integers (at most [`BLOCK`]), adds `base` to each and appends the sums to `out`.
pub(super) fn unpack(
    out: &mut Vec<i64>,
    bytes: &[u8],
    count: usize,
    base: i64,
    width: u32,
) -> Result<(), UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a block of packed integers has a wrong length");
    if width == 0 {
        out.resize(out.len() + count, base);
        return Ok(());
    }
    let mut padded = [0; PADDED_BYTES];
    let length = packed_len(count, width);
    if width > MAX_WIDTH || bytes.len() != length {
        return Err(malformed);
    }
    padded.get_mut(..length).ok_or(malformed)?.copy_from_slice(bytes);
    let mask = (1_u64 << width) - 1;
    let step = usize::try_from(width).unwrap_or(0);
    out.extend((0..count).map(|index| {
        let bit = index * step;
        let word = padded.get(bit / 8..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        let value = (u64::from_le_bytes(word) >> (bit % 8)) & mask;
        base.wrapping_add(value.cast_signed())
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
            bits in 0..=MAX_WIDTH,
        ) {
            let mask = (1_u64 << bits) - 1;
            let above = |number: &u64| base.wrapping_add((number & mask).cast_signed());
            let values: Vec<i64> = numbers.iter().map(above).collect();
            let mut bytes = Vec::new();
            pack(&mut bytes, &values, base, bits);
            prop_assert_eq!(bytes.len(), packed_len(values.len(), bits));
            let mut read = Vec::new();
            unpack(&mut read, &bytes, values.len(), base, bits).unwrap();
            prop_assert_eq!(read, values);
        }
    }

    #[test]
    fn a_full_block_of_the_greatest_width_reads_back() {
        let values: Vec<i64> = (0..1_024).map(|number| (1 << 56) - 1 - number).collect();
        let mut bytes = Vec::new();
        pack(&mut bytes, &values, 0, MAX_WIDTH);
        let mut read = Vec::new();
        unpack(&mut read, &bytes, BLOCK, 0, MAX_WIDTH).unwrap();
        assert_eq!(read, values);
        assert!(unpack(&mut read, &bytes, BLOCK, 0, MAX_WIDTH + 1).is_err());
        assert!(unpack(&mut read, &bytes[1..], BLOCK, 0, MAX_WIDTH).is_err());
    }
}
