//! Calculates the formulas of the cells that were read.

use cellar_base::limits::MAX_READ_BAND_TILES;
use cellar_calculation::{
    CalculatedWorkbook, Calculation, CalculationStep, CellWindow, KeptCalculation, has_formulas,
};
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::dependents::{SearchedState, SheetArea};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::outdated::{OutdatedBy, find_outdated};
use cellar_snapshot::tile::Tile;
use cellar_snapshot::view;

use super::ReaderError;
use super::objects::SnapshotSource;
use super::opened::ReadableState;

impl ReadableState {
    /// Gives formulas among the cells of a window their calculated values, and adds the cells that
    /// results of other cells fill. Loads the cells that the formulas read.
    pub(super) async fn calculate(
        &mut self,
        source: &SnapshotSource,
        CellWindow { sheet, window }: &CellWindow,
        cells: &mut Vec<TileCell>,
    ) -> Result<(), ReaderError> {
        self.find_spills(source).await?;
        let mut calculation = match std::mem::take(&mut self.calculation) {
            KeptCalculation::Started(calculation) => calculation,
            kept if !has_formulas(cells) => {
                self.calculation = kept;
                return Ok(());
            }
            _ => Box::new(self.new_calculation(source, &[]).await?),
        };
        if has_formulas(cells) {
            calculation.start_window(*sheet, cells);
            self.run(source, &mut calculation).await?;
            calculation.show_results(*sheet, cells);
        }
        if let Some(metadata) = self.metadata.sheets.get(sheet) {
            calculation.show_spilled_cells(*sheet, window, &metadata.formats, cells);
        }
        self.calculation = KeptCalculation::Started(calculation);
        Ok(())
    }

    /// Returns a calculation. `filled` are the cells that results fill.
    pub(super) async fn new_calculation(
        &mut self,
        source: &SnapshotSource,
        filled: &[SheetArea],
    ) -> Result<Calculation, ReaderError> {
        let Self { root, tail, metadata, objects, .. } = self;
        let state = SearchedState { root: root.as_ref(), tail, metadata };
        let find = |objects: &Objects| find_outdated(state, OutdatedBy::Any, filled, objects);
        let outdated = source.load_until_ready(objects, find).await?;
        let seed = CalculatedWorkbook::seed(source.log(), self.position);
        let workbook = CalculatedWorkbook::new(&self.metadata, self.created_s, seed);
        Ok(Calculation::new(workbook, outdated))
    }

    pub(super) async fn run(
        &mut self,
        source: &SnapshotSource,
        calculation: &mut Calculation,
    ) -> Result<(), ReaderError> {
        loop {
            match calculation.step() {
                CalculationStep::Done => return Ok(()),
                CalculationStep::Cells(windows) => {
                    for window in windows {
                        let tile = self.read_tile(source, &window).await?;
                        calculation.supply(&window, tile);
                    }
                }
                CalculationStep::LongTexts(hashes) => {
                    let hashes = hashes.into_iter().map(ChunkHash).collect();
                    let mut texts = self.load_texts(source, &hashes).await?;
                    for hash in &hashes {
                        calculation.supply_text(&hash.0, texts.take(hash));
                    }
                }
            }
        }
    }

    async fn read_tile(
        &mut self,
        source: &SnapshotSource,
        CellWindow { sheet, window }: &CellWindow,
    ) -> Result<Tile, ReaderError> {
        if self.objects.tile_count() > MAX_READ_BAND_TILES {
            self.objects.drop_tiles();
        }
        let Self { root, tail, metadata, objects, .. } = self;
        let (root, tabs) = (root.as_ref(), &metadata.tabs);
        let read = |objects: &Objects| {
            view::read_window_with_templates(root, tail, tabs, *sheet, window, objects)
        };
        source.load_until_ready(objects, read).await
    }
}
