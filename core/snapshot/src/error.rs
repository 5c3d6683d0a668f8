//! Errors of snapshot objects.

use super::chunk::UnreadableChunk;
use super::chunk_ref::ChunkHash;

/// The reason why a snapshot object cannot be read, or why its contents cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The object exceeds the length limit of its kind.
    #[error("the snapshot object has {bytes} bytes; at most {max} are allowed")]
    TooLong {
        /// Stored or uncompressed length of the object in bytes. Before a stored object is
        /// decompressed, its uncompressed length is the length declared in its zstd frame.
        bytes: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// The object does not consist of exactly one zstd frame.
    #[error("the object cannot be decompressed: it is damaged; restore it or rebuild the snapshot")]
    Compression,
    /// The contents of the object do not match the hash in its name.
    #[error("the object does not match its hash {expected}: it is damaged; rebuild the snapshot")]
    WrongHash {
        /// The hash in the object's name.
        expected: ChunkHash,
    },
    /// The object is not valid CBOR or has malformed fields.
    #[error("the object is not of its format: {what}")]
    Cbor {
        /// Error message of the CBOR decoder.
        what: String,
    },
    /// The object is not of the kind that the reference to it requires.
    #[error("the object has kind {found} instead of {expected}")]
    WrongKind {
        /// Expected kind number.
        expected: u32,
        /// Kind number in the object header.
        found: u32,
    },
    /// The object was written by a newer version of Cellar.
    #[error("the object has format version {version}: upgrade Cellar to read it")]
    UnknownVersion {
        /// Format version in the object header.
        version: u32,
    },
    /// The object contains a tile that cannot be decoded.
    #[error(transparent)]
    Tile(#[from] UnreadableChunk),
    /// The object's fields are inconsistent or exceed a limit.
    #[error("the snapshot object is invalid: {0}")]
    Shape(&'static str),
}
