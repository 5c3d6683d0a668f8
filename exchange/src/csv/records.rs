//! Splits csv into records and fields. Memory is bounded, and quoting rules are strict.
//!
//! Most csv readers accept an unmatched quote and silently turn the rest of the file into a single
//! field. This reader instead returns an error with the position of the quote.

use std::io::Read;

use cellar_base::limits::{MAX_IMPORT_ROW_BYTES, MAX_TEXT_BYTES};

use super::delimiter::{self, detect_delimiter};
use super::encoding::TextEncoding;
use super::input::{Input, OpenedInput, to_read_error};
use super::options::CsvOptions;
use super::scanner::{
    FieldSpan, RecordBounds, RecordEnd, Scanner, add_count, column_number, count_line_feeds,
    has_too_many_fields,
};
use super::uniform_rows::{
    MAX_SPLIT_BYTES, RowLimits, ShortFieldSpan, UniformRows, split_uniform_rows,
};
use crate::ReadError;

pub(super) const BUFFER_BYTES: usize = 256 * 1024;

/// The fields do not include enclosing quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    text: &'a str,
    fields: &'a [FieldSpan],
    /// One-based number of the line on which the record starts.
    pub(super) line: u64,
    /// Number of blank lines between the previous record and this one.
    pub(super) blank_lines: u32,
}

impl<'a> Record<'a> {
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn nonempty_fields(&self) -> impl Iterator<Item = NonemptyField<'a>> + use<'a> {
        let indexed_texts = self.iter().enumerate().filter(|(_, text)| !text.is_empty());
        indexed_texts.map(|(column_index, text)| NonemptyField { column_index, text })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = self.text;
        // Delimiters are ASCII characters, so no multi-byte character is split.
        self.fields.iter().map(move |field| text.get(field.start..field.end).unwrap_or_default())
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct NonemptyField<'a> {
    pub(super) column_index: usize,
    pub(super) text: &'a str,
}

/// How the text of a file is divided into fields, and encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Syntax {
    pub(super) delimiter: u8,
    pub(super) encoding: TextEncoding,
}

#[derive(Debug)]
pub(super) struct Records<R> {
    input: Input<R>,
    syntax: Syntax,
    buffer: Vec<u8>,
    unread_start: usize,
    unread_end: usize,
    is_input_at_end: bool,
    bytes_before_buffer: u64,
    line: u64,
    /// Whether the last record ended with a line feed. If it did not, rows are not split at once,
    /// because the file may not contain any line feed.
    uses_line_feeds: bool,
    fields: Vec<FieldSpan>,
    /// Fields of the last uniform rows.
    uniform_fields: Vec<ShortFieldSpan>,
    /// Text of the current record. Each doubled quote (`""`) is replaced by one quote (`"`).
    unquoted_text: String,
}

