//! Finds the cells that results of several cells fill.

use cellar_calculation::{Calculation, CellKey, KeptCalculation, SpillSearch};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::dependents::{DependentFormula, DependentSearch, SearchedState};
use cellar_snapshot::outdated::OutdatedBy;

use super::{LogError, View};

impl View {
    /// Returns the used range of a sheet with the cells that results fill.
    pub(super) async fn used_range(&mut self, sheet: SheetId) -> Result<Extent, LogError> {
        self.find_spills().await?;
        let stored = self.metadata.sheets.get(&sheet).map(|metadata| metadata.extent);
        Ok(self.calculation.used_range(sheet, stored.unwrap_or_default()))
    }

    /// Finds the cells that results fill, unless they are known.
    pub(super) async fn find_spills(&mut self) -> Result<(), LogError> {
        if matches!(*self.calculation, KeptCalculation::None) {
            let mut search = self.spill_search().await?;
            *self.calculation = if search.is_empty() {
                KeptCalculation::WithoutSpills
            } else {
                KeptCalculation::Started(Box::new(self.calculate_spills(&mut search).await?))
            };
        }
        Ok(())
    }

    async fn spill_search(&mut self) -> Result<SpillSearch, LogError> {
        let Self { family, root, newest_level: tail, metadata, objects, store, .. } = self;
        let state = SearchedState { root: root.as_deref(), tail, metadata };
        let search = DependentSearch::of_arrays(state);
        let found = store.search(*family, objects, search).await?;
        let key = |formula: DependentFormula| CellKey { sheet: formula.sheet, cell: formula.cell };
        Ok(SpillSearch::new(found.formulas.into_iter().map(key)))
    }

    /// Returns a calculation that knows the cells that results fill.
    async fn calculate_spills(
        &mut self,
        search: &mut SpillSearch,
    ) -> Result<Calculation, LogError> {
        loop {
            let filled = search.changed_cells();
            let outdated = self.find_outdated(OutdatedBy::Any, &filled).await?;
            let calculation = Calculation::new(self.calculated_workbook(), outdated);
            let mut calculation = search.prepare(calculation);
            search.start(&mut calculation);
            self.run(&mut calculation).await?;
            search.start_placing(&mut calculation);
            self.run(&mut calculation).await?;
            if search.advance(&calculation) {
                return Ok(calculation);
            }
        }
    }
}
