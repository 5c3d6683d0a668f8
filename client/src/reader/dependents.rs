//! Finds the formulas that read given cells.

use cellar_snapshot::dependents::{
    DependentBounds, DependentFormulas, DependentSearch, SearchStep, SearchedState, SheetArea,
};
use cellar_snapshot::objects::Objects;

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
        let search = DependentSearch::new(SearchedState { root, tail, metadata }, areas, bounds);
        source.search(&mut self.objects, search).await
    }
}

impl SnapshotSource {
    /// Completes a search. Loads the objects that it needs.
    pub(super) async fn search(
        &self,
        objects: &mut Objects,
        mut search: DependentSearch<'_>,
    ) -> Result<DependentFormulas, ReaderError> {
        loop {
            let step = search.step(objects);
            match step.map_err(|error| ReaderError::inconsistent(self.log(), &error))? {
                SearchStep::Load(requests) => self.load_chunks(&requests, objects).await?,
                SearchStep::Done(found) => return Ok(found),
            }
        }
    }
}
