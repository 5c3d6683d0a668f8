//! Errors of snapshot objects.

use super::chunk_ref::ChunkHash;

/// A snapshot object is unreadable, or its contents cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The object exceeds the length limit of its kind.
    #[error("the snapshot object has {bytes} bytes; at most {max} are allowed")]
    TooLong {
        /// Length of the object in bytes. For a compressed object, the number of bytes decompressed
        /// so far.
        bytes: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// The object is not exactly one zstd frame.
    #[error("the object does not decompress: it is damaged; restore it or rebuild the snapshot")]
    Compression,
    /// The object's bytes do not match the hash in its name.
    #[error("the object's bytes are not those of {expected}: it is damaged; rebuild the snapshot")]
    WrongHash {
        /// The hash in the object's name.
        expected: ChunkHash,
    },
    /// The object is not CBOR, or its CBOR fields are wrong.
    #[error("the object is not of its format: {what}")]
    Cbor {
        /// The CBOR decoder's message.
        what: String,
    },
    /// The object's kind differs from the kind that its reference expects.
    #[error("the object is of kind {found} where {expected} is expected")]
    WrongKind {
        /// Number of the expected kind.
        expected: u32,
        /// Number of the kind in the object's header.
        found: u32,
    },
    /// A newer Cellar wrote the object.
    #[error("the object has format version {version}: a newer Cellar is needed to read it")]
    UnknownVersion {
        /// Format version in the object's header.
        version: u32,
    },
    /// The object's fields contradict each other or exceed a limit.
    #[error("the snapshot object is invalid: {0}")]
    Shape(&'static str),
}
