//! A search finds the formulas that read given cells, wherever levels begin and are merged.

use super::*;
use crate::dependents::{
    DependentBounds, DependentFormula, DependentFormulas, DependentSearch, SearchStep,
    SearchedState, SheetArea,
};
use crate::formula_model::{FormulaModel, any_operation_with_formulas};
use crate::level::{StoredTile, Stripe, StripeTile};
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_base::limits::{MAX_DEPENDENT_TILES, MAX_DEPENDENT_TILES_AT_ONCE};
use cellar_formula::Formula;
use cellar_formula::expression::Node;
use cellar_formula::reference::Reference;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ClearRange, DeleteSpans, ImportSheet, SetName, Span, Spans};

pub(super) const ALL_FORMULAS: DependentBounds =
    DependentBounds { formulas: usize::MAX, tiles: MAX_DEPENDENT_TILES };

/// Objects that a search has loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LoadedObjects {
    pub(super) tiles: usize,
    others: usize,
    most_tiles_at_once: usize,
}

impl Store {
    pub(super) fn formulas_reading(
        &self,
        tail: &[Operation],
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> (DependentFormulas, LoadedObjects) {
        self.search(tail, |state| DependentSearch::new(state, areas, bounds))
    }

    /// Returns the formulas at the root that lose references if the areas are deleted.
    pub(super) fn formulas_losing_references(&self, areas: &[SheetArea]) -> Vec<DependentFormula> {
        let (found, _) = self
            .search(&[], |state| DependentSearch::of_lost_references(state, areas, ALL_FORMULAS));
        assert!(found.complete);
        found.formulas
    }

    pub(super) fn search(
        &self,
        tail: &[Operation],
        start: impl for<'a> FnOnce(SearchedState<'a>) -> DependentSearch<'a>,
    ) -> (DependentFormulas, LoadedObjects) {
        let mut fold = Fold::new(self.base().metadata);
        fold.apply_operations(tail).unwrap();
        let (metadata, tail) = fold.finish();
        let state = SearchedState { root: self.root.as_ref(), tail: &tail, metadata: &metadata };
        let mut search = start(state);
        let (mut objects, mut loaded) = (Objects::default(), LoadedObjects::default());
        loop {
            match search.step(&mut objects).unwrap() {
                SearchStep::Done(found) => return (found, loaded),
                SearchStep::Load(requests) => {
                    assert!(!requests.is_empty());
                    for request in requests {
                        let is_tile = request.kind == ObjectKind::Tile;
                        loaded.tiles += usize::from(is_tile);
                        loaded.others += usize::from(!is_tile);
                        objects.insert(&request, &self.objects[&request.hash]).unwrap();
                    }
                    loaded.most_tiles_at_once = loaded.most_tiles_at_once.max(objects.tile_count());
                }
            }
        }
    }
}

/// Returns the formulas of a model that read the cells, by their texts alone.
pub(super) fn readers(model: &FormulaModel, areas: &[SheetArea]) -> Vec<DependentFormula> {
    let (tabs, names) = (model.workbook.tabs(), model.workbook.names());
    // A reference to a deleted sheet is `#REF!`.
    let areas = areas.iter().filter(|area| tabs.name(area.sheet).is_some());
    let areas: Vec<SheetArea> = areas.copied().collect();
    let reads = |own_sheet: SheetId, reference: &Reference| {
        let (sheet, cells) = (reference.sheet_number(own_sheet), reference.area.rectangle());
        areas.iter().any(|area| {
            Some(area.sheet) == sheet
                && cells.is_some_and(|cells| {
                    let rows = cells.first.row.max(area.cells.first.row)
                        ..=cells.last.row.min(area.cells.last.row);
                    let columns = cells.first.column.max(area.cells.first.column)
                        ..=cells.last.column.min(area.cells.last.column);
                    !rows.is_empty() && !columns.is_empty()
                })
        })
    };
    let mut found = Vec::new();
    for &sheet in tabs.order() {
        let cells = model.workbook.sheet(sheet).unwrap();
        let mut in_sheet = Vec::new();
        for ((row, column), cell) in cells.cells_in(Rectangle::EVERYTHING) {
            let Some(text) = model.shown(cell).formula else { continue };
            let Ok(formula) = Formula::parse(&text, tabs) else { continue };
            let mut references: Vec<Reference> =
                formula.references().map(|placed| placed.reference.clone()).collect();
            for node in formula.expression().nodes() {
                if let Node::Name(name) = node {
                    let named = names.get(name).into_iter();
                    references.extend(named.flat_map(|name| name.references()));
                }
            }
            if references.iter().any(|reference| reads(sheet, reference)) {
                let cell = CellName { row, column };
                in_sheet.push(DependentFormula { sheet, cell, text });
            }
        }
        in_sheet.sort_by_key(|formula| formula.cell);
        found.extend(in_sheet);
    }
    found
}

