//! Why an import is not appended.

use cellar_base::limits::{
    MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_STORED_CHUNK_BYTES, MAX_TILE_LONG_TEXTS,
    MAX_UPLOAD_AGE_S,
};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::level::ChunkHash;

/// What is wrong with chunks of an import.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportFault {
    /// A request that names none.
    #[error("the request names no chunk; at least one is required")]
    Nothing,
    /// More than one request may name, or make the server read.
    #[error(
        "the request names {objects} chunks, directly or in an index; at most {MAX_IMPORT_OBJECTS} \
         are allowed: name fewer at once, and put a longer index into chunks of its own"
    )]
    TooMany {
        /// How many.
        objects: usize,
    },
    /// More bytes than one request may make the server read.
    #[error(
        "the request names chunks of {bytes} bytes; at most {MAX_IMPORT_OBJECT_BYTES} are allowed: \
         name fewer at once, and put a longer index into chunks of its own"
    )]
    TooLarge {
        /// The bytes of all of them, as stored.
        bytes: u64,
    },
    /// A chunk that is longer than any, or is said to have no bytes.
    #[error("chunk {hash} has {bytes} bytes; 1 to {MAX_STORED_CHUNK_BYTES} are allowed")]
    ChunkLength {
        /// Its name.
        hash: ChunkHash,
        /// Its bytes, as stored.
        bytes: u32,
    },
    /// It never came, or is gone: what is not checked is deleted after three days.
    #[error("chunk {hash} is missing; upload and check it, then retry")]
    Missing {
        /// Its name.
        hash: ChunkHash,
    },
    /// A chunk of an index that is not published: it was not checked.
    #[error(
        "chunk {hash} of the index was not checked: check it with its own chunks, then repeat the \
         request"
    )]
    Unchecked {
        /// Its name.
        hash: ChunkHash,
    },
    /// A tile that names more long texts than the request may still check.
    #[error(
        "chunk {hash} names {texts} long texts; this request may check {most} more, and a request for \
         one tile {MAX_TILE_LONG_TEXTS}: check the chunk by itself (`tiles`), then repeat the request"
    )]
    TooManyTexts {
        /// The name of the tile.
        hash: ChunkHash,
        /// How many texts it names.
        texts: usize,
        /// How many the request may still check.
        most: usize,
    },
    /// A chunk of an index that was checked so long ago that its own chunks may be gone.
    #[error(
        "chunk {hash} of the index is more than {hours} hours old: check it again, then repeat the \
         request",
        hours = MAX_UPLOAD_AGE_S / 3_600
    )]
    TooOld {
        /// Its name.
        hash: ChunkHash,
    },
    /// Not what it must be.
    #[error(
        "chunk {hash} is invalid ({why}); build the chunks and the tile index of the import again"
    )]
    Unreadable {
        /// Its name.
        hash: ChunkHash,
        /// What is wrong.
        why: String,
    },
    /// The index in the operation itself is not as it must be.
    #[error("the tile index of the import is invalid: {why}")]
    Index {
        /// What is wrong.
        why: String,
    },
}

impl ImportFault {
    /// What is wrong with an uploaded chunk: not a matter of snapshots, of which the other error
    /// speaks.
    pub(super) fn unreadable(hash: ChunkHash, why: &SnapshotError) -> Self {
        let why = match why {
            SnapshotError::Compression => "it is not one whole zstd frame".to_owned(),
            SnapshotError::WrongHash { .. } => "its bytes are not those of its name".to_owned(),
            why => why.to_string(),
        };
        Self::Unreadable { hash, why }
    }
}
