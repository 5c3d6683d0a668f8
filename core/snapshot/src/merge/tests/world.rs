//! Levels in chunks whose sizes the test chooses.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cells::visible_cells;
use crate::fold::{Fold, FoldedSheet};
use crate::level::{ChunkHash, ChunkRef, Level, LevelSheet, StoredTile, StripeTile};
use crate::merge::{
    FormulaMapping, LevelInput, Merge, MergeStep, OlderLevels, PlacedTile, SheetInput, TileSize,
    Window, map_levels_to_newest, merge_window, with_formula_texts,
};
use crate::packed::PackedObject;
use crate::tile::Tile;
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::MAX_STRIPE_COLUMNS;
use cellar_formula::Template;
use cellar_formula::changes::MovedLines;
use cellar_formula::expression::FormulaTraits;
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::cell::Cell;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::Workbook;

/// Chunks, levels and metadata, as a worker would store them.
#[derive(Default)]
pub(super) struct World {
    pub(super) metadata: WorkbookMetadata,
    pub(super) levels: Vec<Level>,
    pub(super) chunks: RefCell<BTreeMap<ChunkHash, Arc<Tile>>>,
    /// Pretended stored bytes per cell.
    pub(super) bytes_per_cell: usize,
    /// Number of steps after which a merge is resumed from its cursor.
    pub(super) resumed_every: usize,
    pub(super) reused: usize,
    /// Number of loaded tiles.
    pub(super) loaded: usize,
}

/// Composes the moves of newer levels, oldest first.
pub(super) fn formula_mapping(
    newer: &[Level],
    sheet: SheetId,
    metadata: &WorkbookMetadata,
) -> FormulaMapping {
    let moves = newer.iter().fold(MovedLines::default(), |older, level| {
        let own = level.sheets.iter().map(|sheet| (sheet.sheet, sheet.moves.lines()));
        older.then(&own.collect())
    });
    let tabs = Arc::new(metadata.tabs.clone());
    FormulaMapping { sheet, moves: Arc::new(moves), tabs, file: None }
}

impl World {
    fn encode(&self, tile: &Tile) -> PackedObject {
        let hash = ChunkHash(*blake3::hash(format!("{tile:?}").as_bytes()).as_bytes());
        let stored = vec![0; tile.cell_count() * self.bytes_per_cell];
        self.chunks.borrow_mut().insert(hash, Arc::new(tile.clone()));
        PackedObject {
            chunk: ChunkRef { hash, bytes: u32::try_from(stored.len()).unwrap() },
            stored,
        }
    }

    /// Folds operations and merges the result with the newest levels.
    pub(super) fn snapshot(&mut self, operations: &[Operation], merged: usize) {
        let mut fold = Fold::new(self.metadata.clone());
        fold.apply_operations(operations).unwrap();
        let (metadata, folded) = fold.finish();
        self.metadata = metadata;
        let kept = self.levels.len().saturating_sub(merged);
        let newest = self.levels.split_off(kept);
        let inputs = self.inputs(&newest, &folded.sheets);
        let level = self.merge(&inputs);
        self.levels.push(level);
    }

    fn inputs(&self, newest: &[Level], folded: &[FoldedSheet]) -> Vec<SheetInput> {
        let tabs = Arc::new(self.metadata.tabs.clone());
        let sheets = self.metadata.sheets.iter().filter_map(|(id, metadata)| {
            let of = |level: &Level| level.sheets.iter().find(|s| s.sheet == *id).cloned();
            let stored = newest.iter().enumerate().filter_map(|(index, level)| {
                Some(LevelInput::from_chunks(of(level)?, index).unwrap())
            });
            let new = folded.iter().find(|sheet| sheet.sheet == *id).cloned();
            let new = new.map(|sheet| LevelInput::from_folded(sheet, newest.len()));
            let levels: Vec<_> = stored.chain(new).collect();
            let older_levels = match (self.levels.is_empty(), metadata.formats.is_empty()) {
                (false, _) => OlderLevels::Present,
                (true, false) => OlderLevels::Absent,
                (true, true) => OlderLevels::AbsentWithoutRangeFormats,
            };
            (!levels.is_empty()).then_some(SheetInput {
                sheet: *id,
                older_levels,
                written_columns: metadata.extent.columns,
                max_stripe_columns: MAX_STRIPE_COLUMNS,
                levels,
                has_older_formulas: self.has_formulas(),
                tabs: Arc::clone(&tabs),
            })
        });
        sheets.collect()
    }

    /// Returns whether any tile of the levels has formulas.
    fn has_formulas(&self) -> bool {
        let stripes = self.levels.iter().flat_map(|level| &level.sheets).flat_map(|s| &s.stripes);
        let mut tiles = stripes.flat_map(|stripe| &stripe.tiles);
        tiles.any(StripeTile::may_have_formulas)
    }

    fn merge(&mut self, inputs: &[SheetInput]) -> Level {
        let (mut merge, mut done, mut steps) = (Merge::new(inputs.to_vec()), Vec::new(), 0);
        loop {
            match merge.step(&|tile| Some(self.encode(tile))).unwrap() {
                MergeStep::Load(chunks) => {
                    assert!(!chunks.is_empty());
                    for chunk in chunks {
                        let tile = Arc::clone(&self.chunks.borrow()[&chunk.hash]);
                        self.loaded += 1;
                        merge.provide(chunk.hash, tile);
                    }
                }
                MergeStep::Tile { tile, chunk, cursor } => {
                    self.reused += usize::from(chunk.is_none());
                    done.push(tile);
                    steps += 1;
                    if self.resumed_every > 0 && steps % self.resumed_every == 0 {
                        merge = Merge::resume(inputs.to_vec(), done.clone(), cursor);
                    }
                }
                MergeStep::Done(level) => break level,
            }
        }
    }

