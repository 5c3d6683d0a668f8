//! Chunks of an index.

use super::{Indexed, IndexedTile, RowIndex, SheetMoves};
use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::level::ChunkRef;

/// A chunk of an index, decoded and checked.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexChunk {
    /// What a level does to older cells of a sheet.
    Moves(SheetMoves),
    /// The list of the parts of a sheet's index.
    Parts(Indexed<ChunkRef>),
    /// The columns and rows of neighbouring stripes.
    Stripes(Indexed<RowIndex>),
    /// Tiles of neighbouring rows of one stripe.
    Tiles(Indexed<IndexedTile>),
}

impl IndexChunk {
    /// Reads a chunk, unpacked; total.
    ///
    /// # Errors
    /// [`SnapshotError`] with what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let found = cbor::kind_number(bytes)?;
        let chunk = match Kind::from_number(found) {
            Some(Kind::Moves) => Self::Moves(cbor::decode(Kind::Moves, bytes)?),
            Some(Kind::Parts) => Self::Parts(cbor::decode(Kind::Parts, bytes)?),
            Some(Kind::Stripes) => Self::Stripes(cbor::decode(Kind::Stripes, bytes)?),
            Some(Kind::Tiles) => Self::Tiles(cbor::decode(Kind::Tiles, bytes)?),
            _ => return Err(SnapshotError::Shape("it is no chunk of an index")),
        };
        chunk.check()?;
        Ok(chunk)
    }
}
