//! Reads and writes the bytes of a chunk sequentially.

use super::error::UnreadableChunk;
use crate::saturate::to_u64;
use cellar_base::limits::{MAX_COPIED_FORMAT_BYTES, MAX_EXPANDED_TEXT_BYTES, MAX_TILE_CELLS};

const VARINT_GROUP_BITS: u32 = 7;
const VARINT_GROUP_MASK: u8 = 0x7f;
/// Flag that is set in each byte of a varint except the last one.
const VARINT_CONTINUATION_FLAG: u8 = 0x80;

const TRUNCATED_CHUNK: UnreadableChunk = UnreadableChunk::Malformed("the chunk is truncated");

/// Writes an integer as a LEB128 varint: groups of 7 bits, least significant group first.
pub(super) fn write_varint(output: &mut Vec<u8>, number: u64) {
    let mut remaining_bits = number;
    loop {
        let group = remaining_bits.to_le_bytes()[0] & VARINT_GROUP_MASK;
        remaining_bits >>= VARINT_GROUP_BITS;
        if remaining_bits == 0 {
            output.push(group);
            return;
        }
        output.push(group | VARINT_CONTINUATION_FLAG);
    }
}

pub(super) fn write_count(output: &mut Vec<u8>, count: usize) {
    write_varint(output, to_u64(count));
}

/// Writes a signed integer in zigzag encoding, which maps 0, −1, 1, −2, … to 0, 1, 2, 3, …
pub(super) fn write_signed_varint(output: &mut Vec<u8>, number: i64) {
    write_varint(output, zigzag(number));
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

pub(super) fn signed_varint_byte_length(number: i64) -> usize {
    varint_byte_length(zigzag(number))
}

pub(super) fn varint_byte_length(number: u64) -> usize {
    const MAX_VARINT_BYTES: usize = 10;
    let significant_bits = u64::BITS - (number | 1).leading_zeros();
    let group_count = significant_bits.div_ceil(VARINT_GROUP_BITS);
    usize::try_from(group_count).unwrap_or(MAX_VARINT_BYTES)
}

pub(super) struct ChunkReader<'a> {
    unread_bytes: &'a [u8],
    /// Remaining number of values, formulas and formats that may be decoded.
    cell_budget: usize,
    /// Remaining number of bytes by which decoded strings may be longer than their encoding.
    expanded_text_budget: usize,
    /// Remaining number of format bytes. Each format that is copied into a column counts with its
    /// length.
    format_byte_budget: usize,
    /// Memory for the integers of a list, which is used again for the next list.
    integers: Vec<i64>,
}

