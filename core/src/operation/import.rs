//! An imported sheet: its cells are in chunks already, and the log names them (design
//! `3-snapshots.md` §8).

use serde::{Deserialize, Serialize};

use super::{InvalidOperation, SheetId, sheets};
use crate::axis_map::Axis;
use crate::base64_text;
use crate::cell::json_text_bytes;
use crate::limits::MAX_IMPORT_INDEX_BYTES;
use crate::snapshot::SnapshotError;
use crate::snapshot::index::Stripes;
use crate::workbook::Extent;

/// Adds a sheet whose cells are in chunks: any size, in one entry.
///
/// Its number is found as that of [`super::AddSheet`]. The chunks, and the index that names them, are
/// stored and checked before the operation is appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportSheet {
    /// Its number.
    pub sheet: SheetId,
    /// Its name; if another sheet than the replaced one has it, a number is put behind it.
    pub name: String,
    /// The sheet that it takes the place of: deleted with all it holds. If it is not there, the new
    /// one stands behind the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<SheetId>,
    /// How far its cells go. Beyond it there is none, whatever the chunks hold.
    pub extent: Extent,
    /// How many cells it has.
    pub cells: u64,
    /// Where its chunks are.
    pub index: ImportIndex,
}

/// The index of an imported sheet. As JSON, the Base64 of its bytes, which are written down in
/// `core/src/snapshot/FORMAT-index-and-root.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
pub struct ImportIndex(Stripes);

/// Bytes that are no index of an imported sheet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadImportIndex {
    /// Not Base64.
    #[error("the tile index of an import must be Base64")]
    NotBase64,
    /// Too long.
    #[error(
        "the index of an import has {bytes} bytes, at most {MAX_IMPORT_INDEX_BYTES} are allowed: \
         put it into chunks of its own"
    )]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// Not readable.
    #[error("the tile index of the import is unreadable: {0}")]
    Unreadable(SnapshotError),
}

impl ImportIndex {
    /// An index whose tiles are all chunks.
    ///
    /// # Errors
    /// [`BadImportIndex`] for one that is not sound, too long, or has a tile inside.
    pub fn new(stripes: Stripes) -> Result<Self, BadImportIndex> {
        let index = Self(stripes);
        Self::from_bytes(&index.to_bytes())?;
        Ok(index)
    }

    /// The index.
    #[must_use]
    pub fn stripes(&self) -> &Stripes {
        &self.0
    }

    /// As it is stored.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_import_bytes()
    }

    /// Reads what [`ImportIndex::to_bytes`] wrote; total.
    ///
    /// # Errors
    /// [`BadImportIndex`] with what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadImportIndex> {
        if bytes.len() > MAX_IMPORT_INDEX_BYTES {
            return Err(BadImportIndex::TooLong { bytes: bytes.len() });
        }
        Stripes::from_import_bytes(bytes).map(Self).map_err(BadImportIndex::Unreadable)
    }
}

impl TryFrom<String> for ImportIndex {
    type Error = BadImportIndex;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::from_bytes(&base64_text::decode(&text).ok_or(BadImportIndex::NotBase64)?)
    }
}

impl From<ImportIndex> for String {
    fn from(index: ImportIndex) -> Self {
        base64_text::encode(&index.to_bytes())
    }
}

impl ImportSheet {
    /// About how many bytes it takes in memory and in a reply.
    pub(super) fn weight_bytes(&self) -> usize {
        json_text_bytes(&self.name).saturating_add(self.index.to_bytes().len().saturating_mul(2))
    }

    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        sheets::check_number(self.sheet)?;
        sheets::check_name(&self.name)?;
        let Extent { rows, columns } = self.extent;
        if rows > Axis::Rows.limit() || columns > Axis::Columns.limit() {
            return Err(InvalidOperation::ImportExtent { rows, columns });
        }
        Ok(self)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::operation::Span;
    use crate::snapshot::index::pack_import_within;
    use crate::snapshot::level::{ChunkHash, ChunkRef, StoredTile, Stripe, TilePlace};
    use crate::snapshot::{PackLimits, index::pack_import};

    fn stripe(tiles: u32) -> Stripe {
        let tile = |number: u32| {
            let hash = ChunkHash(*blake3::hash(&number.to_le_bytes()).as_bytes());
            let stored = StoredTile::Chunk(ChunkRef { hash, bytes: 100_000 });
            TilePlace { rows: Span { first: number * 9, count: 9 }, cells: 9, stored }
        };
        Stripe { columns: Span { first: 0, count: 128 }, tiles: (0..tiles).map(tile).collect() }
    }

    pub(crate) fn import(extent: Extent) -> ImportSheet {
        let index = pack_import(&[stripe(3)]).unwrap().0;
        let (sheet, name) = (SheetId(1), "a".to_owned());
        ImportSheet { sheet, name, replaces: Some(SheetId(0)), extent, cells: 27, index }
    }

    #[test]
    fn it_is_the_same_as_json() {
        let import = import(Extent { rows: 27, columns: 128 });
        let json = serde_json::to_value(&import).unwrap();
        assert!(json["index"].is_string() && json["replaces"] == 0);
        assert_eq!(serde_json::from_value::<ImportSheet>(json.clone()).unwrap(), import);
        for bad in ["", "!", "AAAA", &"A".repeat(MAX_IMPORT_INDEX_BYTES * 2)] {
            let mut json = json.clone();
            json["index"] = bad.into();
            assert!(serde_json::from_value::<ImportSheet>(json).is_err(), "{bad}");
        }
    }

    #[test]
    fn its_index_is_bounded_and_has_no_tile_inside() {
        let whole = PackLimits {
            inline_bytes: 99_999,
            inline_total_bytes: 99_999,
            chunk_bytes: 99_999,
            named_bytes: u64::MAX,
        };
        let fits = |tiles| pack_import_within(&[stripe(tiles)], whole).is_ok();
        let most = (1..1_000).take_while(|tiles| fits(*tiles)).last().unwrap();
        let longest = pack_import_within(&[stripe(most)], whole).unwrap().0.to_bytes();
        let per_tile = longest.len() / usize::try_from(most).unwrap();
        assert!((MAX_IMPORT_INDEX_BYTES - longest.len()) <= per_tile, "{}", longest.len());
        let mut inline = stripe(1);
        inline.tiles[0].stored = StoredTile::Inline(vec![1]);
        assert!(pack_import(&[inline]).is_err());
    }

    #[test]
    fn a_sheet_is_no_larger_than_any_other() {
        let (rows, columns) = (Axis::Rows.limit(), Axis::Columns.limit());
        assert!(import(Extent { rows, columns }).validated().is_ok());
        assert!(import(Extent { rows: rows + 1, columns }).validated().is_err());
        assert!(import(Extent { rows, columns: columns + 1 }).validated().is_err());
    }
}
