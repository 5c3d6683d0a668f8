//! Splits many rows at once. Rows are uniform if each is one line with the same number of fields,
//! and no field contains a doubled quote. Most rows of most files are uniform.
//!
//! [`super::scanner`] splits the other rows, one at a time.

use std::ops::ControlFlow;

use cellar_base::limits::MAX_TEXT_BYTES;

use crate::typing::WORD_BYTES;

/// Maximum length of rows that are split at once. Their text and the places of their fields fit
/// into the first-level cache of a processor.
pub(super) const MAX_SPLIT_BYTES: usize = 16 * 1024;

// No field is longer than a cell can be.
const _: () = assert!(MAX_SPLIT_BYTES <= MAX_TEXT_BYTES);

const BLOCK_BYTES: usize = 64;

/// Consecutive rows with the same number of fields, of which none is longer than `MAX_TEXT_BYTES`.
#[derive(Debug, Clone, Copy)]
pub(super) struct UniformRows<'a> {
    pub(super) text: &'a str,
    /// The fields of one row after another.
    pub(super) fields: &'a [ShortFieldSpan],
    pub(super) columns: usize,
    pub(super) count: u32,
}

/// Start and end of a field, as byte offsets into the text of the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShortFieldSpan {
    start: u32,
    end: u32,
}

impl<'a> UniformRows<'a> {
    /// Returns the nonempty fields of a column.
    pub(super) fn nonempty_fields(
        &self,
        column_index: usize,
    ) -> impl Iterator<Item = UniformField<'a>> + use<'a> {
        let text = self.text;
        let fields = self.fields.get(column_index..).unwrap_or_default();
        let fields = (0_u32..).zip(fields.iter().step_by(self.columns));
        let nonempty_fields = fields.filter(|(_, field)| field.start < field.end);
        nonempty_fields.map(move |(row_index, field)| {
            let start = field.start as usize;
            // Delimiters are ASCII characters, so no multi-byte character is split.
            let field_text = text.get(start..field.end as usize).unwrap_or_default();
            let first_bytes = text.as_bytes().get(start..).and_then(|rest| rest.first_chunk());
            UniformField { row_index, text: field_text, first_bytes: first_bytes.copied() }
        })
    }
}

/// A nonempty field of a uniform row.
#[derive(Debug, Clone, Copy)]
pub(super) struct UniformField<'a> {
    /// Index of the row in its [`UniformRows`].
    pub(super) row_index: u32,
    pub(super) text: &'a str,
    /// The bytes from the start of the field on, also those after the field. `None` at the end of
    /// the rows.
    pub(super) first_bytes: Option<[u8; WORD_BYTES]>,
}

/// Which rows to split.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLimits {
    /// Number of fields of each row.
    pub(super) columns: usize,
    pub(super) max_rows: u32,
    /// At most [`MAX_SPLIT_BYTES`] are split at once.
    pub(super) max_bytes: usize,
}

/// Number and length of the rows that were split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitRows {
    pub(super) count: u32,
    pub(super) bytes: usize,
}

/// Splits the rows at the start of `unread` into `fields`, up to the first row that is not uniform
/// or exceeds a limit.
pub(super) fn split_uniform_rows(
    unread: &[u8],
    delimiter: u8,
    limits: RowLimits,
    fields: &mut Vec<ShortFieldSpan>,
) -> SplitRows {
    fields.clear();
    let text = unread.get(..limits.max_bytes.min(MAX_SPLIT_BYTES)).unwrap_or(unread);
    let mut splitter = Splitter {
        text,
        delimiter,
        limits,
        fields,
        field_start: 0,
        quotes: Quotes::None,
        rows: SplitRows { count: 0, bytes: 0 },
        fields_of_rows: 0,
    };
    let _stopped = splitter.split();
    splitter.fields.truncate(splitter.fields_of_rows);
    splitter.rows
}

struct Splitter<'t, 'f> {
    text: &'t [u8],
    delimiter: u8,
    limits: RowLimits,
    fields: &'f mut Vec<ShortFieldSpan>,
    /// Start of the current field, after its opening quote.
    field_start: u32,
    /// Quotes of the current field.
    quotes: Quotes,
    /// The rows that are complete.
    rows: SplitRows,
    /// Number of fields of the complete rows.
    fields_of_rows: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Opened,
    Closed { at: u32 },
}

