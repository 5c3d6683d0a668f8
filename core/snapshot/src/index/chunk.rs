//! Chunks of a tile index.

use super::{IndexedTile, RowIndex, SheetMoves, SpanMap};
use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::level::ChunkRef;

/// A decoded and verified tile index chunk.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexChunk {
    /// Effect of a level on a sheet's older cells: how rows and columns move, and which cells are
    /// hidden.
    Moves(SheetMoves),
    /// The list of the parts of a sheet's tile index.
    Parts(SpanMap<ChunkRef>),
    /// An index part, which consists of adjacent stripes with their columns and rows.
    Stripes(SpanMap<RowIndex>),
    /// Tiles in adjacent rows of one stripe.
    Tiles(SpanMap<IndexedTile>),
}

impl IndexChunk {
    /// Decodes an uncompressed chunk. Never panics on malformed bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the chunk is not a valid tile index chunk.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let kind = Kind::from_number(cbor::kind_number(bytes)?);
        let chunk = match kind {
            Some(Kind::Moves) => Self::Moves(cbor::decode(Kind::Moves, bytes)?),
            Some(Kind::Parts) => Self::Parts(cbor::decode(Kind::Parts, bytes)?),
            Some(Kind::Stripes) => Self::Stripes(cbor::decode(Kind::Stripes, bytes)?),
            Some(Kind::Tiles) => Self::Tiles(cbor::decode(Kind::Tiles, bytes)?),
            _ => return Err(SnapshotError::Shape("the chunk is not part of a tile index")),
        };
        chunk.check()?;
        Ok(chunk)
    }
}
