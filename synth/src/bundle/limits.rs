//! Bounds of a bundle. Those of Lambda are named as such; the others are ours.

/// Bytes of a zip file (Lambda: 50 MB).
pub(crate) const MAX_ZIP_BYTES: u64 = 50 * 1024 * 1024;
/// Bytes of the binary (Lambda: unzipped, everything must be smaller than 262,144,000).
pub(crate) const MAX_BINARY_BYTES: u64 = 262_144_000 - 1;
/// Files in a zip that was made elsewhere: a bundle has one, and a directory takes memory.
pub(super) const MAX_ZIP_ENTRIES: usize = 64;
/// Entries of a binary's dynamic section; a real one has about 30.
pub(super) const MAX_DYNAMIC_ENTRIES: usize = 1_024;
/// Versions of symbols that a binary needs; a real one needs about 20.
pub(super) const MAX_VERSION_NEEDS: usize = 1_024;
/// Bytes of a name in a binary: of a library, a version or a symbol.
pub(super) const MAX_NAME_BYTES: usize = 4_096;
/// Lines of what cargo said that are kept for the report of a failure.
pub(super) const MAX_SAID_LINES: usize = 30;
