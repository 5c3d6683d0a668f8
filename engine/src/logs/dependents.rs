//! Finds the formulas that lose references if rows, columns or sheets are deleted.

use cellar_base::identity::LogId;
use cellar_snapshot::dependents::{
    DependentBounds, DependentFormulas, DependentSearch, SearchStep, SearchedState, SheetArea,
};
use cellar_snapshot::objects::Objects;

use super::{LogError, View};
use crate::snapshots::{ObjectFault, ObjectStore, snapshot_fault};

impl View {
    /// Returns the formulas outside of `areas` that lose references if the areas are deleted. The
    /// areas are whole rows, columns or sheets.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Snapshot`] if a snapshot object is missing or damaged, or
    /// [`LogError::Store`] if the store fails.
    pub(super) async fn formulas_losing_references(
        &mut self,
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> Result<DependentFormulas, LogError> {
        let Self { family, root, newest_level: tail, metadata, objects, store, .. } = self;
        let state = SearchedState { root: root.as_deref(), tail, metadata };
        let search = DependentSearch::of_lost_references(state, areas, bounds);
        Ok(store.search(*family, objects, search).await?)
    }
}

impl ObjectStore {
    /// Completes a search. Loads the objects that it needs.
    pub(super) async fn search(
        &self,
        family: LogId,
        objects: &mut Objects,
        mut search: DependentSearch<'_>,
    ) -> Result<DependentFormulas, ObjectFault> {
        loop {
            let step = search.step(objects);
            match step.map_err(|error| snapshot_fault(family, &error))? {
                SearchStep::Load(requests) => self.load(family, &requests, objects).await?,
                SearchStep::Done(found) => return Ok(found),
            }
        }
    }
}
