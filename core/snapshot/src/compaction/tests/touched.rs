//! A workbook with only the touched cells gives the same diff and undo as the whole workbook.

use super::*;
use crate::cells::stored_cells;
use crate::formula_model::any_operation_with_formulas;
use crate::touched::{deleted_areas, touched_cells};
use cellar_sheet::oracle::display_difference;
use cellar_sheet::workbook::undo;

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
                    view::read_window(root, &tail, &before.tabs, sheet, &part.window, objects)
                        .unwrap()
                };
                let (tile, _) = self.ready(ask);
                let wanted = stored_cells(&tile).filter(|c| {
                    !part.has_untouched_cells || touched.has_single_cell(c.row, c.column)
                });
                let cells = wanted.map(|cell| ((cell.row, cell.column), cell.cell));
                workbook.fill(sheet, cells.collect::<Vec<_>>()).unwrap();
            }
        }
        for formula in self.formulas_losing_references(&deleted_areas(&before, &after, &level)) {
            let (sheet, CellName { row, column }) = (formula.sheet, formula.cell);
            let window = Window { rows: row..row + 1, columns: column..column + 1 };
            let ask = |objects: &Objects| {
                view::read_window(self.root.as_ref(), &tail, &before.tabs, sheet, &window, objects)
                    .unwrap()
            };
            let (tile, _) = self.ready(ask);
            let cells = stored_cells(&tile).map(|cell| ((cell.row, cell.column), cell.cell));
            workbook.fill(sheet, cells.collect::<Vec<_>>()).unwrap();
        }
        workbook
    }
}

/// Formulas name no sheet that may be added later: a whole workbook binds a name when the formula is
/// set, and a workbook of touched cells when they are read.
fn any_edit() -> impl Strategy<Value = Operation> {
    any_operation_with_formulas().prop_map(|mut operation| {
        if let Operation::SetCells(set) = &mut operation {
            for formula in set.cells.iter_mut().filter_map(|edit| edit.formula.as_mut()) {
                *formula = formula.replace("a!", "Sheet1!").replace("B!", "");
            }
        }
        operation
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn touched_cells_suffice_for_a_diff_and_an_undo(
        rounds in vec((vec(any_edit(), 1..8), vec(bulk(), 0..2)), 1..5),
        entry in vec(any_edit(), 1..6),
        later in vec(any_edit(), 0..4),
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
