//! The state machine that calculates formulas and requests the cells that they read.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::limits::MAX_CALCULATION_BYTES;
use cellar_functions::RunTotals;
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, SheetArea};
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_snapshot::merge::Window;
use cellar_snapshot::outdated::OutdatedAreas;
use cellar_snapshot::tile::Tile;

use crate::block::BLOCK_ROWS;
use crate::budget::{Budget, Exhausted};
use crate::cells::{LoadedCells, block_of, blocks_of};
use crate::order::{Arrangement, Order};
use crate::request::{CellWindow, missing_windows, used_window, windows_around};
use crate::run::{Explanation, FormulaState, StateView};
use crate::segment::Segment;
use crate::spills::{SpilledResult, SpilledResults, Spills};
use crate::staleness::Staleness;
use crate::workbook::{CalculatedWorkbook, CellKey};

/// The next input that a calculation needs.
#[derive(Debug, Clone, PartialEq)]
pub enum CalculationStep {
    /// The cells in these windows, to be passed to [`Calculation::supply`].
    Cells(Vec<CellWindow>),
    /// The texts with these hashes, to be passed to [`Calculation::supply_text`].
    LongTexts(Vec<[u8; 32]>),
    /// No input: every requested formula has a result or is stale.
    Done,
}

/// The result of a formula.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaResult {
    /// The calculated value, or the stored value if the formula is stale.
    pub value: Value,
    /// Number format for displaying the value if the cell has none, such as a date format.
    pub format: Option<String>,
    /// Whether the formula is stale, which means that it was not calculated.
    pub is_stale: bool,
    /// Explanation of a stale formula or of an error value, such as the cells of a cycle.
    pub note: Option<Arc<str>>,
}

/// Calculates formulas of a spreadsheet at one position and keeps their results.
#[derive(Debug, Clone)]
pub struct Calculation {
    pub(crate) workbook: CalculatedWorkbook,
    /// The formulas to calculate. The other formulas have their stored values.
    outdated: OutdatedAreas,
    pub(crate) cells: LoadedCells,
    pub(crate) order: Order,
    pub(crate) budget: Budget,
    requested: Vec<Segment>,
    /// Totals of growing ranges, which runs of formulas further down continue.
    pub(crate) totals: RunTotals,
    stale: Vec<Segment>,
    pub(crate) loaded_texts: usize,
    /// The results of several cells.
    pub(crate) spilled_results: SpilledResults,
    /// Why the request has ended before all formulas were calculated.
    pub(crate) ended: Option<Staleness>,
    /// Windows to load when all requested formulas have been calculated.
    windows_to_load: Vec<CellWindow>,
}

impl Calculation {
    /// Creates a calculation without any loaded cells. Formulas outside of `outdated` are not
    /// calculated if they have a stored value.
    #[must_use]
    pub fn new(workbook: CalculatedWorkbook, outdated: OutdatedAreas) -> Self {
        Self {
            workbook,
            outdated,
            cells: LoadedCells::default(),
            order: Order::default(),
            budget: Budget::default(),
            requested: Vec::new(),
            totals: RunTotals::default(),
            stale: Vec::new(),
            loaded_texts: 0,
            spilled_results: SpilledResults::default(),
            ended: None,
            windows_to_load: Vec::new(),
        }
    }

    /// Adds the cells that results fill. No cells must be loaded yet.
    pub(crate) fn with_spills(mut self, spills: Arc<Spills>) -> Self {
        for area in spills.areas() {
            self.workbook.extend_used_range(&area);
        }
        self.cells.spills = spills;
        self
    }

    /// Returns the result of a formula, if it has several cells.
    pub(crate) fn spilled_result(&self, key: CellKey) -> Option<&SpilledResult> {
        self.spilled_results.get(key)
    }

    /// Starts a request that loads the cells that the results would fill, with what is left of the
    /// budget of the last request.
    pub(crate) fn start_loading_spilled_areas(&mut self) {
        self.start_segments(Vec::new(), self.budget);
        let areas = self.spilled_results.areas();
        let windows = areas.filter_map(|area| used_window(&self.workbook, &area));
        self.windows_to_load = windows.collect();
    }

    /// Returns the first cell of an area, in the order of rows, that is not blank. The first cell of
    /// the area and spilled cells do not count.
    pub(crate) fn content_in(&self, area: &SheetArea) -> Option<CellName> {
        let window = used_window(&self.workbook, area)?.window;
        self.cells.content_in(area.sheet, &window, area.cells.first)
    }

