//! Evaluates the formulas on top of the stack.

use std::sync::Arc;

use cellar_base::limits::MAX_CALCULATION_LONG_TEXTS;
use cellar_functions::limits::LimitExceeded;
use cellar_functions::{
    Array, EvaluationOutcome, InputArea, RunValues, evaluate_counted, evaluate_run,
};
use cellar_sheet::cell::{ErrorCode, Value};

use crate::block::BLOCK_ROWS;
use crate::budget::{Budget, Exhausted};
use crate::calculation::{Calculation, CalculationStep};
use crate::cells::blocks_of;
use crate::formulas::ParsedFormula;
use crate::order::Waiting;
use crate::request::{used_area, windows_to_prepare};
use crate::run::{Explanation, FormulaState, StateView};
use crate::segment::Segment;
use crate::source::{Need, Source};
use crate::spills::{Anchor, SpilledResult};
use crate::staleness::{StaleCause, Staleness};
use crate::workbook::CellKey;

/// The outcome of an evaluation in columns.
enum ColumnsOutcome {
    Finished,
    /// The rows must be evaluated one after the other.
    ByRows,
    Needs(Need),
}

impl Calculation {
    /// Evaluates the formulas on top of the stack. Returns a step if something must be loaded first.
    pub(crate) fn evaluate_last(&mut self, waiting: Waiting) -> Option<CalculationStep> {
        let segment = waiting.segment;
        let Some((placed, _)) = self.cells.formula(segment.first()) else {
            self.order.pop();
            return None;
        };
        let formula = Arc::clone(&placed.run.formula);
        if !segment.is_cell() && formula.shared(&self.workbook).is_none() {
            let arrangement = self.order.split_last();
            self.cells.split_run(segment.first());
            self.follow(arrangement);
            return None;
        }
        let parsed = match formula.parsed_in(segment.first().cell, &self.workbook) {
            Ok(parsed) => parsed,
            Err(error) => {
                if let Err(exhausted) = self.budget.take_formula() {
                    self.end_request(exhausted);
                    return None;
                }
                self.mark_stale(segment, Staleness::because_of(error));
                self.order.pop();
                return None;
            }
        };
        if !waiting.is_open {
            self.order.open_last();
            self.cells.set_state(segment, FormulaState::Open);
        }
        if !segment.is_cell() {
            return self.evaluate_run_of(segment, &parsed, waiting.is_by_rows);
        }
        if !waiting.is_open {
            let inputs = self.inputs(segment, &parsed);
            let windows = windows_to_prepare(&self.workbook, &self.cells, &inputs);
            if !windows.is_empty() {
                return self.load(windows);
            }
        }
        self.evaluate_rows(segment, &parsed)
    }

    /// Evaluates a segment of several cells. It first waits for all cells that each formula reads.
    fn evaluate_run_of(
        &mut self,
        segment: Segment,
        parsed: &ParsedFormula,
        is_by_rows: bool,
    ) -> Option<CalculationStep> {
        let inputs = self.inputs(segment, parsed);
        let windows = windows_to_prepare(&self.workbook, &self.cells, &inputs);
        if !windows.is_empty() {
            return self.load(windows);
        }
        let needed = self.certain_needs(&inputs);
        if !needed.is_empty() {
            self.arrange(&needed);
            return None;
        }
        if !is_by_rows {
            match self.evaluate_columns(segment, parsed) {
                ColumnsOutcome::Finished => return None,
                ColumnsOutcome::Needs(need) => {
                    return self.handle_need(segment, segment.first(), parsed, need);
                }
                ColumnsOutcome::ByRows => self.order.evaluate_last_by_rows(),
            }
        }
        self.evaluate_rows(segment, parsed)
    }

    fn inputs(&self, segment: Segment, parsed: &ParsedFormula) -> Vec<InputArea> {
        let context = self.workbook.evaluation_context(segment.first(), Budget::limits_of_run());
        let source = Source::new(&self.workbook, &self.cells);
        parsed.formula.inputs(&context, segment.row_count(), &source)
    }

