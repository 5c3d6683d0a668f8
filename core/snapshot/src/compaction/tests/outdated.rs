//! The values that entries change are found, wherever levels begin and are merged.

use super::dependents::{any_area, area, formula, large, long_formulas, readers};
use super::*;
use crate::dependents::{SearchedState, SheetArea};
use crate::formula_model::{FormulaModel, any_operation_with_formulas};
use crate::outdated::{OutdatedAreas, OutdatedBy, areas_of_formulas, find_outdated};
use cellar_base::limits::{
    MAX_OUTDATED_AREAS, MAX_OUTDATED_CANDIDATES, MAX_OUTDATED_LOADED_TILES, MAX_OUTDATED_PASSES,
};
use cellar_sheet::operation::{
    AddSheet, DeleteSheet, DeleteSpans, RenameSheet, SetFormat, SetName, Spans,
};

/// The number of tiles and of other objects that a search has loaded.
type Loaded = (usize, usize);

impl Store {
    /// Declares the values of all formulas of the root as valid.
    fn calculate(&mut self) {
        self.root.as_mut().unwrap().outdated = Some(OutdatedAreas::default());
    }

    fn outdated(&self, tail: &[Operation], cause: OutdatedBy) -> (OutdatedAreas, Loaded) {
        let mut fold = Fold::new(self.base().metadata);
        fold.apply_operations(tail).unwrap();
        let (metadata, tail) = fold.finish();
        let state = SearchedState { root: self.root.as_ref(), tail: &tail, metadata: &metadata };
        let (mut objects, mut loaded) = (Objects::default(), (0, 0));
        loop {
            match find_outdated(state, cause, &[], &objects).unwrap() {
                Fetch::Ready(outdated) => return (outdated, loaded),
                Fetch::Missing(requests) => {
                    assert!(!requests.is_empty());
                    for request in requests {
                        match request.kind {
                            ObjectKind::Tile => loaded.0 += 1,
                            _ => loaded.1 += 1,
                        }
                        objects.insert(&request, &self.objects[&request.hash]).unwrap();
                    }
                }
            }
        }
    }

    fn outdated_by(&self, tail: &[Operation]) -> OutdatedAreas {
        self.outdated(tail, OutdatedBy::Any).0
    }
}

fn contains(outdated: &OutdatedAreas, cell: &str) -> bool {
    outdated.contains(SheetId::FIRST, cell.parse().unwrap())
}

/// Returns which of the cells are outdated.
fn among<'a>(outdated: &OutdatedAreas, cells: &[&'a str]) -> Vec<&'a str> {
    cells.iter().copied().filter(|cell| contains(outdated, cell)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn formulas_that_read_outdated_cells_are_outdated(
        rounds in vec((vec(any_operation_with_formulas(), 1..12), large()), 1..8),
        before in vec(any_area(), 0..3),
        tail in vec(any_operation_with_formulas(), 0..8),
    ) {
        let mut store = Store::default();
        let mut model = FormulaModel::default();
        for (mut operations, large) in rounds {
            operations.splice(0..0, large);
            model.apply_operations(&operations);
            store.compact(&operations);
        }
        // A worker leaves these formulas outdated, for example if they name an unknown sheet.
        let (mut outdated_before, _) = store.outdated(&[], OutdatedBy::UnstoredInputs);
        before.into_iter().for_each(|area| outdated_before.add(area));
        store.root.as_mut().unwrap().outdated = Some(outdated_before);
        model.apply_operations(&tail);
        let (changed, _) = store.outdated(&tail, OutdatedBy::Changes);
        let (outdated, _) = store.outdated(&tail, OutdatedBy::Any);
        for (found, cause) in [(&changed, "changes"), (&outdated, "any")] {
            let areas: Vec<SheetArea> = found.iter().collect();
            for reader in readers(&model, &areas) {
                let is_found = found.contains(reader.sheet, reader.cell);
                prop_assert!(is_found, "{}: {:?} reads {:?}", cause, reader, areas);
            }
        }
        if let Some(Operation::SetCells(set)) = tail.last()
            && model.workbook.tabs().name(set.sheet).is_some()
        {
            for CellEdit { row, column, .. } in &set.cells {
                let cell = CellName { row: *row, column: *column };
                prop_assert!(changed.contains(set.sheet, cell), "{:?}", cell);
            }
        }
        for area in changed.iter().filter(|_| !outdated.is_everything()) {
            prop_assert!(outdated.parts_of(area).next().is_some(), "{:?}", area);
        }
    }
}

