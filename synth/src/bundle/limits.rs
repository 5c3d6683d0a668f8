//! Limits for bundles. Limits set by Lambda are marked "Lambda".

/// Maximum size of a zip file, in bytes (Lambda: 50 MB).
pub(crate) const MAX_ZIP_BYTES: u64 = 50 * 1024 * 1024;
/// Maximum size of a binary, in bytes (Lambda: the unzipped files must be smaller than 262,144,000
/// bytes).
pub(crate) const MAX_BINARY_BYTES: u64 = 262_144_000 - 1;
/// Maximum number of files in a prebuilt zip. A bundle contains one file; the limit bounds memory
/// use.
pub(super) const MAX_ZIP_ENTRIES: usize = 64;
/// Maximum number of entries in the dynamic section of a binary. A typical binary has 30.
pub(super) const MAX_DYNAMIC_ENTRIES: usize = 1_024;
/// Maximum number of library versions that a binary requires. A typical binary requires 20.
pub(super) const MAX_VERSION_NEEDS: usize = 1_024;
/// Maximum length of the name of a library, version or symbol, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 4_096;
/// Maximum number of lines from the end of cargo's output that an error contains.
pub(super) const MAX_OUTPUT_LINES: usize = 30;
