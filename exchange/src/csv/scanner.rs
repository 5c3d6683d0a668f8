//! Scans csv records that may contain quoted fields.

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_TEXT_BYTES};
use memchr::{memchr, memchr3};

use super::records::BUFFER_BYTES;
use crate::ReadError;

/// Start and end of a field, as byte offsets into the record's text.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldSpan {
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) enum RecordEnd {
    Found(RecordBounds),
    /// The record continues after the end of the read buffer.
    NotInBuffer,
}

pub(super) struct RecordBounds {
    /// Number of bytes in the record, including its line ending.
    pub(super) length: usize,
    pub(super) has_doubled_quotes: bool,
}

pub(super) struct Scanner<'a> {
    pub(super) unread: &'a [u8],
    pub(super) delimiter: u8,
    pub(super) is_input_at_end: bool,
    pub(super) line: u64,
}

enum ScannedField {
    Complete(CompleteField),
    NotInBuffer,
}

struct CompleteField {
    span: FieldSpan,
    /// Offset after the delimiter or line ending that follows the field.
    next_start: usize,
    is_last: bool,
    has_doubled_quotes: bool,
}

impl Scanner<'_> {
    pub(super) fn scan_record(&self, fields: &mut Vec<FieldSpan>) -> Result<RecordEnd, ReadError> {
        let mut field_start = 0;
        let mut has_doubled_quotes = false;
        loop {
            let column = column_number(fields.len());
            let scanned_field = match self.unread.get(field_start) {
                Some(b'"') => self.scan_quoted_field(field_start, column)?,
                _ => self.scan_plain_field(field_start, column)?,
            };
            let ScannedField::Complete(field) = scanned_field else {
                return Ok(RecordEnd::NotInBuffer);
            };
            fields.push(field.span);
            has_doubled_quotes |= field.has_doubled_quotes;
            // The caller rejects a record with too many fields, so ignore the rest of the record.
            if field.is_last || has_too_many_fields(fields) {
                let length = field.next_start;
                let bounds = RecordBounds { length, has_doubled_quotes };
                return Ok(RecordEnd::Found(bounds));
            }
            field_start = field.next_start;
        }
    }

    fn scan_plain_field(&self, start: usize, column: u64) -> Result<ScannedField, ReadError> {
        let unread_field = self.unread.get(start..).unwrap_or_default();
        match memchr3(self.delimiter, b'\n', b'\r', unread_field) {
            Some(length) => {
                let end = start + length;
                Ok(self.complete_field(FieldSpan { start, end }, end, false))
            }
            None if self.is_input_at_end => {
                let end = self.unread.len();
                Ok(self.complete_field(FieldSpan { start, end }, end, false))
            }
            None => self.unfinished_field(start, column),
        }
    }

    /// Returns an error if the field is already too long.
    fn unfinished_field(&self, start: usize, column: u64) -> Result<ScannedField, ReadError> {
        // A quoted field may be twice as long as its text, because each quote in the text is
        // doubled.
        const MAX_QUOTED_TEXT_BYTES: usize = 2 * MAX_TEXT_BYTES;
        if self.unread.len() - start > MAX_QUOTED_TEXT_BYTES + BUFFER_BYTES {
            return Err(ReadError::TextTooLong { line: self.line, column });
        }
        Ok(ScannedField::NotInBuffer)
    }

    /// `separator_start` is the offset of the delimiter or line ending that follows the field, or
    /// the end of the file.
    fn complete_field(
        &self,
        span: FieldSpan,
        separator_start: usize,
        has_doubled_quotes: bool,
    ) -> ScannedField {
        let unread_separator = self.unread.get(separator_start..).unwrap_or_default();
        let separator_bytes = match unread_separator {
            [] => 0,
            [b'\r', b'\n', ..] => 2,
            // The read buffer may end between the two characters of `\r\n`.
            [b'\r'] if !self.is_input_at_end => return ScannedField::NotInBuffer,
            _ => 1,
        };
        let is_last = unread_separator.first() != Some(&self.delimiter);
        let next_start = separator_start + separator_bytes;
        ScannedField::Complete(CompleteField { span, next_start, is_last, has_doubled_quotes })
    }

    fn scan_quoted_field(
        &self,
        opening_quote: usize,
        column: u64,
    ) -> Result<ScannedField, ReadError> {
        let text_start = opening_quote + 1;
        let mut search_start = text_start;
        let mut has_doubled_quotes = false;
        loop {
            let unsearched = self.unread.get(search_start..).unwrap_or_default();
            let Some(quote_offset) = memchr(b'"', unsearched) else {
                if self.is_input_at_end {
                    let line = self.line_at(opening_quote);
                    return Err(ReadError::UnclosedQuote { line, column });
                }
                return self.unfinished_field(text_start, column);
            };
            let quote = search_start + quote_offset;
            let after_quote = quote + 1;
            let span = FieldSpan { start: text_start, end: quote };
            match self.unread.get(after_quote) {
                Some(b'"') => {
                    search_start = after_quote + 1;
                    has_doubled_quotes = true;
                }
                Some(byte) if *byte == self.delimiter || matches!(byte, b'\n' | b'\r') => {
                    return Ok(self.complete_field(span, after_quote, has_doubled_quotes));
                }
                Some(_) => {
                    let line = self.line_at(after_quote);
                    return Err(ReadError::TextAfterQuote { line, column });
                }
                None if self.is_input_at_end => {
                    return Ok(self.complete_field(span, after_quote, has_doubled_quotes));
                }
                None => return self.unfinished_field(text_start, column),
            }
        }
    }

    fn line_at(&self, offset: usize) -> u64 {
        add_count(self.line, count_line_feeds(self.unread.get(..offset).unwrap_or_default()))
    }
}

pub(super) fn has_too_many_fields(fields: &[FieldSpan]) -> bool {
    fields.len() > usize::try_from(MAX_IMPORT_COLUMNS).unwrap_or(usize::MAX)
}

pub(super) fn count_line_feeds(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

pub(super) fn add_count(number: u64, count: usize) -> u64 {
    number + count as u64
}

/// Converts a zero-based column index to a one-based column number.
pub(super) fn column_number(index: usize) -> u64 {
    add_count(1, index)
}