pub(super) fn any_area() -> impl Strategy<Value = SheetArea> {
    let side = || (0..14_u32, 0..4_u32).prop_map(|(first, more)| (first, first + more));
    let sheet = prop_oneof![3 => Just(SheetId::FIRST), 1 => (1..4_u32).prop_map(SheetId)];
    (sheet, side(), side()).prop_map(|(sheet, rows, columns)| SheetArea {
        sheet,
        cells: Rectangle {
            first: CellName { row: rows.0, column: columns.0 },
            last: CellName { row: rows.1, column: columns.1 },
        },
    })
}

/// Returns an operation that exceeds level 0.
pub(super) fn large() -> impl Strategy<Value = Option<Operation>> {
    prop_oneof![2 => Just(None), 1 => bulk().prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_search_finds_the_formulas_that_a_scan_of_all_cells_finds(
        rounds in vec((vec(any_operation_with_formulas(), 1..12), large()), 0..8),
        tail in vec(any_operation_with_formulas(), 0..8),
        areas in vec(any_area(), 1..4),
        max_formulas in 0..8_usize,
    ) {
        let mut store = Store::default();
        let mut model = FormulaModel::default();
        for (mut operations, large) in rounds {
            operations.splice(0..0, large);
            model.apply_operations(&operations);
            store.compact(&operations);
        }
        model.apply_operations(&tail);
        let mut expected = readers(&model, &areas);
        let (found, _) = store.formulas_reading(&tail, &areas, ALL_FORMULAS);
        prop_assert_eq!(&found.formulas, &expected);
        prop_assert!(found.complete);
        let few = DependentBounds { formulas: max_formulas, ..ALL_FORMULAS };
        let (found, _) = store.formulas_reading(&tail, &areas, few);
        prop_assert_eq!(found.complete, expected.len() <= max_formulas);
        expected.truncate(max_formulas);
        prop_assert_eq!(&found.formulas, &expected);
    }
}

pub(super) fn formula(row: u32, column: u32, text: &str) -> Operation {
    let value = Some(Value::Number(1.0));
    let edit = CellEdit { row, column, value, formula: Some(text.to_owned()), format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

pub(super) fn area(range: &str) -> SheetArea {
    let range: cellar_sheet::a1::Range = range.parse().unwrap();
    SheetArea { sheet: SheetId::FIRST, cells: range.rectangle }
}

/// Returns the cells of the found formulas.
fn found_cells(store: &Store, tail: &[Operation], range: &str) -> Vec<String> {
    let (found, _) = store.formulas_reading(tail, &[area(range)], ALL_FORMULAS);
    assert!(found.complete);
    found.formulas.iter().map(|formula| formula.cell.to_string()).collect()
}

#[test]
fn names_that_use_other_names_read_their_cells() {
    let name = |name: &str, formula: &str| {
        let sheets = BTreeMap::from([("Sheet1".to_owned(), SheetId::FIRST)]);
        let (name, formula) = (name.to_owned(), Some(formula.to_owned()));
        Operation::SetName(SetName { name, formula, sheets }).validated().unwrap()
    };
    let mut store = Store::default();
    store.compact(&[
        name("gross", "=net*2"),
        name("net", "=Sheet1!$A$1"),
        name("other", "=Sheet1!$A$2"),
        formula(0, 1, "=Gross+1"),
        formula(1, 1, "=other"),
        formula(2, 1, "=\"gross\"&A9"),
    ]);
    assert_eq!(found_cells(&store, &[], "A1"), ["B1"]);
    assert_eq!(found_cells(&store, &[], "A1:A2"), ["B1", "B2"]);
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 3 };
    let tail = [Operation::InsertRows(insert)];
    assert_eq!(found_cells(&store, &tail, "A4"), ["B4"]);
    assert_eq!(found_cells(&store, &tail, "A1"), Vec::<String>::new());
}

#[test]
fn formulas_that_newer_levels_replace_or_clear_are_not_found() {
    let mut store = Store::default();
    let rows = |rows: std::ops::Range<u32>, text: &str| {
        rows.map(|row| formula(row, 2, text)).collect::<Vec<_>>()
    };
    store.compact(&[noisy_rows(0..2_000)]);
    store.compact(&rows(0..6, "=$B$1"));
    store.compact(&[noisy_rows(2_000..2_200), single(1, 2, 5), formula(2, 2, "=$B$9")]);
    let clear = ClearRange {
        sheet: SheetId::FIRST,
        rows: Spans::from_sorted(vec![Span { first: 4, count: 1 }]),
        columns: Spans::one(0, 9),
    };
    let tail = [Operation::ClearRange(clear), single(5, 2, 0)];
    assert_eq!(found_cells(&store, &[], "B1"), ["C1", "C4", "C5", "C6"]);
    assert_eq!(found_cells(&store, &tail, "B1"), ["C1", "C4"]);
    assert_eq!(found_cells(&store, &tail, "B9"), ["C3"]);
}

/// Returns formulas that do not compress; about 40 fill a tile.
pub(super) fn long_formulas(count: u32) -> Vec<Operation> {
    let one = |row: u32| {
        let mut bytes = [0; 3_500];
        blake3::Hasher::new().update(&row.to_le_bytes()).finalize_xof().fill(&mut bytes);
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        formula(row, 3, &format!("=\"{text}\"&$B$1&B{}", row + 1))
    };
    (0..count).map(one).collect()
}

#[test]
fn a_search_keeps_few_tiles_in_memory_and_loads_a_limited_number() {
    let mut store = Store::default();
    store.compact(&long_formulas(1_800));
    let everything = store.formulas_reading(&[], &[area("B:B")], ALL_FORMULAS);
    let LoadedObjects { tiles, most_tiles_at_once, .. } = everything.1;
    assert!(tiles > MAX_DEPENDENT_TILES_AT_ONCE, "{tiles}");
    assert!(most_tiles_at_once <= MAX_DEPENDENT_TILES_AT_ONCE, "{most_tiles_at_once}");
    assert!(everything.0.complete);
    assert_eq!(everything.0.formulas.len(), 1_800);
    for (max_tiles, complete) in [(tiles, true), (tiles - 1, false), (0, false)] {
        let bounds = DependentBounds { tiles: max_tiles, ..ALL_FORMULAS };
        let (found, loaded) = store.formulas_reading(&[], &[area("B:B")], bounds);
        assert_eq!(found.complete, complete, "{max_tiles}");
        assert!(loaded.tiles <= max_tiles);
        assert!(everything.0.formulas.starts_with(&found.formulas));
    }
    // The first formulas are in the first tiles.
    let few = DependentBounds { formulas: 10, ..ALL_FORMULAS };
    let (found, loaded) = store.formulas_reading(&[], &[area("B:B")], few);
    assert_eq!(found.formulas, everything.0.formulas[..10]);
    assert!(loaded.tiles < 20 && !found.complete, "{loaded:?}");
}

#[test]
fn only_tiles_with_formulas_are_loaded() {
    let mut store = Store::default();
    store.compact(&[noisy_rows(0..5_000), noisy_rows(5_000..9_000)]);
    let (found, loaded) = store.formulas_reading(&[], &[area("A1")], ALL_FORMULAS);
    assert_eq!((found.formulas.len(), loaded.tiles), (0, 0));
    store.compact(&[formula(0, 200, "=A1"), formula(0, 201, "=A2")]);
    let (found, loaded) = store.formulas_reading(&[], &[area("A1")], ALL_FORMULAS);
    assert_eq!(found.formulas.len(), 1);
    assert!(loaded.tiles <= 1, "{loaded:?}");
}

#[test]
fn formulas_with_deleted_ends_lose_references() {
    let mut store = Store::default();
    let texts = [
        "=$B$5",
        "=SUM($B$5:$B$9)",
        "=SUM($B$1:$B$5)",
        "=SUM($B$1:$B$9)",
        "=SUM(B:B)",
        "=SUM(1:4)",
        "=SUM(4:5)",
        "=SUM($B$9:$D$9)",
        "=SUM($A$9:$C$9)",
        "=SUM(C:F)",
        "=missing!B5",
    ];
    store.compact(&(0..).zip(texts).map(|(row, text)| formula(row, 5, text)).collect::<Vec<_>>());
    let lost = |areas: &[SheetArea]| -> Vec<String> {
        let found = store.formulas_losing_references(areas);
        found.iter().map(|formula| formula.cell.to_string()).collect()
    };
    // The formula in row 5 is deleted itself.
    assert_eq!(lost(&[area("5:5")]), ["F1", "F2", "F3", "F7"]);
    assert_eq!(lost(&[area("4:6"), area("C:D")]), ["F1", "F2", "F3", "F7", "F8", "F9", "F10"]);
    assert_eq!(lost(&[area("1:1")]), ["F3", "F4", "F6"]);
    let everything = SheetArea { sheet: SheetId::FIRST, cells: Rectangle::EVERYTHING };
    assert_eq!(lost(&[everything]), Vec::<String>::new());
}

/// Returns the number of tiles that a search for the formulas that read a range loads, and the number
/// of the formulas.
fn loaded_tiles(store: &Store, tail: &[Operation], range: &str) -> (usize, usize) {
    let (found, loaded) = store.formulas_reading(tail, &[area(range)], ALL_FORMULAS);
    assert!(found.complete);
    (loaded.tiles, found.formulas.len())
}

#[test]
fn only_tiles_whose_formulas_read_the_cells_are_loaded() {
    let mut store = Store::default();
    store.compact(&long_formulas(1_800));
    // Each tile has about 40 formulas, which read B1 and a cell of their row.
    assert_eq!(loaded_tiles(&store, &[], "Z1:Z5000"), (0, 0));
    assert_eq!(loaded_tiles(&store, &[], "B1801:C5000"), (0, 0));
    assert_eq!(loaded_tiles(&store, &[], "B900"), (1, 1));
    assert_eq!(loaded_tiles(&store, &[], "B900:B901").1, 2);
    // Rows that newer levels and entries insert and delete are followed.
    let insert =
        |before| Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 10 });
    let delete = |first| {
        let spans = Spans::one(first, 5);
        Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
    };
    store.compact(&[insert(5)]);
    let tail = [delete(400)];
    assert_eq!(loaded_tiles(&store, &[], "B910"), (1, 1));
    assert_eq!(loaded_tiles(&store, &tail, "B905"), (1, 1));
    assert_eq!(loaded_tiles(&store, &tail, "B1806:C5000"), (0, 0));
    store.compact(&[formula(0, 300, "=Z1"), noisy_rows(3_000..3_300)]);
    assert_eq!(loaded_tiles(&store, &tail, "Y1:Y5000"), (0, 0));
    // A newer tile could hide the formula.
    assert_eq!(loaded_tiles(&store, &tail, "B905"), (2, 1));
    assert_eq!(loaded_tiles(&store, &tail, "Z1").1, 1);
}

