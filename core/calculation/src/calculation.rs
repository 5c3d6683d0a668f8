//! The state machine that calculates formulas and requests the cells that they read.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use cellar_base::limits::{MAX_CALCULATION_BYTES, MAX_CALCULATION_LONG_TEXTS};
use cellar_formula::reference::Reference;
use cellar_functions::{EvaluationOutcome, Formula, SyntaxError, evaluate_counted};
use cellar_sheet::cell::{ErrorCode, GENERAL, Value};
use cellar_snapshot::outdated::OutdatedAreas;
use cellar_snapshot::tile::Tile;

use crate::block::{Explanation, FormulaState};
use crate::budget::{Budget, Exhausted};
use crate::cells::LoadedCells;
use crate::order::{Arrangement, Order};
use crate::request::{CellWindow, MissingBlocks, windows_around, windows_to_prepare};
use crate::result_format::result_format;
use crate::source::{Need, Source};
use crate::staleness::{StaleCause, Staleness};
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
    workbook: CalculatedWorkbook,
    /// The formulas to calculate. The other formulas have their stored values.
    outdated: OutdatedAreas,
    cells: LoadedCells,
    order: Order,
    budget: Budget,
    requested: Vec<CellKey>,
    /// Parsed formulas whose evaluation has started but not finished.
    open: HashMap<CellKey, Arc<OpenFormula>>,
    stale: Vec<CellKey>,
    loaded_texts: usize,
}

#[derive(Debug)]
struct OpenFormula {
    formula: Formula,
    parsed: cellar_formula::Formula,
}

impl OpenFormula {
    fn references(&self) -> Vec<&Reference> {
        self.parsed.references().map(|placed| placed.reference).collect()
    }
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
            open: HashMap::new(),
            stale: Vec::new(),
            loaded_texts: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Starts a request for the results of `formulas`. Results of earlier requests are kept as far
    /// as memory permits. Formulas that were stale are calculated again.
    pub fn start(&mut self, formulas: Vec<CellKey>) {
        for key in std::mem::take(&mut self.stale) {
            self.cells.set_state(key, FormulaState::Unknown);
        }
        for key in self.order.clear() {
            self.cells.set_state(key, FormulaState::Unknown);
        }
        self.open.clear();
        self.cells.shrink(MAX_CALCULATION_BYTES);
        self.budget = Budget::default();
        self.loaded_texts = 0;
        for key in formulas.iter().rev() {
            self.order.push_requested(*key);
        }
        self.requested = formulas;
    }

    /// Evaluates formulas until cells or texts must be loaded or the request is complete.
    pub fn step(&mut self) -> CalculationStep {
        while let Some(waiting) = self.order.last() {
            let key = waiting.key;
            let Some(formula) = self.cells.formula(key) else {
                if self.cells.block(key.sheet, key.cell).is_some() {
                    self.order.pop();
                    continue;
                }
                match self.load(self.windows_of_requested()) {
                    Some(step) => return step,
                    None => continue,
                }
            };
            let is_finished =
                matches!(formula.state, FormulaState::Calculated(_) | FormulaState::Stale(_));
            if is_finished {
                self.order.pop();
                continue;
            }
            let text = Arc::clone(&formula.formula);
            if let Some(step) = self.evaluate_last(key, &text, waiting.is_open) {
                return step;
            }
        }
        self.open.clear();
        CalculationStep::Done
    }

    /// Returns the formulas to calculate. The other formulas have their stored values.
    #[must_use]
    pub fn outdated(&self) -> &OutdatedAreas {
        &self.outdated
    }

    /// Adds the cells of a window that [`Calculation::step`] requested. The tile must use the row
    /// and column indices of the sheet.
    pub fn supply(&mut self, window: &CellWindow, tile: Tile) {
        let tile = self.outdated.without_valid_formulas(window.sheet, tile);
        let cells = self.cells.add(window.sheet, &window.window, &tile);
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
        let formula = self.cells.formula(key)?;
        let stored = formula.stored.clone();
        Some(match &formula.state {
            FormulaState::Calculated(Explanation { format, note }) => {
                let value = self.cells.result(key).unwrap_or_default();
                let format = format.as_deref().map(str::to_owned);
                FormulaResult { value, format, is_stale: false, note: note.clone() }
            }
            FormulaState::Stale(staleness) => {
                let note = Some(staleness.note(&self.workbook, key));
                FormulaResult { value: stored, format: None, is_stale: true, note }
            }
            FormulaState::Unknown | FormulaState::Open => {
                FormulaResult { value: stored, format: None, is_stale: true, note: None }
            }
        })
    }