/// Returns rows with a number and two formulas, in several tiles. The text in column E fills the
/// tiles.
fn filled_rows(rows: std::ops::Range<u32>, texts: [&dyn Fn(u32) -> String; 2]) -> Vec<Operation> {
    let mut operations = Vec::new();
    for row in rows {
        operations.push(single(row, 0, row));
        operations.push(formula(row, 1, &texts[0](row + 1)));
        operations.push(formula(row, 2, &texts[1](row + 1)));
        operations.push(noisy_rows_in(4, row..row + 1));
    }
    operations
}

fn noisy_rows_in(column: u32, rows: std::ops::Range<u32>) -> Operation {
    let Operation::SetCells(mut set) = noisy_rows(rows) else { panic!("cells") };
    set.cells.iter_mut().for_each(|cell| cell.column = column);
    Operation::SetCells(set)
}

const ROWS: u32 = 4_000;

fn filled_sheet(second: &dyn Fn(u32) -> String) -> Store {
    let mut store = Store::default();
    store.compact(&filled_rows(0..ROWS, [&|row| format!("=A{row}*2"), second]));
    assert_eq!(store.root.as_ref().unwrap().levels.len(), 1, "the cells are in chunks");
    store.calculate();
    store
}

#[test]
fn only_the_tile_of_an_edited_row_is_outdated_and_no_tile_is_loaded() {
    let store = filled_sheet(&|row| format!("=B{row}+$F$1"));
    let (outdated, (tiles, _)) = store.outdated(&[], OutdatedBy::Any);
    assert!(outdated.is_empty(), "{outdated:?}");
    let cells = ["B1", "C1", "B2001", "C2001", "B3999", "C3999"];
    let (outdated, edited) = store.outdated(&[single(2_000, 0, 9)], OutdatedBy::Any);
    assert_eq!(among(&outdated, &cells), ["B2001", "C2001"]);
    assert_eq!((tiles, edited.0), (0, 0));
    assert!(outdated.cell_count() < 200_000, "{outdated:?}");
    // A cell that no formula reads.
    let outdated = store.outdated_by(&[single(2_000, 8, 9)]);
    assert_eq!(among(&outdated, &cells), Vec::<&str>::new());
    // A cell that all formulas of a column read.
    let outdated = store.outdated_by(&[single(0, 5, 9)]);
    assert_eq!(among(&outdated, &cells), cells);
    let only_changes = store.outdated(&[single(0, 5, 9)], OutdatedBy::UnstoredInputs).0;
    assert!(only_changes.is_empty());
}

#[test]
fn all_later_tiles_of_a_running_total_are_outdated() {
    for (text, expected) in [
        (
            &(|row: u32| format!("=C{}+A{row}", if row > 1 { row - 1 } else { 9_000 }))
                as &dyn Fn(u32) -> _,
            ["C2001", "C3999"],
        ),
        (&|row| format!("=C{}+A{row}", row + 1), ["C1", "C2001"]),
    ] {
        let store = filled_sheet(text);
        let outdated = store.outdated_by(&[single(2_000, 0, 9)]);
        assert_eq!(among(&outdated, &["C1", "C2001", "C3999"]), expected);
    }
}

#[test]
fn inserted_and_deleted_rows_outdate_the_formulas_whose_ranges_they_change() {
    let store = filled_sheet(&|row| format!("=SUM(A$1:A$10)+A{row}"));
    let cells = ["B1", "B2001", "B3999", "C1", "C2001"];
    let insert =
        |before| [Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 1 })];
    let outdated = store.outdated_by(&insert(2_000));
    assert_eq!(among(&outdated, &["B1", "C1", "B3999", "C3999"]), Vec::<&str>::new());
    assert_eq!(among(&store.outdated_by(&insert(5)), &cells), cells);
    let spans = Spans::one(2_000, 1);
    let delete = [Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })];
    let outdated = store.outdated_by(&delete);
    assert_eq!(among(&outdated, &["B1", "C1", "B3998"]), Vec::<&str>::new());
}

#[test]
fn scattered_formulas_of_newer_levels_are_outdated_one_by_one() {
    let mut store = filled_sheet(&|row| format!("=B{row}"));
    let scattered = (0..40).map(|number| formula(number * 97, 6, &format!("=H{}", number + 1)));
    store.compact(&scattered.chain([single(0, 9, 0)]).collect::<Vec<_>>());
    store.calculate();
    let outdated = store.outdated_by(&[single(2, 7, 5)]);
    assert_eq!(among(&outdated, &["G1", "G98", "G195", "G292", "B195"]), ["G195"]);
    // The same in a level of its own, whose tile must be loaded.
    let noise = noisy_rows_in(9, 0..400);
    let far = (0..400).map(|number| formula(number * 97, 6, &format!("=H{}", number + 1)));
    let mut operations: Vec<Operation> = far.collect();
    operations.push(noise);
    store.compact(&operations);
    store.calculate();
    assert!(store.root.as_ref().unwrap().levels.len() > 1, "the level is in chunks");
    let (outdated, (tiles, _)) = store.outdated(&[single(2, 7, 5)], OutdatedBy::Any);
    assert_eq!(among(&outdated, &["G1", "G98", "G195", "G292", "B2"]), ["G195"]);
    assert!((1..=MAX_OUTDATED_LOADED_TILES).contains(&tiles), "{tiles}");
}

