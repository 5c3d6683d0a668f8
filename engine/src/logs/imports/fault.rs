//! Errors of imports.

use cellar_base::limits::{
    MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_STORED_CHUNK_BYTES, MAX_TILE_LONG_TEXTS,
    MAX_UPLOAD_AGE_S,
};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::level::ChunkHash;

/// Reason why the chunks of an import were rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportFault {
    /// The request references no chunk.
    #[error("the request references no chunk; at least one is required")]
    Nothing,
    /// The request references too many chunks, including the chunks that its index references.
    #[error(
        "the request references {objects} chunks, directly or through an index; at most \
         {MAX_IMPORT_OBJECTS} are allowed; reference fewer chunks per request, and split a longer \
         index into several chunks"
    )]
    TooMany {
        /// Number of chunks that the request references.
        objects: usize,
    },
    /// The chunks of the request are too large in total.
    #[error(
        "the chunks of the request have {bytes} bytes in total; at most {MAX_IMPORT_OBJECT_BYTES} \
         are allowed; reference fewer chunks per request, and split a longer index into several \
         chunks"
    )]
    TooLarge {
        /// Total stored size of the chunks, in bytes.
        bytes: u64,
    },
    /// The chunk length is zero or too large.
    #[error("chunk {hash} has {bytes} bytes; 1 to {MAX_STORED_CHUNK_BYTES} are allowed")]
    ChunkLength {
        hash: ChunkHash,
        /// Stored size of the chunk, in bytes.
        bytes: u32,
    },
    /// The chunk is not published, and it was never uploaded or its upload has expired. An upload
    /// expires after three days.
    #[error("chunk {hash} is missing; upload and check it, then retry")]
    Missing { hash: ChunkHash },
    /// The index references a chunk that was not published before the index.
    #[error(
        "chunk {hash} of the index was not checked; check it together with its own chunks, then \
         retry the request"
    )]
    Unchecked { hash: ChunkHash },
    /// A tile references more long texts than may still be read for the request.
    #[error(
        "chunk {hash} references {texts} long texts; this request may check {most} more, and a request \
         for a single tile may check {MAX_TILE_LONG_TEXTS}; check the chunk in a separate request \
         (`tiles`), then retry this request"
    )]
    TooManyTexts {
        /// Hash of the tile.
        hash: ChunkHash,
        /// Number of long texts that the tile references.
        texts: usize,
        /// How many more long texts may be read for the request.
        most: usize,
    },
    /// An index chunk was published too long ago. The chunks that it references may have been
    /// deleted since.
    #[error(
        "chunk {hash} of the index was checked more than {hours} hours ago; check it again, then \
         retry the request",
        hours = MAX_UPLOAD_AGE_S / 3_600
    )]
    TooOld { hash: ChunkHash },
    /// The chunk content is invalid.
    #[error(
        "chunk {hash} is invalid ({why}); build the chunks and the tile index of the import again"
    )]
    Unreadable { hash: ChunkHash, why: String },
    /// The tile index in the operation is invalid.
    #[error("the tile index of the import is invalid: {why}")]
    Index { why: String },
}

impl ImportFault {
    pub(super) fn unreadable(hash: ChunkHash, error: &SnapshotError) -> Self {
        let reason = match error {
            SnapshotError::Compression => "it is not a single complete zstd frame".to_owned(),
            SnapshotError::WrongHash { .. } => "its content does not match its hash".to_owned(),
            other => other.to_string(),
        };
        Self::Unreadable { hash, why: reason }
    }
}
