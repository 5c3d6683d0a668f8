//! A run: consecutive cells with the same formula, their results and the states of their
//! calculation.

use std::ops::Range;
use std::sync::Arc;

use cellar_functions::RunValues;
use cellar_sheet::cell::Value;

use crate::formulas::SharedFormula;
use crate::staleness::Staleness;

/// Consecutive cells with the same formula. Rows are relative to the first cell of the run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) formula: Arc<SharedFormula>,
    /// The values stored with the formulas, such as the results saved in an imported file.
    stored: Column,
    pub(crate) results: Column,
    states: States,
    /// Whether the cells must be evaluated one by one, because they can be in a cycle.
    pub(crate) is_split: bool,
}

/// The values of the cells of a run.
#[derive(Debug, Clone, Default)]
pub(crate) enum Column {
    /// No cell has a value.
    #[default]
    Empty,
    Numbers(Vec<f64>),
    Values(Vec<Value>),
}

/// The state of the calculation of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FormulaState {
    Unknown,
    /// Evaluation has started but needs other cells before it can finish.
    Open,
    /// The formula has been evaluated.
    Calculated(Explanation),
    Stale(Staleness),
}

/// The number format and note of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// Number format for displaying the result, or `None` to use the format of the cell.
    pub(crate) format: Option<Arc<str>>,
    /// Explanation of an error value.
    pub(crate) note: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellState {
    Unknown,
    Open,
    Calculated,
    /// Calculated, with an index in `States::details`.
    Explained(u16),
    /// Index in `States::details`.
    Stale(u16),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Detail {
    Explanation(Explanation),
    Staleness(Staleness),
}

#[derive(Debug, Clone)]
enum CellStates {
    Same(CellState),
    Each(Vec<CellState>),
}

#[derive(Debug, Clone)]
struct States {
    cells: CellStates,
    /// Details of states, each of them once.
    details: Vec<Detail>,
}

/// The state of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateView<'a> {
    Unknown,
    Open,
    Calculated(Option<&'a Explanation>),
    Stale(&'a Staleness),
}

impl Column {
    pub(crate) fn value(&self, row: usize) -> Value {
        match self {
            Self::Empty => Value::Empty,
            Self::Numbers(numbers) => {
                numbers.get(row).map_or(Value::Empty, |number| Value::Number(*number))
            }
            Self::Values(values) => values.get(row).cloned().unwrap_or_default(),
        }
    }

    /// Replaces the value of a cell. `count` is the number of cells.
    fn set(&mut self, row: usize, value: Value, count: usize) {
        if let (Self::Empty, Value::Number(_)) = (&self, &value) {
            *self = Self::Numbers(vec![0.0; count]);
        }
        match (&mut *self, value) {
            (Self::Empty, Value::Empty) => {}
            (Self::Numbers(numbers), Value::Number(number)) => {
                if let Some(slot) = numbers.get_mut(row) {
                    *slot = number;
                }
            }
            (_, value) => {
                self.convert_to_values(count);
                if let Self::Values(values) = self
                    && let Some(slot) = values.get_mut(row)
                {
                    *slot = value;
                }
            }
        }
    }

    fn convert_to_values(&mut self, count: usize) {
        if !matches!(self, Self::Values(_)) {
            *self = Self::Values((0..count).map(|row| self.value(row)).collect());
        }
    }

    /// Appends a value after `count` cells.
    fn push(&mut self, value: Value, count: usize) {
        match (&mut *self, value) {
            (Self::Empty, Value::Empty) => {}
            (Self::Empty, Value::Number(number)) if count == 0 => {
                *self = Self::Numbers(vec![number]);
            }
            (Self::Numbers(numbers), Value::Number(number)) => numbers.push(number),
            (_, value) => {
                self.convert_to_values(count);
                if let Self::Values(values) = self {
                    values.push(value);
                }
            }
        }
    }

    /// Replaces the values of some cells. `count` is the number of all cells.
    fn set_range(&mut self, rows: Range<usize>, new_values: RunValues, count: usize) {
        if rows.len() == count {
            *self = match new_values {
                RunValues::Numbers(numbers) => Self::Numbers(numbers),
                RunValues::Values(values) => Self::Values(values),
            };
            return;
        }
        match new_values {
            RunValues::Numbers(numbers) => {
                for (row, number) in rows.zip(numbers) {
                    self.set(row, Value::Number(number), count);
                }
            }
            RunValues::Values(values) => {
                for (row, value) in rows.zip(values) {
                    self.set(row, value, count);
                }
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Numbers(numbers) => numbers.len() * size_of::<f64>(),
            Self::Values(values) => values.iter().map(value_bytes).sum(),
        }
    }
}

/// Returns the approximate memory use of a value in bytes.
pub(crate) fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => size_of::<Value>() + text.len(),
        _ => size_of::<Value>(),
    }
}

impl States {
    fn new() -> Self {
        Self { cells: CellStates::Same(CellState::Unknown), details: Vec::new() }
    }

    fn get(&self, row: usize) -> CellState {
        match &self.cells {
            CellStates::Same(state) => *state,
            CellStates::Each(states) => states.get(row).copied().unwrap_or(CellState::Unknown),
        }
    }

    fn set(&mut self, rows: Range<usize>, state: CellState, count: usize) {
        if rows.len() == count {
            self.cells = CellStates::Same(state);
            return;
        }
        if let CellStates::Same(same) = self.cells {
            if same == state {
                return;
            }
            self.cells = CellStates::Each(vec![same; count]);
        }
        if let CellStates::Each(states) = &mut self.cells
            && let Some(states) = states.get_mut(rows)
        {
            states.fill(state);
        }
    }

    /// Returns the index of a detail. Drops unused details if there are many.
    fn detail_index(&mut self, detail: Detail, count: usize) -> u16 {
        if let Some(index) = self.details.iter().rposition(|known| *known == detail) {
            return u16::try_from(index).unwrap_or(u16::MAX);
        }
        if self.details.len() >= 2 * count {
            self.drop_unused_details(count);
        }
        self.details.push(detail);
        u16::try_from(self.details.len() - 1).unwrap_or(u16::MAX)
    }

    fn drop_unused_details(&mut self, count: usize) {
        let details = std::mem::take(&mut self.details);
        let mut states: Vec<CellState> = (0..count).map(|row| self.get(row)).collect();
        for state in &mut states {
            if let CellState::Explained(index) | CellState::Stale(index) = state
                && let Some(detail) = details.get(usize::from(*index))
            {
                let known = self.details.iter().rposition(|known| known == detail);
                let new_index = known.unwrap_or_else(|| {
                    self.details.push(detail.clone());
                    self.details.len() - 1
                });
                *index = u16::try_from(new_index).unwrap_or(u16::MAX);
            }
        }
        self.cells = CellStates::Each(states);
    }

    fn view(&self, row: usize) -> StateView<'_> {
        let detail = |index: u16| self.details.get(usize::from(index));
        match self.get(row) {
            CellState::Unknown => StateView::Unknown,
            CellState::Open => StateView::Open,
            CellState::Calculated => StateView::Calculated(None),
            CellState::Explained(index) => match detail(index) {
                Some(Detail::Explanation(explanation)) => StateView::Calculated(Some(explanation)),
                _ => StateView::Calculated(None),
            },
            CellState::Stale(index) => match detail(index) {
                Some(Detail::Staleness(staleness)) => StateView::Stale(staleness),
                _ => StateView::Unknown,
            },
        }
    }
}

