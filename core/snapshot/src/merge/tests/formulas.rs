//! Formulas in levels equal a model, wherever levels begin and are merged.

use cellar_grid::testing::random_cases;

use super::*;
use crate::formula_model::{FormulaModel, any_operation_with_formulas};
use crate::level::{ChunkHash, ChunkRef, Level, LevelSheet, SheetMoves, StoredTile};
use crate::level::{Stripe, StripeTile};
use crate::tile::{TileColumn, TileValue};

impl World {
    fn assert_shows_model(&self, model: &FormulaModel, window: &Window) {
        self.assert_shows_cells(&model.workbook, window, |cell| model.shown(cell));
    }

    /// Returns the texts of the formulas of a column.
    fn formulas(&self, model: &FormulaModel, sheet: SheetId) -> Vec<String> {
        self.assert_shows_model(model, &ALL);
        let cells = model.workbook.sheets().find(|(id, _)| *id == sheet).unwrap().1;
        let cells = cells.cells_in(rectangle(&ALL)).map(|(_, cell)| model.shown(cell));
        cells.filter_map(|cell| cell.formula).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(2_000)))]

    #[test]
    fn formulas_in_tiles_equal_a_replay_wherever_levels_begin_and_are_merged(
        operations in vec(any_operation_with_formulas(), 0..40),
        cuts in vec(any::<usize>(), 1..8),
        merged in vec(0..4_usize, 9),
        (bytes_per_cell, resumed_every) in (1..60_000_usize, 0..3_usize),
        window in window(),
    ) {
        let mut world = World { bytes_per_cell, resumed_every, ..World::default() };
        let mut model = FormulaModel::default();
        for (piece, merged) in pieces(&operations, &cuts).into_iter().zip(merged) {
            world.snapshot(piece, merged);
            model.apply_operations(piece);
            world.assert_shows_model(&model, &window);
        }
    }
}

fn formulas(sheet: u32, cells: &[(u32, u32, &str)]) -> Operation {
    let cell = |(row, column, formula): &(u32, u32, &str)| CellEdit {
        row: *row,
        column: *column,
        value: Some(Value::Number(1.0)),
        formula: Some((*formula).to_owned()),
        format: None,
    };
    let cells = cells.iter().map(cell).collect();
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells })
}

fn insert_rows(sheet: u32, before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId(sheet), before, count })
}

fn delete_rows(sheet: u32, first: u32, count: u32) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId(sheet), spans: Spans::one(first, count) })
}

fn add_sheet(sheet: u32, name: &str) -> Operation {
    let (sheet, name) = (SheetId(sheet), name.to_owned());
    Operation::AddSheet(cellar_sheet::operation::AddSheet { sheet, name, before: None })
}

/// Applies each piece as a snapshot, which merges the newest `merged` levels.
fn shown(pieces: &[(&[Operation], usize)]) -> Vec<String> {
    let mut world = World { bytes_per_cell: 100, ..World::default() };
    let mut model = FormulaModel::default();
    for (piece, merged) in pieces {
        world.snapshot(piece, *merged);
        model.apply_operations(piece);
    }
    world.formulas(&model, SheetId::FIRST)
}

#[test]
fn a_level_boundary_between_an_insertion_and_a_deletion_changes_nothing() {
    // The range ends with the inserted row, although row 3 was deleted.
    let set = [formulas(0, &[(0, 5, "=SUM(A2:A3)")])];
    let (insert, delete) = ([insert_rows(0, 2, 1)], [delete_rows(0, 3, 1)]);
    let both = [insert[0].clone(), delete[0].clone()];
    let all = [set[0].clone(), insert[0].clone(), delete[0].clone()];
    let histories: [&[(&[Operation], usize)]; 6] = [
        &[(&all, 0)],
        &[(&set, 0), (&both, 0)],
        &[(&set, 0), (&both, 1)],
        &[(&set, 0), (&insert, 0), (&delete, 0)],
        &[(&set, 0), (&insert, 0), (&delete, 1)],
        &[(&set, 0), (&insert, 1), (&delete, 2)],
    ];
    for history in histories {
        assert_eq!(shown(history), ["=SUM(A2:A3)"]);
    }
    // In the other order, the range ends with row 2.
    let other = [delete_rows(0, 2, 1), insert_rows(0, 2, 1)];
    assert_eq!(shown(&[(&set, 0), (&other, 0), (&[], 2)]), ["=SUM(A2:A2)"]);
}

#[test]
fn formulas_follow_rows_of_other_sheets_without_cells() {
    let add = [add_sheet(1, "Data"), add_sheet(2, "Other")];
    let set = [formulas(0, &[(0, 0, "=Data!A5+A5"), (1, 0, "=Other!A5")])];
    let insert = [insert_rows(1, 0, 2)];
    let rename = Operation::RenameSheet(cellar_sheet::operation::RenameSheet {
        sheet: SheetId(1),
        name: "New name".to_owned(),
    });
    let delete = Operation::DeleteSheet(cellar_sheet::operation::DeleteSheet { sheet: SheetId(2) });
    let last = [rename, delete];
    let expected = ["='New name'!A9+A5", "=#REF!"];
    let histories: [&[(&[Operation], usize)]; 3] = [
        &[(&add, 0), (&set, 0), (&insert, 0), (&insert, 0), (&last, 0)],
        // Sheet 1 has no cells, but its moves are needed above the level of the formulas.
        &[(&add, 0), (&set, 0), (&insert, 0), (&insert, 1), (&last, 1)],
        &[(&add, 0), (&set, 1), (&insert, 1), (&insert, 2), (&last, 1)],
    ];
    for history in histories {
        assert_eq!(shown(history), expected);
    }
}

