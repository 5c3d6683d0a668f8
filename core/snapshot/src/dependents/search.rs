//! Searches all sheets, one after the other.

use std::collections::VecDeque;

use super::searched_cells::SearchedCells;
use super::sheet_search::{FoundInSheet, SheetSearch, SheetStep, count_tiles};
use super::{DependentBounds, DependentFormula, DependentFormulas, SearchedState, SheetArea};
use crate::error::SnapshotError;
use crate::objects::{Fetch, ObjectRequest, Objects};
use cellar_base::limits::{
    MAX_DEPENDENT_TILES_AT_ONCE, MAX_SPILL_SEARCH_TILES, MAX_SPILLING_FORMULAS,
};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;

/// A search for the formulas that read given cells. Performs no I/O.
///
/// Call [`DependentSearch::step`] until the search is done, and load the objects that it asks for.
/// Drops tiles that are not needed any more, so that at most [`MAX_DEPENDENT_TILES_AT_ONCE`] are in
/// memory.
#[derive(Debug)]
pub struct DependentSearch<'a> {
    state: SearchedState<'a>,
    searched: SearchedCells,
    bounds: DependentBounds,
    sheets: VecDeque<SheetId>,
    current: Option<SheetSearch>,
    found: DependentFormulas,
    /// Number of tiles that were requested.
    tiles: usize,
}

/// Next action of the driver of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchStep {
    /// Load these objects, at least one, and call [`DependentSearch::step`] again.
    Load(Vec<ObjectRequest>),
    /// The search is done.
    Done(DependentFormulas),
}

enum Progress {
    Advanced,
    Missing(Vec<ObjectRequest>),
    /// The search has ended, because of a bound or because there are no more sheets.
    Ended,
}

impl<'a> DependentSearch<'a> {
    /// Starts a search for the formulas that read any of the cells of `areas`, which are in the
    /// coordinates of the state.
    #[must_use]
    pub fn new(state: SearchedState<'a>, areas: &[SheetArea], bounds: DependentBounds) -> Self {
        Self::start(state, SearchedCells::new(areas, state.metadata), bounds)
    }

    /// Starts a search for the formulas that lose references if `areas` are deleted, which are whole
    /// rows, columns or sheets: those that name a cell, or the first or last row or column of a
    /// range, in one of the areas. Formulas in the areas are not searched, and no defined names.
    #[must_use]
    pub fn of_lost_references(
        state: SearchedState<'a>,
        areas: &[SheetArea],
        bounds: DependentBounds,
    ) -> Self {
        Self::start(state, SearchedCells::deleted(areas), bounds)
    }

    /// Starts a search for the formulas whose results may have several cells. All readers have the same
    /// bounds, so that they find the same formulas.
    #[must_use]
    pub fn of_arrays(state: SearchedState<'a>) -> Self {
        let bounds =
            DependentBounds { formulas: MAX_SPILLING_FORMULAS, tiles: MAX_SPILL_SEARCH_TILES };
        Self::start(state, SearchedCells::arrays(state.metadata), bounds)
    }

    fn start(state: SearchedState<'a>, searched: SearchedCells, bounds: DependentBounds) -> Self {
        let order = state.metadata.tabs.order().iter().copied();
        let is_searched =
            |sheet: &SheetId| searched.includes_formulas_in(*sheet, &Rectangle::EVERYTHING);
        let sheets: VecDeque<SheetId> = order.filter(is_searched).collect();
        let found = DependentFormulas { formulas: Vec::new(), complete: true };
        Self { state, searched, bounds, sheets, current: None, found, tiles: 0 }
    }

    /// Continues the search until objects are missing or it is done. Nothing remains to be found
    /// after it is done.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if an object does not match the reference to it.
    pub fn step(&mut self, objects: &mut Objects) -> Result<SearchStep, SnapshotError> {
        loop {
            match self.advance(objects)? {
                Progress::Advanced => {}
                Progress::Missing(requests) => {
                    let missing_tiles = count_tiles(&requests);
                    let loaded_tiles = objects.tile_count();
                    let all_tiles = loaded_tiles.saturating_add(missing_tiles);
                    if loaded_tiles > 0 && all_tiles > MAX_DEPENDENT_TILES_AT_ONCE {
                        objects.drop_tiles();
                        continue;
                    }
                    let tiles = self.tiles.saturating_add(missing_tiles);
                    if tiles <= self.bounds.tiles {
                        self.tiles = tiles;
                        return Ok(SearchStep::Load(requests));
                    }
                    self.found.complete = false;
                    self.end_sheet();
                    self.sheets.clear();
                }
                Progress::Ended => return Ok(SearchStep::Done(std::mem::take(&mut self.found))),
            }
        }
    }

    fn advance(&mut self, objects: &Objects) -> Result<Progress, SnapshotError> {
        let Some(search) = &mut self.current else { return self.open_next_sheet(objects) };
        Ok(match search.step(&self.state, &self.searched, objects)? {
            SheetStep::Advanced => Progress::Advanced,
            SheetStep::Missing(requests) => Progress::Missing(requests),
            SheetStep::Done => {
                self.end_sheet();
                Progress::Advanced
            }
        })
    }

    fn open_next_sheet(&mut self, objects: &Objects) -> Result<Progress, SnapshotError> {
        let Some(sheet) = self.sheets.front().copied() else { return Ok(Progress::Ended) };
        let max_formulas = self.bounds.formulas.saturating_sub(self.found.formulas.len());
        let searched = &self.searched;
        match SheetSearch::open(&self.state, sheet, searched, max_formulas, objects)? {
            Fetch::Missing(requests) => Ok(Progress::Missing(requests)),
            Fetch::Ready(search) => {
                self.sheets.pop_front();
                self.current = Some(search);
                Ok(Progress::Advanced)
            }
        }
    }

    /// Adds the formulas of the current sheet to those of the sheets before. No further sheet is
    /// searched if there are too many.
    fn end_sheet(&mut self) {
        let Some(search) = self.current.take() else { return };
        let sheet = search.sheet;
        let FoundInSheet { formulas, is_truncated } = search.finish();
        let formulas =
            formulas.into_iter().map(|(cell, text)| DependentFormula { sheet, cell, text });
        self.found.formulas.extend(formulas);
        if is_truncated {
            self.found.complete = false;
            self.sheets.clear();
        }
    }
}
