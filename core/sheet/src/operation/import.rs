//! Import of a sheet whose cells are stored in uploaded chunks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{InvalidOperation, sheets};
use crate::cell::json_text_bytes;
use crate::extent::Extent;
use cellar_base::base64_text;
use cellar_base::limits::{MAX_IMPORT_INDEX_BYTES, MAX_IMPORT_SHEET_NAMES_BYTES, MAX_SHEETS};
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
    /// Number of formulas in the sheet. If it is absent, it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulas: Option<u64>,
    /// Numbers of the sheets that the formulas name, by the names that the formulas use. They may
    /// include the new sheet, and greater numbers, which are those of sheets that later operations
    /// of the same request import. A name that is missing here means the sheet that has the name when
    /// the formula is read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sheets: BTreeMap<String, SheetId>,
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
        const NUMBER_BYTES: usize = 12;
        let sheet_bytes: usize =
            self.sheets.keys().map(|name| json_text_bytes(name) + NUMBER_BYTES).sum();
        let index_bytes = self.tile_index.bytes().len().saturating_mul(2);
        json_text_bytes(&self.name).saturating_add(index_bytes).saturating_add(sheet_bytes)
    }

    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        sheets::check_number(self.sheet)?;
        sheets::check_name(&self.name)?;
        let Extent { rows, columns } = self.extent;
        if rows > Axis::Rows.limit() || columns > Axis::Columns.limit() {
            return Err(InvalidOperation::ImportExtent { rows, columns });
        }
        if !are_valid_sheets(self.sheets.keys().map(String::as_str)) {
            return Err(InvalidOperation::ImportSheetNames);
        }
        Ok(self)
    }

    /// Returns the same import with other numbers of the sheets that its formulas name. A name for
    /// which `number_of` returns `None` is left out.
    #[must_use]
    pub fn with_sheet_numbers(self, number_of: impl Fn(SheetId) -> Option<SheetId>) -> Self {
        let renumbered = |(name, sheet)| Some((name, number_of(sheet)?));
        Self { sheets: self.sheets.into_iter().filter_map(renumbered).collect(), ..self }
    }
}

/// Returns whether names of sheets are few and short enough, and differ if case is ignored.
pub(super) fn are_valid_sheets<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    let (mut seen, mut bytes) = (BTreeSet::new(), 0_usize);
    for name in names {
        bytes = bytes.saturating_add(name.len());
        if !seen.insert(name.to_lowercase()) {
            return false;
        }
    }
    seen.len() <= MAX_SHEETS && bytes <= MAX_IMPORT_SHEET_NAMES_BYTES
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
    fn limits_the_names_of_sheets() {
        let is_valid = |names: Vec<String>| {
            let sheets = names.into_iter().map(|name| (name, SheetId(1))).collect();
            ImportSheet { sheets, ..import(Extent::default()) }.validated().is_ok()
        };
        let numbered = |count: usize| (0..count).map(|number| number.to_string()).collect();
        assert!(is_valid(numbered(MAX_SHEETS)) && !is_valid(numbered(MAX_SHEETS + 1)));
        let bytes = |count| vec!["x".repeat(count)];
        assert!(is_valid(bytes(MAX_IMPORT_SHEET_NAMES_BYTES)));
        assert!(!is_valid(bytes(MAX_IMPORT_SHEET_NAMES_BYTES + 1)));
        assert!(!is_valid(vec!["Ä".to_owned(), "ä".to_owned()]));
    }

    #[test]
    fn rejects_an_extent_beyond_the_largest_sheet() {
        let (rows, columns) = (Axis::Rows.limit(), Axis::Columns.limit());
        assert!(import(Extent { rows, columns }).validated().is_ok());
        assert!(import(Extent { rows: rows + 1, columns }).validated().is_err());
        assert!(import(Extent { rows, columns: columns + 1 }).validated().is_err());
    }
}
