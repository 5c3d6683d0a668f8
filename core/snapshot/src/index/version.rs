//! Versions of the parts of a tile index. Parts without formulas have the first version.

use super::{IndexedTile, InlineOrChunk, PackedLevel, RowIndex, SheetMoves, SpanMap, StripeIndex};
use crate::cbor::{Body, VERSION_1, VERSION_2};
use crate::level::ChunkRef;

/// Chunks have versions of their own.
impl Body for SpanMap<ChunkRef> {}

impl Body for SheetMoves {
    const NEWEST_VERSION: u32 = VERSION_2;

    fn version(&self) -> u32 {
        let has_ends = !self.row_ends.is_empty() || !self.column_ends.is_empty();
        if has_ends { VERSION_2 } else { VERSION_1 }
    }
}

impl Body for SpanMap<IndexedTile> {
    const NEWEST_VERSION: u32 = VERSION_2;

    fn version(&self) -> u32 {
        let has_formulas = self.items().iter().any(|tile| tile.formulas.is_some());
        if has_formulas { VERSION_2 } else { VERSION_1 }
    }
}

impl Body for SpanMap<RowIndex> {
    const NEWEST_VERSION: u32 = VERSION_2;

    fn version(&self) -> u32 {
        let row_versions = self.items().iter().map(|row_index| match row_index {
            RowIndex::Tiles(tiles) => tiles.version(),
            RowIndex::Parts(_) => VERSION_1,
        });
        row_versions.max().unwrap_or(VERSION_1)
    }
}

impl Body for StripeIndex {
    const NEWEST_VERSION: u32 = VERSION_2;

    fn version(&self) -> u32 {
        match self {
            Self::Inline(stripes) => stripes.version(),
            Self::Parts(_) | Self::Chunk(_) => VERSION_1,
        }
    }
}

impl PackedLevel {
    /// Returns the oldest version of an object that can contain the level.
    pub(crate) fn version(&self) -> u32 {
        let sheet_versions = self.sheets.iter().map(|sheet| {
            let moves_version = match &sheet.moves {
                InlineOrChunk::Inline(moves) => moves.version(),
                InlineOrChunk::Chunk(_) => VERSION_1,
            };
            moves_version.max(sheet.stripes.version())
        });
        sheet_versions.max().unwrap_or(VERSION_1)
    }
}
