//! Taking csv apart: one record after the other, in bounded memory, strict about quotes.
//!
//! A csv reader takes quotes that do not match as they come, and the rest of the file silently
//! becomes one field; here they are an error, with their place.

use std::io::Read;

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_TEXT_BYTES};
use memchr::{memchr, memchr3, memchr3_iter};

use crate::ReadError;

/// Bytes that are read at a time.
pub(super) const WINDOW_BYTES: usize = 256 * 1024;

/// A record: its fields, without quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    text: &'a str,
    fields: &'a [(usize, usize)],
    /// The line where it begins, from 1.
    pub(super) line: u64,
    /// Lines above it, below the record before, that have nothing at all.
    pub(super) blank_lines: u32,
}

impl<'a> Record<'a> {
    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Its fields.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = self.text;
        // Fields begin and end at ASCII characters: each is whole.
        self.fields.iter().map(move |(start, end)| text.get(*start..*end).unwrap_or_default())
    }
}

/// Where a record is, in the window.
enum Found {
    /// It ends at this offset, its line end included. It is one line without quoted fields, or some
    /// field has a doubled quote in it, or neither.
    Whole { end: usize, plain: bool, doubled: bool },
    /// It goes on behind the window.
    More,
}

/// The records of a file.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    window: Vec<u8>,
    /// What of the window is not taken yet.
    start: usize,
    end: usize,
    at_end: bool,
    /// Bytes of the file before the window.
    before: u64,
    line: u64,
    /// The last line ended with one: where none do, none is looked for.
    line_feeds: bool,
    fields: Vec<(usize, usize)>,
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
            before: 0,
            line: 1,
            line_feeds: true,
            fields: Vec::new(),
            unquoted: String::new(),
        };
        records.begin()?;
        Ok(records)
    }

    /// Bytes of the file that have been taken.
    pub(super) fn bytes(&self) -> u64 {
        self.before.saturating_add(u64::try_from(self.start).unwrap_or(u64::MAX))
    }

    /// Looks at the first bytes, which say what kind of file it is.
    fn begin(&mut self) -> Result<(), ReadError> {
        const LONGEST_MARK: usize = 4;
        self.fill_up_to(LONGEST_MARK)?;
        let rest = self.rest();
        if rest.starts_with(b"PK\x03\x04") {
            return Err(ReadError::Workbook);
        }
        if rest.starts_with(b"\xff\xfe") || rest.starts_with(b"\xfe\xff") {
            return Err(ReadError::Utf16);
        }
        if rest.starts_with(b"\xef\xbb\xbf") {
            self.start = 3;
        }
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.window.get(self.start..self.end).unwrap_or_default()
    }

    /// The next record; blank lines are none.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        let blank_lines = self.skip_blank_lines()?;
        let (end, plain, doubled) = loop {
            if self.rest().is_empty() {
                return Ok(None);
            }
            match self.find()? {
                Found::Whole { end, plain, doubled } => break (end, plain, doubled),
                Found::More => self.grow()?,
            }
        };
        let line = self.line;
        let (start, stop) = (self.start, self.start.saturating_add(end));
        let raw = self.window.get(start..stop).unwrap_or_default();
        let text = std::str::from_utf8(raw).map_err(|error| {
            let valid = error.valid_up_to();
            let lines = raw.iter().take(valid).filter(|byte| **byte == b'\n').count();
            ReadError::NotUtf8 { line: add(line, lines), byte: add(self.bytes(), valid) }
        })?;
        self.line = add(line, if plain { 1 } else { count_ends(raw) });
        self.line_feeds = plain || raw.ends_with(b"\n");
        self.start = stop;
        let text = if doubled { unquote(text, &mut self.fields, &mut self.unquoted) } else { text };
        if let Some(column) = self.fields.iter().position(|(from, to)| to - from > MAX_TEXT_BYTES) {
            return Err(ReadError::TextTooLong { line, column: number(column) });
        }
        Ok(Some(Record { text, fields: &self.fields, line, blank_lines }))
    }

    fn skip_blank_lines(&mut self) -> Result<u32, ReadError> {
        let mut blank = 0_u32;
        loop {
            let (length, is_end) = match self.rest() {
                [b'\n', ..] | [b'\r'] if self.at_end => (1, true),
                [b'\n', ..] => (1, true),
                [b'\r', b'\n', ..] => (2, true),
                [b'\r', _, ..] => (1, true),
                [] | [b'\r'] if !self.at_end => (0, true),
                _ => (0, false),
            };
            if !is_end {
                return Ok(blank);
            }
            if length == 0 {
                self.fill()?;
                continue;
            }
            let ends = self.rest().iter().take(length).filter(|byte| **byte == b'\n').count();
            self.line = add(self.line, ends);
            self.start = self.start.saturating_add(length);
            blank = blank.saturating_add(1);
        }
    }

    /// Reads on behind the window, once; what was taken goes.
    fn fill(&mut self) -> Result<(), ReadError> {
        self.window.copy_within(self.start..self.end, 0);
        self.before = add(self.before, self.start);
        self.end = self.end.saturating_sub(self.start);
        self.start = 0;
        let least = self.end.saturating_add(WINDOW_BYTES / 4);
        if self.window.len() < least {
            let most = MAX_IMPORT_ROW_BYTES.saturating_add(WINDOW_BYTES);
            self.window.resize(self.window.len().saturating_mul(2).min(most).max(least), 0);
        }
        let room = self.window.get_mut(self.end..).unwrap_or_default();
        let longest = room.len().min(WINDOW_BYTES);
        let room = room.get_mut(..longest).unwrap_or_default();
        match self.input.read(room) {
            Ok(bytes) => {
                self.at_end = bytes == 0;
                self.end = self.end.saturating_add(bytes);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Reads on for a record that is longer than what is there.
    fn grow(&mut self) -> Result<(), ReadError> {
        if self.rest().len() > MAX_IMPORT_ROW_BYTES {
            return Err(ReadError::RowTooLong { line: self.line });
        }
        // Twice as much each time: a record is looked through a few times, however long it is.
        let goal = self.rest().len().saturating_mul(2).min(MAX_IMPORT_ROW_BYTES + 1);
        self.fill_up_to(goal)
    }

    fn fill_up_to(&mut self, bytes: usize) -> Result<(), ReadError> {
        while self.rest().len() < bytes && !self.at_end {
            self.fill()?;
        }
        Ok(())
    }

    /// Finds the end of the record and its fields.
    fn find(&mut self) -> Result<Found, ReadError> {
        self.fields.clear();
        let rest = self.window.get(self.start..self.end).unwrap_or_default();
        if self.line_feeds
            && let Some(end) = memchr(b'\n', rest)
            && plain_line(rest.get(..end).unwrap_or_default(), self.delimiter, &mut self.fields)
        {
            return self.checked(Found::Whole {
                end: end.saturating_add(1),
                plain: true,
                doubled: false,
            });
        }
        self.fields.clear();
        let scan = Scan { rest, delimiter: self.delimiter, at_end: self.at_end, line: self.line };
        let found = scan.record(&mut self.fields)?;
        self.checked(found)
    }

    fn checked(&self, found: Found) -> Result<Found, ReadError> {
        if too_many(&self.fields) {
            return Err(ReadError::TooManyColumns { line: self.line });
        }
        match found {
            Found::Whole { end, .. } if end > MAX_IMPORT_ROW_BYTES => {
                Err(ReadError::RowTooLong { line: self.line })
            }
            found => Ok(found),
        }
    }
}

/// Takes a line apart that has no quoted field and no line end within; `false` if it has.
fn plain_line(line: &[u8], delimiter: u8, fields: &mut Vec<(usize, usize)>) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut start = 0;
    for at in memchr3_iter(delimiter, b'"', b'\r', line) {
        match line.get(at) {
            Some(byte) if *byte == delimiter => {
                fields.push((start, at));
                start = at.saturating_add(1);
            }
            Some(b'"') if at != start => {}
            _ => return false,
        }
        if too_many(fields) {
            return true;
        }
    }
    fields.push((start, line.len()));
    true
}

fn too_many(fields: &[(usize, usize)]) -> bool {
    fields.len() > usize::try_from(MAX_IMPORT_COLUMNS).unwrap_or(usize::MAX)
}

/// Looks at a record that may have quoted fields.
struct Scan<'a> {
    rest: &'a [u8],
    delimiter: u8,
    at_end: bool,
    line: u64,
}

