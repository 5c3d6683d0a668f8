//! The result of a fold: an in-memory level with one tile per sheet.

use std::sync::Arc;

use super::delta::{Delta, DeltaCell};
use crate::index::PackedLevel;
use crate::level::SheetMoves;
use crate::tile::{Tile, TileColumn, TileValue, preview};
use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::axis_order::AxisOrder;

/// The net effect of a range of entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoldedLevel {
    /// Changed sheets, sorted by sheet id.
    pub sheets: Vec<FoldedSheet>,
    /// Imported sheets. Their cells are older than the changes in `sheets`.
    pub imported: PackedLevel,
    /// Texts that are stored as separate objects, which must be stored before any object that
    /// references them.
    pub long_texts: Vec<LongTextObject>,
}

/// The net effect of a range of entries on one sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldedSheet {
    /// Id of the sheet.
    pub sheet: SheetId,
    /// How the entries move and hide older cells.
    pub moves: SheetMoves,
    /// Cells of the whole sheet, shared because several merges may use the tile as input.
    pub tile: Arc<Tile>,
}

/// A text that is stored as a separate object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongTextObject {
    /// Object name: the BLAKE3 hash of the text.
    pub hash: [u8; 32],
    /// The text.
    pub text: String,
}

impl FoldedLevel {
    pub(super) fn add_sheet(&mut self, sheet: SheetId, delta: Delta) {
        let map = |order: &AxisOrder, axis| AxisOrder::new(axis).map_to(order, axis);
        let (rows, columns) = (map(&delta.rows, Axis::Rows), map(&delta.columns, Axis::Columns));
        let tile = Arc::new(self.build_tile(&delta));
        let Delta { value_clears, format_clears, .. } = delta;
        let moves = SheetMoves { rows, columns, value_clears, format_clears };
        if !tile.is_empty() || !moves.is_nothing() {
            self.sheets.push(FoldedSheet { sheet, moves, tile });
        }
    }

    fn build_tile(&mut self, delta: &Delta) -> Tile {
        let (rows, columns) = (delta.rows.places(), delta.columns.places());
        let placed = delta.cells.iter().filter_map(|((row, column), cell)| {
            Some((columns.index(*column)?, rows.index(*row)?, cell))
        });
        let mut placed: Vec<(u32, u32, &DeltaCell)> = placed.collect();
        placed.sort_unstable_by_key(|(column, row, _)| u64::from(*column) << 32 | u64::from(*row));
        let mut tile = Tile::default();
        for (number, row, cell) in placed {
            if tile.columns.last().is_none_or(|column| column.column != number) {
                tile.columns.push(TileColumn::new(number));
            }
            if let Some(column) = tile.columns.last_mut() {
                self.push_cell(column, row, cell);
            }
        }
        tile
    }

    fn push_cell(&mut self, column: &mut TileColumn, row: u32, cell: &DeltaCell) {
        if let Some((value, formula)) = &cell.value {
            match value {
                Value::Empty => column.values.push(row, TileValue::Empty),
                Value::Number(number) => column.values.push(row, TileValue::Number(*number)),
                Value::Bool(value) => column.values.push(row, TileValue::Bool(*value)),
                Value::Error(code) => column.values.push(row, TileValue::Error(*code)),
                Value::Text(text) if text.len() <= MAX_TILE_TEXT_BYTES => {
                    column.values.push_text(row, text);
                }
                Value::Text(text) => {
                    let hash = *blake3::hash(text.as_bytes()).as_bytes();
                    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
                    column.values.push_long_text(row, preview(text), hash, bytes);
                    self.long_texts.push(LongTextObject { hash, text: text.clone() });
                }
            }
            if let Some(formula) = formula {
                column.formulas.push(row, formula);
            }
        }
        if let Some(format) = &cell.format {
            column.formats.push(row, format);
        }
    }
}
