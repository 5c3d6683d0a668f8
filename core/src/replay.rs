//! Replay: folding entries, in order, into the cells of a rectangle.
//!
//! The reference semantics: whatever is faster must give the same cells.

use std::collections::BTreeMap;

use crate::a1::Rectangle;
use crate::cell::{Cell, GENERAL, Value};
use crate::entry::Entry;
use crate::limits::MAX_REPLAY_BYTES;
use crate::operation::{CellEdit, Operation, SetCells, SheetId};

/// The cells of a rectangle of one sheet, as far as entries have been folded in.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    sheet: SheetId,
    rectangle: Rectangle,
    cells: BTreeMap<(u32, u32), Cell>,
    bytes: usize,
    max_bytes: usize,
    extent: Extent,
}

/// How far a sheet was ever written to: rows and columns counted from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Extent {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

/// More cells than one read may hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the range holds more than {MAX_REPLAY_BYTES} bytes of cells: read it in parts")]
pub struct TooManyCells;

impl Replay {
    /// An empty rectangle of a sheet.
    #[must_use]
    pub fn new(sheet: SheetId, rectangle: Rectangle) -> Self {
        let (cells, extent) = (BTreeMap::new(), Extent::default());
        Self { sheet, rectangle, cells, bytes: 0, max_bytes: MAX_REPLAY_BYTES, extent }
    }

    /// Folds in the next entry. Total: every stored entry applies or is a defined no-op.
    ///
    /// # Errors
    /// [`TooManyCells`] beyond `MAX_REPLAY_BYTES`.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), TooManyCells> {
        let Some(edits) = entry.edits() else {
            return Ok(());
        };
        for mutation in &edits.mutations {
            match mutation.effective() {
                Operation::SetCells(set) => self.set_cells(set)?,
            }
        }
        Ok(())
    }

    fn set_cells(&mut self, set: &SetCells) -> Result<(), TooManyCells> {
        if set.sheet != self.sheet {
            return Ok(());
        }
        for edit in &set.cells {
            self.extent.rows = self.extent.rows.max(edit.row.saturating_add(1));
            self.extent.columns = self.extent.columns.max(edit.column.saturating_add(1));
            if self.rectangle.contains(edit.row, edit.column) {
                self.set_cell(edit);
                if self.bytes > self.max_bytes {
                    return Err(TooManyCells);
                }
            }
        }
        Ok(())
    }

    fn set_cell(&mut self, edit: &CellEdit) {
        let key = (edit.row, edit.column);
        let before = self.cells.remove(&key);
        self.bytes -= before.as_ref().map_or(0, weight_bytes);
        let mut cell = before.unwrap_or_default();
        if let Some(value) = &edit.value {
            cell.value = value.clone();
            cell.formula = edit.formula.clone();
        }
        if let Some(format) = &edit.format {
            cell.format = (format != GENERAL).then(|| format.clone());
        }
        if !cell.is_blank() {
            self.bytes += weight_bytes(&cell);
            self.cells.insert(key, cell);
        }
    }

    /// The cells that are not blank, by row and column.
    #[must_use]
    pub fn cells(&self) -> &BTreeMap<(u32, u32), Cell> {
        &self.cells
    }

    /// How far the whole sheet was ever written to, whatever the rectangle.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The value of a cell; blank cells are empty.
    #[must_use]
    pub fn value(&self, row: u32, column: u32) -> Value {
        self.cells.get(&(row, column)).map(|cell| cell.value.clone()).unwrap_or_default()
    }
}

