//! Finds the cells that a cell reads, and the formulas that read it.

use cellar_api::trace::read_areas;
use cellar_api::wire::{TraceReply, TracedCell};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_DEPENDENT_TILES, MAX_REPLY_BYTES, MAX_TRACED_FORMULAS};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, json_text_bytes};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::dependents::{
    DependentBounds, DependentFormulas, DependentSearch, SearchedState, SheetArea,
};
use cellar_snapshot::merge::Window;

use super::cells::{SheetName, sheet_number};
use super::{LogError, Logs, View};

/// Approximate size in bytes of a formula in a JSON response, excluding its text.
const FORMULA_FRAME_BYTES: usize = 72;
/// Part of a response for the formulas. The rest is for areas.
const MAX_FORMULAS_BYTES: usize = MAX_REPLY_BYTES / 2;

/// Request to trace a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceQuery {
    pub sheet: SheetName,
    pub cell: CellName,
    /// Position of the state to read, or `None` for the latest state.
    pub at: Option<Position>,
    /// Position that the log is known to contain.
    pub min_position: Option<Position>,
}

impl Logs {
    /// Returns the cells that the formula of a cell reads, and the formulas that read the cell. All
    /// formulas of the spreadsheet are searched, within bounds.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::UnknownSheet`] if the sheet does not exist, or another [`LogError`] if
    /// the log cannot be read.
    pub async fn trace(&self, log_id: LogId, query: &TraceQuery) -> Result<TraceReply, LogError> {
        let mut view = self.open_view(log_id, query.at, query.min_position).await?;
        let sheet = sheet_number(&view.metadata, &query.sheet)
            .ok_or_else(|| LogError::UnknownSheet { sheet: query.sheet.to_string() })?;
        let reply = view.trace(sheet, query.cell).await;
        self.roots.invalidate_on_error(log_id, reply)
    }
}

impl View {
    async fn trace(&mut self, sheet: SheetId, cell: CellName) -> Result<TraceReply, LogError> {
        let CellName { row, column } = cell;
        let window =
            Window { rows: row..row.saturating_add(1), columns: column..column.saturating_add(1) };
        let found = self.cells(sheet, &window).await?.into_iter().next();
        let formula = found.as_ref().and_then(|found| found.cell.formula.as_deref());
        let precedents = read_areas(formula.unwrap_or_default(), sheet, &self.metadata);
        let area = SheetArea { sheet, cells: Rectangle { first: cell, last: cell } };
        let dependents = self.formulas_reading(area).await?;
        let (dependents, has_all_formulas) = fit_into_reply(dependents);
        let found = found.unwrap_or_else(|| TileCell::with_cell(row, column, Cell::default()));
        Ok(TraceReply {
            position: self.position,
            incarnation: self.incarnation,
            sheet,
            cell: cell.to_string(),
            stale: found.is_stale,
            note: found.note.map(|note| note.to_string()),
            filled_by: found.filled_by.map(|anchor| anchor.to_string()),
            precedents: precedents.areas,
            precedents_complete: precedents.complete,
            dependents,
            dependents_complete: has_all_formulas,
        })
    }

    async fn formulas_reading(&mut self, area: SheetArea) -> Result<DependentFormulas, LogError> {
        let Self { family, root, newest_level: tail, metadata, objects, store, .. } = self;
        let state = SearchedState { root: root.as_deref(), tail, metadata };
        let bounds = DependentBounds { formulas: MAX_TRACED_FORMULAS, tiles: MAX_DEPENDENT_TILES };
        let search = DependentSearch::new(state, &[area], bounds);
        Ok(store.search(*family, objects, search).await?)
    }
}

/// Returns the formulas that fit into a response, and whether these are all formulas.
fn fit_into_reply(found: DependentFormulas) -> (Vec<TracedCell>, bool) {
    let mut bytes = 0_usize;
    let mut cells = Vec::new();
    for formula in found.formulas {
        bytes = bytes.saturating_add(FORMULA_FRAME_BYTES + json_text_bytes(&formula.text));
        if bytes > MAX_FORMULAS_BYTES {
            return (cells, false);
        }
        let CellName { row, column } = formula.cell;
        cells.push(TracedCell { sheet: formula.sheet, row, column, formula: formula.text });
    }
    (cells, found.complete)
}

#[cfg(test)]
mod tests {
    use cellar_snapshot::dependents::DependentFormula;

    use super::*;

    fn formulas(lengths: &[usize]) -> DependentFormulas {
        let formula = |length: &usize| DependentFormula {
            sheet: SheetId(u32::MAX),
            cell: CellName { row: u32::MAX, column: u32::MAX },
            text: "x".repeat(*length),
        };
        DependentFormulas { formulas: lengths.iter().map(formula).collect(), complete: true }
    }

    #[test]
    fn the_bytes_of_the_formulas_are_bounded() {
        let quotes = json_text_bytes("");
        let half = MAX_FORMULAS_BYTES / 2 - FORMULA_FRAME_BYTES - quotes;
        let (all, complete) = fit_into_reply(formulas(&[half, half]));
        assert_eq!((all.len(), complete), (2, true));
        let (some, complete) = fit_into_reply(formulas(&[half, half + 1, 1]));
        assert_eq!((some.len(), complete), (1, false));
    }

    #[test]
    fn the_frame_of_a_formula_is_an_upper_bound() {
        let (cells, _) = fit_into_reply(formulas(&[0]));
        let json = serde_json::to_string(&cells[0]).unwrap();
        assert!(json.len() < FORMULA_FRAME_BYTES + json_text_bytes(""), "{json}");
    }
}
