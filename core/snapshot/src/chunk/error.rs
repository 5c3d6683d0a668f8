//! Errors of tile encoding and chunk decoding.

use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_COPIED_FORMAT_BYTES, MAX_TILE_CELLS, MAX_TILE_COLUMNS,
};

/// The reason why a tile cannot be encoded as a chunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnencodableTile {
    /// The tile has too many cells.
    #[error(
        "the tile has {cells} values, formulas and formats; at most {MAX_TILE_CELLS} are allowed: \
         split the tile"
    )]
    Cells {
        /// Number of values, formulas and formats.
        cells: usize,
    },
    /// The tile has too many columns.
    #[error(
        "the tile has {columns} columns; at most {MAX_TILE_COLUMNS} are allowed: split the tile"
    )]
    Columns {
        /// Number of columns.
        columns: usize,
    },
    /// The encoded tile is too long.
    #[error(
        "the encoded tile has {bytes} bytes; at most {MAX_CHUNK_BYTES} are allowed: split the tile"
    )]
    Bytes {
        /// Uncompressed length in bytes at which encoding stopped.
        bytes: usize,
    },
    /// The formats are too long. Each distinct format of a column counts once per column.
    #[error(
        "the formats of the tile's columns have {bytes} bytes; at most {MAX_COPIED_FORMAT_BYTES} \
         are allowed: split the tile"
    )]
    Formats {
        /// Sum of the lengths of each column's distinct formats, in bytes.
        bytes: usize,
    },
    /// The tile breaks a rule of the format, so it cannot be encoded even if it is split.
    #[error("the tile cannot be encoded: {0}")]
    Malformed(&'static str),
}

/// Error for bytes that are not a valid chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableChunk {
    /// The bytes do not start with a chunk header.
    #[error("the object is not a chunk: its header is invalid")]
    NoChunk,
    /// The chunk was written by a newer version of Cellar.
    #[error(
        "the chunk has version {version}; this build reads up to {}: upgrade Cellar",
        super::NEWEST_VERSION
    )]
    UnknownVersion {
        /// Version in the chunk header.
        version: u8,
    },
    /// The chunk is not of the expected kind.
    #[error("the chunk has the unexpected kind {kind}")]
    OtherKind {
        /// Kind in the chunk header.
        kind: u8,
    },
    /// The chunk exceeds a limit.
    #[error("the chunk is too large: {0}")]
    TooLarge(&'static str),
    /// The chunk is damaged.
    #[error("the chunk does not decode: {0}")]
    Malformed(&'static str),
}
