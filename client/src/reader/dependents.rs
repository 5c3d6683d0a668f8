//! Finds the formulas that read given cells.

use cellar_snapshot::dependents::{
    DependentBounds, DependentFormulas, DependentSearch, SearchStep, SearchedState, SheetArea,
};

use super::ReaderError;
use super::objects::SnapshotSource;
use super::opened::ReadableState;

impl ReadableState {
    /// Returns the formulas that name cells of `areas`, directly or through a defined name.
    pub(super) async fn formulas_reading(
        &mut self,
        source: &SnapshotSource,
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> Result<DependentFormulas, ReaderError> {
        let (root, tail, metadata) = (self.root.as_ref(), &self.tail, &self.metadata);
        let mut search =
            DependentSearch::new(SearchedState { root, tail, metadata }, areas, bounds);
        loop {
            let step = search.step(&mut self.objects);
            match step.map_err(|error| ReaderError::inconsistent(source.log(), &error))? {
                SearchStep::Load(requests) => {
                    source.load_chunks(&requests, &mut self.objects).await?;
                }
                SearchStep::Done(found) => return Ok(found),
            }
        }
    }
}