impl<R: Read> Records<R> {
    /// Opens a file whose delimiter and encoding the options state, or leave to be detected.
    pub(super) fn open(input: R, options: &CsvOptions) -> Result<Self, ReadError> {
        let OpenedInput { input, encoding, first_bytes, mark_bytes } =
            OpenedInput::open(input, options.encoding)?;
        let unread_end = first_bytes.len();
        let mut buffer = first_bytes;
        buffer.resize(BUFFER_BYTES, 0);
        let mut records = Self {
            input,
            syntax: Syntax { delimiter: options.delimiter.unwrap_or_default(), encoding },
            buffer,
            unread_start: mark_bytes,
            unread_end,
            is_input_at_end: false,
            bytes_before_buffer: 0,
            line: 1,
            uses_line_feeds: true,
            fields: Vec::new(),
            uniform_fields: Vec::new(),
            unquoted_text: String::new(),
        };
        if options.delimiter.is_none() {
            records.fill_buffer_to(delimiter::SAMPLE_BYTES)?;
            let sample = records.unread();
            let sample = sample.get(..delimiter::SAMPLE_BYTES).unwrap_or(sample);
            let is_whole_file = records.is_input_at_end && sample.len() == records.unread().len();
            records.syntax.delimiter = detect_delimiter(sample, is_whole_file);
        }
        let delimiter = records.syntax.delimiter;
        if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\n' | b'\r') {
            return Err(ReadError::Delimiter);
        }
        Ok(records)
    }

    pub(super) fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// Returns the number of bytes of the file that have been read so far.
    pub(super) fn file_bytes(&self) -> u64 {
        self.input.decoded_bytes().unwrap_or(self.bytes())
    }

    /// Returns the number of bytes of text that have been split into records so far.
    pub(super) fn bytes(&self) -> u64 {
        add_count(self.bytes_before_buffer, self.unread_start)
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.unread_start..self.unread_end).unwrap_or_default()
    }

    /// Splits as many rows as possible at once. Returns `None` if the next row must be read with
    /// [`Records::next_record`], because it is not uniform, not UTF-8, or the last one.
    pub(super) fn next_uniform_rows(
        &mut self,
        limits: RowLimits,
    ) -> Result<Option<UniformRows<'_>>, ReadError> {
        if !self.uses_line_feeds {
            return Ok(None);
        }
        self.fill_buffer_to(MAX_SPLIT_BYTES)?;
        let unread = self.buffer.get(self.unread_start..self.unread_end).unwrap_or_default();
        let delimiter = self.syntax.delimiter;
        let rows = split_uniform_rows(unread, delimiter, limits, &mut self.uniform_fields);
        let Ok(text) = std::str::from_utf8(unread.get(..rows.bytes).unwrap_or_default()) else {
            return Ok(None);
        };
        if rows.count == 0 {
            return Ok(None);
        }
        self.line += u64::from(rows.count);
        self.unread_start += rows.bytes;
        let (fields, columns) = (self.uniform_fields.as_slice(), limits.columns);
        Ok(Some(UniformRows { text, fields, columns, count: rows.count }))
    }

    pub(super) fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        let blank_lines = self.skip_blank_lines()?;
        let Some(bounds) = self.find_next_record()? else { return Ok(None) };
        let line = self.line;
        let record_end = self.unread_start + bounds.length;
        let record_bytes = self.buffer.get(self.unread_start..record_end).unwrap_or_default();
        let record_text = std::str::from_utf8(record_bytes)
            .map_err(|error| self.utf8_error(record_bytes, error.valid_up_to()))?;
        self.line = add_count(line, count_line_feeds(record_bytes));
        self.uses_line_feeds = record_bytes.last() == Some(&b'\n');
        self.unread_start = record_end;
        let text = if bounds.has_doubled_quotes {
            replace_doubled_quotes(record_text, &mut self.fields, &mut self.unquoted_text)
        } else {
            record_text
        };
        check_field_lengths(&self.fields, line)?;
        Ok(Some(Record { text, fields: &self.fields, line, blank_lines }))
    }

    /// Returns `None` at the end of the file.
    fn find_next_record(&mut self) -> Result<Option<RecordBounds>, ReadError> {
        while !self.unread().is_empty() {
            match self.find_record_in_buffer()? {
                RecordEnd::Found(bounds) => return Ok(Some(bounds)),
                RecordEnd::NotInBuffer => self.read_more_of_record()?,
            }
        }
        Ok(None)
    }

    fn utf8_error(&self, record_bytes: &[u8], valid_byte_count: usize) -> ReadError {
        let valid_bytes = record_bytes.get(..valid_byte_count).unwrap_or_default();
        ReadError::NotUtf8 {
            line: add_count(self.line, count_line_feeds(valid_bytes)),
            byte: add_count(self.bytes(), valid_byte_count),
        }
    }

    fn skip_blank_lines(&mut self) -> Result<u32, ReadError> {
        let mut blank_lines = 0_u32;
        loop {
            // The read buffer may end between the two characters of `\r\n`.
            let is_line_end_truncated = matches!(self.unread(), [] | [b'\r']);
            if is_line_end_truncated && !self.is_input_at_end {
                self.fill_buffer()?;
                continue;
            }
            let line_end_bytes = match self.unread() {
                [b'\r', b'\n', ..] => 2,
                [b'\r' | b'\n', ..] => 1,
                _ => return Ok(blank_lines),
            };
            let line_end = self.unread().get(..line_end_bytes).unwrap_or_default();
            self.line = add_count(self.line, count_line_feeds(line_end));
            self.unread_start += line_end_bytes;
            blank_lines = blank_lines.saturating_add(1);
        }
    }

    fn fill_buffer(&mut self) -> Result<(), ReadError> {
        self.discard_bytes_before_unread();
        self.grow_buffer();
        let free_end = self.buffer.len().min(self.unread_end + BUFFER_BYTES);
        let free_bytes = self.buffer.get_mut(self.unread_end..free_end).unwrap_or_default();
        match self.input.read(free_bytes) {
            Ok(byte_count) => {
                self.is_input_at_end = byte_count == 0;
                self.unread_end += byte_count;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(to_read_error(error)),
        }
        Ok(())
    }

    fn discard_bytes_before_unread(&mut self) {
        self.buffer.copy_within(self.unread_start..self.unread_end, 0);
        self.bytes_before_buffer = add_count(self.bytes_before_buffer, self.unread_start);
        self.unread_end -= self.unread_start;
        self.unread_start = 0;
    }

    /// Doubles the size of the read buffer if less than a quarter of [`BUFFER_BYTES`] is free.
    fn grow_buffer(&mut self) {
        let min_bytes = self.unread_end + BUFFER_BYTES / 4;
        if self.buffer.len() < min_bytes {
            let max_bytes = MAX_IMPORT_ROW_BYTES + BUFFER_BYTES;
            let doubled_bytes = self.buffer.len() * 2;
            self.buffer.resize(doubled_bytes.min(max_bytes).max(min_bytes), 0);
        }
    }

    /// Returns an error if the record is already too long.
    fn read_more_of_record(&mut self) -> Result<(), ReadError> {
        let unread_bytes = self.unread().len();
        if unread_bytes > MAX_IMPORT_ROW_BYTES {
            return Err(ReadError::RowTooLong { line: self.line });
        }
        // Double the number of unread bytes, so that a long record is scanned only a few times.
        let doubled_bytes = unread_bytes * 2;
        self.fill_buffer_to(doubled_bytes.min(MAX_IMPORT_ROW_BYTES + 1))
    }

    fn fill_buffer_to(&mut self, min_bytes: usize) -> Result<(), ReadError> {
        while self.unread().len() < min_bytes && !self.is_input_at_end {
            self.fill_buffer()?;
        }
        Ok(())
    }

    fn find_record_in_buffer(&mut self) -> Result<RecordEnd, ReadError> {
        self.fields.clear();
        let scanner = Scanner {
            unread: self.buffer.get(self.unread_start..self.unread_end).unwrap_or_default(),
            delimiter: self.syntax.delimiter,
            is_input_at_end: self.is_input_at_end,
            line: self.line,
        };
        let record_end = scanner.scan_record(&mut self.fields)?;
        if has_too_many_fields(&self.fields) {
            return Err(ReadError::TooManyColumns { line: self.line });
        }
        if let RecordEnd::Found(bounds) = &record_end
            && bounds.length > MAX_IMPORT_ROW_BYTES
        {
            return Err(ReadError::RowTooLong { line: self.line });
        }
        Ok(record_end)
    }
}

fn check_field_lengths(fields: &[FieldSpan], line: u64) -> Result<(), ReadError> {
    for (index, field) in fields.iter().enumerate() {
        if field.end - field.start > MAX_TEXT_BYTES {
            return Err(ReadError::TextTooLong { line, column: column_number(index) });
        }
    }
    Ok(())
}

/// Each doubled quote (`""`) becomes a single quote (`"`).
fn replace_doubled_quotes<'a>(
    record_text: &str,
    fields: &mut [FieldSpan],
    unquoted_text: &'a mut String,
) -> &'a str {
    unquoted_text.clear();
    for field in fields {
        let field_text = record_text.get(field.start..field.end).unwrap_or_default();
        let text_before = record_text.get(..field.start).unwrap_or_default();
        let start = unquoted_text.len();
        if text_before.ends_with('"') {
            unquoted_text.push_str(&field_text.replace("\"\"", "\""));
        } else {
            unquoted_text.push_str(field_text);
        }
        *field = FieldSpan { start, end: unquoted_text.len() };
    }
    unquoted_text
}
