//! Decodes the bytes of a csv file to UTF-8.

use std::fmt;
use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult};

use super::encoding::TextEncoding;
use super::scanner::add_count;
use crate::ReadError;

const RAW_BUFFER_BYTES: usize = 64 * 1024;
const ZIP_MARK: &[u8] = b"PK\x03\x04";
const LONGEST_MARK_BYTES: u64 = 4;

/// The text of a csv file. A file in UTF-8 is passed through unchanged; its text may be invalid.
#[derive(Debug)]
pub(super) enum Input<R> {
    Utf8(R),
    Decoded(Box<Transcoder<R>>),
}

/// A file whose encoding is known.
#[derive(Debug)]
pub(super) struct OpenedInput<R> {
    pub(super) input: Input<R>,
    pub(super) encoding: TextEncoding,
    /// Bytes at the start of a UTF-8 file that have already been read.
    pub(super) first_bytes: Vec<u8>,
    /// Length of the byte order mark in `first_bytes`.
    pub(super) mark_bytes: usize,
}

impl<R: Read> OpenedInput<R> {
    /// Reads the first bytes. A byte order mark decides about the encoding, otherwise the caller's
    /// choice does. Rejects a workbook.
    pub(super) fn open(mut reader: R, chosen: Option<TextEncoding>) -> Result<Self, ReadError> {
        let mut first_bytes = Vec::new();
        reader.by_ref().take(LONGEST_MARK_BYTES).read_to_end(&mut first_bytes)?;
        if first_bytes.starts_with(ZIP_MARK) {
            return Err(ReadError::Workbook);
        }
        let of_mark = TextEncoding::of_byte_order_mark(&first_bytes);
        let (encoding, mark_bytes) = of_mark.unwrap_or((chosen.unwrap_or(TextEncoding::UTF_8), 0));
        if encoding == TextEncoding::UTF_8 {
            return Ok(Self { input: Input::Utf8(reader), encoding, first_bytes, mark_bytes });
        }
        let transcoder = Transcoder::new(reader, encoding, first_bytes, mark_bytes);
        let input = Input::Decoded(Box::new(transcoder));
        Ok(Self { input, encoding, first_bytes: Vec::new(), mark_bytes: 0 })
    }
}

impl<R> Input<R> {
    /// Returns the number of bytes of the file that were decoded, or `None` for UTF-8.
    pub(super) fn decoded_bytes(&self) -> Option<u64> {
        match self {
            Self::Utf8(_) => None,
            Self::Decoded(transcoder) => Some(transcoder.decoded_bytes),
        }
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, text: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Utf8(reader) => reader.read(text),
            Self::Decoded(transcoder) => transcoder.read(text),
        }
    }
}

/// A byte sequence that is no text in the encoding. It is the source of an I/O error.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("byte {byte} is not {encoding} text")]
struct MalformedText {
    encoding: &'static str,
    byte: u64,
}

/// The source of the error may be a [`MalformedText`].
pub(super) fn to_read_error(error: io::Error) -> ReadError {
    match error.get_ref().and_then(|source| source.downcast_ref()) {
        Some(&MalformedText { encoding, byte }) => ReadError::NotInEncoding { encoding, byte },
        None => ReadError::Io(error),
    }
}

/// Decodes another encoding than UTF-8.
pub(super) struct Transcoder<R> {
    reader: R,
    encoding: TextEncoding,
    decoder: Decoder,
    raw: Vec<u8>,
    unread_start: usize,
    unread_end: usize,
    is_at_end: bool,
    /// The decoder must not be used after the end.
    is_finished: bool,
    /// Includes the byte order mark.
    decoded_bytes: u64,
}

impl<R> fmt::Debug for Transcoder<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Transcoder").field("encoding", &self.encoding).finish()
    }
}

impl<R: Read> Transcoder<R> {
    fn new(reader: R, encoding: TextEncoding, first_bytes: Vec<u8>, mark_bytes: usize) -> Self {
        let unread_end = first_bytes.len();
        let mut raw = first_bytes;
        raw.resize(RAW_BUFFER_BYTES, 0);
        Self {
            reader,
            encoding,
            decoder: encoding.decoder(),
            raw,
            unread_start: mark_bytes,
            unread_end,
            is_at_end: false,
            is_finished: false,
            decoded_bytes: add_count(0, mark_bytes),
        }
    }

    /// The buffer must have no unread bytes.
    fn fill(&mut self) -> io::Result<()> {
        let bytes = self.reader.read(&mut self.raw)?;
        (self.unread_start, self.unread_end) = (0, bytes);
        self.is_at_end = bytes == 0;
        Ok(())
    }

    fn malformed_text(&self, bad_bytes: u8, later_bytes: u8) -> io::Error {
        let after_start = u64::from(bad_bytes) + u64::from(later_bytes);
        let byte = self.decoded_bytes.saturating_sub(after_start);
        io::Error::other(MalformedText { encoding: self.encoding.name(), byte })
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, text: &mut [u8]) -> io::Result<usize> {
        while !self.is_finished {
            if self.unread_start == self.unread_end && !self.is_at_end {
                self.fill()?;
            }
            let unread = self.raw.get(self.unread_start..self.unread_end).unwrap_or_default();
            let (result, read_bytes, text_bytes) =
                self.decoder.decode_to_utf8_without_replacement(unread, text, self.is_at_end);
            self.unread_start += read_bytes;
            self.decoded_bytes = add_count(self.decoded_bytes, read_bytes);
            match result {
                DecoderResult::Malformed(bad_bytes, later_bytes) => {
                    return Err(self.malformed_text(bad_bytes, later_bytes));
                }
                DecoderResult::InputEmpty => self.is_finished = self.is_at_end,
                DecoderResult::OutputFull if text_bytes == 0 => {
                    return Err(io::Error::other("the buffer is shorter than a character"));
                }
                DecoderResult::OutputFull => {}
            }
            if text_bytes > 0 {
                return Ok(text_bytes);
            }
        }
        Ok(0)
    }
}
