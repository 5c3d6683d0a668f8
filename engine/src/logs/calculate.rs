//! Calculates the formulas of the cells that were read.

use cellar_calculation::{
    CalculatedWorkbook, Calculation, CalculationStep, KeptCalculation, has_formulas,
};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::dependents::{SearchedState, SheetArea};
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::outdated::{OutdatedAreas, OutdatedBy, find_outdated};

use super::view::LongText;
use super::{LogError, View};

impl View {
    /// Gives formulas among the cells of a window their calculated values, and adds the cells that
    /// results of other cells fill. Loads the cells that the formulas read.
    pub(super) async fn calculate(
        &mut self,
        sheet: SheetId,
        window: &Window,
        cells: &mut Vec<TileCell>,
    ) -> Result<(), LogError> {
        self.find_spills().await?;
        let mut calculation = match std::mem::take(&mut *self.calculation) {
            KeptCalculation::Started(calculation) => calculation,
            kept if !has_formulas(cells) => {
                *self.calculation = kept;
                return Ok(());
            }
            _ => Box::new(self.new_calculation().await?),
        };
        if has_formulas(cells) {
            calculation.start_window(sheet, cells);
            self.run(&mut calculation).await?;
            calculation.show_results(sheet, cells);
        }
        if let Some(metadata) = self.metadata.sheets.get(&sheet) {
            calculation.show_spilled_cells(sheet, window, &metadata.formats, cells);
        }
        *self.calculation = KeptCalculation::Started(calculation);
        Ok(())
    }

    /// Returns a calculation in which no result fills several cells.
    async fn new_calculation(&mut self) -> Result<Calculation, LogError> {
        let outdated = self.find_outdated(OutdatedBy::Any, &[]).await?;
        Ok(Calculation::new(self.calculated_workbook(), outdated))
    }

    pub(super) fn calculated_workbook(&self) -> CalculatedWorkbook {
        let seed = CalculatedWorkbook::seed(self.log, self.position);
        CalculatedWorkbook::new(&self.metadata, self.created_s, seed)
    }

    /// Returns the cells whose formulas may have other values than those that are stored. `filled`
    /// are the cells that results fill.
    pub(super) async fn find_outdated(
        &mut self,
        cause: OutdatedBy,
        filled: &[SheetArea],
    ) -> Result<OutdatedAreas, LogError> {
        let Self { root, newest_level: tail, metadata, objects, store, family, .. } = self;
        let state = SearchedState { root: root.as_deref(), tail, metadata };
        let find = |objects: &Objects| find_outdated(state, cause, filled, objects);
        Ok(store.load_until_ready(*family, objects, find).await?)
    }

    pub(super) async fn run(&mut self, calculation: &mut Calculation) -> Result<(), LogError> {
        loop {
            match calculation.step() {
                CalculationStep::Done => return Ok(()),
                CalculationStep::Cells(windows) => {
                    for window in windows {
                        let tile =
                            self.merged_tile_with_templates(window.sheet, &window.window).await?;
                        calculation.supply(&window, tile);
                    }
                }
                CalculationStep::LongTexts(hashes) => {
                    for hash in hashes {
                        let text = match self.long_text(hash).await? {
                            LongText::Whole(text) => Some(text),
                            LongText::Lost(_) => None,
                        };
                        calculation.supply_text(&hash, text);
                    }
                }
            }
        }
    }
}