/// About how many bytes a cell takes in memory.
fn weight_bytes(cell: &Cell) -> usize {
    const FRAME_BYTES: usize = 128;
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let value = match &cell.value {
        Value::Text(text) => text.len(),
        _ => 0,
    };
    FRAME_BYTES + value + length(&cell.formula) + length(&cell.format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a1::Range;
    use crate::entry::{Content, Edits, Mutation};
    use crate::identity::{ClientKey, LogId};
    use crate::position::Position;

    fn entry(edits: Vec<CellEdit>) -> Entry {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let authored = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: edits });
        let mutation = Mutation { base: Position::FIRST, authored, committed: None };
        let edits = Edits { client: ClientKey([1; 8]), first_id: 1, mutations: vec![mutation] };
        Entry { content: Content::Edits(edits), ..Entry::first(log, None, 0) }
    }

    fn value(row: u32, column: u32, value: Value) -> CellEdit {
        CellEdit { row, column, value: Some(value), formula: None, format: None }
    }

    fn format(row: u32, column: u32, format: &str) -> CellEdit {
        CellEdit { row, column, value: None, formula: None, format: Some(format.into()) }
    }

    #[test]
    fn value_and_format_are_separate_layers() {
        let mut replay = Replay::new(SheetId::FIRST, Rectangle::EVERYTHING);
        replay.apply(&entry(vec![value(0, 0, Value::Number(1.0)), format(0, 1, "0.0")])).unwrap();
        replay.apply(&entry(vec![format(0, 0, "0.0"), value(0, 1, Value::Number(2.0))])).unwrap();
        let texts: Vec<String> = replay.cells().values().map(Cell::text).collect();
        assert_eq!(texts, ["1.0", "2.0"]);
        replay.apply(&entry(vec![value(0, 0, Value::Empty), format(0, 1, "General")])).unwrap();
        assert_eq!(replay.cells()[&(0, 0)].format.as_deref(), Some("0.0"));
        replay.apply(&entry(vec![format(0, 0, "General"), value(0, 1, Value::Empty)])).unwrap();
        assert!(replay.cells().is_empty());
        assert_eq!(replay.extent(), Extent { rows: 1, columns: 2 });
    }

    #[test]
    fn memory_ends_at_its_limit_and_cleared_cells_give_theirs_back() {
        let cells = |count| (0..count).map(|row| value(row, 0, Value::Bool(true))).collect();
        let cleared = |count| (0..count).map(|row| value(row, 0, Value::Empty)).collect();
        let mut replay = Replay::new(SheetId::FIRST, Rectangle::EVERYTHING);
        replay.max_bytes = 10 * weight_bytes(&Cell::default());
        for _ in 0..3 {
            replay.apply(&entry(cells(10))).unwrap();
            replay.apply(&entry(cells(10))).unwrap();
            replay.apply(&entry(cleared(10))).unwrap();
            assert_eq!(replay.bytes, 0);
        }
        assert_eq!(replay.apply(&entry(cells(11))), Err(TooManyCells));
    }

    #[test]
    fn only_the_rectangle_is_kept() {
        let range: Range = "B2:C3".parse().unwrap();
        let mut replay = Replay::new(SheetId::FIRST, range.rectangle);
        let edits = (0..4).flat_map(|r| (0..4).map(move |c| value(r, c, Value::Bool(true))));
        replay.apply(&entry(edits.collect())).unwrap();
        let kept: Vec<_> = replay.cells().keys().copied().collect();
        assert_eq!(kept, [(1, 1), (1, 2), (2, 1), (2, 2)]);
        assert_eq!(replay.extent(), Extent { rows: 4, columns: 4 });
    }

    #[test]
    fn a_value_without_a_formula_removes_the_formula() {
        let mut replay = Replay::new(SheetId::FIRST, Rectangle::EVERYTHING);
        let formula = Some("=1+1".to_owned());
        replay
            .apply(&entry(vec![CellEdit { formula, ..value(0, 0, Value::Number(2.0)) }]))
            .unwrap();
        assert_eq!(replay.cells()[&(0, 0)].formula.as_deref(), Some("=1+1"));
        replay.apply(&entry(vec![value(0, 0, Value::Number(3.0))])).unwrap();
        assert_eq!(replay.cells()[&(0, 0)].formula, None);
        assert_eq!(replay.value(0, 0), Value::Number(3.0));
        assert_eq!(replay.value(9, 9), Value::Empty);
    }
}
