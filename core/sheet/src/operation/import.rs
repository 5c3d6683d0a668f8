//! Import of a sheet whose cells are stored in uploaded chunks.

use serde::{Deserialize, Serialize};

use super::{InvalidOperation, sheets};
use crate::cell::json_text_bytes;
use crate::extent::Extent;
use cellar_base::base64_text;
use cellar_base::limits::MAX_IMPORT_INDEX_BYTES;
use cellar_grid::Axis;
use cellar_grid::SheetId;

/// Adds a sheet whose cells are stored in uploaded chunks. One operation can import any number of
/// cells.
///
/// The sheet number is assigned as for the operation `addSheet`. The chunks and the tile index must
/// have been uploaded and checked before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportSheet {
    /// Number of the new sheet.
    pub sheet: SheetId,
    /// Name of the new sheet. A number is appended if a sheet other than the replaced sheet has
    /// this name.
    pub name: String,
    /// Number of the sheet that the new sheet replaces. If that sheet does not exist, the new sheet
    /// is added after the last sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<SheetId>,
    /// Used range of the sheet. Uploaded cells outside the used range are ignored.
    pub extent: Extent,
    /// Number of cells in the sheet.
    pub cells: u64,
    /// Tile index of the sheet, which references the uploaded chunks. In JSON, it is Base64.
    pub tile_index: TileIndex,
}

/// Tile index of an imported sheet, which references the uploaded chunks. In JSON, it is Base64.
/// An import with a malformed tile index is rejected.
// This crate does not interpret the bytes. `cellar_snapshot::index` encodes and decodes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
pub struct TileIndex(Vec<u8>);

/// Text or bytes cannot be a tile index. The contents of the bytes are not checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTileIndex {
    /// The text is not Base64.
    #[error("the tile index of the import is not valid Base64")]
    NotBase64,
    /// The tile index is longer than `MAX_IMPORT_INDEX_BYTES`.
    #[error(
        "the tile index of the import has {bytes} bytes; at most {MAX_IMPORT_INDEX_BYTES} are allowed; \
         upload it as chunks of its own"
    )]
    TooLong {
        /// Length in bytes.
        bytes: usize,
    },
}

impl TileIndex {
    /// Creates a tile index from its encoded bytes without decoding them.
    ///
    /// # Errors
    /// Returns [`BadTileIndex::TooLong`] if there are more than `MAX_IMPORT_INDEX_BYTES` bytes.
    pub fn new(bytes: Vec<u8>) -> Result<Self, BadTileIndex> {
        if bytes.len() > MAX_IMPORT_INDEX_BYTES {
            return Err(BadTileIndex::TooLong { bytes: bytes.len() });
        }
        Ok(Self(bytes))
    }

    /// Returns the encoded bytes.
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
    /// Returns the approximate number of bytes that the operation takes in memory or in a response.
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
    fn round_trips_json() {
        let import = import(Extent { rows: 27, columns: 128 });
        let json = serde_json::to_value(&import).unwrap();
        assert!(json["tile_index"].is_string() && json["replaces"] == 0);
        assert_eq!(serde_json::from_value::<ImportSheet>(json.clone()).unwrap(), import);
        for bad in ["!", "AAA=A", &"A".repeat(MAX_IMPORT_INDEX_BYTES * 2)] {
            let mut json = json.clone();
            json["tile_index"] = bad.into();
            assert!(serde_json::from_value::<ImportSheet>(json).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_the_bytes_of_a_tile_index() {
        assert!(TileIndex::new(vec![0; MAX_IMPORT_INDEX_BYTES]).is_ok());
        let bytes = MAX_IMPORT_INDEX_BYTES + 1;
        assert_eq!(TileIndex::new(vec![0; bytes]), Err(BadTileIndex::TooLong { bytes }));
    }

    #[test]
    fn rejects_an_extent_beyond_the_largest_sheet() {
        let (rows, columns) = (Axis::Rows.limit(), Axis::Columns.limit());
        assert!(import(Extent { rows, columns }).validated().is_ok());
        assert!(import(Extent { rows: rows + 1, columns }).validated().is_err());
        assert!(import(Extent { rows, columns: columns + 1 }).validated().is_err());
    }
}