#[test]
fn a_search_loads_a_limited_number_of_tiles() {
    // About 40 formulas fill a tile. They are in every tenth row.
    let store_with = |count: u32| {
        let mut formulas = long_formulas(count);
        for operation in &mut formulas {
            let Operation::SetCells(set) = operation else { panic!("cells") };
            set.cells.iter_mut().for_each(|cell| cell.row *= 10);
        }
        let mut store = Store::default();
        store.compact(&formulas);
        store.calculate();
        store
    };
    // The formula with the number n reads B(n + 1). One of each tile is outdated.
    let edits: Vec<Operation> = (0..40).map(|tile| single(20 + 40 * tile, 1, 5)).collect();
    let cells = ["D201", "D202", "D9801", "D9802", "D15801", "D15802"];
    let (outdated, few) = store_with(1_000).outdated(&edits, OutdatedBy::Any);
    assert!((10..MAX_OUTDATED_LOADED_TILES).contains(&few.0), "{few:?}");
    assert_eq!(among(&outdated, &cells), ["D201", "D9801"]);
    let (outdated, many) = store_with(1_600).outdated(&edits, OutdatedBy::Any);
    assert_eq!(many.0, MAX_OUTDATED_LOADED_TILES);
    // All cells of the other tiles count as outdated.
    assert_eq!(among(&outdated, &cells), ["D201", "D9801", "D15801", "D15802"]);
}

fn on_sheet(sheet: u32, operation: Operation) -> Operation {
    let Operation::SetCells(set) = operation else { panic!("cells") };
    Operation::SetCells(SetCells { sheet: SheetId(sheet), ..set })
}

#[test]
fn values_depend_on_sheets_names_formats_and_used_ranges() {
    let add = |sheet, name: &str| {
        Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.to_owned(), before: None })
    };
    let name = |formula: &str| {
        let sheets = BTreeMap::from([("Sheet1".to_owned(), SheetId::FIRST)]);
        let (name, formula) = ("rate".to_owned(), Some(formula.to_owned()));
        Operation::SetName(SetName { name, formula, sheets }).validated().unwrap()
    };
    let mut store = Store::default();
    let cells = ["B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8"];
    let texts =
        ["=Data!A1", "=Later!A1", "=rate*2", "=SHEETS()", "=SUM(D:D)", "=NOW()", "=B6+1", "=A9"];
    store.compact(&[add(1, "Data"), name("=Sheet1!$Z$1"), single(0, 3, 1)]);
    let formulas = (0..).zip(texts).map(|(row, text)| formula(row, 1, text));
    store.compact(&formulas.collect::<Vec<_>>());
    store.calculate();
    let outdated_by = |tail: &[Operation]| among(&store.outdated_by(tail), &cells);
    assert_eq!(
        outdated_by(&[]),
        ["B2", "B6", "B7"],
        "neither the time nor an unknown sheet has stored values"
    );
    assert_eq!(store.outdated(&[], OutdatedBy::Changes).0, OutdatedAreas::default());
    assert_eq!(outdated_by(&[on_sheet(1, single(0, 0, 5))]), ["B1", "B2", "B6", "B7"]);
    assert_eq!(outdated_by(&[add(2, "Later")]), ["B2", "B4", "B6", "B7"]);
    let delete = Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) });
    assert_eq!(outdated_by(&[delete]), ["B1", "B2", "B4", "B6", "B7"]);
    let rename = RenameSheet { sheet: SheetId(1), name: "Facts".to_owned() };
    assert_eq!(outdated_by(&[Operation::RenameSheet(rename)]), ["B2", "B4", "B6", "B7"]);
    assert_eq!(outdated_by(&[name("=Sheet1!$Z$2")]), ["B2", "B3", "B6", "B7"]);
    assert_eq!(outdated_by(&[single(0, 25, 5)]), ["B2", "B3", "B6", "B7"]);
    // The sheet has 8 used rows. References to whole columns end with the used rows.
    assert_eq!(outdated_by(&[single(7, 2, 5)]), ["B2", "B6", "B7"]);
    assert_eq!(outdated_by(&[single(9, 2, 5)]), ["B2", "B5", "B6", "B7"]);
    // The format of a result is that of its operands.
    let (sheet, rows, columns) = (SheetId::FIRST, Spans::one(8, 1), Spans::one(0, 2));
    let format = SetFormat { sheet, rows, columns, format: "0.00".to_owned() };
    assert_eq!(outdated_by(&[Operation::SetFormat(format)]), ["B2", "B6", "B7", "B8"]);
}

