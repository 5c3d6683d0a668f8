//! The archive that a workbook is: which parts it has, and reading one of them.
//!
//! The `zip` crate reads the directory. Parts are inflated here, each byte counted: what a directory
//! says of sizes is only good for refusing early.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cellar_base::limits::{MAX_WORKBOOK_BYTES, MAX_WORKBOOK_PARTS, MAX_XLSX_UNPACKED_BYTES};
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
    declared: u64,
    limit: u64,
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
        Self::with_limit(source, MAX_XLSX_UNPACKED_BYTES)
    }

    /// As [`Archive::open`], with as many bytes that may be unpacked.
    fn with_limit(source: S, limit: u64) -> Result<Self, ReadError> {
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
            let place = Place {
                start,
                packed_bytes: part.compressed_size(),
                deflated,
                checksum: part.crc32(),
            };
            parts.entry(normal(&name)).or_insert(place);
        }
        if declared > limit {
            return Err(WorkbookError::UnpacksTooLarge.into());
        }
        Ok(Self { source, parts, declared, limit, unpacked: Arc::default() })
    }

    /// Whether there is such a part.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(&normal(name))
    }

    /// Bytes of all parts, unpacked, as the directory has it.
    pub(crate) fn declared(&self) -> u64 {
        self.declared
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
            limit: self.limit,
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
    limit: u64,
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
        if before.saturating_add(count) > self.limit {
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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;

    const LIMIT: u64 = 1 << 20;

    /// Two parts of so many zeros each, and a directory that says that there is next to nothing.
    fn bomb(bytes: u64) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b"] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(&vec![0; usize::try_from(bytes).unwrap()]).unwrap();
        }
        let mut bytes = zip.finish().unwrap().into_inner();
        for at in memchr::memmem::find_iter(&bytes.clone(), DIRECTORY_ENTRY) {
            bytes[at + 24..at + 28].copy_from_slice(&[1, 0, 0, 0]);
        }
        bytes
    }

    fn unpack(archive: &Archive<&[u8]>, name: &str) -> Result<usize, WorkbookError> {
        let mut unpacked = 0;
        let mut part = archive.part(name).unwrap();
        let mut room = vec![0; 10_000];
        loop {
            match part.read(&mut room) {
                Ok(0) => return Ok(unpacked),
                Ok(bytes) => unpacked += bytes,
                Err(error) => return Err(part_fault(name, &error)),
            }
            assert!(unpacked as u64 <= LIMIT);
        }
    }

    #[test]
    fn all_that_is_unpacked_is_counted_whatever_is_declared() {
        let bytes = bomb(LIMIT / 2);
        assert!(bytes.len() < 4_000);
        let archive = Archive::with_limit(bytes.as_slice(), LIMIT).unwrap();
        assert_eq!(archive.declared(), 2);
        assert_eq!(unpack(&archive, "a").unwrap(), 1 << 19);
        assert_eq!(unpack(&archive, "B").unwrap(), 1 << 19);
        assert_eq!(archive.unpacked(), LIMIT);
        let bytes = bomb(LIMIT / 2 + 1);
        let archive = Archive::with_limit(bytes.as_slice(), LIMIT).unwrap();
        assert!(unpack(&archive, "a").is_ok());
        assert!(matches!(unpack(&archive, "b"), Err(WorkbookError::UnpacksTooLarge)));
    }

    #[test]
    fn what_is_declared_has_the_same_limit() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a", SimpleFileOptions::default()).unwrap();
        zip.write_all(&[0; 1000]).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert!(Archive::with_limit(bytes.as_slice(), 1_000).is_ok());
        let error = Archive::with_limit(bytes.as_slice(), 999).unwrap_err();
        assert!(matches!(error, ReadError::InWorkbook(WorkbookError::UnpacksTooLarge)));
    }

    #[test]
    fn a_part_with_another_checksum_is_damaged() {
        let mut bytes = bomb(1_000);
        let at = memchr::memmem::find(&bytes, DIRECTORY_ENTRY).unwrap();
        bytes[at + 16] ^= 1;
        let archive = Archive::with_limit(bytes.as_slice(), LIMIT).unwrap();
        assert!(matches!(unpack(&archive, "a"), Err(WorkbookError::Damaged { .. })));
        assert!(unpack(&archive, "b").is_ok());
    }

    #[test]
    fn a_workbook_declares_so_many_bytes_and_no_more() {
        // Two parts that say that they are so long: nothing is unpacked.
        let declaring = |of_each: [u64; 2]| {
            let mut bytes = bomb(10);
            let places: Vec<usize> = memchr::memmem::find_iter(&bytes, DIRECTORY_ENTRY).collect();
            for (at, size) in places.into_iter().zip(of_each) {
                let size = u32::try_from(size).unwrap().to_le_bytes();
                bytes[at + 24..at + 28].copy_from_slice(&size);
            }
            bytes
        };
        let half = MAX_XLSX_UNPACKED_BYTES / 2;
        let most = declaring([half, MAX_XLSX_UNPACKED_BYTES - half]);
        assert_eq!(Archive::open(most.as_slice()).unwrap().declared(), MAX_XLSX_UNPACKED_BYTES);
        let more = declaring([half, MAX_XLSX_UNPACKED_BYTES - half + 1]);
        let error = Archive::open(more.as_slice()).unwrap_err();
        assert!(matches!(error, ReadError::InWorkbook(WorkbookError::UnpacksTooLarge)));
    }
}
