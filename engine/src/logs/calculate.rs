//! Calculates the formulas of the cells that were read.

use cellar_calculation::{CalculatedWorkbook, Calculation, CalculationStep, has_formulas};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::dependents::SearchedState;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::outdated::{OutdatedAreas, OutdatedBy, find_outdated};

use super::view::LongText;
use super::{LogError, View};

impl View {
    /// Gives formulas among the cells of a sheet their calculated values. Loads the cells that they
    /// read.
    pub(super) async fn calculate(
        &mut self,
        sheet: SheetId,
        cells: &mut [TileCell],
    ) -> Result<(), LogError> {
        if !has_formulas(cells) {
            return Ok(());
        }
        let mut calculation = match self.calculation.take() {
            Some(calculation) => calculation,
            None => self.new_calculation().await?,
        };
        calculation.start_window(sheet, cells);
        self.run(&mut calculation).await?;
        calculation.show_results(sheet, cells);
        self.calculation = Some(calculation);
        Ok(())
    }

    async fn new_calculation(&mut self) -> Result<Calculation, LogError> {
        let outdated = self.find_outdated(OutdatedBy::Any).await?;
        Ok(Calculation::new(self.calculated_workbook(), outdated))
    }

    pub(super) fn calculated_workbook(&self) -> CalculatedWorkbook {
        let seed = CalculatedWorkbook::seed(self.log, self.position);
        CalculatedWorkbook::new(&self.metadata, self.created_s, seed)
    }

    /// Returns the cells whose formulas may have other values than those that are stored.
    pub(super) async fn find_outdated(
        &mut self,
        cause: OutdatedBy,
    ) -> Result<OutdatedAreas, LogError> {
        let Self { root, newest_level: tail, metadata, objects, store, family, .. } = self;
        let state = SearchedState { root: root.as_deref(), tail, metadata };
        let find = |objects: &Objects| find_outdated(state, cause, objects);
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
