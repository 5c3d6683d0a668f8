//! Reads the records of binary parts. A record consists of its type, its length in bytes and its
//! fields.

use std::io::{self, BufRead, Read};

use cellar_base::limits::MAX_XML_EVENT_BYTES;

use crate::WorkbookError;
use crate::workbook::archive::{Part, to_part_error};

/// Reads the records of a part.
#[derive(Debug)]
pub(super) struct Records<R: Read> {
    part: Part<R>,
    name: String,
    buffer: Vec<u8>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(part: Part<R>, name: &str) -> Self {
        Self { part, name: name.to_owned(), buffer: Vec::new() }
    }

    /// Returns the type and fields of the next wanted record, or `None` at the end of the part.
    pub(super) fn next(
        &mut self,
        is_wanted: impl Fn(u16) -> bool,
    ) -> Result<Option<(u16, Fields<'_>)>, WorkbookError> {
        loop {
            match self.read_record(&is_wanted) {
                Ok(Some((record_type, true))) => {
                    return Ok(Some((record_type, Fields(&self.buffer))));
                }
                Ok(Some((_, false))) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(to_part_error(&self.name, &error)),
            }
        }
    }

    /// Reads the next record into the buffer if its type is wanted, and skips it otherwise. Returns
    /// the record type and whether it is wanted.
    fn read_record(&mut self, is_wanted: impl Fn(u16) -> bool) -> io::Result<Option<(u16, bool)>> {
        if self.part.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let record_type = u16::try_from(self.read_number(2)?).unwrap_or(u16::MAX);
        let length = u64::from(self.read_number(4)?);
        if !is_wanted(record_type) {
            let skipped = io::copy(&mut self.part.by_ref().take(length), &mut io::sink())?;
            if skipped < length {
                return Err(truncated());
            }
            return Ok(Some((record_type, false)));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_XML_EVENT_BYTES {
            return Err(io::Error::other(crate::workbook::archive::PartFault::EventTooLong));
        }
        self.buffer.resize(length, 0);
        self.part.read_exact(&mut self.buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => truncated(),
            _ => error,
        })?;
        Ok(Some((record_type, true)))
    }

    /// Reads a variable-length number of at most `max_bytes` bytes. Each byte contains seven bits
    /// of the number, lowest bits first; its high bit is set if another byte follows.
    fn read_number(&mut self, max_bytes: u32) -> io::Result<u32> {
        let mut number = 0;
        for index in 0..max_bytes {
            let mut byte = [0_u8];
            self.part.read_exact(&mut byte)?;
            let [byte] = byte;
            number |= u32::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(number)
    }

    /// Returns the error for a record with invalid fields.
    pub(super) fn damaged(&self, why: &str) -> WorkbookError {
        WorkbookError::Damaged { part: self.name.clone(), why: why.to_owned() }
    }
}

fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the part is truncated")
}

/// Reads a record's fields in order. All methods return `None` at the end of the record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn read_bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(super) fn read_u8(&mut self) -> Option<u8> {
        self.read_bytes::<1>().map(|[byte]| byte)
    }

    pub(super) fn read_u16(&mut self) -> Option<u16> {
        self.read_bytes().map(u16::from_le_bytes)
    }

    pub(super) fn read_u32(&mut self) -> Option<u32> {
        self.read_bytes().map(u32::from_le_bytes)
    }

    pub(super) fn read_f64(&mut self) -> Option<f64> {
        self.read_bytes().map(f64::from_le_bytes)
    }

    /// Reads a text and appends it to `text`. The text is encoded as the number of UTF-16 code
    /// units, followed by the code units. Unpaired surrogates become replacement characters.
    pub(super) fn read_text(&mut self, text: &mut String) -> Option<()> {
        let unit_count = usize::try_from(self.read_u32()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(unit_count.checked_mul(2)?)?;
        self.0 = rest;
        let byte_pairs = bytes.iter().zip(bytes.iter().skip(1)).step_by(2);
        let units = byte_pairs.map(|(low, high)| u16::from_le_bytes([*low, *high]));
        text.extend(
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)),
        );
        Some(())
    }
}
