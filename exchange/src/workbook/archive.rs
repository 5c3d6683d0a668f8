//! Reads the parts (files) of a workbook, which is a zip archive.
//!
//! The `zip` crate reads the central directory of the archive. This module decompresses the parts
//! itself and counts every byte, because the sizes in the central directory may be wrong. These
//! sizes are only used to reject large workbooks early.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cellar_base::limits::{MAX_WORKBOOK_BYTES, MAX_WORKBOOK_PARTS, MAX_WORKBOOK_UNPACKED_BYTES};
use flate2::read::DeflateDecoder;
use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use crate::file_format::COMPOUND_FILE_SIGNATURE;
use crate::{ReadError, Source, WorkbookError};

const DIRECTORY_ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";
const PART_BUFFER_BYTES: usize = 64 * 1024;
const MAX_SCAN_STEP_BYTES: u64 = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Archive<S> {
    source: S,
    /// Parts by normalized name.
    parts: BTreeMap<String, PartLocation>,
    /// Total uncompressed size of all parts in bytes, according to the central directory.
    declared_bytes: u64,
    max_unpacked_bytes: u64,
    /// Shared by all open parts.
    unpacked_bytes: Arc<AtomicU64>,
}

#[derive(Debug, Clone, Copy)]
struct PartLocation {
    start: u64,
    packed_bytes: u64,
    is_deflated: bool,
    checksum: u32,
}

impl<S: Source> Archive<S>
where
    S::Stream: Seek,
{
    pub(crate) fn open(source: S) -> Result<Self, ReadError> {
        Self::open_with_max_unpacked_bytes(source, MAX_WORKBOOK_UNPACKED_BYTES)
    }

    fn open_with_max_unpacked_bytes(source: S, max_unpacked_bytes: u64) -> Result<Self, ReadError> {
        let file_bytes = source.bytes()?;
        if file_bytes > MAX_WORKBOOK_BYTES {
            return Err(WorkbookError::FileTooLarge { bytes: file_bytes }.into());
        }
        let mut stream = source.open()?;
        check_signature(&mut stream)?;
        stream.rewind()?;
        check_part_count(stream.by_ref().take(MAX_WORKBOOK_BYTES))?;
        let Directory { parts, declared_bytes } = read_directory(stream)?;
        if declared_bytes > max_unpacked_bytes {
            return Err(WorkbookError::UnpacksTooLarge.into());
        }
        let unpacked_bytes = Arc::default();
        Ok(Self { source, parts, declared_bytes, max_unpacked_bytes, unpacked_bytes })
    }

    pub(crate) fn has_part(&self, name: &str) -> bool {
        self.parts.contains_key(&normalize_name(name))
    }

    /// Returns the normalized names of all parts.
    pub(crate) fn part_names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }

    pub(crate) fn declared_bytes(&self) -> u64 {
        self.declared_bytes
    }

    pub(crate) fn unpacked_bytes(&self) -> u64 {
        self.unpacked_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn open_part(&self, name: &str) -> Result<Part<S::Stream>, ReadError> {
        let Some(location) = self.parts.get(&normalize_name(name)) else {
            return Err(WorkbookError::MissingPart { part: name.to_owned() }.into());
        };
        let mut stream = self.source.open()?;
        stream.seek(SeekFrom::Start(location.start))?;
        let packed_part = stream.take(location.packed_bytes);
        let decoder = if location.is_deflated {
            PartDecoder::Deflated(DeflateDecoder::new(packed_part))
        } else {
            PartDecoder::Stored(packed_part)
        };
        let reader = PartReader {
            decoder,
            unpacked_bytes: Arc::clone(&self.unpacked_bytes),
            max_unpacked_bytes: self.max_unpacked_bytes,
            hasher: crc32fast::Hasher::new(),
            checksum: location.checksum,
        };
        Ok(BufReader::with_capacity(PART_BUFFER_BYTES, reader))
    }
}

#[derive(Default)]
struct Directory {
    parts: BTreeMap<String, PartLocation>,
    declared_bytes: u64,
}

fn read_directory(stream: impl Read + Seek) -> Result<Directory, ReadError> {
    let mut zip = ZipArchive::new(stream).map_err(|error| match error {
        zip::result::ZipError::Io(io_error) => damaged_archive_error(&io_error),
        other_error => damaged_archive_error(&other_error),
    })?;
    let mut directory = Directory::default();
    for index in 0..zip.len() {
        let part = zip.by_index_raw(index).map_err(|error| damaged_archive_error(&error))?;
        directory.declared_bytes = directory.declared_bytes.saturating_add(part.size());
        if part.encrypted() {
            return Err(WorkbookError::Encrypted.into());
        }
        if let Some((name, location)) = locate_part(&part) {
            directory.parts.entry(name).or_insert(location);
        }
    }
    Ok(directory)
}

