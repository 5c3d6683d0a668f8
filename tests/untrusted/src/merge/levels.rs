//! Levels in chunks, merged as a snapshot worker merges them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::limits::{
    MAX_COLUMNS, MAX_ROWS, MAX_STRIPE_COLUMNS, MAX_TILE_CELLS, MIN_STRIPE_COLUMNS,
};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Cell;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_snapshot::cells::visible_cells;
use cellar_snapshot::chunk::{chunk_of, decode};
use cellar_snapshot::fold::{Fold, FoldedSheet};
use cellar_snapshot::level::{ChunkHash, ChunkRef, Level, LevelSheet, StoredTile, StripeTile};
use cellar_snapshot::merge::{
    FormulaMapping, LevelInput, Merge, MergeCursor, MergeStep, MergedTile, OlderLevels, PlacedTile,
    SheetInput, TileSize, Window, map_levels_to_newest, merge_window, with_formula_texts,
};
use cellar_snapshot::packed::{Bounds, PackedObject, unpack};
use cellar_snapshot::tile::Tile;

const ALL: Window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
/// Maximum steps of a merge; more count as an endless loop.
const MAX_STEPS: usize = 100_000;

/// Parameters of merges.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergeParameters {
    /// Assumed bytes of a cell: a large number makes few cells fill a tile.
    pub(super) bytes_per_cell: usize,
    /// Number of tiles after which the merge is resumed from its cursor; 0 for never.
    pub(super) resumed_every: usize,
    /// Whether stripes have the minimum width.
    pub(super) narrow: bool,
}

/// A snapshot: its metadata, its levels, and the tiles that they reference.
pub(super) struct Levels {
    how: MergeParameters,
    pub(super) metadata: WorkbookMetadata,
    pub(super) levels: Vec<Level>,
    chunks: RefCell<BTreeMap<ChunkHash, Arc<Tile>>>,
}

impl Levels {
    pub(super) fn new(how: MergeParameters) -> Self {
        let (levels, chunks) = (Vec::new(), RefCell::default());
        Self { how, metadata: WorkbookMetadata::default(), levels, chunks }
    }

