//! An imported sheet: its cells are in chunks already, and the log names them (design
//! `3-snapshots.md` §8).

use serde::{Deserialize, Serialize};

use super::{InvalidOperation, SheetId, sheets};
use crate::axis_map::Axis;
use crate::cell::json_text_bytes;
use crate::workbook::Extent;
use cellar_base::base64_text;
use cellar_base::limits::MAX_IMPORT_INDEX_BYTES;

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
    pub tile_index: TileIndex,
}

/// The tile index of an imported sheet, opaque to this crate: `cellar_snapshot::index` packs and reads
/// it, and an append is refused if it is unreadable. As JSON, the Base64 of its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
pub struct TileIndex(Vec<u8>);

/// Bytes that cannot be a tile index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTileIndex {
    /// Not Base64.
    #[error("the tile index of an import must be Base64")]
    NotBase64,
    /// Too long.
    #[error(
        "the tile index of an import has {bytes} bytes; at most {MAX_IMPORT_INDEX_BYTES} are allowed: \
         store it in chunks of its own"
    )]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
}

impl TileIndex {
    /// A tile index of these bytes.
    ///
    /// # Errors
    /// [`BadTileIndex::TooLong`] above `MAX_IMPORT_INDEX_BYTES`.
    pub fn new(bytes: Vec<u8>) -> Result<Self, BadTileIndex> {
        if bytes.len() > MAX_IMPORT_INDEX_BYTES {
            return Err(BadTileIndex::TooLong { bytes: bytes.len() });
        }
        Ok(Self(bytes))
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<String> for TileIndex {
    type Error = BadTileIndex;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(base64_text::decode(&text).ok_or(BadTileIndex::NotBase64)?)
    }
}

impl From<TileIndex> for String {
    fn from(index: TileIndex) -> Self {
        base64_text::encode(&index.0)
    }
}

impl ImportSheet {
    /// About how many bytes it takes in memory and in a reply.
    pub(super) fn weight_bytes(&self) -> usize {
        json_text_bytes(&self.name).saturating_add(self.tile_index.bytes().len().saturating_mul(2))
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
mod tests {
    use super::*;

    use crate::operation::random::import_of as import;

    #[test]
    fn it_is_the_same_as_json() {
        let import = import(Extent { rows: 27, columns: 128 });
        let json = serde_json::to_value(&import).unwrap();
        assert!(json["index"].is_string() && json["replaces"] == 0);
        assert_eq!(serde_json::from_value::<ImportSheet>(json.clone()).unwrap(), import);
        for bad in ["!", "AAA=A", &"A".repeat(MAX_IMPORT_INDEX_BYTES * 2)] {
            let mut json = json.clone();
            json["index"] = bad.into();
            assert!(serde_json::from_value::<ImportSheet>(json).is_err(), "{bad}");
        }
    }

    #[test]
    fn its_index_is_bounded() {
        assert!(TileIndex::new(vec![0; MAX_IMPORT_INDEX_BYTES]).is_ok());
        let bytes = MAX_IMPORT_INDEX_BYTES + 1;
        assert_eq!(TileIndex::new(vec![0; bytes]), Err(BadTileIndex::TooLong { bytes }));
    }

    #[test]
    fn a_sheet_is_no_larger_than_any_other() {
        let (rows, columns) = (Axis::Rows.limit(), Axis::Columns.limit());
        assert!(import(Extent { rows, columns }).validated().is_ok());
        assert!(import(Extent { rows: rows + 1, columns }).validated().is_err());
        assert!(import(Extent { rows, columns: columns + 1 }).validated().is_err());
    }
}
