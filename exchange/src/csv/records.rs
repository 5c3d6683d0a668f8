//! Splits csv into records and fields, with bounded memory and strict quoting rules.
//!
//! Most csv readers accept unmatched quotes and silently turn the rest of the file into a single
//! field. This reader returns an error with the position of the quote instead.

use std::io::Read;

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_TEXT_BYTES};
use memchr::{memchr, memchr3, memchr3_iter};

use crate::ReadError;

/// Maximum number of bytes per read.
pub(super) const WINDOW_BYTES: usize = 256 * 1024;

/// Start and end of a field, as offsets into the record's text.
type FieldSpan = (usize, usize);

/// A record and its fields, without enclosing quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    text: &'a str,
    fields: &'a [FieldSpan],
    /// One-based number of the record's first line.
    pub(super) line: u64,
    /// Number of blank lines between the previous record and this one.
    pub(super) blank_lines: u32,
}

impl<'a> Record<'a> {
    /// Returns the number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Iterates over the field texts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = self.text;
        // Fields are delimited by ASCII characters, so no multi-byte character is split.
        self.fields.iter().map(move |(start, end)| text.get(*start..*end).unwrap_or_default())
    }
}

/// Outcome of searching the window (read buffer) for the end of a record.
enum RecordEnd {
    Found {
        /// Offset of the first byte after the record and its line ending.
        end: usize,
        /// Whether the record is a single line without quoted fields.
        is_plain: bool,
        /// Whether a quoted field contains doubled quotes.
        has_doubled_quotes: bool,
    },
    /// The record continues beyond the window.
    NotInWindow,
}