impl<'a> ChunkReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            unread_bytes: bytes,
            cell_budget: MAX_TILE_CELLS,
            expanded_text_budget: MAX_EXPANDED_TEXT_BYTES,
            format_byte_budget: MAX_COPIED_FORMAT_BYTES,
            integers: Vec::new(),
        }
    }

    /// Returns an empty list with the memory of the last one.
    pub(super) fn take_integers(&mut self) -> Vec<i64> {
        std::mem::take(&mut self.integers)
    }

    /// Keeps the memory of a list for the next one.
    pub(super) fn reuse_integers(&mut self, mut integers: Vec<i64>) {
        integers.clear();
        self.integers = integers;
    }

    pub(super) fn unread_byte_count(&self) -> usize {
        self.unread_bytes.len()
    }

    pub(super) fn read_bytes(&mut self, byte_count: usize) -> Result<&'a [u8], UnreadableChunk> {
        let (bytes, following_bytes) =
            self.unread_bytes.split_at_checked(byte_count).ok_or(TRUNCATED_CHUNK)?;
        self.unread_bytes = following_bytes;
        Ok(bytes)
    }

    pub(super) fn read_byte(&mut self) -> Result<u8, UnreadableChunk> {
        let (byte, following_bytes) = self.unread_bytes.split_first().ok_or(TRUNCATED_CHUNK)?;
        self.unread_bytes = following_bytes;
        Ok(*byte)
    }

    pub(super) fn read_varint(&mut self) -> Result<u64, UnreadableChunk> {
        let too_long = UnreadableChunk::Malformed("an integer has too many bytes");
        let mut number = 0_u64;
        let mut shift = 0;
        while shift < u64::BITS {
            let byte = self.read_byte()?;
            let group = u64::from(byte & VARINT_GROUP_MASK);
            let exceeds_64_bits = group.leading_zeros() < shift;
            if exceeds_64_bits {
                return Err(too_long);
            }
            number |= group << shift;
            let is_last_byte = byte & VARINT_CONTINUATION_FLAG == 0;
            if is_last_byte {
                return Ok(number);
            }
            shift += VARINT_GROUP_BITS;
        }
        Err(too_long)
    }

    pub(super) fn read_signed_varint(&mut self) -> Result<i64, UnreadableChunk> {
        let zigzag = self.read_varint()?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    /// Reads a count and checks it against `max_count` before the caller allocates memory for the
    /// items.
    pub(super) fn read_count(&mut self, max_count: usize) -> Result<usize, UnreadableChunk> {
        let count = usize::try_from(self.read_varint()?).unwrap_or(usize::MAX);
        if count > max_count {
            return Err(UnreadableChunk::Malformed("a count is out of range"));
        }
        Ok(count)
    }

    pub(super) fn charge_cells(&mut self, cell_count: usize) -> Result<(), UnreadableChunk> {
        let too_many = UnreadableChunk::TooLarge("it has more cells than a tile can have");
        self.cell_budget = self.cell_budget.checked_sub(cell_count).ok_or(too_many)?;
        Ok(())
    }

    pub(super) fn charge_expanded_text(
        &mut self,
        byte_count: usize,
    ) -> Result<(), UnreadableChunk> {
        let too_many = UnreadableChunk::TooLarge("its texts exceed the limit of a tile");
        self.expanded_text_budget =
            self.expanded_text_budget.checked_sub(byte_count).ok_or(too_many)?;
        Ok(())
    }

    pub(super) fn charge_format(&mut self, byte_count: usize) -> Result<(), UnreadableChunk> {
        let too_many =
            UnreadableChunk::TooLarge("the formats of the columns exceed the limit of a tile");
        self.format_byte_budget =
            self.format_byte_budget.checked_sub(byte_count).ok_or(too_many)?;
        Ok(())
    }
}

/// Pads fewer than 8 bytes with zeros to a 64-bit word.
pub(super) fn padded_word(bytes: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    for (padded_byte, byte) in word.iter_mut().zip(bytes) {
        *padded_byte = *byte;
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_read_back(number: u64, signed: i64, shift in 0..64_u32) {
            let (number, signed) = (number >> shift, signed >> shift);
            let mut bytes = Vec::new();
            write_varint(&mut bytes, number);
            prop_assert_eq!(bytes.len(), varint_byte_length(number));
            write_signed_varint(&mut bytes, signed);
            let mut reader = ChunkReader::new(&bytes);
            prop_assert_eq!(reader.read_varint(), Ok(number));
            prop_assert_eq!(reader.read_signed_varint(), Ok(signed));
            prop_assert_eq!(reader.unread_byte_count(), 0);
        }
    }

    #[test]
    fn invalid_varints_are_errors() {
        let most = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(ChunkReader::new(&most).read_varint(), Ok(u64::MAX));
        for bytes in
            [vec![], vec![0x80], vec![0xff; 9], vec![0xff; 11], [vec![0xff; 9], vec![2]].concat()]
        {
            assert!(ChunkReader::new(&bytes).read_varint().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn budgets_are_bounded() {
        let mut reader = ChunkReader::new(&[]);
        assert!(reader.charge_cells(MAX_TILE_CELLS).is_ok() && reader.charge_cells(1).is_err());
        assert!(reader.charge_expanded_text(MAX_EXPANDED_TEXT_BYTES).is_ok());
        assert!(reader.charge_expanded_text(1).is_err());
        assert!(
            reader.charge_format(MAX_COPIED_FORMAT_BYTES).is_ok()
                && reader.charge_format(1).is_err()
        );
    }

    #[test]
    fn a_count_ends_at_its_limit() {
        assert_eq!(ChunkReader::new(&[5]).read_count(5), Ok(5));
        assert!(ChunkReader::new(&[6]).read_count(5).is_err());
    }
}
