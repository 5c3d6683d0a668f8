//! What can be wrong with the objects of a snapshot.

use super::level::ChunkHash;

/// An object of a snapshot that cannot be read, or content that cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Longer than any such object may be.
    #[error("the object has {bytes} bytes; at most {max} are allowed")]
    TooLong {
        /// Its bytes; of one that is being unpacked, those that were seen.
        bytes: usize,
        /// The most that it may have.
        max: usize,
    },
    /// Not one whole zstd frame.
    #[error("the object does not decompress: it is damaged; restore it or rebuild the snapshot")]
    Compression,
    /// Other bytes than its name stands for.
    #[error("the object's bytes are not those of {expected}: it is damaged; rebuild the snapshot")]
    WrongHash {
        /// The name under which it was found.
        expected: ChunkHash,
    },
    /// Not CBOR, or not of the fields that it should have.
    #[error("the object is not of its format: {what}")]
    Cbor {
        /// What the decoder says.
        what: String,
    },
    /// Another kind of object than what refers to it says.
    #[error("the object is of kind {found} where {expected} is expected")]
    WrongKind {
        /// The number of the kind.
        expected: u32,
        /// The number that it has.
        found: u32,
    },
    /// Written by a newer Cellar.
    #[error("the object has format version {version}: a newer Cellar is needed to read it")]
    UnknownVersion {
        /// The version.
        version: u32,
    },
    /// Fields that contradict each other or a limit.
    #[error("the object makes no sense: {0}")]
    Shape(&'static str),
}
