//! The root of a snapshot, which contains everything that a reader needs before it loads chunks.
//! `docs/reference/index-and-root-format.md` specifies the encoding.

mod check;
mod clients;
mod defined_names;
mod formats;
mod numbers;
#[cfg(test)]
pub(super) mod tests;

pub use clients::{ClientMap, LastMutation};
pub use formats::{FormatRecords, PackedFormats, pack_formats};
pub use numbers::{StoredSheetNumbers, pack_sheet_numbers};

use minicbor::{Decode, Encode};

use super::cbor::{self, Body, Kind, VERSION_1, VERSION_2};
use super::index::{InlineOrChunk, PackedLevel};
use super::level::{ChunkHash, ChunkRef};
use super::packed::{Bounds, PackedObject, pack, unpack};
use crate::error::SnapshotError;
use crate::outdated::{OutdatedAreas, stored_areas};
use cellar_base::limits::{
    INLINE_LEVEL_0_BYTES, INLINE_LEVEL_BYTES, MAX_DEFINED_NAMES_BYTES, MAX_LEVELS, MAX_ROOT_BYTES,
    MAX_SHEETS,
};
use cellar_base::position::Position;
use cellar_sheet::metadata::{DefinedNames, Extent};
use cellar_sheet::operation::SheetId;

/// Maximum length in bytes of the chunk references of one sheet in one level.
const REFERENCES_BYTES: usize = 100;
/// Maximum length in bytes of a sheet in the root, not including its formats.
const SHEET_BYTES: usize = 200;
/// A root must have room for everything that [`super::PackLimits`] allows, plus the references to
/// format chunks. If a root were too large to be stored, no more snapshots of the log could be
/// built.
const _: () = assert!(
    MAX_LEVELS * (INLINE_LEVEL_BYTES + MAX_SHEETS * REFERENCES_BYTES)
        + MAX_DEFINED_NAMES_BYTES
        + INLINE_LEVEL_0_BYTES
        + MAX_SHEETS * SHEET_BYTES
        + 2 * INLINE_LEVEL_BYTES
        < MAX_ROOT_BYTES
);

/// State of a spreadsheet after all entries up to and including a position.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct Root {
    /// Position of the last entry.
    #[cbor(n(0), with = "cbor::position")]
    pub position: Position,
    /// Number of log entries up to and including `position`, across all segments.
    #[n(1)]
    pub entries: u64,
    /// Sheets in tab order; at least one.
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_SHEETS>")]
    pub sheets: Vec<RootSheet>,
    /// All sheet ids ever used in the workbook.
    #[n(3)]
    pub used: InlineOrChunk<StoredSheetNumbers>,
    /// Levels stored in chunks, oldest first.
    #[cbor(n(4), decode_with = "cbor::at_most::<_, _, MAX_LEVELS>")]
    pub levels: Vec<RootLevel>,
    /// Level 0 (the newest level), whose tiles are stored inside the root. `None` if the last
    /// compaction step merged it into a level that is stored in chunks.
    #[n(5)]
    pub level_0: Option<RootLevel>,
    /// Chunk with the last mutation of each client, encoded as a [`ClientMap`]. `None` if there are
    /// no clients.
    #[n(6)]
    pub clients: Option<ChunkRef>,
    /// Total number of cells and bytes in all levels.
    #[n(7)]
    pub totals: Totals,
    /// Names that formulas use. The key is absent if there are none.
    #[cbor(n(8), with = "defined_names", has_nil)]
    pub names: DefinedNames,
    /// Cells whose formulas may have other values than those that are stored. `None` if no values
    /// of formulas are known. The key is then absent.
    #[cbor(n(9), with = "stored_areas", has_nil)]
    pub outdated: Option<OutdatedAreas>,
}

/// An existing sheet.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct RootSheet {
    /// Id of the sheet.
    #[cbor(n(0), with = "cbor::sheet_id")]
    pub sheet: SheetId,
    /// Name of the sheet.
    #[n(1)]
    pub name: String,
    /// Used range of the sheet.
    #[cbor(n(2), with = "extent")]
    pub extent: Extent,
    /// Range formats of the sheet.
    #[n(3)]
    pub formats: PackedFormats,
}

/// A level and its range of entries.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct RootLevel {
    /// Position of the last entry in the next older level, after which this level's range starts.
    /// `None` if the range starts at the beginning of the log.
    #[cbor(n(0), with = "cbor::optional_position", has_nil)]
    pub after: Option<Position>,
    /// Position of the last entry in this level's range.
    #[cbor(n(1), with = "cbor::position")]
    pub last: Position,
    /// Number of cells in the level's tiles.
    #[n(2)]
    pub cells: u64,
    /// Stored bytes of the level's tiles.
    #[n(3)]
    pub bytes: u64,
    /// Tile index, axis maps and cleared regions of each sheet that the level changes.
    #[n(4)]
    pub level: PackedLevel,
}

/// Total number of cells and stored bytes in one or more levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(array)]
pub struct Totals {
    /// Number of cells. A cell that is set in several levels is counted once per level.
    #[n(0)]
    pub cells: u64,
    /// Stored bytes of the tiles.
    #[n(1)]
    pub bytes: u64,
}

impl Body for Root {
    const NEWEST_VERSION: u32 = VERSION_2;

    /// Older releases must not read a root with names, because a snapshot that they build from it
    /// would lose the names.
    fn version(&self) -> u32 {
        let of_names = if self.names.is_empty() { VERSION_1 } else { VERSION_2 };
        let of_levels = self.all_levels().map(|level| level.level.version());
        of_levels.max().unwrap_or(VERSION_1).max(of_names)
    }
}

impl Root {
    /// Validates and packs the root. Equal roots always have the same name.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if parts of the root are inconsistent or exceed a limit.
    pub fn pack(&self) -> Result<PackedObject, SnapshotError> {
        self.check()?;
        pack(&cbor::encode(Kind::Root, self), Bounds::ROOT)
    }

    /// Decompresses, decodes and verifies a stored root. Never panics on malformed bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the stored bytes are not a valid root with this name.
    pub fn unpack(hash: ChunkHash, stored: &[u8]) -> Result<Self, SnapshotError> {
        Self::decode(&unpack(hash, stored, Bounds::ROOT)?)
    }

    /// Decodes and verifies an uncompressed root. Never panics on malformed bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the bytes are not a valid root.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if bytes.len() > Bounds::ROOT.plain_bytes {
            let max = Bounds::ROOT.plain_bytes;
            return Err(SnapshotError::TooLong { bytes: bytes.len(), max });
        }
        let root: Self = cbor::decode(Kind::Root, bytes)?;
        root.check()?;
        Ok(root)
    }

    /// Iterates over all levels from oldest to newest. Level 0 is last.
    pub fn all_levels(&self) -> impl DoubleEndedIterator<Item = &RootLevel> {
        self.levels.iter().chain(&self.level_0)
    }
}

mod extent {
    use minicbor::decode::Error as DecodeError;
    use minicbor::encode::{Error as EncodeError, Write};
    use minicbor::{Decoder, Encoder};

    use cellar_sheet::metadata::Extent;

    pub(super) fn encode<Ctx, W: Write>(
        extent: &Extent,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        encoder.encode((extent.rows, extent.columns))?.ok()
    }

    pub(super) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        _: &mut Ctx,
    ) -> Result<Extent, DecodeError> {
        let (rows, columns) = decoder.decode()?;
        Ok(Extent { rows, columns })
    }
}