    #[cfg(test)]
    pub(crate) fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Has all formulas evaluated one by one. Must be called before cells are supplied.
    #[cfg(any(test, feature = "testing"))]
    pub fn split_runs(&mut self) {
        self.cells.splits_runs = true;
    }

    /// Starts a request for the results of `formulas`. Results of earlier requests are kept as far
    /// as memory permits. Formulas that were stale are calculated again.
    pub fn start(&mut self, formulas: Vec<CellKey>) {
        self.start_segments(segments_of(formulas), Budget::default());
    }

    /// Like [`Calculation::start`], with a budget that several requests share.
    pub(crate) fn start_within(&mut self, formulas: Vec<CellKey>, budget: Budget) {
        self.start_segments(segments_of(formulas), budget);
    }

    /// Starts a request for all formulas in a window of a sheet. The window may be larger than those
    /// that are shown, such as a tile. Cells that several formulas of the window read together count
    /// once towards the limits of the request.
    pub fn start_area(&mut self, sheet: SheetId, window: &Window) {
        let extent = self.workbook.extent(sheet);
        let end_row = window.rows.end.min(extent.rows);
        let end_column = window.columns.end.min(extent.columns);
        let mut segments = Vec::new();
        for number in blocks_of(&(window.rows.start..end_row)) {
            let block_start = number * BLOCK_ROWS;
            let first_row = window.rows.start.max(block_start);
            let end_row = end_row.min(block_start + BLOCK_ROWS);
            for column in window.columns.start..end_column {
                segments.push(Segment { sheet, column, first_row, end_row });
            }
        }
        self.start_segments(segments, Budget::of_area());
    }

    fn start_segments(&mut self, segments: Vec<Segment>, budget: Budget) {
        let unfinished = std::mem::take(&mut self.stale).into_iter().chain(self.order.clear());
        for segment in unfinished {
            self.cells.set_state(segment, FormulaState::Unknown);
        }
        self.windows_to_load.clear();
        self.ended = None;
        self.cells.start_request(MAX_CALCULATION_BYTES);
        self.budget = budget;
        self.loaded_texts = 0;
        for segment in segments.iter().rev() {
            self.order.push_requested(*segment);
        }
        self.requested = segments;
    }

    /// Evaluates formulas until cells or texts must be loaded or the request is complete.
    pub fn step(&mut self) -> CalculationStep {
        while let Some(waiting) = self.order.last() {
            if !waiting.is_open {
                let Some(parts) = self.cells.unfinished(waiting.segment) else {
                    match self.load(self.windows_of_requested()) {
                        Some(step) => return step,
                        None => continue,
                    }
                };
                if parts != [waiting.segment] {
                    self.order.replace_last(&parts);
                    continue;
                }
            }
            if let Some(step) = self.evaluate_last(waiting) {
                return step;
            }
        }
        let windows = missing_windows(&self.cells, self.windows_to_load.iter().cloned());
        if windows.is_empty() {
            return CalculationStep::Done;
        }
        self.load(windows).unwrap_or(CalculationStep::Done)
    }

    /// Returns the formulas to calculate. The other formulas have their stored values.
    #[must_use]
    pub fn outdated(&self) -> &OutdatedAreas {
        &self.outdated
    }

    /// Adds the cells of a window that [`Calculation::step`] requested. The tile must use the row
    /// and column indices of the sheet. Formulas can be templates or texts.
    pub fn supply(&mut self, window: &CellWindow, tile: Tile) {
        let tile = self.outdated.without_valid_formulas(window.sheet, tile);
        let cells = self.cells.add(window.sheet, &window.window, &tile, &self.workbook);
        let area = u64::try_from(window.window.rows.len()).unwrap_or(u64::MAX)
            * u64::try_from(window.window.columns.len()).unwrap_or(u64::MAX);
        /// Number of empty cells that count as one loaded cell.
        const EMPTY_CELLS: u64 = 8;
        self.budget.take_loaded(cells.max(area / EMPTY_CELLS));
    }

    /// Adds a text that [`Calculation::step`] requested. Pass `None` if the text is lost.
    pub fn supply_text(&mut self, hash: &[u8; 32], text: Option<String>) {
        let value = text.map_or(Value::Error(ErrorCode::Lost), Value::Text);
        self.cells.fill_in_text(hash, &value);
    }