#[test]
fn a_name_that_reads_other_cells_loads_no_tile() {
    let mut store = Store::default();
    let set_name = |name: &str, formula: &str| {
        let sheets = BTreeMap::from([("Sheet1".to_owned(), SheetId::FIRST)]);
        let (name, formula) = (name.to_owned(), Some(formula.to_owned()));
        Operation::SetName(SetName { name, formula, sheets }).validated().unwrap()
    };
    let mut operations = long_formulas(400);
    operations.push(set_name("net", "=Sheet1!$A$1"));
    operations.extend((0..400).map(|row| formula(row, 0, "=net*2")));
    store.compact(&operations);
    assert_eq!(loaded_tiles(&store, &[], "Z1"), (0, 0));
    assert_eq!(loaded_tiles(&store, &[], "A1").1, 400);
    // Formulas can call a name with a LAMBDA.
    store.compact(&[set_name("twice", "=LAMBDA(x,x*Sheet1!$Z$1)"), formula(500, 0, "=twice(3)")]);
    assert_eq!(loaded_tiles(&store, &[], "Z1").1, 1);
}

/// Stores tiles with the same formula, and returns their import.
pub(super) fn import_of_tiles(store: &mut Store, count: usize, formula: &str) -> Operation {
    let mut tiles = Vec::new();
    for row in 0..u32::try_from(count).unwrap() {
        let mut column = TileColumn::new(0);
        column.values.push(0, TileValue::Number(f64::from(row)));
        column.formulas.push(0, formula);
        let object = chunk_of(&Tile { columns: vec![column] }).unwrap();
        tiles.push(StripeTile {
            rows: Span { first: row, count: 1 },
            cells: 1,
            stored: StoredTile::Chunk(object.chunk),
            formulas: Some(crate::TileFormulas::counted(1)),
        });
        store.put(object.chunk.hash, object.stored);
    }
    let stripes = [Stripe { columns: Span { first: 0, count: 128 }, tiles }];
    let (tile_index, objects) = crate::index::pack_import(&stripes).unwrap();
    for object in objects {
        store.put(object.chunk.hash, object.stored);
    }
    Operation::ImportSheet(ImportSheet {
        sheet: SheetId(1),
        name: "file".to_owned(),
        replaces: Some(SheetId::FIRST),
        extent: Extent { rows: u32::try_from(count).unwrap(), columns: 1 },
        cells: u64::try_from(count).unwrap(),
        formulas: None,
        sheets: BTreeMap::new(),
        tile_index,
    })
}

#[test]
fn a_search_of_the_server_loads_a_limited_number_of_tiles() {
    for (count, complete) in [(MAX_DEPENDENT_TILES, true), (MAX_DEPENDENT_TILES + 1, false)] {
        let mut store = Store::default();
        let tail = [import_of_tiles(&mut store, count, "=$B$1")];
        let areas = [SheetArea { sheet: SheetId(1), ..area("B1") }];
        let (found, loaded) = store.formulas_reading(&tail, &areas, ALL_FORMULAS);
        assert_eq!(found.complete, complete);
        assert!(loaded.tiles <= MAX_DEPENDENT_TILES, "{loaded:?}");
        assert_eq!(found.formulas.len(), loaded.tiles);
    }
}