/// Reads the records of a csv file.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    window: Vec<u8>,
    /// Start of the unread bytes in the window (read buffer).
    start: usize,
    /// End of the unread bytes in the window (read buffer).
    end: usize,
    at_end: bool,
    /// Number of file bytes before the window.
    bytes_before_window: u64,
    line: u64,
    /// Whether the last record ended with a line feed. If not, the reader skips the search for line
    /// feeds, because the file may not contain any.
    uses_line_feeds: bool,
    fields: Vec<FieldSpan>,
    /// Text of the current record with doubled quotes replaced by single ones.
    unquoted: String,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Result<Self, ReadError> {
        if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\n' | b'\r') {
            return Err(ReadError::Delimiter);
        }
        let mut records = Self {
            input,
            delimiter,
            window: vec![0; WINDOW_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            bytes_before_window: 0,
            line: 1,
            uses_line_feeds: true,
            fields: Vec::new(),
            unquoted: String::new(),
        };
        records.check_file_start()?;
        Ok(records)
    }

    /// Returns the number of bytes split into records so far.
    pub(super) fn bytes(&self) -> u64 {
        add(self.bytes_before_window, self.start)
    }

    /// Rejects files whose first bytes indicate another format, and skips the byte order mark.
    fn check_file_start(&mut self) -> Result<(), ReadError> {
        const ZIP_MARK: &[u8] = b"PK\x03\x04";
        const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
        const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
        self.fill_up_to(ZIP_MARK.len())?;
        let unread = self.unread();
        if unread.starts_with(ZIP_MARK) {
            return Err(ReadError::Workbook);
        }
        if UTF16_MARKS.iter().any(|mark| unread.starts_with(mark)) {
            return Err(ReadError::Utf16);
        }
        if unread.starts_with(UTF8_MARK) {
            self.start = UTF8_MARK.len();
        }
        Ok(())
    }

    fn unread(&self) -> &[u8] {
        self.window.get(self.start..self.end).unwrap_or_default()
    }

    /// Skips blank lines and returns the next record.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        let blank_lines = self.skip_blank_lines()?;
        let (length, is_plain, has_doubled_quotes) = loop {
            if self.unread().is_empty() {
                return Ok(None);
            }
            match self.find_record()? {
                RecordEnd::Found { end, is_plain, has_doubled_quotes } => {
                    break (end, is_plain, has_doubled_quotes);
                }
                RecordEnd::NotInWindow => self.read_more_of_record()?,
            }
        };
        let line = self.line;
        let record_end = self.start + length;
        let raw = self.window.get(self.start..record_end).unwrap_or_default();
        let text = std::str::from_utf8(raw).map_err(|error| {
            let valid_bytes = error.valid_up_to();
            let valid = raw.get(..valid_bytes).unwrap_or_default();
            ReadError::NotUtf8 {
                line: add(line, count_line_feeds(valid)),
                byte: add(self.bytes(), valid_bytes),
            }
        })?;
        self.line = add(line, if is_plain { 1 } else { count_line_feeds(raw) });
        self.uses_line_feeds = is_plain || raw.ends_with(b"\n");
        self.start = record_end;
        let text = if has_doubled_quotes {
            replace_doubled_quotes(text, &mut self.fields, &mut self.unquoted)
        } else {
            text
        };
        let is_too_long = |field: &FieldSpan| field.1 - field.0 > MAX_TEXT_BYTES;
        if let Some(index) = self.fields.iter().position(is_too_long) {
            return Err(ReadError::TextTooLong { line, column: column_number(index) });
        }
        Ok(Some(Record { text, fields: &self.fields, line, blank_lines }))
    }

    /// Skips blank lines and returns their number.
    fn skip_blank_lines(&mut self) -> Result<u32, ReadError> {
        let mut blank_lines = 0_u32;
        loop {
            let line_end_bytes = match self.unread() {
                [b'\r', b'\n', ..] => 2,
                [b'\n', ..] | [b'\r', _, ..] => 1,
                [b'\r'] if self.at_end => 1,
                // The rest of the line ending may be beyond the window.
                [] | [b'\r'] if !self.at_end => {
                    self.fill()?;
                    continue;
                }
                _ => return Ok(blank_lines),
            };
            let line_end = self.unread().get(..line_end_bytes).unwrap_or_default();
            self.line = add(self.line, count_line_feeds(line_end));
            self.start += line_end_bytes;
            blank_lines = blank_lines.saturating_add(1);
        }
    }

    /// Discards the bytes before `start` and performs one read into the free part of the window.
    fn fill(&mut self) -> Result<(), ReadError> {
        self.window.copy_within(self.start..self.end, 0);
        self.bytes_before_window = add(self.bytes_before_window, self.start);
        self.end -= self.start;
        self.start = 0;
        let min_len = self.end + WINDOW_BYTES / 4;
        if self.window.len() < min_len {
            let max_len = MAX_IMPORT_ROW_BYTES + WINDOW_BYTES;
            self.window.resize((self.window.len() * 2).min(max_len).max(min_len), 0);
        }
        let free_end = self.window.len().min(self.end + WINDOW_BYTES);
        let free = self.window.get_mut(self.end..free_end).unwrap_or_default();
        match self.input.read(free) {
            Ok(bytes) => {
                self.at_end = bytes == 0;
                self.end += bytes;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Reads more bytes of a record that continues beyond the unread bytes.
    fn read_more_of_record(&mut self) -> Result<(), ReadError> {
        let unread_bytes = self.unread().len();
        if unread_bytes > MAX_IMPORT_ROW_BYTES {
            return Err(ReadError::RowTooLong { line: self.line });
        }
        // Double the number of unread bytes to limit how often a long record is rescanned.
        self.fill_up_to((unread_bytes * 2).min(MAX_IMPORT_ROW_BYTES + 1))
    }

    fn fill_up_to(&mut self, bytes: usize) -> Result<(), ReadError> {
        while self.unread().len() < bytes && !self.at_end {
            self.fill()?;
        }
        Ok(())
    }

    /// Finds the end of the next record and collects its fields.
    fn find_record(&mut self) -> Result<RecordEnd, ReadError> {
        self.fields.clear();
        let unread = self.window.get(self.start..self.end).unwrap_or_default();
        if self.uses_line_feeds
            && let Some(line_feed) = memchr(b'\n', unread)
        {
            let line = unread.get(..line_feed).unwrap_or_default();
            if split_plain_line(line, self.delimiter, &mut self.fields) {
                let end = line_feed + 1;
                return self.check_limits(RecordEnd::Found {
                    end,
                    is_plain: true,
                    has_doubled_quotes: false,
                });
            }
        }
        self.fields.clear();
        let scanner =
            Scanner { unread, delimiter: self.delimiter, at_end: self.at_end, line: self.line };
        let record_end = scanner.scan_record(&mut self.fields)?;
        self.check_limits(record_end)
    }

    fn check_limits(&self, record_end: RecordEnd) -> Result<RecordEnd, ReadError> {
        if has_too_many(&self.fields) {
            return Err(ReadError::TooManyColumns { line: self.line });
        }
        match record_end {
            RecordEnd::Found { end, .. } if end > MAX_IMPORT_ROW_BYTES => {
                Err(ReadError::RowTooLong { line: self.line })
            }
            record_end => Ok(record_end),
        }
    }
}

/// Splits a line into fields. Returns `false` if the line contains a quoted field or an inner
/// carriage return.
fn split_plain_line(line: &[u8], delimiter: u8, fields: &mut Vec<FieldSpan>) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut start = 0;
    for offset in memchr3_iter(delimiter, b'"', b'\r', line) {
        match line.get(offset) {
            Some(byte) if *byte == delimiter => {
                fields.push((start, offset));
                start = offset + 1;
            }
            // A quote in the middle of a field is an ordinary character.
            Some(b'"') if offset != start => {}
            _ => return false,
        }
        if has_too_many(fields) {
            return true;
        }
    }
    fields.push((start, line.len()));
    true
}

fn has_too_many(fields: &[FieldSpan]) -> bool {
    fields.len() > usize::try_from(MAX_IMPORT_COLUMNS).unwrap_or(usize::MAX)
}

/// Scans a record that may contain quoted fields.
struct Scanner<'a> {
    unread: &'a [u8],
    delimiter: u8,
    at_end: bool,
    line: u64,
}

