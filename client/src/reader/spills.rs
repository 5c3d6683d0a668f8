//! Finds the cells that results of several cells fill.

use cellar_calculation::{Calculation, CellKey, KeptCalculation, SpillSearch};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::dependents::{DependentFormula, DependentSearch, SearchedState};

use super::ReaderError;
use super::objects::SnapshotSource;
use super::opened::ReadableState;

impl ReadableState {
    /// Returns the used range of a sheet with the cells that results fill, or `None` if the sheet does
    /// not exist.
    pub(super) async fn used_range(
        &mut self,
        source: &SnapshotSource,
        sheet: SheetId,
    ) -> Result<Option<Extent>, ReaderError> {
        let Some(metadata) = self.metadata.sheets.get(&sheet) else { return Ok(None) };
        let stored = metadata.extent;
        self.find_spills(source).await?;
        Ok(Some(self.calculation.used_range(sheet, stored)))
    }

    /// Finds the cells that results fill, unless they are known.
    pub(super) async fn find_spills(&mut self, source: &SnapshotSource) -> Result<(), ReaderError> {
        if matches!(self.calculation, KeptCalculation::None) {
            let mut search = self.spill_search(source).await?;
            self.calculation = if search.is_empty() {
                KeptCalculation::WithoutSpills
            } else {
                let calculation = self.calculate_spills(source, &mut search).await?;
                KeptCalculation::Started(Box::new(calculation))
            };
        }
        Ok(())
    }

    async fn spill_search(&mut self, source: &SnapshotSource) -> Result<SpillSearch, ReaderError> {
        let Self { root, tail, metadata, objects, .. } = self;
        let state = SearchedState { root: root.as_ref(), tail, metadata };
        let search = DependentSearch::of_arrays(state);
        let found = source.search(objects, search).await?;
        let key = |formula: DependentFormula| CellKey { sheet: formula.sheet, cell: formula.cell };
        Ok(SpillSearch::new(found.formulas.into_iter().map(key)))
    }

    /// Returns a calculation that knows the cells that results fill.
    async fn calculate_spills(
        &mut self,
        source: &SnapshotSource,
        search: &mut SpillSearch,
    ) -> Result<Calculation, ReaderError> {
        loop {
            let filled = search.changed_cells();
            let calculation = self.new_calculation(source, &filled).await?;
            let mut calculation = search.prepare(calculation);
            search.start(&mut calculation);
            self.run(source, &mut calculation).await?;
            search.start_placing(&mut calculation);
            self.run(source, &mut calculation).await?;
            if search.advance(&calculation) {
                return Ok(calculation);
            }
        }
    }
}