    /// Returns the step that requests `windows`. If no more cells may be loaded, ends the request
    /// and returns `None`.
    fn load(&mut self, windows: Vec<CellWindow>) -> Option<CalculationStep> {
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
        let is_missing = |key: &&CellKey| self.cells.block(key.sheet, key.cell).is_none();
        let missing: BTreeSet<_> = self
            .requested
            .iter()
            .filter(is_missing)
            .map(|key| (key.sheet, key.cell.row, key.cell.column))
            .collect();
        windows_around(missing)
    }

    /// Evaluates the formula on top of the stack. Returns a step if something must be loaded first.
    fn evaluate_last(
        &mut self,
        key: CellKey,
        text: &str,
        was_open: bool,
    ) -> Option<CalculationStep> {
        let limits = match self.budget.take_formula() {
            Ok(limits) => limits,
            Err(exhausted) => {
                self.end_request(exhausted);
                return None;
            }
        };
        let parsed = match self.parse(key, text) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.finish_stale(key, Staleness::because_of(error));
                return None;
            }
        };
        if !was_open {
            self.order.open_last();
            self.cells.set_state(key, FormulaState::Open);
            let windows =
                windows_to_prepare(&self.workbook, &self.cells, key, &parsed.references());
            if !windows.is_empty() {
                return self.load(windows);
            }
        }
        let context = self.workbook.evaluation_context(key, limits);
        let source = Source::new(&self.workbook, &self.cells);
        let (outcome, work) = evaluate_counted(&parsed.formula, &context, &source);
        let need = source.into_need();
        self.budget.take_evaluation(work.cells_read, work.steps);
        if let Some(need) = need {
            return self.handle_need(key, &parsed, need);
        }
        match outcome {
            Ok(EvaluationOutcome::Value(value)) => {
                let format = match value {
                    Value::Number(_) => self.format_of_result(key, &parsed),
                    _ => None,
                };
                self.finish(key, value, Explanation { format, note: None });
            }
            Ok(EvaluationOutcome::Array(array)) => {
                self.finish_array(key, array.rows, array.columns);
            }
            Err(_) if Budget::is_short(&limits) => self.end_request(Exhausted::CellsRead),
            Err(limit) => self.finish_stale(key, Staleness::because_of(limit)),
        }
        None
    }

    fn parse(&mut self, key: CellKey, text: &str) -> Result<Arc<OpenFormula>, SyntaxError> {
        if let Some(open) = self.open.get(&key) {
            return Ok(Arc::clone(open));
        }
        let parsed = cellar_formula::Formula::parse(text, &self.workbook)?;
        let formula = Formula::of(&parsed, &self.workbook);
        let open = Arc::new(OpenFormula { formula, parsed });
        self.open.insert(key, Arc::clone(&open));
        Ok(open)
    }

    fn handle_need(
        &mut self,
        key: CellKey,
        parsed: &OpenFormula,
        need: Need,
    ) -> Option<CalculationStep> {
        match need {
            Need::Blocks(missing) => self.load(self.windows_of_missing(key, parsed, &missing)),
            Need::LongTexts(mut hashes) => {
                hashes.sort_unstable();
                hashes.dedup();
                self.loaded_texts += hashes.len();
                if self.loaded_texts > MAX_CALCULATION_LONG_TEXTS {
                    self.finish_stale(key, Staleness::because_of(StaleCause::LongTexts));
                    return None;
                }
                Some(CalculationStep::LongTexts(hashes))
            }
            Need::Stale(staleness) => {
                self.finish_stale(key, staleness);
                None
            }
            Need::Formulas(needed) => {
                self.arrange(&needed);
                None
            }
        }
    }

    fn windows_of_missing(
        &self,
        key: CellKey,
        parsed: &OpenFormula,
        missing: &MissingBlocks,
    ) -> Vec<CellWindow> {
        missing.windows(&self.workbook, key.sheet, &parsed.references())
    }

    fn arrange(&mut self, needed: &[CellKey]) {
        let cells = &self.cells;
        let is_open = |key: CellKey| {
            cells.formula(key).is_some_and(|formula| formula.state == FormulaState::Open)
        };
        match self.order.wait_for(needed, is_open) {
            Arrangement::Waits => {}
            Arrangement::Abandoned(keys) => {
                for key in keys {
                    self.open.remove(&key);
                    self.cells.set_state(key, FormulaState::Unknown);
                }
            }
            Arrangement::Cycle(keys) => {
                for (index, key) in keys.iter().enumerate() {
                    let (before, from) = keys.split_at(index);
                    let note = self.workbook.cycle_note(from.iter().chain(before));
                    self.open.remove(key);
                    let error = Value::Error(ErrorCode::Ref);
                    let note = Some(Arc::from(note));
                    self.cells.set_result(*key, error, Explanation { format: None, note });
                }
            }
        }
    }

    /// Returns the number format for displaying the result of a formula, or `None` if the cell
    /// already has a number format or the default applies.
    fn format_of_result(&self, key: CellKey, parsed: &OpenFormula) -> Option<Arc<str>> {
        if self.format_of_cell(key).is_some() {
            return None;
        }
        result_format(parsed.parsed.expression(), |reference| {
            let sheet = reference.sheet_number(key.sheet)?;
            let cell = reference.area.rectangle()?.first;
            self.format_of_cell(CellKey { sheet, cell }).filter(|format| **format != *GENERAL)
        })
    }

    /// Returns the number format of a cell. A format set on the cell or derived for its result
    /// takes precedence over the format of a range.
    fn format_of_cell(&self, key: CellKey) -> Option<Arc<str>> {
        let own = self.cells.block(key.sheet, key.cell).and_then(|(block, row)| {
            let of_result = block.formula_index(row).and_then(|index| block.formulas.get(index));
            match of_result.map(|formula| &formula.state) {
                Some(FormulaState::Calculated(Explanation { format: Some(format), .. })) => {
                    Some(Arc::clone(format))
                }
                _ => block.own_format(row).cloned(),
            }
        });
        own.or_else(|| self.workbook.range_format(key).map(Arc::from))
    }

    fn finish(&mut self, key: CellKey, value: Value, explanation: Explanation) {
        self.open.remove(&key);
        self.cells.set_result(key, value, explanation);
        self.order.pop();
    }

    fn finish_stale(&mut self, key: CellKey, staleness: Staleness) {
        self.open.remove(&key);
        self.mark_stale(key, staleness);
        self.order.pop();
    }

    fn mark_stale(&mut self, key: CellKey, staleness: Staleness) {
        self.cells.set_state(key, FormulaState::Stale(staleness));
        self.stale.push(key);
    }

    /// Finishes a formula whose result is an array, which a single cell cannot show. If the cell
    /// has a stored value, such as one from an imported file, the formula becomes stale and this
    /// value is shown. Otherwise, the result is `#SPILL!`.
    fn finish_array(&mut self, key: CellKey, rows: usize, columns: usize) {
        let cause = StaleCause::Array { rows, columns };
        let has_stored =
            self.cells.formula(key).is_some_and(|formula| formula.stored != Value::Empty);
        if has_stored {
            self.finish_stale(key, Staleness::because_of(cause));
        } else {
            let note = Some(Arc::from(cause.to_string()));
            let explanation = Explanation { format: None, note };
            self.finish(key, Value::Error(ErrorCode::Spill), explanation);
        }
    }

    /// Ends the request. Formulas without a result become stale.
    fn end_request(&mut self, exhausted: Exhausted) {
        let staleness = Staleness::because_of(exhausted);
        for key in self.order.clear() {
            self.mark_stale(key, staleness.clone());
        }
        self.open.clear();
        for key in std::mem::take(&mut self.requested) {
            let state = self.cells.formula(key).map(|formula| &formula.state);
            if matches!(state, Some(FormulaState::Unknown | FormulaState::Open)) {
                self.mark_stale(key, staleness.clone());
            }
        }
    }
}
