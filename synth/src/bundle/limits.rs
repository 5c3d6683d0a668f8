//! Limits on bundles. A limit that Lambda imposes is marked with "Lambda".

/// Maximum size of a zip file, in bytes (Lambda: 50 MB).
pub(crate) const MAX_ZIP_BYTES: u64 = 50 * 1024 * 1024;
/// Maximum size of a binary, in bytes (Lambda: the unzipped files must be smaller than 262,144,000
/// bytes).
pub(crate) const MAX_BINARY_BYTES: u64 = 262_144_000 - 1;
/// The limit bounds the memory for the list of files. A bundle contains only one file.
pub(super) const MAX_ZIP_ENTRIES: usize = 64;
/// A typical binary has 30.
pub(super) const MAX_DYNAMIC_ENTRIES: usize = 1_024;
/// A typical binary requires 20.
pub(super) const MAX_VERSION_NEEDS: usize = 1_024;
/// Maximum length of a library, version or symbol name, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 4_096;
pub(super) const MAX_OUTPUT_LINES: usize = 30;