/// Returns `None` if the part cannot be read. This is not an error, because the import may not need
/// the part.
fn locate_part<R: Read>(part: &ZipFile<'_, R>) -> Option<(String, PartLocation)> {
    let is_deflated = match part.compression() {
        CompressionMethod::Stored => false,
        CompressionMethod::Deflated => true,
        _ => return None,
    };
    let name = part.name().ok()?;
    let location = PartLocation {
        start: part.data_start()?,
        packed_bytes: part.compressed_size(),
        is_deflated,
        checksum: part.crc32(),
    };
    Some((normalize_name(&name), location))
}

fn damaged_archive_error(error: &dyn std::fmt::Display) -> ReadError {
    WorkbookError::Archive { why: error.to_string() }.into()
}

/// Normalizes the name of a part, because programs write it with different letter case and slashes.
fn normalize_name(name: &str) -> String {
    name.trim_start_matches(['/', '\\']).replace('\\', "/").to_ascii_lowercase()
}

fn check_signature(file: impl Read) -> Result<(), ReadError> {
    const ZIP_SIGNATURE_START: &[u8] = b"PK";
    let mut first_bytes = Vec::new();
    file.take(COMPOUND_FILE_SIGNATURE.len() as u64).read_to_end(&mut first_bytes)?;
    if first_bytes == COMPOUND_FILE_SIGNATURE {
        return Err(WorkbookError::Compound.into());
    }
    if !first_bytes.starts_with(ZIP_SIGNATURE_START) {
        return Err(WorkbookError::Unknown.into());
    }
    Ok(())
}

/// Checks that the file does not contain too many parts, because the `zip` crate keeps all
/// directory entries in memory. Counts the signatures of directory entries, of which there is at
/// least one per part.
fn check_part_count(mut file: impl Read) -> Result<(), ReadError> {
    /// Number of bytes to keep from the previous read, because a signature may be split between two
    /// reads.
    const OVERLAP_BYTES: usize = DIRECTORY_ENTRY_SIGNATURE.len() - 1;
    let mut window = Vec::new();
    let mut signature_count = 0_usize;
    while file.by_ref().take(MAX_SCAN_STEP_BYTES).read_to_end(&mut window)? > 0 {
        signature_count += memchr::memmem::find_iter(&window, DIRECTORY_ENTRY_SIGNATURE).count();
        if signature_count > MAX_WORKBOOK_PARTS {
            return Err(WorkbookError::TooManyParts.into());
        }
        window.drain(..window.len().saturating_sub(OVERLAP_BYTES));
    }
    Ok(())
}

pub(crate) type Part<R> = BufReader<PartReader<R>>;

/// Verifies the part's checksum at the end.
#[derive(Debug)]
pub(crate) struct PartReader<R: Read> {
    decoder: PartDecoder<R>,
    unpacked_bytes: Arc<AtomicU64>,
    max_unpacked_bytes: u64,
    hasher: crc32fast::Hasher,
    checksum: u32,
}

#[derive(Debug)]
enum PartDecoder<R: Read> {
    Stored(Take<R>),
    Deflated(DeflateDecoder<Take<R>>),
}

/// Reason why reading a part was aborted. The fault is the source of an I/O error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PartFault {
    #[error("the uncompressed contents are too large")]
    UnpacksTooLarge,
    #[error("a tag or text is too long")]
    EventTooLong,
    #[error("the checksum is wrong")]
    Checksum,
}

impl<R: Read> PartReader<R> {
    fn check_checksum(&self) -> io::Result<()> {
        if self.hasher.clone().finalize() != self.checksum {
            return Err(io::Error::other(PartFault::Checksum));
        }
        Ok(())
    }
}

impl<R: Read> Read for PartReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes_read = match &mut self.decoder {
            PartDecoder::Stored(part) => part.read(buffer)?,
            PartDecoder::Deflated(part) => part.read(buffer)?,
        };
        if bytes_read == 0 && !buffer.is_empty() {
            self.check_checksum()?;
            return Ok(0);
        }
        self.hasher.update(buffer.get(..bytes_read).unwrap_or_default());
        let added_bytes = bytes_read as u64;
        let bytes_before = self.unpacked_bytes.fetch_add(added_bytes, Ordering::Relaxed);
        if bytes_before.saturating_add(added_bytes) > self.max_unpacked_bytes {
            return Err(io::Error::other(PartFault::UnpacksTooLarge));
        }
        Ok(bytes_read)
    }
}

