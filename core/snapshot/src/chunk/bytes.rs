//! Sequential reader and writer for chunk bytes.

use super::error::UnreadableChunk;
use cellar_base::limits::{MAX_COPIED_FORMAT_BYTES, MAX_EXPANDED_TEXT_BYTES, MAX_TILE_CELLS};

/// Writes an integer as a LEB128 varint: groups of 7 bits, least significant group first.
pub(super) fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Writes a count or a length.
pub(super) fn write_count(out: &mut Vec<u8>, count: usize) {
    write_varint(out, u64::try_from(count).unwrap_or(u64::MAX));
}

/// Writes a signed integer in zigzag encoding, which maps 0, −1, 1, −2, … to 0, 1, 2, 3, …
pub(super) fn write_signed(out: &mut Vec<u8>, number: i64) {
    write_varint(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Returns the number of bytes that [`write_varint`] writes.
pub(super) fn varint_bytes(number: u64) -> usize {
    let bits = 64 - (number | 1).leading_zeros();
    usize::try_from(bits.div_ceil(7)).unwrap_or(10)
}

/// Reads a chunk and enforces the remaining decoding budgets.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// Remaining number of values, formulas and formats that may be decoded.
    cells: usize,
    /// Remaining expansion budget: text bytes that decoding may produce beyond its input length.
    expanded_text_bytes: usize,
    /// Remaining number of format bytes that may be copied into columns.
    format_bytes: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            cells: MAX_TILE_CELLS,
            expanded_text_bytes: MAX_EXPANDED_TEXT_BYTES,
            format_bytes: MAX_COPIED_FORMAT_BYTES,
        }
    }

    /// Returns the number of unread bytes.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], UnreadableChunk> {
        let truncated = UnreadableChunk::Malformed("the chunk is truncated");
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, UnreadableChunk> {
        let truncated = UnreadableChunk::Malformed("the chunk is truncated");
        let (byte, rest) = self.rest.split_first().ok_or(truncated)?;
        self.rest = rest;
        Ok(*byte)
    }

    pub(super) fn varint(&mut self) -> Result<u64, UnreadableChunk> {
        let too_long = UnreadableChunk::Malformed("an integer has too many bytes");
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(too_long);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(too_long)
    }

    pub(super) fn signed(&mut self) -> Result<i64, UnreadableChunk> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads a count and checks it against `max` before the caller allocates memory for the items.
    pub(super) fn count(&mut self, max: usize) -> Result<usize, UnreadableChunk> {
        let count = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        if count > max {
            return Err(UnreadableChunk::Malformed("a count is out of range"));
        }
        Ok(count)
    }

    /// Deducts values, formulas or formats from the cell budget.
    pub(super) fn charge_cells(&mut self, cells: usize) -> Result<(), UnreadableChunk> {
        let too_many = UnreadableChunk::TooLarge("it has more cells than a tile can have");
        self.cells = self.cells.checked_sub(cells).ok_or(too_many)?;
        Ok(())
    }

    /// Deducts text bytes from the expansion budget.
    pub(super) fn charge_expanded_text(&mut self, bytes: usize) -> Result<(), UnreadableChunk> {
        let too_many = UnreadableChunk::TooLarge("its texts exceed the limit of a tile");
        self.expanded_text_bytes = self.expanded_text_bytes.checked_sub(bytes).ok_or(too_many)?;
        Ok(())
    }

    /// Deducts the length of a format that is copied into a column from the format budget.
    pub(super) fn charge_format(&mut self, bytes: usize) -> Result<(), UnreadableChunk> {
        let too_many =
            UnreadableChunk::TooLarge("the formats of its columns exceed the limit of a tile");
        self.format_bytes = self.format_bytes.checked_sub(bytes).ok_or(too_many)?;
        Ok(())
    }
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
            prop_assert_eq!(bytes.len(), varint_bytes(number));
            write_signed(&mut bytes, signed);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint(), Ok(number));
            prop_assert_eq!(reader.signed(), Ok(signed));
            prop_assert_eq!(reader.len(), 0);
        }
    }

    #[test]
    fn invalid_varints_are_errors() {
        let most = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(Reader::new(&most).varint(), Ok(u64::MAX));
        for bytes in
            [vec![], vec![0x80], vec![0xff; 9], vec![0xff; 11], [vec![0xff; 9], vec![2]].concat()]
        {
            assert!(Reader::new(&bytes).varint().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn budgets_are_bounded() {
        let mut reader = Reader::new(&[]);
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
        assert_eq!(Reader::new(&[5]).count(5), Ok(5));
        assert!(Reader::new(&[6]).count(5).is_err());
    }
}
