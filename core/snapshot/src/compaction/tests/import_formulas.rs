//! Formulas of imported sheets equal a model, for any edits after the import and any time at which
//! the sheets are merged.

use super::dependents::{ALL_FORMULAS, readers};
use super::*;
use crate::TileFormulas;
use crate::dependents::SheetArea;
use crate::formula_model::{FormulaModel, any_formula, any_operation_with_formulas};
use crate::index::ChildTile;
use crate::level::{StoredTile, StripeTile};
use crate::merge::SheetWriter;
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, Template};
use cellar_sheet::operation::{AddSheet, ImportSheet, RenameSheet, Span};

type PlacedCells = Vec<((u32, u32), Cell)>;

const ALL: Window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };

/// Adds a formula as importers do: as a template with the names of sheets, or as text if it cannot be
/// parsed.
fn push_formula(column: &mut TileColumn, row: u32, text: &str) {
    match Formula::parse(text, &NoSheets) {
        Ok(formula) => {
            let cell = CellName { row, column: column.index };
            column.templates.push(row, Template::of(&formula, cell).encoded());
        }
        Err(_) => column.formulas.push(row, text),
    }
}

/// A column of formulas. The rows from the last formula on, up to `rows`, have the last formula.
fn column_of(formulas: &[String], rows: u32) -> (Tile, PlacedCells) {
    let (mut column, mut cells) = (TileColumn::new(0), Vec::new());
    for row in 0..rows {
        let index = usize::try_from(row).unwrap().min(formulas.len() - 1);
        column.values.push(row, TileValue::Number(f64::from(row)));
        push_formula(&mut column, row, &formulas[index]);
        let formula = Some(formulas[index].clone());
        cells
            .push(((row, 0), Cell { value: Value::Number(f64::from(row)), formula, format: None }));
    }
    (Tile { columns: vec![column] }, cells)
}

/// Stores the chunks of a sheet with one column, and returns its import.
fn import_of(
    store: &mut Store,
    (sheet, replaces): (u32, Option<u32>),
    tile: Tile,
    sheets: &[(&str, u32)],
) -> ImportSheet {
    let mut writer = SheetWriter::default();
    let mut chunks = writer.push(tile, &chunk_of).unwrap();
    let (written, last) = writer.finish(&chunk_of).unwrap();
    chunks.extend(last);
    let (tile_index, objects) = crate::index::pack_import(&written.stripes).unwrap();
    for object in chunks.into_iter().chain(objects) {
        store.put(object.chunk.hash, object.stored);
    }
    let sheets = sheets.iter().map(|(name, number)| ((*name).to_owned(), SheetId(*number)));
    ImportSheet {
        sheet: SheetId(sheet),
        name: format!("file {sheet}"),
        replaces: replaces.map(SheetId),
        extent: written.extent,
        cells: written.cells,
        formulas: Some(written.formulas),
        sheets: sheets.collect(),
        tile_index,
    }
}

/// Returns the tiles of the sheet in the root, which has a single level.
fn tiles_in_root(store: &Store, sheet: u32) -> Vec<StripeTile> {
    let root = store.root.as_ref().unwrap();
    let mut tiles = Vec::new();
    for level in root.all_levels() {
        let whole = crate::level::Region {
            rows: cellar_sheet::operation::Spans::all(cellar_sheet::axis_map::Axis::Rows),
            columns: cellar_sheet::operation::Spans::all(cellar_sheet::axis_map::Axis::Columns),
        };
        let (located, _) = store.ready(|objects| {
            let lookup = level.level.tiles(SheetId(sheet), &whole, &|hash| objects.index.get(hash));
            crate::objects::to_fetch(lookup.unwrap(), ObjectKind::Index)
        });
        tiles.extend(located.into_iter().map(|located| located.tile));
    }
    tiles
}

