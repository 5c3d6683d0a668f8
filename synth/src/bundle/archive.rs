//! Creates the zip file for Lambda, which contains a single executable. The zip file contains no
//! build time, paths or user names, so that builds are reproducible.

use std::io::{Cursor, Write as _};

use cellar_stacks::Architecture;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// File name that Lambda executes.
pub(super) const ENTRY: &str = "bootstrap";
/// Unix permissions of the executable. All users may execute it, because AWS does not document
/// which user runs it.
const MODE: u32 = 0o755;
/// Highest compression level of Deflate. Zopfli would save another 3 %, but its output depends on
/// the processor, because Zopfli uses floating-point logarithms.
const LEVEL: i64 = 9;
/// Sixteen digits (64 bits) are enough to avoid collisions.
const NAME_HASH_DIGITS: usize = 16;

/// Packs a binary into a zip file, which is byte-identical on every machine.
pub(super) fn pack_binary(binary: &[u8]) -> ZipResult<Vec<u8>> {
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

/// Returns the file name of a bundle, which contains the hash of the binary rather than of the zip
/// file.
///
/// An existing bundle can therefore be found without packing the binary. If the same binary is
/// packed again, the name is unchanged and nothing is deployed.
pub(super) fn bundle_file_name(hash: &str, architecture: Architecture) -> String {
    let hash = hash.get(..NAME_HASH_DIGITS).unwrap_or(hash);
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
            // Use few distinct bytes, so that the input is compressible.
            (state >> 28).to_le_bytes()[0]
        };
        (0..bytes).map(step).collect()
    }

    #[test]
    fn packing_is_reproducible() {
        let binary = pseudorandom(100_000);
        let packed = pack_binary(&binary).unwrap();
        assert_eq!(packed, pack_binary(&binary).unwrap());
        assert!(packed.len() < binary.len() * 6 / 10, "{}", packed.len());
    }

    #[test]
    fn the_zip_contains_one_executable_without_a_time() {
        let packed = pack_binary(b"program").unwrap();
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
    fn names_contain_the_hash_and_the_architecture() {
        let hash = "0123456789abcdef0123";
        assert_eq!(
            bundle_file_name(hash, Architecture::Arm64),
            "bootstrap-0123456789abcdef-arm64.zip"
        );
    }
}