/// Fills 400 rows of the first columns with numbers, and column E with a formula.
fn filled(formula: impl Fn(u32) -> Option<String>) -> Vec<Operation> {
    let Operation::SetCells(numbers) = fill(0..400, 0.0) else { panic!() };
    let cell = |row| CellEdit {
        row,
        column: 4,
        value: Some(Value::Number(0.5)),
        formula: formula(row),
        format: None,
    };
    let cells = (0..400).map(cell).collect();
    let formulas = SetCells { sheet: SheetId::FIRST, cells };
    vec![Operation::SetCells(numbers), Operation::SetCells(formulas)]
}

/// Merges an insertion with the level of filled tiles. Returns the numbers of all tiles, of reused
/// tiles and of loaded tiles.
fn after_insertion(formula: impl Fn(u32) -> Option<String>) -> (usize, usize, usize) {
    let bytes_per_cell = TARGET_CHUNK_BYTES / 100;
    let mut world = World { bytes_per_cell, ..World::default() };
    let mut model = FormulaModel::default();
    let first = filled(formula);
    let mut history: Vec<&[Operation]> = vec![&first];
    // The size of folded cells is estimated, so the first merge chooses narrower stripes.
    let again = [fill(0..1, 0.25)];
    history.push(&again);
    let insert = [insert_rows(0, 100, 1)];
    history.push(&insert);
    for (index, operations) in history.into_iter().enumerate() {
        (world.reused, world.loaded) = (0, 0);
        world.snapshot(operations, index.min(1));
        model.apply_operations(operations);
        world.assert_shows_model(&model, &ALL);
    }
    (world.tiles(), world.reused, world.loaded)
}

#[test]
fn tiles_are_reused_if_their_formulas_stay_the_same() {
    let (tiles, reused, loaded) = after_insertion(|_| None);
    assert!(reused + 4 > tiles && loaded < 4, "{tiles} {reused} {loaded}");
    // Formulas of the same row move with it, so only the tile with the inserted row changes. The
    // index says so.
    let (tiles, reused, loaded) = after_insertion(|row| Some(format!("=A{0}*B{0}", row + 1)));
    assert!(reused + 4 > tiles && loaded < 8, "{tiles} {reused} {loaded}");
    // References above the inserted row do not move, but only the templates say that they have `$`.
    let (tiles, reused, loaded) = after_insertion(|row| Some(format!("=A{}*B$50", row + 1)));
    assert!(reused + 4 > tiles && loaded > tiles / 2, "{tiles} {reused} {loaded}");
    // Row 150 moves.
    let (_, reused, _) = after_insertion(|row| Some(format!("=A{}*B$150", row + 1)));
    assert_eq!(reused, 0);
    // Only the first tiles have formulas.
    let few = |row| (row < 30).then(|| "=A1".to_owned());
    let (tiles, reused, loaded) = after_insertion(few);
    assert!(reused + 4 > tiles && loaded < 8, "{tiles} {reused} {loaded}");
}

/// Adds a level that an older release has written: formulas are texts, and the index does not have
/// their number.
fn push_old_level(world: &mut World, model: &mut FormulaModel, rows: u32, formula: &str) {
    let mut column = TileColumn::new(0);
    for row in 0..rows {
        column.values.push(row, TileValue::Number(1.0));
        column.formulas.push(row, formula);
    }
    let tile = Tile { columns: vec![column] };
    let hash = ChunkHash([7; 32]);
    world.chunks.borrow_mut().insert(hash, Arc::new(tile));
    // A smaller tile would be in a wider stripe of the merged level.
    let bytes = u32::try_from(2 * TARGET_CHUNK_BYTES).unwrap();
    let place = StripeTile {
        rows: Span { first: 0, count: rows },
        cells: rows,
        stored: StoredTile::Chunk(ChunkRef { hash, bytes }),
        formulas: None,
    };
    let columns = Span { first: 0, count: 128 };
    let stripes = vec![Stripe { columns, tiles: vec![place] }];
    let moves = SheetMoves::default();
    world.levels.push(Level { sheets: vec![LevelSheet { sheet: SheetId::FIRST, moves, stripes }] });
    let texts: Vec<_> = (0..rows).map(|row| (row, 0, formula)).collect();
    let set = formulas(0, &texts);
    model.apply(&set);
    world.metadata.sheets.get_mut(&SheetId::FIRST).unwrap().extent.cover(rows - 1, 0);
}

#[test]
fn formulas_of_older_releases_move_from_now_on() {
    for merged in [0, 1] {
        for formula in ["=sum(A5:$A$9)", "=1+1", "=SUM("] {
            let mut world = World { bytes_per_cell: 1, ..World::default() };
            let mut model = FormulaModel::default();
            push_old_level(&mut world, &mut model, 3, formula);
            world.assert_shows_model(&model, &ALL);
            for _ in 0..3 {
                let insert = [insert_rows(0, 4, 1)];
                world.snapshot(&insert, merged);
                model.apply_operations(&insert);
                let expected = world.formulas(&model, SheetId::FIRST);
                assert_eq!(expected.len(), 3);
            }
            let hash = ChunkHash([7; 32]);
            let tiles = world.levels.iter().flat_map(|level| &level.sheets);
            let mut tiles = tiles.flat_map(|sheet| &sheet.stripes).flat_map(|s| &s.tiles);
            let is_old = |tile: &StripeTile| matches!(&tile.stored, StoredTile::Chunk(chunk) if chunk.hash == hash);
            // A tile is kept if its formulas have no references.
            assert_eq!(tiles.any(is_old), merged == 0 || !formula.contains("A5"));
        }
    }
}