/// The end of a field, and what is behind it.
enum Field {
    /// From and to, and where the next field begins.
    Then {
        span: (usize, usize),
        next: usize,
        doubled: bool,
    },
    /// The last one: where the record ends, its line end included.
    Last {
        span: (usize, usize),
        end: usize,
        doubled: bool,
    },
    More,
}

impl Scan<'_> {
    fn record(&self, fields: &mut Vec<(usize, usize)>) -> Result<Found, ReadError> {
        let (mut at, mut any_doubled) = (0, false);
        loop {
            let column = number(fields.len());
            let field = match self.rest.get(at) {
                Some(b'"') => self.quoted(at, column)?,
                _ => self.plain(at, at, column)?,
            };
            match field {
                Field::More => return Ok(Found::More),
                Field::Then { span, next, doubled } => {
                    fields.push(span);
                    any_doubled |= doubled;
                    at = next;
                }
                Field::Last { span, end, doubled } => {
                    fields.push(span);
                    let doubled = any_doubled | doubled;
                    return Ok(Found::Whole { end, plain: false, doubled });
                }
            }
            if too_many(fields) {
                return Ok(Found::Whole { end: at, plain: false, doubled: false });
            }
        }
    }

    fn plain(&self, start: usize, from: usize, column: u64) -> Result<Field, ReadError> {
        let rest = self.rest.get(from..).unwrap_or_default();
        match memchr3(self.delimiter, b'\n', b'\r', rest) {
            Some(offset) => {
                let at = from.saturating_add(offset);
                Ok(self.ended((start, at), at, false))
            }
            None if self.at_end => {
                let end = self.rest.len();
                Ok(Field::Last { span: (start, end), end, doubled: false })
            }
            None => self.more(start, column),
        }
    }

    /// A field of which the end is not in the window.
    fn more(&self, start: usize, column: u64) -> Result<Field, ReadError> {
        // Twice: each of its quotes may be doubled.
        if self.rest.len().saturating_sub(start) > 2 * MAX_TEXT_BYTES + WINDOW_BYTES {
            return Err(ReadError::TextTooLong { line: self.line, column });
        }
        Ok(Field::More)
    }

    /// What is behind a field that ends at `at`, where a delimiter or a line end is.
    fn ended(&self, span: (usize, usize), at: usize, doubled: bool) -> Field {
        match self.rest.get(at..).unwrap_or_default() {
            [b'\r', b'\n', ..] => Field::Last { span, end: at.saturating_add(2), doubled },
            // Whether `\n` follows is not known yet.
            [b'\r'] if !self.at_end => Field::More,
            [b'\r' | b'\n', ..] => Field::Last { span, end: at.saturating_add(1), doubled },
            _ => Field::Then { span, next: at.saturating_add(1), doubled },
        }
    }

    fn quoted(&self, opened: usize, column: u64) -> Result<Field, ReadError> {
        let start = opened.saturating_add(1);
        let (mut from, mut doubled) = (start, false);
        loop {
            let rest = self.rest.get(from..).unwrap_or_default();
            let Some(offset) = memchr(b'"', rest) else {
                return if self.at_end {
                    Err(ReadError::UnclosedQuote { line: self.line_of(opened), column })
                } else {
                    self.more(start, column)
                };
            };
            let quote = from.saturating_add(offset);
            let behind = quote.saturating_add(1);
            match self.rest.get(behind) {
                Some(b'"') => (from, doubled) = (behind.saturating_add(1), true),
                Some(byte) if *byte == self.delimiter || matches!(byte, b'\n' | b'\r') => {
                    return Ok(self.ended((start, quote), behind, doubled));
                }
                Some(_) => {
                    return Err(ReadError::TextAfterQuote { line: self.line_of(behind), column });
                }
                None if self.at_end => {
                    return Ok(Field::Last { span: (start, quote), end: behind, doubled });
                }
                None => return self.more(start, column),
            }
        }
    }

    fn line_of(&self, at: usize) -> u64 {
        add(self.line, count_ends(self.rest.get(..at).unwrap_or_default()))
    }
}

/// The fields with doubled quotes as single ones, one behind the other in `unquoted`.
fn unquote<'a>(text: &str, fields: &mut [(usize, usize)], unquoted: &'a mut String) -> &'a str {
    unquoted.clear();
    for field in fields {
        let from = unquoted.len();
        let inner = text.get(field.0..field.1).unwrap_or_default();
        let quoted = field.0.checked_sub(1).and_then(|at| text.as_bytes().get(at)) == Some(&b'"');
        let mut rest = inner;
        while quoted && let Some((before, after)) = rest.split_once("\"\"") {
            unquoted.push_str(before);
            unquoted.push('"');
            rest = after;
        }
        unquoted.push_str(rest);
        *field = (from, unquoted.len());
    }
    unquoted
}

fn count_ends(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

fn add(number: u64, count: usize) -> u64 {
    number.saturating_add(u64::try_from(count).unwrap_or(u64::MAX))
}

/// The number of a column, from 1.
fn number(column: usize) -> u64 {
    add(1, column)
}
