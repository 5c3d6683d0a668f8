//! What can be wrong with a tile or a chunk.

use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_COPIED_FORMAT_BYTES, MAX_TILE_CELLS, MAX_TILE_COLUMNS,
};

/// A tile that is no chunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TileTooLarge {
    /// More cells than a tile may have.
    #[error(
        "the tile has {cells} values, formulas and formats of {MAX_TILE_CELLS} at most: split it"
    )]
    Cells {
        /// Its values, formulas and formats together.
        cells: usize,
    },
    /// More columns than a tile may have.
    #[error("the tile has {columns} columns of {MAX_TILE_COLUMNS} at most: split it")]
    Columns {
        /// Its columns.
        columns: usize,
    },
    /// More bytes than a chunk may have.
    #[error("the tile takes {bytes} bytes of {MAX_CHUNK_BYTES} at most: split it")]
    Bytes {
        /// The bytes of its chunk, not compressed; at least so many if it was given up earlier.
        bytes: usize,
    },
    /// More formats than its columns may have.
    #[error(
        "the formats of the tile's columns have {bytes} bytes of {MAX_COPIED_FORMAT_BYTES} at most: split it"
    )]
    Formats {
        /// The bytes of each column's distinct formats.
        bytes: usize,
    },
    /// Something in it that no tile may have, and that splitting does not help against.
    #[error("the tile cannot be written: {0}")]
    Part(&'static str),
}

/// Bytes that are no chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableChunk {
    /// Bytes that begin otherwise than a chunk.
    #[error("this is no chunk: it begins otherwise")]
    NoChunk,
    /// A version of a later Cellar.
    #[error(
        "the chunk has version {version}, this build reads up to {}: upgrade it",
        super::VERSION
    )]
    UnknownVersion {
        /// The version of the chunk.
        version: u8,
    },
    /// A chunk of another kind.
    #[error("the chunk is of kind {kind}: something else was expected here")]
    OtherKind {
        /// The kind of the chunk.
        kind: u8,
    },
    /// More than a chunk may have.
    #[error("the chunk is too large: {0}")]
    TooLarge(&'static str),
    /// Bytes that do not decode.
    #[error("the chunk does not decode: {0}")]
    Malformed(&'static str),
}
