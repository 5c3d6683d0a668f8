//! Result of folding log entries: a level in memory with one tile per sheet.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delta::Delta;
use super::delta_cells::DeltaCell;
use super::line_moves::{FoldedFormula, template_in_cell};
use crate::index::PackedLevel;
use crate::level::SheetMoves;
use crate::saturate::saturate_u32;
use crate::tile::{Tile, TileColumn, TileValue, preview};
use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{SheetId, SheetsOfFile};
use cellar_sheet::workbook::axis_order::AxisOrder;

/// Net effect of a range of entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoldedLevel {
    /// Changed sheets, sorted by sheet id.
    pub sheets: Vec<FoldedSheet>,
    /// Imported sheets, whose cells are older than the changes in `sheets`.
    pub imported: PackedLevel,
    /// Context of the formulas of each imported sheet.
    pub imported_formulas: BTreeMap<SheetId, ImportedFormulas>,
    /// Long texts to store before any object that references them.
    pub long_texts: Vec<LongTextObject>,
}

/// Net effect of a range of entries on one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldedSheet {
    /// Id of the sheet.
    pub sheet: SheetId,
    /// Effect of the entries on older cells: how rows and columns move, and which cells are hidden.
    pub moves: SheetMoves,
    /// All changed cells of the sheet. The tile is shared, because several merges may use it as
    /// input.
    pub tile: Arc<Tile>,
}

/// Context of the formulas of an imported sheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedFormulas {
    /// The sheets that the formulas name.
    pub file: Arc<SheetsOfFile>,
    /// How the rows and columns of all sheets move after the import.
    pub moves: Arc<MovedLines>,
}

/// A long text, which is stored as a separate object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongTextObject {
    /// Name of the object, which is the BLAKE3 hash of the text.
    pub hash: [u8; 32],
    /// The text.
    pub text: String,
}

impl FoldedLevel {
    /// Adds the changes to a sheet, if there are any. All formulas must have been moved. `lines` is
    /// how rows and columns move during the fold, or `None` if they do not.
    pub(super) fn add_sheet(
        &mut self,
        sheet_id: SheetId,
        delta: Delta,
        lines: Option<&SheetLines>,
    ) {
        let tile = Arc::new(self.build_tile(&delta));
        let mut moves = SheetMoves {
            rows: AxisOrder::new(Axis::Rows).map_to(&delta.rows, Axis::Rows),
            columns: AxisOrder::new(Axis::Columns).map_to(&delta.columns, Axis::Columns),
            value_clears: delta.value_clears,
            format_clears: delta.format_clears,
            ..SheetMoves::default()
        };
        if let Some(lines) = lines {
            moves.set_ends(lines);
        }
        if !tile.is_empty() || !moves.has_no_effect() {
            self.sheets.push(FoldedSheet { sheet: sheet_id, moves, tile });
        }
    }

    fn build_tile(&mut self, delta: &Delta) -> Tile {
        let mut tile = Tile::default();
        for cells in cells_by_column(delta).chunk_by(|cell, next| cell.column == next.column) {
            let Some(first) = cells.first() else { continue };
            let mut tile_column = TileColumn::new(first.column);
            tile_column.values.reserve(cells.len(), 0);
            for cell in cells {
                self.push_cell(&mut tile_column, cell.row, cell.changes);
            }
            tile.columns.push(tile_column);
        }
        tile
    }

    fn push_cell(&mut self, column: &mut TileColumn, row: u32, cell: &DeltaCell) {
        if let Some((value, formula)) = &cell.value {
            self.push_value(column, row, value);
            match formula {
                None => {}
                Some(FoldedFormula::Text(text)) => column.formulas.push(row, text),
                Some(FoldedFormula::Parsed { template, .. }) => {
                    let cell = CellName { row, column: column.index };
                    column.templates.push(row, template_in_cell(template, cell).encoded());
                }
            }
        }
        if let Some(format) = &cell.format {
            column.formats.push(row, format);
        }
    }

    fn push_value(&mut self, column: &mut TileColumn, row: u32, value: &Value) {
        match value {
            Value::Empty => column.values.push(row, TileValue::Empty),
            Value::Number(number) => column.values.push(row, TileValue::Number(*number)),
            Value::Bool(boolean) => column.values.push(row, TileValue::Bool(*boolean)),
            Value::Error(code) => column.values.push(row, TileValue::Error(*code)),
            Value::Text(text) if text.len() <= MAX_TILE_TEXT_BYTES => {
                column.values.push_text(row, text);
            }
            Value::Text(text) => {
                let hash = *blake3::hash(text.as_bytes()).as_bytes();
                let byte_length = saturate_u32(text.len());
                column.values.push_long_text(row, preview(text), hash, byte_length);
                self.long_texts.push(LongTextObject { hash, text: text.clone() });
            }
        }
    }
}

/// A changed cell at its place after the last change.
struct PlacedCell<'a> {
    column: u32,
    row: u32,
    changes: &'a DeltaCell,
}

/// Returns the changed cells whose row and column still exist, by column and then by row.
fn cells_by_column(delta: &Delta) -> Vec<PlacedCell<'_>> {
    let row_lookup = delta.rows.index_lookup();
    let column_lookup = delta.columns.index_lookup();
    let placed_cells = delta.cells.iter().filter_map(|((row_id, column_id), changes)| {
        let (row, column) = (row_lookup.index(row_id)?, column_lookup.index(column_id)?);
        Some(PlacedCell { column, row, changes })
    });
    let mut cells: Vec<PlacedCell<'_>> = placed_cells.collect();
    cells.sort_unstable_by_key(|cell| u64::from(cell.column) << 32 | u64::from(cell.row));
    cells
}
