//! Reads binaries from plain files and from zip files.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::archive::ENTRY;
use super::error::BundleError;
use super::limits::{MAX_BINARY_BYTES, MAX_ZIP_BYTES, MAX_ZIP_ENTRIES};

const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// Magic bytes at the start of each entry in the central directory of a zip file.
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";

/// Reads a binary, either from a plain file or from a zip file that contains the binary.
pub(super) fn read_bundle(path: &Path) -> Result<Vec<u8>, BundleError> {
    let bytes = read_binary(path)?;
    if !bytes.starts_with(ZIP_MAGIC) {
        return Ok(bytes);
    }
    check_size("zip", bytes.len(), MAX_ZIP_BYTES)?;
    unpack(&bytes, MAX_BINARY_BYTES).map_err(|fault| match fault {
        UnpackFault::TooLarge(error) => *error,
        UnpackFault::Other(why) => BundleError::Zip { path: path.to_owned(), why },
    })
}

pub(super) fn read_binary(path: &Path) -> Result<Vec<u8>, BundleError> {
    let read_error = |cause| BundleError::Read { path: path.to_owned(), cause };
    let file = File::open(path).map_err(read_error)?;
    read_at_most(file, MAX_BINARY_BYTES).map_err(read_error)?
}

pub(super) fn check_size(item: &'static str, bytes: usize, limit: u64) -> Result<(), BundleError> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    if bytes > limit {
        return Err(BundleError::TooLarge { item, bytes, limit });
    }
    Ok(())
}

/// The inner result is [`BundleError::TooLarge`] if the binary is longer.
fn read_at_most(source: impl Read, limit: u64) -> std::io::Result<Result<Vec<u8>, BundleError>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(check_size("binary", bytes.len(), limit).map(|()| bytes))
}

#[derive(Debug)]
enum UnpackFault {
    TooLarge(Box<BundleError>),
    Other(String),
}

fn other_fault(error: impl std::fmt::Display) -> UnpackFault {
    UnpackFault::Other(error.to_string())
}

fn unpack(bytes: &[u8], limit: u64) -> Result<Vec<u8>, UnpackFault> {
    // Check the number of files first, because [`ZipArchive::new`] reads the whole central
    // directory into memory.
    let entries = bytes.windows(DIRECTORY_ENTRY.len()).filter(|bytes| *bytes == DIRECTORY_ENTRY);
    if entries.take(MAX_ZIP_ENTRIES + 1).count() > MAX_ZIP_ENTRIES {
        return Err(other_fault(format!("it has more than {MAX_ZIP_ENTRIES} files")));
    }
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(other_fault)?;
    let entry = zip.by_name(ENTRY).map_err(|_| other_fault(format!("it contains no `{ENTRY}`")))?;
    read_at_most(entry, limit)
        .map_err(other_fault)?
        .map_err(|error| UnpackFault::TooLarge(Box::new(error)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::super::archive::pack_binary;
    use super::*;

    fn zip_of(names: impl Iterator<Item = String>) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for name in names {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(b"content").unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn bundle(bytes: &[u8]) -> Result<Vec<u8>, BundleError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle");
        std::fs::write(&path, bytes).unwrap();
        read_bundle(&path)
    }

    #[test]
    fn reads_a_binary_from_a_file_or_a_zip() {
        assert_eq!(bundle(b"binary").unwrap(), b"binary");
        assert_eq!(bundle(&pack_binary(b"binary").unwrap()).unwrap(), b"binary");
        let others = ["README", "bootstrap"].map(str::to_owned);
        assert_eq!(bundle(&zip_of(others.into_iter())).unwrap(), b"content");
        let missing = read_bundle(Path::new("/no/such/file")).unwrap_err();
        assert!(matches!(missing, BundleError::Read { .. }));
    }

    #[test]
    fn rejects_a_zip_without_a_binary() {
        let error = bundle(&zip_of(["Bootstrap".to_owned()].into_iter())).unwrap_err();
        assert!(error.to_string().contains("it contains no `bootstrap`"), "{error}");
        let mut broken = pack_binary(&[1; 10_000]).unwrap();
        broken.truncate(broken.len() - 30);
        assert!(matches!(bundle(&broken), Err(BundleError::Zip { .. })));
    }

    #[test]
    fn the_number_of_files_in_a_zip_is_bounded() {
        let with = |count: usize| {
            let names = (1..count).map(|number| format!("file-{number}"));
            bundle(&zip_of(names.chain(["bootstrap".to_owned()])))
        };
        assert!(with(MAX_ZIP_ENTRIES).is_ok());
        let error = with(MAX_ZIP_ENTRIES + 1).unwrap_err();
        assert!(error.to_string().contains("more than 64 files"), "{error}");
    }

    #[test]
    fn sizes_are_bounded() {
        for limit in [MAX_ZIP_BYTES, MAX_BINARY_BYTES] {
            let bytes = usize::try_from(limit).unwrap();
            assert!(check_size("zip", bytes, limit).is_ok());
            let error = check_size("zip", bytes + 1, limit).unwrap_err();
            assert!(error.to_string().ends_with(&format!("at most {limit}")), "{error}");
        }
        let read = |limit| read_at_most([7; 100].as_slice(), limit).unwrap();
        assert_eq!(read(100).unwrap().len(), 100);
        assert!(matches!(read(99), Err(BundleError::TooLarge { bytes: 100, .. })));
        assert!(read_at_most(std::io::repeat(0), 1_000).unwrap().is_err());
    }

    #[test]
    fn a_zip_bomb_is_not_unpacked_completely() {
        let packed = pack_binary(&[0; 100_000]).unwrap();
        assert!(packed.len() < 1_000);
        assert!(matches!(unpack(&packed, 99_999), Err(UnpackFault::TooLarge(_))));
        assert_eq!(unpack(&packed, 100_000).unwrap().len(), 100_000);
    }

    proptest! {
        #[test]
        fn a_zip_with_changes_is_read_or_refused(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let mut bytes = pack_binary(&[5; 300]).unwrap();
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            let _ = unpack(&bytes, 1_000);
        }
    }
}