    fn read(&self, id: SheetId, window: &Window) -> Tile {
        let of = |level: &Level| level.sheets.iter().find(|s| s.sheet == id).cloned();
        let sheets: Vec<LevelSheet> = self.levels.iter().filter_map(of).collect();
        let changes: Vec<_> = sheets.iter().map(|sheet| &sheet.moves).collect();
        let sources = map_levels_to_newest(&changes);
        let with_sheet = |level: &&Level| level.sheets.iter().any(|s| s.sheet == id);
        let levels = self.levels.iter().enumerate().filter(|(_, level)| with_sheet(level));
        let formulas: Vec<_> = levels
            .map(|(index, _)| formula_mapping(&self.levels[index + 1..], id, &self.metadata))
            .collect();
        let chunks = self.chunks.borrow();
        let mut parts = Vec::new();
        for ((sheet, source), formulas) in sheets.iter().zip(&sources).zip(&formulas) {
            for stripe in &sheet.stripes {
                for tile in &stripe.tiles {
                    let StoredTile::Chunk(chunk) = &tile.stored else { panic!("no chunk") };
                    let (first_row, first_column) = (tile.rows.first, stripe.columns.first);
                    let size = TileSize { rows: tile.rows.count, columns: stripe.columns.count };
                    let tile = &chunks[&chunk.hash];
                    parts.push(PlacedTile {
                        tile,
                        first_row,
                        first_column,
                        size,
                        mapping: source,
                        formulas,
                    });
                }
            }
        }
        with_formula_texts(merge_window(&parts, window, OlderLevels::Absent), &self.metadata.tabs)
    }

    /// Asserts that every sheet equals that of a workbook.
    pub(super) fn assert_shows(&self, workbook: &Workbook, window: &Window) {
        self.assert_shows_cells(workbook, window, |cell| cell);
    }

    /// Asserts that every sheet equals that of a workbook whose cells `shown` changes.
    pub(super) fn assert_shows_cells(
        &self,
        workbook: &Workbook,
        window: &Window,
        shown: impl Fn(Cell) -> Cell,
    ) {
        assert_eq!(workbook.tabs(), &self.metadata.tabs);
        for (id, sheet) in workbook.sheets() {
            let own = &self.metadata.sheets[&id];
            assert_eq!((sheet.extent(), sheet.formats()), (own.extent, &own.formats));
            let expected = sheet.cells_in(super::rectangle(window));
            let expected: Vec<_> = expected.map(|(place, cell)| (place, shown(cell))).collect();
            let found = visible_cells(&self.read(id, window), &own.formats);
            let found: Vec<_> =
                found.into_iter().map(|cell| ((cell.row, cell.column), cell.cell)).collect();
            assert_eq!(found, expected);
        }
        self.assert_sound();
    }

    /// Asserts that stripes and tiles are sorted and disjoint, and have the sizes of their cells.
    fn assert_sound(&self) {
        for sheet in self.levels.iter().flat_map(|level| &level.sheets) {
            assert!(sheet.stripes.is_sorted_by(|a, b| a.columns.end() <= b.columns.first));
            for stripe in &sheet.stripes {
                assert!(!stripe.tiles.is_empty());
                assert!(stripe.tiles.is_sorted_by(|a, b| a.rows.end() <= b.rows.first));
                for tile in &stripe.tiles {
                    let StoredTile::Chunk(chunk) = &tile.stored else { panic!("no chunk") };
                    let cells = &self.chunks.borrow()[&chunk.hash];
                    assert_eq!((cells.first_row(), cells.end()), (Some(0), tile.rows.count));
                    assert!(cells.columns.iter().all(|column| column.index < stripe.columns.count));
                    assert_eq!(cells.cell_count(), tile.cells as usize);
                    let formulas = u32::try_from(cells.formula_count()).unwrap();
                    let Some(known) = &tile.formulas else { continue };
                    assert_eq!(known.count, formulas);
                    let corner = CellName { row: tile.rows.first, column: stripe.columns.first };
                    assert_areas_contain_references(known, cells, corner, sheet.sheet);
                }
            }
        }
    }

    pub(super) fn tiles(&self) -> usize {
        let sheets = self.levels.iter().flat_map(|level| &level.sheets);
        sheets.flat_map(|sheet| &sheet.stripes).map(|stripe| stripe.tiles.len()).sum()
    }
}

/// Asserts that every reference of a tile is in one of its areas in the index.
fn assert_areas_contain_references(
    known: &TileFormulas,
    tile: &Tile,
    corner: CellName,
    sheet: SheetId,
) {
    let is_unlisted = known.reads.traits().has_any(FormulaTraits::UNLISTED_AREAS);
    for column in &tile.columns {
        for (row, encoded) in column.templates.iter() {
            let cell = CellName { row: corner.row + row, column: corner.column + column.index };
            let template = Template::decode(encoded.to_owned()).unwrap();
            for reference in template.references_at(cell) {
                let Some(named) = reference.area.rectangle() else { continue };
                let Some(number) = reference.sheet_number(sheet) else {
                    assert!(known.reads.traits().has_any(FormulaTraits::UNKNOWN_SHEETS));
                    continue;
                };
                let mut areas = known.reads.areas().iter().filter(|area| area.sheet == number);
                let contains = |area: &SheetArea| {
                    let Rectangle { first, last } = named;
                    area.cells.contains(first.row, first.column)
                        && area.cells.contains(last.row, last.column)
                };
                assert!(is_unlisted || areas.any(contains), "{reference:?} {known:?}");
            }
        }
    }
}