#[test]
fn a_root_keeps_a_limited_number_of_areas() {
    for (count, is_exact) in [(MAX_OUTDATED_AREAS, true), (MAX_OUTDATED_AREAS + 1, false)] {
        let mut outdated = OutdatedAreas::default();
        let count = u32::try_from(count).unwrap();
        (0..count).for_each(|number| outdated.add(area(&format!("A{}", 1 + 2 * number))));
        let reduced = outdated.clone().reduced();
        assert_eq!(reduced.cell_count() == u64::from(count), is_exact);
        assert!(outdated.iter().all(|area| reduced.parts_of(area).next() == Some(area)));
        let mut sheets = OutdatedAreas::default();
        for sheet in 0..count {
            sheets.add(SheetArea { sheet: SheetId(sheet), ..area("A1") });
        }
        assert_eq!(!sheets.reduced().is_everything(), is_exact);
    }
}

#[test]
fn a_search_considers_a_limited_number_of_formulas_and_passes() {
    // Level 0 has a run for each formula.
    let outdated_with = |count: usize| {
        let mut store = Store::default();
        let formulas = |rows: std::ops::Range<u32>| {
            let cells = rows.map(|row| CellEdit {
                row,
                column: 1,
                value: Some(Value::Number(1.0)),
                formula: Some(format!("=A{}+{}", row + 1, row % 2)),
                format: None,
            });
            Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: cells.collect() })
        };
        let count = u32::try_from(count).unwrap();
        let operations =
            (0..count).step_by(10_000).map(|row| formulas(row..count.min(row + 10_000)));
        store.compact(&operations.collect::<Vec<_>>());
        assert!(store.root.as_ref().unwrap().level_0.is_some());
        store.calculate();
        store.outdated_by(&[single(0, 0, 5)])
    };
    assert!(!outdated_with(MAX_OUTDATED_CANDIDATES).is_everything());
    assert!(outdated_with(MAX_OUTDATED_CANDIDATES + 1).is_everything());
    // A chain whose formulas are in the worst order: each pass finds one more.
    let outdated_with = |links: usize| {
        let mut store = Store::default();
        // The links are at rows 0, 1, -1, 2, -2, … around the middle.
        let row = |link: usize| {
            let half = i64::try_from(link.div_ceil(2)).unwrap();
            let offset = if link.is_multiple_of(2) { -half } else { half };
            u32::try_from(1_000 + offset).unwrap()
        };
        let link = |link: usize| formula(row(link), 1, &format!("=B{}", row(link - 1) + 1));
        store.compact(&(1..=links).map(link).collect::<Vec<_>>());
        store.calculate();
        store.outdated_by(&[single(row(0), 1, 5)])
    };
    let mut longest = 1;
    while !outdated_with(longest + 1).is_everything() {
        longest += 1;
        assert!(longest < 4 * MAX_OUTDATED_PASSES, "no limit");
    }
    assert!(longest >= MAX_OUTDATED_PASSES / 2, "{longest}");
}

#[test]
fn formulas_without_valid_values_are_found_in_all_levels() {
    let mut store = filled_sheet(&|row| format!("=B{row}"));
    store.compact(&[formula(9_000, 6, "=A1"), single(9_001, 6, 4)]);
    let root = store.root.as_ref().unwrap();
    let metadata = store.base().metadata;
    let found = |outdated: &OutdatedAreas| {
        store.ready(|objects| areas_of_formulas(root, &metadata, outdated, objects).unwrap()).0
    };
    let all = found(&OutdatedAreas::everything());
    assert_eq!(among(&all, &["B1", "C4000", "G9001"]), ["B1", "C4000", "G9001"]);
    let mut few = OutdatedAreas::default();
    [area("C10:C11"), area("ZZ1:ZZ9")].into_iter().for_each(|area| few.add(area));
    let few = found(&few);
    assert_eq!(few.iter().collect::<Vec<_>>(), [area("C10:C11")]);
    assert_eq!(few.without(&all), OutdatedAreas::default());
}
