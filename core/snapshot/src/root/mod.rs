//! The root of a snapshot: all that a reader needs to know before it loads chunks. Byte by byte in `FORMAT-index-and-root.md`.

mod check;
mod clients;
mod formats;
mod numbers;
#[cfg(test)]
pub(super) mod tests;

pub use clients::{ClientMap, LastMutation};
pub use formats::{FormatRecords, PackedFormats, pack_formats};
pub use numbers::{StoredSheetNumbers, pack_sheet_numbers};

use minicbor::{Decode, Encode};

use super::SnapshotError;
use super::cbor::{self, Kind};
use super::index::{Kept, PackedLevel};
use super::level::{ChunkHash, ChunkRef};
use super::packed::{Bounds, PackedObject, pack, unpack};
use cellar_base::limits::{
    INLINE_LEVEL_0_BYTES, INLINE_LEVEL_BYTES, MAX_LEVELS, MAX_ROOT_BYTES, MAX_SHEETS,
};
use cellar_base::position::Position;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;

/// Bytes of what names the chunks of one sheet in a level, at most.
const REFERENCES_BYTES: usize = 100;
/// Bytes of a sheet without its formats, at most.
const SHEET_BYTES: usize = 200;
/// Whatever is packed by [`super::PackLimits`] fits into a root, with room for the names of chunks that
/// hold formats: a root that could not be written would stop all snapshots.
const _: () = assert!(
    MAX_LEVELS * (INLINE_LEVEL_BYTES + MAX_SHEETS * REFERENCES_BYTES)
        + INLINE_LEVEL_0_BYTES
        + MAX_SHEETS * SHEET_BYTES
        + 2 * INLINE_LEVEL_BYTES
        < MAX_ROOT_BYTES
);

/// The state after every entry up to a position.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct Root {
    /// The position.
    #[cbor(n(0), with = "cbor::position")]
    pub position: Position,
    /// How many entries that are, all segments together.
    #[n(1)]
    pub entries: u64,
    /// The sheets in the order of their tabs, at least one.
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_SHEETS>")]
    pub sheets: Vec<RootSheet>,
    /// Every number that a sheet ever had.
    #[n(3)]
    pub used: Kept<StoredSheetNumbers>,
    /// The levels, oldest first.
    #[cbor(n(4), decode_with = "cbor::at_most::<_, _, MAX_LEVELS>")]
    pub levels: Vec<RootLevel>,
    /// The newest level, whose tiles are inside of it, if there is one.
    #[n(5)]
    pub level_0: Option<RootLevel>,
    /// The last mutations of clients, if there are any: a [`ClientMap`].
    #[n(6)]
    pub clients: Option<ChunkRef>,
    /// What all levels have together.
    #[n(7)]
    pub totals: Totals,
}

/// A sheet that there is.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct RootSheet {
    /// Its number.
    #[cbor(n(0), with = "cbor::sheet_id")]
    pub sheet: SheetId,
    /// Its name.
    #[n(1)]
    pub name: String,
    /// How far it was ever written to.
    #[cbor(n(2), with = "extent")]
    pub extent: Extent,
    /// The formats of its ranges, where these stand at the root's position.
    #[n(3)]
    pub formats: PackedFormats,
}

/// A level and the entries whose effect it is.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct RootLevel {
    /// The last position that it does not cover: the last of the level below; none for the oldest,
    /// which begins with the log.
    #[cbor(n(0), with = "cbor::optional_position", has_nil)]
    pub after: Option<Position>,
    /// The last position that it covers.
    #[cbor(n(1), with = "cbor::position")]
    pub last: Position,
    /// Cells of its tiles.
    #[n(2)]
    pub cells: u64,
    /// Bytes of its tiles as stored.
    #[n(3)]
    pub bytes: u64,
    /// Its sheets.
    #[n(4)]
    pub level: PackedLevel,
}

/// Cells and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(array)]
pub struct Totals {
    /// Cells of all levels: one that newer levels set again counts each time.
    #[n(0)]
    pub cells: u64,
    /// Bytes of all levels.
    #[n(1)]
    pub bytes: u64,
}

impl Root {
    /// The root as it is stored. The same root always has the same name.
    ///
    /// # Errors
    /// [`SnapshotError`] if something contradicts another thing or a limit.
    pub fn pack(&self) -> Result<PackedObject, SnapshotError> {
        self.check()?;
        pack(&cbor::encode(Kind::Root, self), Bounds::ROOT)
    }

    /// Reads what [`Root::pack`] stored; total.
    ///
    /// # Errors
    /// [`SnapshotError`] with what is wrong.
    pub fn unpack(hash: ChunkHash, stored: &[u8]) -> Result<Self, SnapshotError> {
        Self::decode(&unpack(hash, stored, Bounds::ROOT)?)
    }

    /// Reads a root that was unpacked already; total.
    ///
    /// # Errors
    /// [`SnapshotError`] with what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if bytes.len() > Bounds::ROOT.plain_bytes {
            let max = Bounds::ROOT.plain_bytes;
            return Err(SnapshotError::TooLong { bytes: bytes.len(), max });
        }
        let root: Self = cbor::decode(Kind::Root, bytes)?;
        root.check()?;
        Ok(root)
    }

    /// All levels, oldest first, level 0 last.
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
