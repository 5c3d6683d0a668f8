//! Changed cells of a sheet by their ids.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::ops::Range;

use foldhash::HashMap;

use super::line_moves::FoldedFormula;
use crate::saturate::{saturate_u32, to_usize};
use cellar_sheet::cell::Value;

/// Id of a cell, which consists of a row id and a column id. An id below the axis limit is the row
/// or column number in the next older level.
pub(super) type CellId = (u64, u64);

/// If a field is `None`, the cell's older value or format remains visible.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DeltaCell {
    /// New value and formula. `Empty` hides the older ones.
    pub(super) value: Option<(Value, Option<FoldedFormula>)>,
    /// New cell format. `General` hides an older cell format.
    pub(super) format: Option<String>,
}

impl DeltaCell {
    fn is_unchanged(&self) -> bool {
        self.value.is_none() && self.format.is_none()
    }

    fn memory_bytes(&self) -> usize {
        const OVERHEAD_BYTES: usize = 160;
        if self.is_unchanged() {
            return 0;
        }
        let mut text_bytes = self.format.as_ref().map_or(0, String::len);
        if let Some((value, formula)) = &self.value {
            text_bytes += formula.as_ref().map_or(0, FoldedFormula::memory_bytes);
            if let Value::Text(text) = value {
                text_bytes += text.len();
            }
        }
        OVERHEAD_BYTES + text_bytes
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct DeltaCells {
    places: HashMap<CellId, u32>,
    /// The ids in order, from the first time on that they are needed. Most folds only set cells.
    sorted_ids: Option<BTreeSet<CellId>>,
    /// Changed cells, and unchanged ones at the free places.
    cells: Vec<DeltaCell>,
    free_places: Vec<u32>,
    memory_bytes: usize,
}

impl DeltaCells {
    /// Returns the estimated memory use of the changes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Iterates over the cells in an arbitrary order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CellId, &DeltaCell)> {
        let places = self.places.iter();
        places.filter_map(|(cell_id, place)| Some((*cell_id, self.cells.get(to_usize(*place))?)))
    }

    /// Iterates over the ids in an arbitrary order.
    pub(super) fn ids(&self) -> impl Iterator<Item = CellId> {
        self.places.keys().copied()
    }

    /// Returns the ids in order.
    pub(super) fn ids_in_rows(&mut self, row_ids: Range<u64>) -> impl Iterator<Item = CellId> {
        let Self { places, sorted_ids, .. } = self;
        let sorted_ids = sorted_ids.get_or_insert_with(|| places.keys().copied().collect());
        sorted_ids.range((row_ids.start, 0)..(row_ids.end, 0)).copied()
    }

    /// Returns all formulas.
    pub(super) fn formulas_mut(&mut self) -> impl Iterator<Item = &mut FoldedFormula> {
        let values = self.cells.iter_mut().filter_map(|cell| cell.value.as_mut());
        values.filter_map(|(_, formula)| formula.as_mut())
    }

    /// Calls `change` with the changes to a cell, which are empty if the cell is unchanged. Removes
    /// the cell if no changes remain afterwards.
    pub(super) fn change(&mut self, cell_id: CellId, change: impl FnOnce(&mut DeltaCell)) {
        let place = match self.places.entry(cell_id) {
            Entry::Occupied(occupied) => *occupied.get(),
            Entry::Vacant(vacant) => {
                if let Some(sorted_ids) = &mut self.sorted_ids {
                    sorted_ids.insert(cell_id);
                }
                let cells = &mut self.cells;
                *vacant.insert(self.free_places.pop().unwrap_or_else(|| {
                    cells.push(DeltaCell::default());
                    saturate_u32(cells.len() - 1)
                }))
            }
        };
        let Some(cell) = self.cells.get_mut(to_usize(place)) else { return };
        let old_bytes = cell.memory_bytes();
        change(cell);
        self.memory_bytes = self.memory_bytes - old_bytes + cell.memory_bytes();
        if cell.is_unchanged() {
            self.places.remove(&cell_id);
            if let Some(sorted_ids) = &mut self.sorted_ids {
                sorted_ids.remove(&cell_id);
            }
            self.free_places.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_cells_leave_their_places_to_new_ones() {
        let mut cells = DeltaCells::default();
        let set = |cell: &mut DeltaCell| cell.value = Some((Value::Text("text".to_owned()), None));
        for column in 0..3 {
            cells.change((7, column), set);
        }
        let bytes = cells.memory_bytes();
        cells.change((7, 1), |cell| cell.value = None);
        assert_eq!(cells.ids_in_rows(0..8).collect::<Vec<_>>(), [(7, 0), (7, 2)]);
        assert_eq!(cells.memory_bytes(), bytes / 3 * 2);
        cells.change((6, 9), |cell| assert_eq!(*cell, DeltaCell::default()));
        assert_eq!(cells.ids_in_rows(0..7).count(), 0);
        cells.change((6, 9), set);
        assert_eq!(cells.ids_in_rows(0..7).collect::<Vec<_>>(), [(6, 9)]);
        assert_eq!((cells.memory_bytes(), cells.cells.len()), (bytes, 3));
        assert!(cells.iter().all(|(_, cell)| cell.value.is_some()));
        let ids: BTreeSet<CellId> = cells.ids().collect();
        assert!(cells.ids_in_rows(0..9).eq(ids));
        cells.change((7, 0), |cell| cell.value = None);
        assert_eq!(cells.ids_in_rows(7..8).collect::<Vec<_>>(), [(7, 2)]);
    }
}
