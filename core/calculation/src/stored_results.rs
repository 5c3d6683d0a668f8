//! Selects the results that a snapshot stores.

use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue, ValueLayer};

use crate::calculation::{Calculation, FormulaResult};
use crate::workbook::CellKey;

/// The results of the formulas of a tile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredResults {
    /// The cells whose results differ from their stored values, with their formulas.
    pub changed: Tile,
    /// Whether a formula of the tile has not been calculated.
    pub has_stale: bool,
}

impl Calculation {
    /// Returns the cells of all formulas of a tile. The rows and columns of the tile must be those of
    /// the sheet.
    #[must_use]
    pub fn formulas_of(sheet: SheetId, tile: &Tile) -> Vec<CellKey> {
        let key = |row: u32, column: u32| CellKey { sheet, cell: CellName { row, column } };
        let mut keys = Vec::with_capacity(tile.formula_count());
        for column in &tile.columns {
            let rows = column.formulas.rows().iter().chain(column.templates.rows());
            keys.extend(rows.map(|row| key(*row, column.index)));
        }
        keys
    }

    /// Returns the results of the formulas of a tile after a request for all of them.
    ///
    /// A result that a value alone does not describe is not stored: one with a number format of its
    /// own or with a note, and a long text. The value of such a formula is empty, so that readers
    /// calculate it.
    #[must_use]
    pub fn stored_results(&self, sheet: SheetId, tile: &Tile) -> StoredResults {
        let mut results = StoredResults::default();
        for column in &tile.columns {
            let changed = self.changed_column(sheet, column, &mut results.has_stale);
            if !changed.is_empty() {
                results.changed.columns.push(changed);
            }
        }
        results
    }

    fn changed_column(
        &self,
        sheet: SheetId,
        column: &TileColumn,
        has_stale: &mut bool,
    ) -> TileColumn {
        let mut changed = TileColumn::new(column.index);
        let values = &column.values;
        for (row, value) in values.rows().iter().zip(values.values()) {
            let (template, text) = (column.templates.at(*row), column.formulas.at(*row));
            if template.is_none() && text.is_none() {
                continue;
            }
            let cell = CellName { row: *row, column: column.index };
            let Some(result) = self.result(CellKey { sheet, cell }) else { continue };
            if result.is_stale {
                *has_stale = true;
                continue;
            }
            let result = stored_value(result);
            if is_stored(values, value, &result) {
                continue;
            }
            push(&mut changed.values, *row, &result);
            match (template, text) {
                (Some(template), _) => changed.templates.push(*row, template),
                (None, Some(text)) => changed.formulas.push(*row, text),
                (None, None) => {}
            }
        }
        changed
    }
}

/// Returns the value to store, which is empty if readers must calculate the formula.
fn stored_value(result: FormulaResult) -> Value {
    match result.value {
        Value::Text(text) if text.len() > MAX_TILE_TEXT_BYTES => Value::Empty,
        value if result.format.is_none() && result.note.is_none() => value,
        _ => Value::Empty,
    }
}

/// Returns whether a value of a tile is that of the result. 0 and -0 are different values.
fn is_stored(values: &ValueLayer, value: &TileValue, result: &Value) -> bool {
    match (value, result) {
        (TileValue::Empty, Value::Empty) => true,
        (TileValue::Number(stored), Value::Number(number)) => stored.to_bits() == number.to_bits(),
        (TileValue::Bool(stored), Value::Bool(boolean)) => stored == boolean,
        (TileValue::Error(stored), Value::Error(code)) => stored == code,
        (TileValue::Text(stored), Value::Text(text)) => stored.of(values.texts()) == text,
        _ => false,
    }
}

fn push(values: &mut ValueLayer, row: u32, value: &Value) {
    match value {
        Value::Empty => values.push(row, TileValue::Empty),
        Value::Number(number) => values.push(row, TileValue::Number(*number)),
        Value::Bool(boolean) => values.push(row, TileValue::Bool(*boolean)),
        Value::Error(code) => values.push(row, TileValue::Error(*code)),
        Value::Text(text) => values.push_text(row, text),
    }
}
