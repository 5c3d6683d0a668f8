//! The zip that Lambda takes: one file, and nothing in it of when, where or by whom it was made.

use std::io::{Cursor, Write as _};

use cellar_stacks::Architecture;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// The file that Lambda starts.
pub(super) const ENTRY: &str = "bootstrap";
/// Everybody may run it: Lambda starts it as a user of its own.
const MODE: u32 = 0o755;
/// The best that deflate does by rules of whole numbers alone. Zopfli packs better by 3 %, but decides by
/// logarithms, whose last bits differ between processors.
const LEVEL: i64 = 9;
/// Letters of the hash in a name: 64 bits, which no two builds share by chance.
const NAME_HASH_LETTERS: usize = 16;

/// Packs a binary: the same bytes for the same binary, on every machine.
pub(super) fn pack(binary: &[u8]) -> ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::default())
        .system(System::Unix)
        .unix_permissions(MODE);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(ENTRY, options)?;
    zip.write_all(binary)?;
    Ok(zip.finish()?.into_inner())
}

/// The name of a bundle: its file's, and its key's in the bucket of artifacts.
///
/// It holds the hash of the binary, not of the zip: what a function runs is the binary. Whoever packs it
/// otherwise one day gives no function a new version for it, and what is in the bucket already is known
/// before anything is packed.
pub(super) fn name(hash: &str, architecture: Architecture) -> String {
    let hash = hash.get(..NAME_HASH_LETTERS).unwrap_or(hash);
    format!("{ENTRY}-{hash}-{architecture}.zip")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn pseudorandom(bytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let step = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Few kinds of bytes, so that there is something to compress.
            (state >> 28).to_le_bytes()[0]
        };
        (0..bytes).map(step).collect()
    }

    #[test]
    fn the_same_binary_makes_the_same_bytes() {
        let binary = pseudorandom(100_000);
        let packed = pack(&binary).unwrap();
        assert_eq!(packed, pack(&binary).unwrap());
        assert!(packed.len() < binary.len() * 6 / 10, "{}", packed.len());
    }

    #[test]
    fn it_holds_one_program_of_no_time() {
        let packed = pack(b"program").unwrap();
        let mut zip = zip::ZipArchive::new(Cursor::new(packed)).unwrap();
        assert_eq!(zip.len(), 1);
        let mut entry = zip.by_index(0).unwrap();
        assert_eq!(entry.name().unwrap(), "bootstrap");
        assert_eq!(entry.unix_mode(), Some(0o100_755));
        assert_eq!(entry.last_modified(), Some(DateTime::default()));
        assert_eq!(entry.compression(), CompressionMethod::Deflated);
        let mut binary = Vec::new();
        entry.read_to_end(&mut binary).unwrap();
        assert_eq!(binary, b"program");
    }

    #[test]
    fn names_hold_the_hash_and_the_architecture() {
        let hash = "0123456789abcdef0123";
        assert_eq!(name(hash, Architecture::Arm64), "bootstrap-0123456789abcdef-arm64.zip");
    }
}