    /// Returns the formulas in cells that each formula of a run reads, as far as they have no
    /// result.
    fn certain_needs(&self, inputs: &[InputArea]) -> Vec<Segment> {
        let mut needed: Vec<Segment> = Vec::new();
        for input in inputs.iter().filter(|input| input.is_certain) {
            let Some(area) = used_area(&self.workbook, input) else { continue };
            let (rows, column) = (area.window.rows, area.window.columns.start);
            for number in blocks_of(&rows) {
                let block_start = number * BLOCK_ROWS;
                let first_row = rows.start.max(block_start);
                let end_row = rows.end.min(block_start + BLOCK_ROWS);
                let segment = Segment { sheet: area.sheet, column, first_row, end_row };
                let unfinished = self.cells.unfinished(segment).unwrap_or_default();
                needed.extend(unfinished);
            }
        }
        needed
    }

    /// Returns a segment with the unfinished rows above it, if its formulas read the cell above
    /// their own.
    pub(crate) fn extended(&self, segment: Segment) -> Segment {
        let Some((placed, index)) = self.cells.formula(segment.first()) else { return segment };
        let run = placed.run;
        let is_running =
            run.formula.shared(&self.workbook).is_some_and(|parsed| parsed.reads_cell_above);
        if run.is_split || !is_running {
            return segment;
        }
        let above = (0..index).rev().take_while(|row| run.state(*row) == StateView::Unknown);
        let count = u32::try_from(above.count()).unwrap_or(0);
        Segment { first_row: segment.first_row - count, ..segment }
    }

    /// Evaluates all formulas of a segment at once.
    fn evaluate_columns(&mut self, segment: Segment, parsed: &ParsedFormula) -> ColumnsOutcome {
        let context = self.workbook.evaluation_context(segment.first(), Budget::limits_of_run());
        let source = Source::new(&self.workbook, &self.cells);
        let (rows, totals) = (segment.row_count(), &mut self.totals);
        let evaluation = evaluate_run(&parsed.formula, &context, rows, &source, totals);
        match (evaluation, source.into_need()) {
            (_, Some(need @ (Need::Blocks(_) | Need::Formulas(_)))) => ColumnsOutcome::Needs(need),
            (Some(evaluation), None) => {
                if self.budget.take_run(rows, &evaluation) {
                    self.finish_run(segment, evaluation.values, parsed);
                    self.order.pop();
                } else {
                    let arrangement = self.order.split_last();
                    self.follow(arrangement);
                }
                ColumnsOutcome::Finished
            }
            _ => ColumnsOutcome::ByRows,
        }
    }

    fn finish_run(&mut self, segment: Segment, values: RunValues, parsed: &ParsedFormula) {
        let is_plain = parsed.default_format.is_none() && !self.may_have_formats(segment, parsed);
        if is_plain {
            return self.cells.set_results(segment, values, Explanation::default());
        }
        let values: Box<dyn Iterator<Item = Value>> = match values {
            RunValues::Numbers(numbers) => Box::new(numbers.into_iter().map(Value::Number)),
            RunValues::Values(values) => Box::new(values.into_iter()),
        };
        for (key, value) in segment.keys().zip(values) {
            self.finish(key, value, parsed);
        }
    }

    /// Evaluates the formulas of a segment one after the other.
    fn evaluate_rows(
        &mut self,
        segment: Segment,
        parsed: &ParsedFormula,
    ) -> Option<CalculationStep> {
        for key in segment.keys() {
            self.order.advance_last(key.cell.row);
            let limits = match self.budget.take_formula() {
                Ok(limits) => limits,
                Err(exhausted) => {
                    self.end_request(exhausted);
                    return None;
                }
            };
            let context = self.workbook.evaluation_context(key, limits);
            let source = Source::new(&self.workbook, &self.cells);
            let (outcome, work) = evaluate_counted(&parsed.formula, &context, &source);
            let need = source.into_need();
            self.budget.take_evaluation(work.cells_read, work.steps);
            match (need, outcome) {
                (Some(Need::Stale(staleness)), _) => {
                    self.mark_stale(Segment::cell(key), staleness);
                }
                (Some(Need::LongTexts(hashes)), _) => {
                    if let Some(step) = self.load_texts(hashes) {
                        return Some(step);
                    }
                    let staleness = Staleness::because_of(StaleCause::LongTexts);
                    self.mark_stale(Segment::cell(key), staleness);
                }
                (Some(need), _) => return self.handle_need(segment, key, parsed, need),
                (None, Ok(EvaluationOutcome::Value(value))) => self.finish(key, value, parsed),
                (None, Ok(EvaluationOutcome::Array(array))) => {
                    self.finish_array(key, array, parsed);
                }
                (None, Err(LimitExceeded::CellsRead { .. } | LimitExceeded::Steps { .. }))
                    if Budget::is_short(&limits) =>
                {
                    self.end_request(Exhausted::CellsRead);
                    return None;
                }
                (None, Err(limit)) => {
                    self.mark_stale(Segment::cell(key), Staleness::because_of(limit));
                }
            }
        }
        self.order.pop();
        None
    }

