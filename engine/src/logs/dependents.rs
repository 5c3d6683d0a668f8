//! Finds the formulas that read given cells.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_snapshot::dependents::{
    DependentBounds, DependentFormulas, DependentSearch, SearchStep, SearchedState, SheetArea,
};

use super::{LogError, Logs, View};
use crate::snapshots::snapshot_fault;

impl Logs {
    /// Returns the formulas at `position` that name cells of `areas`, directly or through a defined
    /// name. The areas have the coordinates of the position.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::open_view`].
    pub async fn formulas_reading(
        &self,
        log_id: LogId,
        position: Position,
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> Result<DependentFormulas, LogError> {
        let mut view = self.open_view(log_id, Some(position), None).await?;
        view.formulas_reading(areas, bounds).await
    }
}

impl View {
    /// Returns the formulas that name cells of `areas`, directly or through a defined name.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Snapshot`] if a snapshot object is missing or damaged, or
    /// [`LogError::Store`] if the store fails.
    pub async fn formulas_reading(
        &mut self,
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> Result<DependentFormulas, LogError> {
        self.search_formulas(|state| DependentSearch::new(state, areas, bounds)).await
    }

    /// Returns the formulas outside of `areas` that lose references if the areas are deleted. The
    /// areas are whole rows, columns or sheets.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`View::formulas_reading`].
    pub(super) async fn formulas_losing_references(
        &mut self,
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> Result<DependentFormulas, LogError> {
        self.search_formulas(|state| DependentSearch::of_lost_references(state, areas, bounds))
            .await
    }

    async fn search_formulas<'a>(
        &'a mut self,
        start: impl FnOnce(SearchedState<'a>) -> DependentSearch<'a>,
    ) -> Result<DependentFormulas, LogError> {
        let Self { family, root, newest_level: tail, metadata, objects, store, .. } = self;
        let mut search = start(SearchedState { root: root.as_deref(), tail, metadata });
        loop {
            let step = search.step(objects);
            match step.map_err(|error| snapshot_fault(*family, &error))? {
                SearchStep::Load(requests) => store.load(*family, &requests, objects).await?,
                SearchStep::Done(found) => return Ok(found),
            }
        }
    }
}
