//! Reads the records of the binary files in an xlsb workbook. A record consists of a type, a length
//! in bytes, and fields.

use std::io::{self, BufRead, Read};

use cellar_base::limits::MAX_XML_EVENT_BYTES;

use crate::WorkbookError;
use crate::workbook::archive::{Part, PartFault, to_part_error};

#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) record_type: u16,
    pub(super) fields: Fields<'a>,
}

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

    pub(super) fn next_record(
        &mut self,
        is_wanted: impl FnMut(u16) -> bool,
    ) -> Result<Option<Record<'_>>, WorkbookError> {
        match self.read_next_record(is_wanted) {
            Ok(Some(record_type)) => Ok(Some(Record { record_type, fields: Fields(&self.buffer) })),
            Ok(None) => Ok(None),
            Err(error) => Err(to_part_error(&self.name, &error)),
        }
    }

    /// Stores the record's fields in the buffer and returns its type.
    fn read_next_record(
        &mut self,
        mut is_wanted: impl FnMut(u16) -> bool,
    ) -> io::Result<Option<u16>> {
        while !self.part.fill_buf()?.is_empty() {
            let record_type = u16::try_from(self.read_number(2)?).unwrap_or(u16::MAX);
            let field_bytes = u64::from(self.read_number(4)?);
            if is_wanted(record_type) {
                self.read_fields(field_bytes)?;
                return Ok(Some(record_type));
            }
            self.skip_fields(field_bytes)?;
        }
        Ok(None)
    }

    fn read_fields(&mut self, field_bytes: u64) -> io::Result<()> {
        let field_bytes = usize::try_from(field_bytes).unwrap_or(usize::MAX);
        if field_bytes > MAX_XML_EVENT_BYTES {
            return Err(io::Error::other(PartFault::EventTooLong));
        }
        self.buffer.resize(field_bytes, 0);
        self.part.read_exact(&mut self.buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => truncated_part_error(),
            _ => error,
        })
    }

    fn skip_fields(&mut self, field_bytes: u64) -> io::Result<()> {
        let skipped_bytes = io::copy(&mut self.part.by_ref().take(field_bytes), &mut io::sink())?;
        if skipped_bytes < field_bytes {
            return Err(truncated_part_error());
        }
        Ok(())
    }

    /// Reads a variable-length integer (LEB128) of at most `max_bytes` bytes.
    fn read_number(&mut self, max_bytes: u32) -> io::Result<u32> {
        const BITS_PER_BYTE: u32 = 7;
        const NUMBER_BITS: u8 = 0x7f;
        const HAS_NEXT_BYTE: u8 = 0x80;
        let mut number = 0;
        for index in 0..max_bytes {
            let mut buffer = [0_u8];
            self.part.read_exact(&mut buffer)?;
            let [byte] = buffer;
            number |= u32::from(byte & NUMBER_BITS) << (BITS_PER_BYTE * index);
            if byte & HAS_NEXT_BYTE == 0 {
                break;
            }
        }
        Ok(number)
    }

    pub(super) fn damaged(&self, why: &str) -> WorkbookError {
        WorkbookError::Damaged { part: self.name.clone(), why: why.to_owned() }
    }
}

fn truncated_part_error() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the part is truncated")
}

/// All methods return `None` if the record has no more bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn read_bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, following_fields) = self.0.split_first_chunk::<N>()?;
        self.0 = following_fields;
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

    /// The string is stored as its number of UTF-16 code units, followed by the code units. An
    /// unpaired surrogate becomes a replacement character.
    pub(super) fn read_text(&mut self, text: &mut String) -> Option<()> {
        const BYTES_PER_UNIT: usize = 2;
        let unit_count = usize::try_from(self.read_u32()?).ok()?;
        let text_bytes = unit_count.checked_mul(BYTES_PER_UNIT)?;
        let (bytes, following_fields) = self.0.split_at_checked(text_bytes)?;
        self.0 = following_fields;
        let (byte_pairs, _) = bytes.as_chunks::<BYTES_PER_UNIT>();
        let units = byte_pairs.iter().map(|byte_pair| u16::from_le_bytes(*byte_pair));
        for character in char::decode_utf16(units) {
            text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Some(())
    }
}
