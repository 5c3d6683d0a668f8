//! Stored encoding of imports in log entries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::import::are_valid_sheets;
use super::stored::checked_sheet_name;
use super::{ImportSheet, StoredOperation, TileIndex, UnreadableOperation};
use crate::extent::Extent;
use cellar_base::limits::{MAX_IMPORT_INDEX_BYTES, MAX_SHEETS};
use cellar_grid::Axis;
use cellar_grid::SheetId;

/// Stored encoding of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredImport {
    sheet_number: u32,
    name: String,
    replaced_sheet_number: Option<u32>,
    row_count: u32,
    column_count: u32,
    cell_count: u64,
    tile_index: StoredIndex,
}

/// Stored encoding of an import whose number of formulas is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredImportWithFormulas {
    import: StoredImport,
    formula_count: Option<u64>,
    /// Names of sheets in the formulas, and their numbers.
    #[serde(deserialize_with = "cellar_base::bounded::at_most::<_, _, MAX_SHEETS>")]
    sheets: Vec<(String, u32)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredIndex(
    #[serde(deserialize_with = "cellar_base::bounded::at_most::<_, _, MAX_IMPORT_INDEX_BYTES>")]
    Vec<u8>,
);

impl From<&ImportSheet> for StoredImport {
    fn from(import: &ImportSheet) -> Self {
        let ImportSheet { sheet, name, replaces, extent, cells, tile_index, .. } = import;
        Self {
            sheet_number: sheet.0,
            name: name.clone(),
            replaced_sheet_number: replaces.map(|sheet| sheet.0),
            row_count: extent.rows,
            column_count: extent.columns,
            cell_count: *cells,
            tile_index: StoredIndex(tile_index.bytes().to_vec()),
        }
    }
}

impl StoredImport {
    pub(super) fn into_import(self) -> Result<ImportSheet, UnreadableOperation> {
        let extent = Extent { rows: self.row_count, columns: self.column_count };
        if extent.rows > Axis::Rows.limit() || extent.columns > Axis::Columns.limit() {
            return Err(UnreadableOperation::OutOfRange);
        }
        let name = checked_sheet_name(self.name)?;
        let StoredIndex(index_bytes) = self.tile_index;
        let tile_index =
            TileIndex::new(index_bytes).map_err(|_| UnreadableOperation::TileIndexTooLong)?;
        Ok(ImportSheet {
            sheet: SheetId(self.sheet_number),
            name,
            replaces: self.replaced_sheet_number.map(SheetId),
            extent,
            cells: self.cell_count,
            formulas: None,
            sheets: BTreeMap::new(),
            tile_index,
        })
    }
}

/// The first version is for imports that say nothing about their formulas.
pub(super) fn stored_import(import: &ImportSheet) -> StoredOperation {
    let stored = StoredImport::from(import);
    if import.formulas.is_none() && import.sheets.is_empty() {
        return StoredOperation::ImportSheet(stored);
    }
    let sheets = import.sheets.iter().map(|(name, number)| (name.clone(), number.0));
    StoredOperation::ImportSheetWithFormulas(StoredImportWithFormulas {
        import: stored,
        formula_count: import.formulas,
        sheets: sheets.collect(),
    })
}

impl StoredImportWithFormulas {
    pub(super) fn into_import(self) -> Result<ImportSheet, UnreadableOperation> {
        if !are_valid_sheets(self.sheets.iter().map(|(name, _)| name.as_str())) {
            return Err(UnreadableOperation::TooLarge);
        }
        let sheets = self.sheets.into_iter().map(|(name, number)| (name, SheetId(number)));
        Ok(ImportSheet {
            formulas: self.formula_count,
            sheets: sheets.collect(),
            ..self.import.into_import()?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::operation::random::import_of;
    use cellar_base::limits::MAX_IMPORT_SHEET_NAMES_BYTES;

    #[test]
    fn decoding_limits_the_sheets_of_an_import() {
        let import = import_of(Extent { rows: 27, columns: 128 });
        let is_read = |names: Vec<String>| {
            let sheets = names.into_iter().map(|name| (name, 1)).collect();
            let import = StoredImport::from(&import);
            let stored = StoredImportWithFormulas { import, formula_count: Some(1), sheets };
            let stored = StoredOperation::ImportSheetWithFormulas(stored);
            let bytes = postcard::to_allocvec(&stored).unwrap();
            postcard::from_bytes(&bytes)
                .is_ok_and(|stored: StoredOperation| Operation::try_from(stored).is_ok())
        };
        let numbered = |count: usize| (0..count).map(|number| number.to_string()).collect();
        assert!(is_read(numbered(MAX_SHEETS)) && !is_read(numbered(MAX_SHEETS + 1)));
        let bytes = |count| vec!["x".repeat(count)];
        assert!(is_read(bytes(MAX_IMPORT_SHEET_NAMES_BYTES)));
        assert!(!is_read(bytes(MAX_IMPORT_SHEET_NAMES_BYTES + 1)));
        assert!(!is_read(vec!["A".to_owned(), "a".to_owned()]));
    }
}
