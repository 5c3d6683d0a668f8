//! Bytes of a chunk, written and read from front to back.

use super::error::UnreadableChunk;
use cellar_base::limits::{MAX_COPIED_FORMAT_BYTES, MAX_EXPANDED_TEXT_BYTES, MAX_TILE_CELLS};

/// Writes a number, 7 bits a byte, the low ones first.
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

/// Writes a number that may be negative: 0, −1, 1, −2, … as 0, 1, 2, 3, …
pub(super) fn write_signed(out: &mut Vec<u8>, number: i64) {
    write_varint(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Bytes that [`write_varint`] takes.
pub(super) fn varint_bytes(number: u64) -> usize {
    let bits = 64 - (number | 1).leading_zeros();
    usize::try_from(bits.div_ceil(7)).unwrap_or(10)
}

/// What is left to read of a chunk, and what may still come out of it.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// Values, formulas and formats that may still come.
    cells: usize,
    /// Bytes of texts that may still come where a few bytes stand for many.
    expanded: usize,
    /// Bytes of formats that columns may still copy.
    formats: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            cells: MAX_TILE_CELLS,
            expanded: MAX_EXPANDED_TEXT_BYTES,
            formats: MAX_COPIED_FORMAT_BYTES,
        }
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], UnreadableChunk> {
        let cut = UnreadableChunk::Malformed("it ends too early");
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(cut)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, UnreadableChunk> {
        let cut = UnreadableChunk::Malformed("it ends too early");
        let (byte, rest) = self.rest.split_first().ok_or(cut)?;
        self.rest = rest;
        Ok(*byte)
    }

    pub(super) fn varint(&mut self) -> Result<u64, UnreadableChunk> {
        let long = UnreadableChunk::Malformed("a number has too many bytes");
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(long);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(long)
    }

    pub(super) fn signed(&mut self) -> Result<i64, UnreadableChunk> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A count that is at most `most`: checked before anything is made of it.
    pub(super) fn count(&mut self, most: usize) -> Result<usize, UnreadableChunk> {
        let count = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        if count > most {
            return Err(UnreadableChunk::Malformed("a count is more than there can be"));
        }
        Ok(count)
    }

    /// Makes room for values, formulas or formats.
    pub(super) fn take_cells(&mut self, cells: usize) -> Result<(), UnreadableChunk> {
        let too_many = UnreadableChunk::TooLarge("it has more cells than a tile may have");
        self.cells = self.cells.checked_sub(cells).ok_or(too_many)?;
        Ok(())
    }

    /// Makes room for bytes of texts that stand for fewer bytes of the chunk.
    pub(super) fn take_expanded(&mut self, bytes: usize) -> Result<(), UnreadableChunk> {
        let too_many =
            UnreadableChunk::TooLarge("its texts are longer than those of a tile may be");
        self.expanded = self.expanded.checked_sub(bytes).ok_or(too_many)?;
        Ok(())
    }

    /// Makes room for a column's copy of a format.
    pub(super) fn take_format(&mut self, bytes: usize) -> Result<(), UnreadableChunk> {
        let too_many = UnreadableChunk::TooLarge("its columns have too many formats");
        self.formats = self.formats.checked_sub(bytes).ok_or(too_many)?;
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
    fn what_is_no_number_is_an_error() {
        let most = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(Reader::new(&most).varint(), Ok(u64::MAX));
        for bytes in
            [vec![], vec![0x80], vec![0xff; 9], vec![0xff; 11], [vec![0xff; 9], vec![2]].concat()]
        {
            assert!(Reader::new(&bytes).varint().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn room_ends_at_its_limit() {
        let mut reader = Reader::new(&[]);
        assert!(reader.take_cells(MAX_TILE_CELLS).is_ok() && reader.take_cells(1).is_err());
        assert!(reader.take_expanded(MAX_EXPANDED_TEXT_BYTES).is_ok());
        assert!(reader.take_expanded(1).is_err());
        assert!(
            reader.take_format(MAX_COPIED_FORMAT_BYTES).is_ok() && reader.take_format(1).is_err()
        );
    }

    #[test]
    fn a_count_ends_at_its_limit() {
        assert_eq!(Reader::new(&[5]).count(5), Ok(5));
        assert!(Reader::new(&[6]).count(5).is_err());
    }
}
