//! A search finds the formulas that may return several cells.

use super::dependents::{formula, import_of_tiles, large};
use super::*;
use crate::dependents::{DependentFormula, DependentFormulas, DependentSearch};
use crate::formula_model::{FormulaModel, any_operation_with_formulas};
use cellar_base::limits::{MAX_SPILL_SEARCH_TILES, MAX_SPILLING_FORMULAS};
use cellar_formula::Formula;
use cellar_sheet::operation::SetName;

impl Store {
    /// Returns the formulas that the search finds, and the number of loaded tiles.
    #[expect(clippy::redundant_closure, reason = "the function is not general enough")]
    fn arrays(&self, tail: &[Operation]) -> (DependentFormulas, usize) {
        let (found, loaded) = self.search(tail, |state| DependentSearch::of_arrays(state));
        (found, loaded.tiles)
    }
}

/// Returns the formulas of a model that may return several cells, by their texts alone.
fn arrays_of(model: &FormulaModel) -> Vec<DependentFormula> {
    let (tabs, names) = (model.workbook.tabs(), model.workbook.names());
    let is_several = |name: &str| {
        names.get(name).is_some_and(|name| {
            let formula = Formula::parse(&name.formula(tabs), tabs);
            formula.is_ok_and(|formula| formula.expression().may_have_several_cells(|_| false))
        })
    };
    let mut found = Vec::new();
    for &sheet in tabs.order() {
        let cells = model.workbook.sheet(sheet).unwrap();
        let mut in_sheet = Vec::new();
        for ((row, column), cell) in cells.cells_in(Rectangle::EVERYTHING) {
            let Some(text) = model.shown(cell).formula else { continue };
            let Ok(formula) = Formula::parse(&text, tabs) else { continue };
            if formula.expression().may_have_several_cells(is_several) {
                in_sheet.push(DependentFormula { sheet, cell: CellName { row, column }, text });
            }
        }
        in_sheet.sort_by_key(|formula| formula.cell);
        found.extend(in_sheet);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_search_for_arrays_finds_those_that_a_scan_of_all_cells_finds(
        rounds in vec((vec(any_operation_with_formulas(), 1..12), large()), 0..8),
        tail in vec(any_operation_with_formulas(), 0..8),
    ) {
        let mut store = Store::default();
        let mut model = FormulaModel::default();
        for (mut operations, large) in rounds {
            operations.splice(0..0, large);
            model.apply_operations(&operations);
            store.compact(&operations);
        }
        model.apply_operations(&tail);
        let (found, _) = store.arrays(&tail);
        prop_assert_eq!(&found.formulas, &arrays_of(&model));
        prop_assert!(found.complete);
    }
}

fn column_of(count: usize, text: &str) -> Vec<Operation> {
    (0..u32::try_from(count).unwrap()).map(|row| formula(row, 0, text)).collect()
}

#[test]
fn a_search_for_arrays_finds_a_limited_number() {
    for (count, complete) in [(MAX_SPILLING_FORMULAS, true), (MAX_SPILLING_FORMULAS + 1, false)] {
        let mut store = Store::default();
        store.compact(&column_of(count, "=$B$1:$B$2"));
        let (found, _) = store.arrays(&[]);
        assert_eq!((found.formulas.len(), found.complete), (MAX_SPILLING_FORMULAS, complete));
    }
}

/// Tiles of an import have no facts before the first snapshot.
#[test]
fn a_search_for_arrays_loads_a_limited_number_of_tiles() {
    for (count, complete) in [(MAX_SPILL_SEARCH_TILES, true), (MAX_SPILL_SEARCH_TILES + 1, false)] {
        let mut store = Store::default();
        let tail = [import_of_tiles(&mut store, count, "=$B$1:$B$2")];
        let (found, tiles) = store.arrays(&tail);
        assert_eq!(found.complete, complete);
        assert!(tiles <= MAX_SPILL_SEARCH_TILES && found.formulas.len() == tiles, "{tiles}");
    }
}

#[test]
fn formulas_of_single_cells_cost_no_load() {
    let mut store = Store::default();
    store.compact(&column_of(400, "=SUM($B$1:$B$9)*$B$1"));
    assert_eq!(
        store.arrays(&[formula(3, 1, "=B1+1")]),
        (DependentFormulas { formulas: vec![], complete: true }, 0)
    );
    // Only a name of several cells makes its users arrays.
    let set_name = |name: &str, text: &str| {
        let sheets = BTreeMap::from([("Sheet1".to_owned(), SheetId::FIRST)]);
        let (name, formula) = (name.to_owned(), Some(text.to_owned()));
        Operation::SetName(SetName { name, formula, sheets }).validated().unwrap()
    };
    let tail = [
        set_name("prices", "=Sheet1!$B$1:$B$9"),
        set_name("rate", "=Sheet1!$B$1"),
        formula(500, 0, "=prices*2"),
        formula(501, 0, "=rate*2"),
        formula(502, 0, "=SUM(prices)"),
    ];
    let (found, _) = store.arrays(&tail);
    let texts: Vec<&str> = found.formulas.iter().map(|found| found.text.as_str()).collect();
    assert_eq!(texts, ["=prices*2"]);
}