    fn load_texts(&mut self, mut hashes: Vec<[u8; 32]>) -> Option<CalculationStep> {
        hashes.sort_unstable();
        hashes.dedup();
        self.loaded_texts += hashes.len();
        let is_within = self.loaded_texts <= MAX_CALCULATION_LONG_TEXTS;
        is_within.then_some(CalculationStep::LongTexts(hashes))
    }

    /// Has the formulas on top of the stack wait for cells or formulas.
    fn handle_need(
        &mut self,
        segment: Segment,
        key: CellKey,
        parsed: &ParsedFormula,
        need: Need,
    ) -> Option<CalculationStep> {
        match need {
            Need::Blocks(missing) => {
                let inputs = self.inputs(segment, parsed);
                self.load(missing.windows(&self.workbook, &inputs))
            }
            Need::Formulas(needed) => {
                self.arrange(&needed);
                None
            }
            Need::LongTexts(hashes) => self.load_texts(hashes),
            Need::Stale(staleness) => {
                self.mark_stale(Segment::cell(key), staleness);
                None
            }
        }
    }

    fn finish(&mut self, key: CellKey, value: Value, parsed: &ParsedFormula) {
        let format = match value {
            Value::Number(_) => self.format_of_result(key, parsed),
            _ => None,
        };
        self.cells.set_result(key, value, Explanation { format, note: None });
    }

    /// Finishes a formula whose result has several cells. The cell shows the first one if the
    /// others have place.
    fn finish_array(&mut self, key: CellKey, array: Array, parsed: &ParsedFormula) {
        let obstacle = match self.cells.spills.anchor(key) {
            None => return self.finish_unplaced_array(key, array.rows, array.columns),
            Some(Anchor::Blocked(obstacle)) => Some(*obstacle),
            Some(_) => None,
        };
        // The cells that are read can have another format in each column.
        let is_column = array.columns == 1;
        let format = if is_column { self.format_of_result(key, parsed) } else { None };
        let first = array.values.first().cloned().unwrap_or_default();
        self.spilled_results.insert(key, SpilledResult::new(array, format.clone()));
        let (value, explanation) = match obstacle {
            Some(obstacle) => {
                let note = Some(Arc::from(obstacle.note(&self.workbook, key)));
                (Value::Error(obstacle.error()), Explanation { format: None, note })
            }
            None => {
                let format = format.filter(|_| matches!(first, Value::Number(_)));
                (first, Explanation { format, note: None })
            }
        };
        self.cells.set_result(key, value, explanation);
    }

    /// Finishes a formula whose result has several cells, but which was not known to return them. If
    /// the cell has a stored value, such as one from an imported file, the formula becomes stale and
    /// this value is shown. Otherwise, the result is `#SPILL!`.
    fn finish_unplaced_array(&mut self, key: CellKey, rows: usize, columns: usize) {
        let cause = StaleCause::Array { rows, columns };
        let stored = self.cells.formula(key).map(|(placed, index)| placed.run.stored_value(index));
        if stored.is_some_and(|stored| stored != Value::Empty) {
            self.mark_stale(Segment::cell(key), Staleness::because_of(cause));
        } else {
            let note = Some(Arc::from(cause.to_string()));
            let explanation = Explanation { format: None, note };
            self.cells.set_result(key, Value::Error(ErrorCode::Spill), explanation);
        }
    }
}