    /// Returns the result of a requested formula, or `None` if the cell has no formula.
    #[must_use]
    pub fn result(&self, key: CellKey) -> Option<FormulaResult> {
        let (placed, index) = self.cells.formula(key)?;
        let run = placed.run;
        Some(match run.state(index) {
            StateView::Calculated(explanation) => {
                let format = explanation.and_then(|explanation| explanation.format.as_deref());
                let note = explanation.and_then(|explanation| explanation.note.clone());
                let (value, format) = (run.results.value(index), format.map(str::to_owned));
                FormulaResult { value, format, is_stale: false, note }
            }
            StateView::Stale(staleness) => {
                let note = Some(staleness.note(&self.workbook, key));
                let value = run.stored_value(index);
                FormulaResult { value, format: None, is_stale: true, note }
            }
            StateView::Unknown | StateView::Open => {
                let value = run.stored_value(index);
                FormulaResult { value, format: None, is_stale: true, note: None }
            }
        })
    }

    /// Returns the step that requests `windows`. If no more cells may be loaded, ends the request
    /// and returns `None`.
    pub(crate) fn load(&mut self, windows: Vec<CellWindow>) -> Option<CalculationStep> {
        match self.budget.check_loading() {
            Ok(()) => Some(CalculationStep::Cells(windows)),
            Err(exhausted) => {
                self.end_request(exhausted);
                None
            }
        }
    }

    /// Returns windows that contain the blocks of all requested formulas that are not loaded.
    fn windows_of_requested(&self) -> Vec<CellWindow> {
        let is_missing = |segment: &&Segment| {
            let first = segment.first();
            self.cells.block(first.sheet, first.cell).is_none()
        };
        let missing: BTreeSet<_> = self
            .requested
            .iter()
            .filter(is_missing)
            .map(|segment| (segment.sheet, segment.first_row, segment.column))
            .collect();
        windows_around(missing)
    }

    /// Has the formulas on top of the stack wait for the `needed` formulas, of which the first cell
    /// is known to be needed.
    pub(crate) fn arrange(&mut self, needed: &[Segment]) {
        let Some(first) = needed.first() else { return };
        let extended: Vec<Segment> = needed.iter().map(|segment| self.extended(*segment)).collect();
        let cells = &self.cells;
        let is_open = |key: CellKey| cells.state(key) == Some(StateView::Open);
        let arrangement = self.order.wait_for(first.first(), &extended, is_open);
        self.follow(arrangement);
    }

    pub(crate) fn follow(&mut self, arrangement: Arrangement) {
        match arrangement {
            Arrangement::Waits => {}
            Arrangement::Abandoned(segments) => {
                for segment in segments {
                    self.cells.set_state(segment, FormulaState::Unknown);
                }
            }
            Arrangement::Split(segments) => {
                for segment in segments {
                    self.cells.set_state(segment, FormulaState::Unknown);
                    if !segment.is_cell() {
                        self.cells.split_run(segment.first());
                    }
                }
            }
            Arrangement::Cycle(keys) => {
                for (index, key) in keys.iter().enumerate() {
                    let (before, from) = keys.split_at(index);
                    let note = self.workbook.cycle_note(from.iter().chain(before));
                    let error = Value::Error(ErrorCode::Ref);
                    let note = Some(Arc::from(note));
                    self.cells.set_result(*key, error, Explanation { format: None, note });
                }
            }
        }
    }

    pub(crate) fn mark_stale(&mut self, segment: Segment, staleness: Staleness) {
        self.cells.set_state(segment, FormulaState::Stale(staleness));
        self.stale.push(segment);
    }

    /// Ends the request. Formulas without a result become stale.
    pub(crate) fn end_request(&mut self, exhausted: Exhausted) {
        let staleness = Staleness::because_of(exhausted);
        for segment in self.order.clear() {
            self.mark_stale(segment, staleness.clone());
        }
        for segment in std::mem::take(&mut self.requested) {
            for part in self.cells.unfinished(segment).unwrap_or_default() {
                self.mark_stale(part, staleness.clone());
            }
        }
        self.ended = Some(staleness);
    }
}

/// Returns the segments of cells, ordered by sheet, column and row.
fn segments_of(mut keys: Vec<CellKey>) -> Vec<Segment> {
    keys.sort_unstable_by_key(|key| (key.sheet, key.cell.column, key.cell.row));
    keys.dedup();
    let mut segments: Vec<Segment> = Vec::new();
    for key in keys {
        let row = key.cell.row;
        match segments.last_mut() {
            Some(last)
                if last.end_row == row
                    && (last.sheet, last.column) == (key.sheet, key.cell.column)
                    && block_of(row).1 != 0 =>
            {
                last.end_row += 1;
            }
            _ => segments.push(Segment::cell(key)),
        }
    }
    segments
}