/// Outcome of scanning a field.
enum ScannedField {
    /// Another field follows.
    Inner { span: FieldSpan, next_start: usize, has_doubled_quotes: bool },
    /// The field is the last field of its record.
    Last {
        span: FieldSpan,
        /// Offset of the first byte after the record and its line ending.
        record_end: usize,
        has_doubled_quotes: bool,
    },
    /// The field continues beyond the window.
    NotInWindow,
}

impl Scanner<'_> {
    fn scan_record(&self, fields: &mut Vec<FieldSpan>) -> Result<RecordEnd, ReadError> {
        let mut start = 0;
        let mut any_doubled_quotes = false;
        loop {
            let column = column_number(fields.len());
            let field = match self.unread.get(start) {
                Some(b'"') => self.scan_quoted_field(start, column)?,
                _ => self.scan_plain_field(start, column)?,
            };
            match field {
                ScannedField::NotInWindow => return Ok(RecordEnd::NotInWindow),
                ScannedField::Inner { span, next_start, has_doubled_quotes } => {
                    fields.push(span);
                    any_doubled_quotes |= has_doubled_quotes;
                    start = next_start;
                }
                ScannedField::Last { span, record_end, has_doubled_quotes } => {
                    fields.push(span);
                    return Ok(RecordEnd::Found {
                        end: record_end,
                        is_plain: false,
                        has_doubled_quotes: any_doubled_quotes || has_doubled_quotes,
                    });
                }
            }
            if has_too_many(fields) {
                // The caller rejects the record, so skip the rest of it.
                return Ok(RecordEnd::Found {
                    end: start,
                    is_plain: false,
                    has_doubled_quotes: false,
                });
            }
        }
    }

    fn scan_plain_field(&self, start: usize, column: u64) -> Result<ScannedField, ReadError> {
        let rest = self.unread.get(start..).unwrap_or_default();
        match memchr3(self.delimiter, b'\n', b'\r', rest) {
            Some(length) => {
                let end = start + length;
                Ok(self.end_field((start, end), end, false))
            }
            None if self.at_end => {
                let end = self.unread.len();
                Ok(ScannedField::Last {
                    span: (start, end),
                    record_end: end,
                    has_doubled_quotes: false,
                })
            }
            None => self.continue_after_window(start, column),
        }
    }

    /// Handles a field that continues beyond the window. Errors if the field is already too long.
    fn continue_after_window(&self, start: usize, column: u64) -> Result<ScannedField, ReadError> {
        // A quoted field may be twice as long as its text, because every character may be a doubled
        // quote.
        if self.unread.len() - start > 2 * MAX_TEXT_BYTES + WINDOW_BYTES {
            return Err(ReadError::TextTooLong { line: self.line, column });
        }
        Ok(ScannedField::NotInWindow)
    }

    /// Returns the scanned field. `end` is the offset of the delimiter or line ending after the
    /// field.
    fn end_field(&self, span: FieldSpan, end: usize, has_doubled_quotes: bool) -> ScannedField {
        let line_end_bytes = match self.unread.get(end..).unwrap_or_default() {
            [b'\r', b'\n', ..] => 2,
            // A line feed may follow beyond the window.
            [b'\r'] if !self.at_end => return ScannedField::NotInWindow,
            [b'\r' | b'\n', ..] => 1,
            _ => return ScannedField::Inner { span, next_start: end + 1, has_doubled_quotes },
        };
        ScannedField::Last { span, record_end: end + line_end_bytes, has_doubled_quotes }
    }

    fn scan_quoted_field(
        &self,
        opening_quote: usize,
        column: u64,
    ) -> Result<ScannedField, ReadError> {
        let start = opening_quote + 1;
        let mut search_start = start;
        let mut has_doubled_quotes = false;
        loop {
            let rest = self.unread.get(search_start..).unwrap_or_default();
            let Some(offset) = memchr(b'"', rest) else {
                if self.at_end {
                    let line = self.line_at(opening_quote);
                    return Err(ReadError::UnclosedQuote { line, column });
                }
                return self.continue_after_window(start, column);
            };
            let quote = search_start + offset;
            let after_quote = quote + 1;
            match self.unread.get(after_quote) {
                Some(b'"') => {
                    search_start = after_quote + 1;
                    has_doubled_quotes = true;
                }
                Some(byte) if *byte == self.delimiter || matches!(byte, b'\n' | b'\r') => {
                    return Ok(self.end_field((start, quote), after_quote, has_doubled_quotes));
                }
                Some(_) => {
                    let line = self.line_at(after_quote);
                    return Err(ReadError::TextAfterQuote { line, column });
                }
                None if self.at_end => {
                    return Ok(ScannedField::Last {
                        span: (start, quote),
                        record_end: after_quote,
                        has_doubled_quotes,
                    });
                }
                None => return self.continue_after_window(start, column),
            }
        }
    }

    fn line_at(&self, offset: usize) -> u64 {
        add(self.line, count_line_feeds(self.unread.get(..offset).unwrap_or_default()))
    }
}

/// Writes a record's fields into `unquoted`, with doubled quotes replaced by single ones, and
/// updates the field spans.
fn replace_doubled_quotes<'a>(
    text: &str,
    fields: &mut [FieldSpan],
    unquoted: &'a mut String,
) -> &'a str {
    unquoted.clear();
    for field in fields {
        let (start, end) = *field;
        let unquoted_start = unquoted.len();
        let byte_before = start.checked_sub(1).and_then(|index| text.as_bytes().get(index));
        let is_quoted = byte_before == Some(&b'"');
        let mut rest = text.get(start..end).unwrap_or_default();
        while is_quoted && let Some((before, after)) = rest.split_once("\"\"") {
            unquoted.push_str(before);
            unquoted.push('"');
            rest = after;
        }
        unquoted.push_str(rest);
        *field = (unquoted_start, unquoted.len());
    }
    unquoted
}

fn count_line_feeds(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

fn add(number: u64, count: usize) -> u64 {
    number.saturating_add(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Converts a zero-based column index to a one-based column number.
fn column_number(index: usize) -> u64 {
    add(1, index)
}
