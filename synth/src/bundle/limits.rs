//! Bounds of a bundle. Bounds of Lambda are marked as such.

/// Largest zip file in bytes (Lambda: 50 MB).
pub(crate) const MAX_ZIP_BYTES: u64 = 50 * 1024 * 1024;
/// Largest binary in bytes (Lambda: the unzipped files must be smaller than 262,144,000 bytes).
pub(crate) const MAX_BINARY_BYTES: u64 = 262_144_000 - 1;
/// Largest number of files in a prebuilt zip. A bundle has one; the bound limits memory.
pub(super) const MAX_ZIP_ENTRIES: usize = 64;
/// Largest number of entries in a binary's dynamic section; typical are 30.
pub(super) const MAX_DYNAMIC_ENTRIES: usize = 1_024;
/// Largest number of library versions that a binary needs; typical are 20.
pub(super) const MAX_VERSION_NEEDS: usize = 1_024;
/// Largest name of a library, a version or a symbol, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 4_096;
/// Number of the last lines of cargo that are kept for an error.
pub(super) const MAX_OUTPUT_LINES: usize = 30;
