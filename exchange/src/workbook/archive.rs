//! The archive that a workbook is: which parts it has, and reading one of them.
//!
//! The `zip` crate reads the directory. Parts are inflated here, each byte counted: what a directory
//! says of sizes is only good for refusing early.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cellar_core::limits::{MAX_WORKBOOK_BYTES, MAX_WORKBOOK_PARTS, MAX_XLSX_UNPACKED_BYTES};
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use crate::{ReadError, Source, WorkbookError};

/// What every part begins with in a zip archive's directory.
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";
/// What an old binary workbook, or an encrypted one, begins with.
const COMPOUND_MAGIC: &[u8] = b"\xd0\xcf\x11\xe0";
const WINDOW_BYTES: usize = 64 * 1024;

/// A workbook's parts.
#[derive(Debug)]
pub(crate) struct Archive<S> {
    source: S,
    parts: BTreeMap<String, Place>,
    unpacked: Arc<AtomicU64>,
}

/// Where a part is.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    packed_bytes: u64,
    deflated: bool,
    checksum: u32,
}

impl<S: Source> Archive<S>
where
    S::Stream: Seek,
{
    /// Reads the directory.
    pub(crate) fn open(source: S) -> Result<Self, ReadError> {
        let bytes = source.bytes()?;
        if bytes > MAX_WORKBOOK_BYTES {
            return Err(WorkbookError::FileTooLarge { bytes }.into());
        }
        check_parts(source.open()?.take(MAX_WORKBOOK_BYTES))?;
        let mut stream = source.open()?;
        let mut zip = ZipArchive::new(&mut stream).map_err(|error| match error {
            zip::result::ZipError::Io(error) => archive_fault(&error),
            error => archive_fault(&error),
        })?;
        let mut parts = BTreeMap::new();
        let mut declared = 0_u64;
        for index in 0..zip.len() {
            let part = zip.by_index_raw(index).map_err(|error| archive_fault(&error))?;
            declared = declared.saturating_add(part.size());
            if part.encrypted() {
                return Err(WorkbookError::Encrypted.into());
            }
            let deflated = match part.compression() {
                CompressionMethod::Stored => false,
                CompressionMethod::Deflated => true,
                // A part that is not needed may be packed as it likes.
                _ => continue,
            };
            let (Ok(name), Some(start)) = (part.name(), part.data_start()) else {
                continue;
            };
            let place =
                Place { start, packed_bytes: part.compressed_size(), deflated, checksum: part.crc32() };
            parts.entry(normal(&name)).or_insert(place);
        }
        if declared > MAX_XLSX_UNPACKED_BYTES {
            return Err(WorkbookError::UnpacksTooLarge.into());
        }
        Ok(Self { source, parts, unpacked: Arc::default() })
    }

    /// Whether there is such a part.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(&normal(name))
    }

    /// Bytes that have been unpacked.
    pub(crate) fn unpacked(&self) -> u64 {
        self.unpacked.load(Ordering::Relaxed)
    }

    /// Opens a part.
    pub(crate) fn part(&self, name: &str) -> Result<Part<S::Stream>, ReadError> {
        let missing = || WorkbookError::MissingPart { part: name.to_owned() };
        let place = *self.parts.get(&normal(name)).ok_or_else(missing)?;
        let mut stream = self.source.open()?;
        stream.seek(SeekFrom::Start(place.start))?;
        let packed = stream.take(place.packed_bytes);
        let inflate = if place.deflated {
            Inflate::Deflated(DeflateDecoder::new(packed))
        } else {
            Inflate::Stored(packed)
        };
        let counted = Counted {
            inflate,
            unpacked: Arc::clone(&self.unpacked),
            hasher: crc32fast::Hasher::new(),
            checksum: place.checksum,
        };
        Ok(BufReader::with_capacity(WINDOW_BYTES, counted))
    }
}

fn archive_fault(error: &dyn std::fmt::Display) -> ReadError {
    WorkbookError::Archive { why: error.to_string() }.into()
}

/// A name as parts are looked up: programs differ in case and slashes.
fn normal(name: &str) -> String {
    name.trim_start_matches(['/', '\\']).replace('\\', "/").to_ascii_lowercase()
}

/// Sees that it is an archive, and that its directory is not large: its entries are held in memory,
/// a few hundred bytes each, and it has at most as many as it has such signatures.
fn check_parts(mut file: impl Read) -> Result<(), ReadError> {
    let overlap = DIRECTORY_ENTRY.len().saturating_sub(1);
    let mut window = Vec::new();
    let mut parts = 0_usize;
    let mut first = true;
    loop {
        let kept = window.len();
        file.by_ref().take(1024 * 1024).read_to_end(&mut window)?;
        if first && window.starts_with(COMPOUND_MAGIC) {
            return Err(WorkbookError::Compound.into());
        }
        if first && !window.starts_with(b"PK") {
            return Err(WorkbookError::Unknown.into());
        }
        if window.len() == kept {
            return Ok(());
        }
        first = false;
        parts = parts.saturating_add(memchr::memmem::find_iter(&window, DIRECTORY_ENTRY).count());
        if parts > MAX_WORKBOOK_PARTS {
            return Err(WorkbookError::TooManyParts.into());
        }
        window.drain(..window.len().saturating_sub(overlap));
    }
}

/// An open part.
pub(crate) type Part<R> = BufReader<Counted<R>>;

/// Unpacks a part, counts, and at its end compares the checksum.
#[derive(Debug)]
pub(crate) struct Counted<R: Read> {
    inflate: Inflate<R>,
    unpacked: Arc<AtomicU64>,
    hasher: crc32fast::Hasher,
    checksum: u32,
}

#[derive(Debug)]
enum Inflate<R: Read> {
    Stored(Take<R>),
    Deflated(DeflateDecoder<Take<R>>),
}

/// Why a part was not read on, inside of an I/O error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Limit {
    #[error("too much to unpack")]
    Unpacked,
    #[error("a tag or a text is too long")]
    Event,
    #[error("its checksum is wrong")]
    Checksum,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = match &mut self.inflate {
            Inflate::Stored(part) => part.read(room)?,
            Inflate::Deflated(part) => part.read(room)?,
        };
        if bytes == 0 && !room.is_empty() {
            let same = self.hasher.clone().finalize() == self.checksum;
            return if same { Ok(0) } else { Err(io::Error::other(Limit::Checksum)) };
        }
        self.hasher.update(room.get(..bytes).unwrap_or_default());
        let count = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.unpacked.fetch_add(count, Ordering::Relaxed);
        if before.saturating_add(count) > MAX_XLSX_UNPACKED_BYTES {
            return Err(io::Error::other(Limit::Unpacked));
        }
        Ok(bytes)
    }
}

/// The typed error of a part that could not be read on.
pub(crate) fn part_fault(part: &str, error: &io::Error) -> WorkbookError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Limit>()) {
        Some(Limit::Unpacked) => WorkbookError::UnpacksTooLarge,
        Some(Limit::Event) => WorkbookError::EventTooLong { part: part.to_owned() },
        _ => WorkbookError::Damaged { part: part.to_owned(), why: error.to_string() },
    }
}