    /// Stores a tile as a chunk with an assumed length.
    fn encode(&self, tile: &Tile) -> Option<PackedObject> {
        assert!(tile.is_valid());
        let object = chunk_of(tile)?;
        let plain = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).expect("our own");
        let read = decode(&plain).expect("our own");
        self.chunks.borrow_mut().insert(object.chunk.hash, Arc::new(read));
        let stored = vec![0; tile.cell_count() * self.how.bytes_per_cell];
        let bytes = u32::try_from(stored.len()).unwrap();
        Some(PackedObject { chunk: ChunkRef { bytes, ..object.chunk }, stored })
    }

    /// Folds operations on top of the levels. Removes the newest `merged` levels and returns them
    /// with the folded level as input of a merge.
    pub(super) fn fold(&mut self, operations: &[Operation], merged: usize) -> Vec<SheetInput> {
        let mut fold = Fold::new(self.metadata.clone());
        fold.apply_operations(operations).unwrap();
        let (metadata, folded) = fold.finish();
        self.metadata = metadata;
        let newest = self.levels.split_off(self.levels.len().saturating_sub(merged));
        let inputs = self.metadata.sheets.keys();
        inputs.filter_map(|id| self.input(*id, &newest, &folded.sheets)).collect()
    }

    fn input(&self, id: SheetId, newest: &[Level], folded: &[FoldedSheet]) -> Option<SheetInput> {
        let metadata = self.metadata.sheets.get(&id)?;
        let stored = newest.iter().map(|level| sheet_of(level, id)).enumerate();
        let stored = stored.filter_map(|(index, sheet)| Some((sheet?.clone(), index)));
        let stored = stored
            .map(|(sheet, index)| LevelInput::from_chunks(sheet, index).expect("only chunks"));
        let folded = folded.iter().filter(|sheet| sheet.sheet == id).cloned();
        let folded = folded.map(|sheet| LevelInput::from_folded(sheet, newest.len()));
        let levels: Vec<_> = stored.chain(folded).collect();
        let unformatted = metadata.formats.in_rectangle(Rectangle::EVERYTHING).is_empty();
        let older_levels = match (self.levels.is_empty(), unformatted) {
            (false, _) => OlderLevels::Present,
            (true, false) => OlderLevels::Absent,
            (true, true) => OlderLevels::AbsentWithoutRangeFormats,
        };
        let max_stripe_columns =
            if self.how.narrow { MIN_STRIPE_COLUMNS } else { MAX_STRIPE_COLUMNS };
        let written_columns = metadata.extent.columns;
        let input = SheetInput {
            sheet: id,
            older_levels,
            written_columns,
            max_stripe_columns,
            levels,
            has_older_formulas: !self.levels.is_empty(),
            tabs: Arc::new(self.metadata.tabs.clone()),
        };
        (!input.levels.is_empty()).then_some(input)
    }

    /// Runs a merge, and adds its result as the newest level.
    pub(super) fn merge(&mut self, inputs: &[SheetInput]) {
        let begun = Merge::new(inputs.to_vec());
        let level = self.run(begun, inputs, Vec::new(), &|_, tile| tile).expect("rows that fit");
        self.assert_valid(&level);
        self.levels.push(level);
    }

    /// Runs a merge from an arbitrary cursor, with arbitrary merged tiles, over tiles that `change`
    /// may replace; returns whether the merge succeeded.
    pub(super) fn merge_hostile(
        &self,
        inputs: &[SheetInput],
        done: Vec<MergedTile>,
        cursor: MergeCursor,
        change: &dyn Fn(ChunkHash, Arc<Tile>) -> Arc<Tile>,
    ) -> bool {
        let resumed = Merge::resume(inputs.to_vec(), done.clone(), cursor);
        self.run(resumed, inputs, done, change).is_some()
    }

    /// Runs a merge to its end; returns `None` if a row does not fit.
    fn run(
        &self,
        mut merge: Merge,
        inputs: &[SheetInput],
        mut done: Vec<MergedTile>,
        change: &dyn Fn(ChunkHash, Arc<Tile>) -> Arc<Tile>,
    ) -> Option<Level> {
        let mut tiles = 0;
        for _ in 0..MAX_STEPS {
            match merge.step(&|tile| self.encode(tile)).ok()? {
                MergeStep::Load(chunks) => {
                    assert!(!chunks.is_empty(), "nothing is asked for");
                    for chunk in chunks {
                        let tile = self.chunks.borrow().get(&chunk.hash).cloned();
                        merge.provide(chunk.hash, change(chunk.hash, tile.unwrap_or_default()));
                    }
                }
                MergeStep::Tile { tile, cursor, .. } => {
                    done.push(tile);
                    tiles += 1;
                    if self.how.resumed_every > 0 && tiles % self.how.resumed_every == 0 {
                        merge = Merge::resume(inputs.to_vec(), done.clone(), cursor);
                    }
                }
                MergeStep::Done(level) => return Some(level),
            }
        }
        panic!("no end comes after {MAX_STEPS} steps");
    }

    /// Checks that stripes and tiles are sorted, do not overlap, and match the number of their
    /// cells.
    fn assert_valid(&self, level: &Level) {
        for sheet in &level.sheets {
            assert!(sheet.stripes.is_sorted_by(|a, b| a.columns.end() <= b.columns.first));
            for stripe in &sheet.stripes {
                assert!(stripe.columns.end() <= MAX_COLUMNS && !stripe.tiles.is_empty());
                assert!(stripe.tiles.is_sorted_by(|a, b| a.rows.end() <= b.rows.first));
                stripe.tiles.iter().for_each(|tile| self.assert_fills(tile, stripe.columns.count));
            }
        }
    }

    fn assert_fills(&self, place: &StripeTile, columns: u32) {
        let tile = self.tile(place);
        assert_eq!((tile.first_row(), tile.end()), (Some(0), place.rows.count));
        assert!(place.rows.end() <= MAX_ROWS && tile.cell_count() <= MAX_TILE_CELLS);
        assert!(tile.columns.iter().all(|column| column.index < columns));
        assert_eq!(u32::try_from(tile.cell_count()), Ok(place.cells));
    }

    fn tile(&self, place: &StripeTile) -> Arc<Tile> {
        let StoredTile::Chunk(chunk) = &place.stored else { panic!("a merge makes chunks") };
        Arc::clone(self.chunks.borrow().get(&chunk.hash).expect("it was stored"))
    }

    /// Returns all cells of a sheet, read through its levels.
    pub(super) fn visible_cells(&self, id: SheetId) -> Vec<((u32, u32), Cell)> {
        let sheets: Vec<_> = self.levels.iter().filter_map(|level| sheet_of(level, id)).collect();
        let sources =
            map_levels_to_newest(&sheets.iter().map(|sheet| &sheet.moves).collect::<Vec<_>>());
        let placed = |sheet: &LevelSheet| {
            let tiles = sheet.stripes.iter().flat_map(|stripe| {
                stripe.tiles.iter().map(|tile| (stripe.columns, tile.rows, self.tile(tile)))
            });
            tiles.collect::<Vec<_>>()
        };
        let tiles: Vec<_> = sheets.into_iter().map(placed).collect();
        let parts = tiles.iter().zip(&sources).flat_map(|(tiles, source)| {
            tiles.iter().map(move |(columns, rows, tile)| {
                let size = TileSize { rows: rows.count, columns: columns.count };
                let (first_row, first_column) = (rows.first, columns.first);
                PlacedTile {
                    tile,
                    first_row,
                    first_column,
                    size,
                    mapping: source,
                    formulas: FormulaMapping::unmoved(),
                }
            })
        });
        let merged = merge_window(&parts.collect::<Vec<_>>(), &ALL, OlderLevels::Absent);
        let tile = with_formula_texts(merged, &self.metadata.tabs);
        let metadata = self.metadata.sheets.get(&id).expect("the same sheets");
        let placed = visible_cells(&tile, &metadata.formats).into_iter();
        placed.map(|cell| ((cell.row, cell.column), cell.cell)).collect()
    }
}

fn sheet_of(level: &Level, id: SheetId) -> Option<&LevelSheet> {
    level.sheets.iter().find(|sheet| sheet.sheet == id)
}