impl Run {
    pub(crate) fn new(formula: Arc<SharedFormula>, stored: Value) -> Self {
        let mut run = Self {
            formula,
            stored: Column::Empty,
            results: Column::Empty,
            states: States::new(),
            is_split: false,
        };
        run.stored.push(stored, 0);
        run
    }

    /// Appends a cell after `count` cells. No cell may have a state yet.
    pub(crate) fn push(&mut self, stored: Value, count: usize) {
        self.stored.push(stored, count);
    }

    pub(crate) fn stored_value(&self, row: usize) -> Value {
        self.stored.value(row)
    }

    pub(crate) fn state(&self, row: usize) -> StateView<'_> {
        self.states.view(row)
    }

    /// Returns the first of some rows that is not calculated.
    pub(crate) fn first_not_calculated(&self, mut rows: Range<usize>) -> Option<usize> {
        match &self.states.cells {
            CellStates::Same(CellState::Calculated | CellState::Explained(_)) => None,
            CellStates::Same(_) => rows.next(),
            CellStates::Each(_) => rows.find(|row| {
                !matches!(self.states.get(*row), CellState::Calculated | CellState::Explained(_))
            }),
        }
    }

    /// Returns whether a result has a number format that was derived from other cells.
    pub(crate) fn has_derived_formats(&self) -> bool {
        self.states.details.iter().any(|detail| {
            matches!(detail, Detail::Explanation(Explanation { format: Some(_), .. }))
        })
    }

    /// Sets the state of some cells. `count` is the number of all cells.
    pub(crate) fn set_state(&mut self, rows: Range<usize>, state: FormulaState, count: usize) {
        let state = match state {
            FormulaState::Unknown => CellState::Unknown,
            FormulaState::Open => CellState::Open,
            FormulaState::Calculated(explanation) if explanation == Explanation::default() => {
                CellState::Calculated
            }
            FormulaState::Calculated(explanation) => {
                let detail = Detail::Explanation(explanation);
                CellState::Explained(self.states.detail_index(detail, count))
            }
            FormulaState::Stale(staleness) => {
                CellState::Stale(self.states.detail_index(Detail::Staleness(staleness), count))
            }
        };
        self.states.set(rows, state, count);
    }

    /// Sets the result of a cell. `count` is the number of all cells.
    pub(crate) fn set_result(&mut self, row: usize, result: Value, count: usize) {
        self.results.set(row, result, count);
    }

    /// Sets the results of some cells. `count` is the number of all cells.
    pub(crate) fn set_results(&mut self, rows: Range<usize>, results: RunValues, count: usize) {
        self.results.set_range(rows, results, count);
    }

    /// Returns the approximate memory use in bytes, without results.
    pub(crate) fn memory_bytes(&self) -> usize {
        let states = match &self.states.cells {
            CellStates::Same(_) => 0,
            CellStates::Each(states) => states.len() * size_of::<CellState>(),
        };
        size_of::<Self>()
            + states
            + self.states.details.len() * size_of::<Detail>()
            + self.stored.memory_bytes()
    }
}