/// The source of the error may be a [`PartFault`].
pub(crate) fn to_part_error(part: &str, error: &io::Error) -> WorkbookError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<PartFault>()) {
        Some(PartFault::UnpacksTooLarge) => WorkbookError::UnpacksTooLarge,
        Some(PartFault::EventTooLong) => WorkbookError::EventTooLong { part: part.to_owned() },
        _ => WorkbookError::Damaged { part: part.to_owned(), why: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;

    const LIMIT: u64 = 1 << 20;

    /// Returns an archive with two parts of `bytes` zeros each. The central directory declares a
    /// size of one byte per part.
    fn bomb(bytes: u64) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b"] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(&vec![0; usize::try_from(bytes).unwrap()]).unwrap();
        }
        let mut bytes = zip.finish().unwrap().into_inner();
        for at in memchr::memmem::find_iter(&bytes.clone(), DIRECTORY_ENTRY_SIGNATURE) {
            bytes[at + 24..at + 28].copy_from_slice(&[1, 0, 0, 0]);
        }
        bytes
    }

    fn unpack(archive: &Archive<&[u8]>, name: &str) -> Result<usize, WorkbookError> {
        let mut unpacked = 0;
        let mut part = archive.open_part(name).unwrap();
        let mut buffer = vec![0; 10_000];
        loop {
            match part.read(&mut buffer) {
                Ok(0) => return Ok(unpacked),
                Ok(bytes) => unpacked += bytes,
                Err(error) => return Err(to_part_error(name, &error)),
            }
            assert!(unpacked as u64 <= LIMIT);
        }
    }

    #[test]
    fn unpacked_bytes_are_counted_whatever_is_declared() {
        let bytes = bomb(LIMIT / 2);
        assert!(bytes.len() < 4_000);
        let archive = Archive::open_with_max_unpacked_bytes(bytes.as_slice(), LIMIT).unwrap();
        assert_eq!(archive.declared_bytes(), 2);
        assert_eq!(unpack(&archive, "a").unwrap(), 1 << 19);
        assert_eq!(unpack(&archive, "B").unwrap(), 1 << 19);
        assert_eq!(archive.unpacked_bytes(), LIMIT);
        let bytes = bomb(LIMIT / 2 + 1);
        let archive = Archive::open_with_max_unpacked_bytes(bytes.as_slice(), LIMIT).unwrap();
        assert!(unpack(&archive, "a").is_ok());
        assert!(matches!(unpack(&archive, "b"), Err(WorkbookError::UnpacksTooLarge)));
    }

    #[test]
    fn declared_bytes_have_the_same_limit() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a", SimpleFileOptions::default()).unwrap();
        zip.write_all(&[0; 1000]).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert!(Archive::open_with_max_unpacked_bytes(bytes.as_slice(), 1_000).is_ok());
        let error = Archive::open_with_max_unpacked_bytes(bytes.as_slice(), 999).unwrap_err();
        assert!(matches!(error, ReadError::InWorkbook(WorkbookError::UnpacksTooLarge)));
    }

    #[test]
    fn a_part_with_another_checksum_is_damaged() {
        let mut bytes = bomb(1_000);
        let at = memchr::memmem::find(&bytes, DIRECTORY_ENTRY_SIGNATURE).unwrap();
        bytes[at + 16] ^= 1;
        let archive = Archive::open_with_max_unpacked_bytes(bytes.as_slice(), LIMIT).unwrap();
        assert!(matches!(unpack(&archive, "a"), Err(WorkbookError::Damaged { .. })));
        assert!(unpack(&archive, "b").is_ok());
    }

    #[test]
    fn a_workbook_declares_so_many_bytes_and_no_more() {
        // Sizes that the central directory of an archive with two small parts declares.
        let declaring = |sizes: [u64; 2]| {
            let mut bytes = bomb(10);
            let entries: Vec<usize> =
                memchr::memmem::find_iter(&bytes, DIRECTORY_ENTRY_SIGNATURE).collect();
            for (at, size) in entries.into_iter().zip(sizes) {
                let size = u32::try_from(size).unwrap().to_le_bytes();
                bytes[at + 24..at + 28].copy_from_slice(&size);
            }
            bytes
        };
        let half = MAX_WORKBOOK_UNPACKED_BYTES / 2;
        let most = declaring([half, MAX_WORKBOOK_UNPACKED_BYTES - half]);
        assert_eq!(
            Archive::open(most.as_slice()).unwrap().declared_bytes(),
            MAX_WORKBOOK_UNPACKED_BYTES
        );
        let more = declaring([half, MAX_WORKBOOK_UNPACKED_BYTES - half + 1]);
        let error = Archive::open(more.as_slice()).unwrap_err();
        assert!(matches!(error, ReadError::InWorkbook(WorkbookError::UnpacksTooLarge)));
    }
}
