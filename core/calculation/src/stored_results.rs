//! Selects the results that a snapshot stores.

use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_grid::SheetId;
use cellar_snapshot::merge::Window;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue, ValueLayer};

use crate::calculation::Calculation;
use crate::window::{CalculatedCell, CalculatedValue};

/// The results of the formulas of a tile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredResults {
    /// The cells whose results differ from their stored values, with their formulas.
    pub changed: Tile,
    /// Whether a formula of the tile has not been calculated.
    pub has_stale: bool,
}

impl Calculation {
    /// Returns the results of the formulas of a tile after a request for a window that contains it.
    /// The rows and columns of the tile must be those of the sheet.
    ///
    /// A result that a value alone does not describe is not stored: one with a number format of its
    /// own or with a note, and a long text. The value of such a formula is empty, so that readers
    /// calculate it.
    #[must_use]
    pub fn stored_results(&self, sheet: SheetId, window: &Window, tile: &Tile) -> StoredResults {
        let mut results = StoredResults::default();
        for column in &tile.columns {
            let columns = column.index..column.index.saturating_add(1);
            let column_window = Window { columns, ..window.clone() };
            let calculated = self.results_in(sheet, &column_window);
            let changed = changed_column(calculated, column, &mut results.has_stale);
            if !changed.is_empty() {
                results.changed.columns.push(changed);
            }
        }
        results
    }
}

fn changed_column<'a>(
    calculated: impl Iterator<Item = CalculatedCell<'a>>,
    column: &TileColumn,
    has_stale: &mut bool,
) -> TileColumn {
    let mut changed = TileColumn::new(column.index);
    let mut calculated = calculated.peekable();
    let (mut templates, mut texts) =
        (column.templates.iter().peekable(), column.formulas.iter().peekable());
    for (row, value) in column.values.rows().iter().zip(column.values.values()) {
        let template = templates.next_if(|(template_row, _)| template_row == row);
        let text = texts.next_if(|(text_row, _)| text_row == row);
        if template.is_none() && text.is_none() {
            continue;
        }
        while calculated.next_if(|cell| cell.cell.row < *row).is_some() {}
        let Some(result) = calculated.next_if(|cell| cell.cell.row == *row) else {
            *has_stale = true;
            continue;
        };
        let result = stored_value(&result);
        if is_stored(&column.values, value, result) {
            continue;
        }
        push(&mut changed.values, *row, result);
        if let Some((_, template)) = template {
            changed.templates.push(*row, template);
        } else if let Some((_, text)) = text {
            changed.formulas.push(*row, text);
        }
    }
    changed
}

/// Returns the value to store, which is empty if readers must calculate the formula.
fn stored_value<'a>(result: &CalculatedCell<'a>) -> CalculatedValue<'a> {
    match result.value {
        CalculatedValue::Text(text) if text.len() > MAX_TILE_TEXT_BYTES => CalculatedValue::Empty,
        value if result.format.is_none() && result.note.is_none() => value,
        _ => CalculatedValue::Empty,
    }
}

/// Returns whether a value of a tile is that of the result. 0 and -0 are different values.
fn is_stored(values: &ValueLayer, value: &TileValue, result: CalculatedValue<'_>) -> bool {
    match (value, result) {
        (TileValue::Empty, CalculatedValue::Empty) => true,
        (TileValue::Number(stored), CalculatedValue::Number(number)) => {
            stored.to_bits() == number.to_bits()
        }
        (TileValue::Bool(stored), CalculatedValue::Bool(boolean)) => *stored == boolean,
        (TileValue::Error(stored), CalculatedValue::Error(code)) => *stored == code,
        (TileValue::Text(stored), CalculatedValue::Text(text)) => stored.of(values.texts()) == text,
        _ => false,
    }
}

fn push(values: &mut ValueLayer, row: u32, value: CalculatedValue<'_>) {
    match value {
        CalculatedValue::Empty => values.push(row, TileValue::Empty),
        CalculatedValue::Number(number) => values.push(row, TileValue::Number(number)),
        CalculatedValue::Bool(boolean) => values.push(row, TileValue::Bool(boolean)),
        CalculatedValue::Error(code) => values.push(row, TileValue::Error(code)),
        CalculatedValue::Text(text) => values.push_text(row, text),
    }
}
