//! A workbook with only the touched cells gives the same diff and undo as the whole workbook.

use super::*;
use crate::cells::stored_cells;
use crate::formula_model::any_operation_with_formulas;
use crate::tile::Tile;
use crate::touched::{deleted_areas, touched_cells};
use cellar_sheet::oracle::display_difference;
use cellar_sheet::workbook::{StateCell, undo};

impl Store {
    /// Returns the workbook at the root with only the cells that the operations touch, and the
    /// formulas that lose references.
    fn touched_by(&self, operations: &[Operation]) -> Workbook {
        let before = self.base().metadata;
        let mut fold = Fold::new(before.clone());
        fold.apply_operations(operations).unwrap();
        let (after, level) = fold.finish();
        let mut workbook = Workbook::from_metadata(&before);
        let tail = FoldedLevel::default();
        for (sheet, touched) in touched_cells(&before, &after, &level) {
            for part in touched.windows() {
                let root = self.root.as_ref();
                let ask = |objects: &Objects| {
                    let (tabs, window) = (&before.tabs, &part.window);
                    view::read_window_with_templates(root, &tail, tabs, sheet, window, objects)
                        .unwrap()
                };
                let (tile, _) = self.ready(ask);
                let mut cells = placed_cells(&tile);
                cells.retain(|((row, column), _)| {
                    !part.has_untouched_cells || touched.has_single_cell(*row, *column)
                });
                workbook.fill(sheet, cells).unwrap();
            }
        }
        for formula in self.formulas_losing_references(&deleted_areas(&before, &after, &level)) {
            let (sheet, CellName { row, column }) = (formula.sheet, formula.cell);
            let window = Window { rows: row..row + 1, columns: column..column + 1 };
            let ask = |objects: &Objects| {
                let (root, tabs) = (self.root.as_ref(), &before.tabs);
                view::read_window_with_templates(root, &tail, tabs, sheet, &window, objects)
                    .unwrap()
            };
            let (tile, _) = self.ready(ask);
            workbook.fill(sheet, placed_cells(&tile)).unwrap();
        }
        workbook
    }
}

fn placed_cells(tile: &Tile) -> Vec<((u32, u32), StateCell)> {
    stored_cells(tile)
        .map(|stored| ((stored.place.row, stored.place.column), stored.cell))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn touched_cells_suffice_for_a_diff_and_an_undo(
        rounds in vec((vec(any_operation_with_formulas(), 1..8), vec(bulk(), 0..2)), 1..5),
        entry in vec(any_operation_with_formulas(), 1..6),
        later in vec(any_operation_with_formulas(), 0..4),
    ) {
        let mut store = Store::default();
        let mut whole = Workbook::default();
        for (few, many) in rounds {
            let operations: Vec<Operation> = many.into_iter().chain(few).collect();
            whole.apply_operations(&operations).unwrap();
            store.compact(&operations);
        }
        let part = store.touched_by(&entry);
        let after = |workbook: &Workbook, operations: &[Operation]| {
            let mut after = workbook.clone();
            after.apply_operations(operations).unwrap();
            after
        };
        let (whole_after, part_after) = (after(&whole, &entry), after(&part, &entry));
        prop_assert_eq!(part.diff(&part_after), whole.diff(&whole_after));
        let (whole_now, part_now) = (after(&whole_after, &later), after(&part_after, &later));
        let full = undo(&whole, &whole_after, &whole_now).operations;
        let few = undo(&part, &part_after, &part_now).operations;
        let (left, right) = (after(&whole_now, &full), after(&whole_now, &few));
        prop_assert_eq!(display_difference(&left, &right), None);
    }
}
