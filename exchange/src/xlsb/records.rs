//! Records of binary parts: a type, a length, and as many bytes.

use std::io::{self, BufRead, Read};

use cellar_base::limits::MAX_XML_EVENT_BYTES;

use crate::WorkbookError;
use crate::workbook::archive::{Part, part_fault};

/// The records of a part.
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

    /// The next record of which the type is wanted; `None` at the end.
    pub(super) fn next(
        &mut self,
        wanted: impl Fn(u16) -> bool,
    ) -> Result<Option<(u16, Fields<'_>)>, WorkbookError> {
        loop {
            match self.read(&wanted) {
                Ok(Some((kind, true))) => return Ok(Some((kind, Fields(&self.buffer)))),
                Ok(Some((_, false))) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(part_fault(&self.name, &error)),
            }
        }
    }

    /// Reads a record, or over it.
    fn read(&mut self, wanted: impl Fn(u16) -> bool) -> io::Result<Option<(u16, bool)>> {
        if self.part.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let kind = u16::try_from(self.number(2)?).unwrap_or(u16::MAX);
        let length = u64::from(self.number(4)?);
        if !wanted(kind) {
            let skipped = io::copy(&mut self.part.by_ref().take(length), &mut io::sink())?;
            return if skipped == length { Ok(Some((kind, false))) } else { Err(cut_off()) };
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_XML_EVENT_BYTES {
            return Err(io::Error::other(crate::workbook::archive::Limit::Event));
        }
        self.buffer.resize(length, 0);
        self.part.read_exact(&mut self.buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => cut_off(),
            _ => error,
        })?;
        Ok(Some((kind, true)))
    }

    /// A number of seven bits a byte, lowest first.
    fn number(&mut self, bytes: u32) -> io::Result<u32> {
        let mut number = 0;
        for index in 0..bytes {
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

    /// The error for a record that is not as it has to be.
    pub(super) fn damaged(&self, why: &str) -> WorkbookError {
        WorkbookError::Damaged { part: self.name.clone(), why: why.to_owned() }
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle")
}

/// The fields of a record, taken one after the other; `None` behind its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Option<f64> {
        self.bytes().map(f64::from_le_bytes)
    }

    /// A text: how many units, then those, UTF-16. Halves of pairs become a replacement character.
    pub(super) fn text(&mut self, text: &mut String) -> Option<()> {
        let units = usize::try_from(self.u32()?).ok()?;
        let (taken, rest) = self.0.split_at_checked(units.checked_mul(2)?)?;
        self.0 = rest;
        let units = taken.iter().zip(taken.iter().skip(1)).step_by(2);
        let units = units.map(|(low, high)| u16::from_le_bytes([*low, *high]));
        text.extend(
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)),
        );
        Some(())
    }
}