impl Splitter<'_, '_> {
    /// Breaks at a row that is not uniform, and at the last row of the limits.
    fn split(&mut self) -> ControlFlow<()> {
        let (blocks, rest) = self.text.as_chunks::<BLOCK_BYTES>();
        let mut block_starts = (0_u32..).step_by(BLOCK_BYTES);
        for (block, block_start) in blocks.iter().zip(block_starts.by_ref()) {
            self.split_block(block_start, special_bytes(block, self.delimiter))?;
        }
        let mut last_block = [0_u8; BLOCK_BYTES];
        for (byte, rest_byte) in last_block.iter_mut().zip(rest) {
            *byte = *rest_byte;
        }
        let is_in_rest = (1_u64 << rest.len()) - 1;
        let special_bytes = special_bytes(&last_block, self.delimiter) & is_in_rest;
        match block_starts.next() {
            Some(block_start) => self.split_block(block_start, special_bytes),
            None => ControlFlow::Break(()),
        }
    }

    /// Bit `i` of `special_bytes` states whether the byte `i` of the block is a delimiter, a quote
    /// or the end of a line.
    fn split_block(&mut self, block_start: u32, mut special_bytes: u64) -> ControlFlow<()> {
        while special_bytes != 0 {
            let offset = block_start + special_bytes.trailing_zeros();
            special_bytes &= special_bytes - 1;
            match self.byte_at(offset) {
                Some(byte) if byte == self.delimiter => self.pass_delimiter(offset)?,
                Some(b'"') => self.pass_quote(offset)?,
                Some(b'\n') => self.end_row(offset)?,
                // A carriage return that does not end a row needs the scanner.
                _ if self.byte_at(offset + 1) == Some(b'\n') => {}
                _ => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    }

    fn byte_at(&self, offset: u32) -> Option<u8> {
        self.text.get(offset as usize).copied()
    }

    fn pass_delimiter(&mut self, offset: u32) -> ControlFlow<()> {
        if self.quotes == Quotes::Opened {
            return ControlFlow::Continue(());
        }
        self.end_field(offset)?;
        self.field_start = offset + 1;
        ControlFlow::Continue(())
    }

    fn pass_quote(&mut self, offset: u32) -> ControlFlow<()> {
        match self.quotes {
            Quotes::None if offset == self.field_start => {
                self.quotes = Quotes::Opened;
                self.field_start += 1;
            }
            // A quote in the middle of a field is an ordinary character.
            Quotes::None => {}
            Quotes::Opened => self.quotes = Quotes::Closed { at: offset },
            Quotes::Closed { .. } => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn end_row(&mut self, line_feed: u32) -> ControlFlow<()> {
        let before_line_feed = line_feed.saturating_sub(1);
        let has_carriage_return = self.byte_at(before_line_feed) == Some(b'\r');
        let line_end = if has_carriage_return { before_line_feed } else { line_feed };
        // In a file with a single column, a blank line is an empty row.
        let is_blank_line = self.limits.columns == 1 && line_end == self.field_start;
        if is_blank_line && self.quotes == Quotes::None {
            return ControlFlow::Break(());
        }
        self.end_field(line_end)?;
        if self.fields.len() != self.fields_of_rows + self.limits.columns {
            return ControlFlow::Break(());
        }
        self.fields_of_rows = self.fields.len();
        self.field_start = line_feed + 1;
        self.rows = SplitRows { count: self.rows.count + 1, bytes: self.field_start as usize };
        if self.rows.count == self.limits.max_rows {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Adds the field that ends before a delimiter or the end of a line.
    fn end_field(&mut self, separator: u32) -> ControlFlow<()> {
        let end = match self.quotes {
            Quotes::None => separator,
            Quotes::Closed { at } if at + 1 == separator => at,
            Quotes::Opened | Quotes::Closed { .. } => return ControlFlow::Break(()),
        };
        self.fields.push(ShortFieldSpan { start: self.field_start, end });
        self.quotes = Quotes::None;
        ControlFlow::Continue(())
    }
}

/// Returns a bit for each byte: whether it is a delimiter, a quote or the end of a line.
fn special_bytes(block: &[u8; BLOCK_BYTES], delimiter: u8) -> u64 {
    let is_special = |byte: u8| {
        u8::from(byte == delimiter)
            | u8::from(byte == b'"')
            | u8::from(byte == b'\n')
            | u8::from(byte == b'\r')
    };
    // The compiler compares many bytes at once in this loop.
    let flags = block.map(is_special);
    let (words, _) = flags.as_chunks::<WORD_BYTES>();
    let mut bits = 0_u64;
    for (index, word) in words.iter().enumerate() {
        bits |= first_bit_of_each(u64::from_le_bytes(*word)) << (index * WORD_BYTES);
    }
    bits
}

/// Returns the lowest bits of the eight bytes of a word as one byte. The other bits must be zero.
fn first_bit_of_each(flags: u64) -> u64 {
    // The product moves the bit of byte `i` to bit `56 + i`, and no two bits to the same place.
    const GATHER_IN_HIGHEST_BYTE: u64 = 0x0102_0408_1020_4080;
    flags.wrapping_mul(GATHER_IN_HIGHEST_BYTE) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_LIMITS: RowLimits =
        RowLimits { columns: 2, max_rows: u32::MAX, max_bytes: usize::MAX };

    /// Returns the fields of each row, and the number of bytes that were split.
    fn split(text: &str, limits: RowLimits) -> (Vec<Vec<String>>, usize) {
        let mut fields = Vec::new();
        let rows = split_uniform_rows(text.as_bytes(), b',', limits, &mut fields);
        assert_eq!(fields.len(), rows.count as usize * limits.columns);
        let text_of = |field: &ShortFieldSpan| {
            text.get(field.start as usize..field.end as usize).unwrap().to_owned()
        };
        let row_of = |fields: &[ShortFieldSpan]| fields.iter().map(text_of).collect();
        (fields.chunks(limits.columns).map(row_of).collect(), rows.bytes)
    }

    fn rows(rows: &[[&str; 2]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|field| (*field).to_owned()).collect()).collect()
    }

    #[test]
    fn splits_rows_up_to_the_first_that_is_not_uniform() {
        for (text, expected, bytes) in [
            ("a,b\nc,\n", &[["a", "b"], ["c", ""]][..], 7),
            ("a,b\r\n,d\r\n", &[["a", "b"], ["", "d"]], 9),
            ("\"a,b\",\"\"\r\n\"c\",d\n", &[["a,b", ""], ["c", "d"]], 16),
            ("a\",b\"c\n", &[["a\"", "b\"c"]], 7),
            ("a,b\nc,d", &[["a", "b"]], 4),
            ("a,b\n\nc,d\n", &[["a", "b"]], 4),
            ("a,b\nc\n", &[["a", "b"]], 4),
            ("a,b\nc,d,e\n", &[["a", "b"]], 4),
            ("a,b\n\"c\"\"\",d\n", &[["a", "b"]], 4),
            ("a,b\n\"c\"x,d\n", &[["a", "b"]], 4),
            ("a,b\n\"c\nd\",e\n", &[["a", "b"]], 4),
            ("a,b\nc\rd,e\n", &[["a", "b"]], 4),
            ("a,b\nc,\"d\n", &[["a", "b"]], 4),
            ("a,b\r", &[], 0),
            ("", &[], 0),
        ] {
            assert_eq!(split(text, NO_LIMITS), (rows(expected), bytes), "{text:?}");
        }
    }

    #[test]
    fn a_blank_line_of_a_single_column_is_left_to_the_scanner() {
        let limits = RowLimits { columns: 1, ..NO_LIMITS };
        for (text, count) in [("a\nb\n", 2), ("a\n\nb\n", 1), ("a\r\n\r\n", 1), ("a\n\"\"\n", 2)] {
            assert_eq!(split(text, limits).0.len(), count, "{text:?}");
        }
    }

    #[test]
    fn respects_the_limits_at_every_length() {
        let row = "ä,1234\n";
        let text = row.repeat(100);
        for max_rows in [1, 2, 99] {
            let (found, bytes) = split(&text, RowLimits { max_rows, ..NO_LIMITS });
            assert_eq!((found.len(), bytes), (max_rows as usize, max_rows as usize * row.len()));
        }
        for max_bytes in 0..text.len() {
            let (found, bytes) = split(&text, RowLimits { max_bytes, ..NO_LIMITS });
            assert_eq!((found.len(), bytes), (max_bytes / row.len(), found.len() * row.len()));
        }
        let text = row.repeat(MAX_SPLIT_BYTES);
        assert_eq!(split(&text, NO_LIMITS).0.len(), MAX_SPLIT_BYTES / row.len());
    }

    #[test]
    fn finds_special_bytes_at_every_place() {
        for place in 0..BLOCK_BYTES {
            for special in [b',', b'"', b'\n', b'\r'] {
                let mut block = [b'x'; BLOCK_BYTES];
                block[place] = special;
                assert_eq!(special_bytes(&block, b','), 1 << place);
            }
        }
        assert_eq!(special_bytes(&[b','; BLOCK_BYTES], b','), u64::MAX);
        assert_eq!(special_bytes(&[b','; BLOCK_BYTES], b';'), 0);
    }
}