fn edits() -> impl Strategy<Value = Vec<Operation>> {
    vec(any_operation_with_formulas(), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn formulas_of_imports_equal_a_model(
        before in edits(),
        formulas in [vec(any_formula(), 1..6), vec(any_formula(), 1..6)],
        named in vec((prop_oneof![Just("a"), Just("b"), Just("sheet1")], 0..8_u32), 0..3),
        is_compacted in any::<[bool; 3]>(),
        between in edits(),
        after in edits(),
        resumed_every in 0..2_usize,
    ) {
        let mut store = Store { resumed_every, ..Store::default() };
        let (mut model, mut tail) = (FormulaModel::default(), Vec::new());
        let mut steps = vec![before, between, after].into_iter().zip(is_compacted);
        let mut edit = |store: &mut Store, model: &mut FormulaModel, tail: &mut Vec<Operation>| {
            let (operations, is_compacted) = steps.next().unwrap();
            model.apply_operations(&operations);
            tail.extend(operations);
            if is_compacted && !tail.is_empty() {
                store.compact(&std::mem::take(tail));
            }
            store.assert_shows_cells(tail, &model.workbook, &ALL, |cell| model.shown(cell));
        };
        edit(&mut store, &mut model, &mut tail);
        let first_number = model.workbook.tabs().next_sheet().0;
        for (number, formulas) in (first_number..).zip(&formulas) {
            let (tile, cells) = column_of(formulas, 12);
            let import = import_of(&mut store, (number, None), tile, &named);
            model.import(&import, cells);
            tail.push(Operation::ImportSheet(import));
        }
        store.assert_shows_cells(&tail, &model.workbook, &ALL, |cell| model.shown(cell));
        edit(&mut store, &mut model, &mut tail);
        edit(&mut store, &mut model, &mut tail);
        let cells = Rectangle {
            first: CellName { row: 3, column: 2 },
            last: CellName { row: 8, column: 5 },
        };
        for sheet in model.workbook.tabs().order().to_vec() {
            let areas = [SheetArea { sheet, cells }];
            let (found, _) = store.formulas_reading(&tail, &areas, ALL_FORMULAS);
            prop_assert_eq!(&found.formulas, &readers(&model, &areas));
        }
    }
}

/// Returns the formula in the first cell of a sheet.
fn first_formula(store: &Store, tail: &[Operation], sheet: u32) -> String {
    let mut fold = Fold::new(store.base().metadata);
    fold.apply_operations(tail).unwrap();
    let (metadata, level) = fold.finish();
    let window = Window { rows: 0..1, columns: 0..1 };
    let (tile, _) = store.ready(|objects| {
        let root = store.root.as_ref();
        view::read_window(root, &level, &metadata.tabs, SheetId(sheet), &window, objects).unwrap()
    });
    tile.columns[0].formulas.at(0).unwrap().to_owned()
}

#[test]
fn sheets_of_a_file_find_each_other_in_any_order_and_follow_renames() {
    for is_compacted in [false, true] {
        let mut store = Store::default();
        let existing = AddSheet { sheet: SheetId(1), name: "Costs".to_owned(), before: None };
        let mut tail = vec![Operation::AddSheet(existing)];
        // The file has the sheets Costs and Sum. Another sheet has the name Costs already.
        let file = [("Costs", 2), ("Sum", 3)];
        let formulas = [["=sum!B2+costs!A1"], ["=SUM(Costs!A:A)+Missing!A1"]];
        for (number, formula) in (2..).zip(&formulas) {
            let (tile, _) = column_of(&[formula[0].to_owned()], 3);
            tail.push(Operation::ImportSheet(import_of(&mut store, (number, None), tile, &file)));
        }
        if is_compacted {
            store.compact(&std::mem::take(&mut tail));
        }
        assert_eq!(first_formula(&store, &tail, 2), "='file 3'!B2+'file 2'!A1");
        let rename = RenameSheet { sheet: SheetId(2), name: "New".to_owned() };
        let insert = InsertBefore { sheet: SheetId(3), before: 0, count: 1 };
        tail.extend([Operation::RenameSheet(rename), Operation::InsertRows(insert)]);
        assert_eq!(first_formula(&store, &tail, 2), "='file 3'!B3+New!A1");
        store.compact(&tail);
        assert_eq!(first_formula(&store, &[], 2), "='file 3'!B3+New!A1");
        let insert = InsertBefore { sheet: SheetId(3), before: 0, count: 1 };
        store.compact(&[Operation::InsertRows(InsertBefore { before: 9, ..insert })]);
        let delete = cellar_sheet::operation::DeleteSpans {
            sheet: SheetId(3),
            spans: cellar_sheet::operation::Spans::one(0, 1),
        };
        store.compact(&[Operation::DeleteRows(delete)]);
        assert_eq!(first_formula(&store, &[], 3), "=SUM(New!A:A)+Missing!A1");
    }
}

/// Returns a tile with numbers, and with a formula in each row if there is one.
fn large_tile(rows: u32, formula: Option<&str>) -> Tile {
    let (mut numbers, mut formulas) = (TileColumn::new(0), TileColumn::new(1));
    for row in 0..rows {
        let number = row.wrapping_mul(2_654_435_761) ^ (row << 7);
        numbers.values.push(row, TileValue::Number(f64::from(number) / 7.0));
        if let Some(formula) = formula {
            formulas.values.push(row, TileValue::Number(1.0));
            push_formula(&mut formulas, row, formula);
        }
    }
    let columns = [numbers, formulas].into_iter().filter(|column| !column.is_empty());
    Tile { columns: columns.collect() }
}

#[test]
fn the_first_merge_knows_what_imported_formulas_read() {
    const ROWS: u32 = 60_000;
    for (formula, has_names) in
        [(None, false), (Some("=$D$5*2"), false), (Some("=Other!$D$5"), true)]
    {
        let mut store = Store::default();
        let tile = large_tile(ROWS, formula);
        let other = AddSheet { sheet: SheetId(1), name: "Other".to_owned(), before: None };
        let import = import_of(&mut store, (2, None), tile, &[("Other", 1)]);
        let tail = [Operation::AddSheet(other), Operation::ImportSheet(import.clone())];
        let cell = CellName { row: 4, column: 3 };
        let sheet = SheetId(if has_names { 1 } else { 2 });
        let areas = [SheetArea { sheet, cells: Rectangle { first: cell, last: cell } }];
        let (found, loaded) = store.formulas_reading(&tail, &areas, ALL_FORMULAS);
        assert_eq!(found.formulas.len(), formula.map_or(0, |_| ROWS as usize));
        assert_eq!(loaded.tiles > 0, formula.is_some(), "{formula:?}");
        let imported: Vec<ChunkHash> = store.objects.keys().copied().collect();
        store.compact(&tail);
        let tiles = tiles_in_root(&store, 2);
        assert!(tiles.len() > 2, "{}", tiles.len());
        let is_reused = |tile: &&StripeTile| match tile.stored {
            StoredTile::Chunk(chunk) => imported.contains(&chunk.hash),
            StoredTile::Inline(_) => false,
        };
        // The first and the last tile are small, so they may be merged with others.
        let reused = tiles.iter().filter(is_reused).count();
        assert_eq!(reused > 0, !has_names, "{reused} of {}", tiles.len());
        for tile in &tiles {
            let formulas = tile.formulas.as_ref().unwrap();
            assert_eq!(formulas.count > 0, formula.is_some());
            let read: Vec<SheetId> = formulas.reads.areas().iter().map(|area| area.sheet).collect();
            assert_eq!(read, if formula.is_some() { vec![sheet] } else { Vec::new() });
        }
        let elsewhere = CellName { row: 5, column: 3 };
        let cells = Rectangle { first: elsewhere, last: elsewhere };
        let (found, loaded) =
            store.formulas_reading(&[], &[SheetArea { sheet, cells }], ALL_FORMULAS);
        assert_eq!((found.formulas.len(), loaded.tiles), (0, 0));
    }
}

#[test]
fn a_tile_of_an_import_states_its_formulas_and_names_sheets() {
    let tile_with = |template: Option<&str>, text: Option<&str>| {
        let mut column = TileColumn::new(0);
        column.values.push(0, TileValue::Number(1.0));
        template.iter().for_each(|template| column.templates.push(0, template));
        text.iter().for_each(|text| column.formulas.push(0, text));
        Tile { columns: vec![column] }
    };
    let is_accepted = |tile: &Tile, formulas: u32| {
        let chunk = chunk_of(tile).unwrap().chunk;
        ChildTile { chunk, rows: 1, cells: 1, formulas }.check(tile).is_ok()
    };
    let named = "=\u{1}'Costs'!r1c0\u{2}";
    for tile in
        [tile_with(Some(named), None), tile_with(Some("=1"), None), tile_with(None, Some("=("))]
    {
        assert!(is_accepted(&tile, 1) && !is_accepted(&tile, 0) && !is_accepted(&tile, 2));
    }
    assert!(is_accepted(&tile_with(None, None), 0) && !is_accepted(&tile_with(None, None), 1));
    assert!(!is_accepted(&tile_with(Some("=\u{1}3!r1c0\u{2}"), None), 1));
}

#[test]
fn the_index_of_an_import_states_only_the_number_of_formulas() {
    let tile = |formulas| StripeTile {
        rows: Span { first: 0, count: 1 },
        cells: 1,
        stored: StoredTile::Chunk(chunk_of(&large_tile(1, None)).unwrap().chunk),
        formulas: Some(formulas),
    };
    let is_packed = |formulas| {
        let columns = Span { first: 0, count: 128 };
        let stripe = crate::level::Stripe { columns, tiles: vec![tile(formulas)] };
        crate::index::pack_import(&[stripe]).is_ok()
    };
    assert!(is_packed(TileFormulas::counted(0)) && is_packed(TileFormulas::counted(1)));
    assert!(!is_packed(TileFormulas { count: 1, ..TileFormulas::default() }));
}
