//! Calculates the formulas of the cells that were read.

use cellar_calculation::{CalculatedWorkbook, Calculation, CalculationStep, has_formulas};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::TileCell;

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
        let mut calculation = self.calculation.take().unwrap_or_else(|| self.new_calculation());
        calculation.start_window(sheet, cells);
        self.run(&mut calculation).await?;
        calculation.show_results(sheet, cells);
        self.calculation = Some(calculation);
        Ok(())
    }

    fn new_calculation(&self) -> Calculation {
        let seed = CalculatedWorkbook::seed(self.log, self.position);
        Calculation::new(CalculatedWorkbook::new(&self.metadata, self.created_s, seed))
    }

    async fn run(&mut self, calculation: &mut Calculation) -> Result<(), LogError> {
        loop {
            match calculation.step() {
                CalculationStep::Done => return Ok(()),
                CalculationStep::Cells(windows) => {
                    for window in windows {
                        let tile = self.merged_tile(window.sheet, &window.window).await?;
                        calculation.supply(&window, &tile);
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
