//! A block: the loaded cells in a fixed number of consecutive rows of one column.

use std::sync::Arc;

use cellar_sheet::cell::Value;
use cellar_snapshot::tile::{TileColumn, TileValue};

use crate::staleness::Staleness;

/// Number of rows in a block. Cells are loaded in whole blocks, even if a formula reads only one of
/// them.
pub(crate) const BLOCK_ROWS: u32 = 512;

/// The cells in [`BLOCK_ROWS`] consecutive rows of a column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Block {
    /// Parts in row order, without gaps. Rows after the last part are empty.
    pub(crate) parts: Vec<Part>,
    /// Formulas in row order.
    pub(crate) formulas: Vec<FormulaCell>,
    /// Number formats set on individual cells, in row order. Rows are relative to the start of the
    /// block.
    formats: Vec<(u32, Arc<str>)>,
}

/// Consecutive cells of the same kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// Exclusive end row of the part, relative to the start of the block.
    pub(crate) end: u32,
    pub(crate) cells: PartCells,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PartCells {
    Empty,
    Numbers(Vec<f64>),
    Values(Vec<Value>),
    /// Results of consecutive formulas. `first` is the index of their first formula in
    /// [`Block::formulas`].
    Formulas {
        first: usize,
        results: Vec<Value>,
    },
    /// A single text that is stored as a separate object, identified by its hash.
    LongText([u8; 32]),
}

/// A formula, its stored value and the state of its calculation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FormulaCell {
    /// Row relative to the start of the block.
    pub(crate) row: u32,
    pub(crate) formula: Arc<str>,
    /// The value stored with the formula, such as the result saved in an imported file.
    pub(crate) stored: Value,
    pub(crate) state: FormulaState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FormulaState {
    Unknown,
    /// Evaluation has started but needs other cells before it can finish.
    Open,
    /// The formula has been evaluated. Its result is stored in the part that contains its row.
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

impl Block {
    /// Creates the block that starts at `first_row`. `column` may also contain cells outside the
    /// block.
    pub(crate) fn new(column: &TileColumn, first_row: u32) -> Self {
        let values = &column.values;
        let start = values.count_above(first_row);
        let end = values.count_above(first_row.saturating_add(BLOCK_ROWS));
        let mut block = Self::default();
        let cells = values.rows().iter().zip(values.values());
        for (row, value) in cells.skip(start).take(end.saturating_sub(start)) {
            let offset = row - first_row;
            match (column.formulas.at(*row), value) {
                (Some(formula), _) => {
                    block.push_formula(offset, formula, block_value(column, value));
                }
                (None, TileValue::LongText(index)) => {
                    if let Some(text) = values.long_text(*index) {
                        block.push(offset, PartCells::LongText(text.hash));
                    }
                }
                (None, TileValue::Empty) => {}
                (None, TileValue::Number(number)) => block.push_number(offset, *number),
                (None, _) => block.push_value(offset, block_value(column, value)),
            }
        }
        block.formats = formats_of(column, first_row);
        block
    }

    /// Returns the number format that is set on an individual cell. `row` is relative to the start
    /// of the block.
    pub(crate) fn own_format(&self, row: u32) -> Option<&Arc<str>> {
        let index = self.formats.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        self.formats.get(index).map(|(_, format)| format)
    }

    fn end(&self) -> u32 {
        self.parts.last().map_or(0, |part| part.end)
    }

    fn push(&mut self, row: u32, cells: PartCells) {
        if self.end() < row {
            self.parts.push(Part { end: row, cells: PartCells::Empty });
        }
        self.parts.push(Part { end: row + 1, cells });
    }

    fn push_number(&mut self, row: u32, number: f64) {
        match self.parts.last_mut() {
            Some(Part { end, cells: PartCells::Numbers(numbers) }) if *end == row => {
                numbers.push(number);
                *end += 1;
            }
            _ => self.push(row, PartCells::Numbers(vec![number])),
        }
    }

    fn push_value(&mut self, row: u32, value: Value) {
        match self.parts.last_mut() {
            Some(Part { end, cells: PartCells::Values(values) }) if *end == row => {
                values.push(value);
                *end += 1;
            }
            _ => self.push(row, PartCells::Values(vec![value])),
        }
    }

    fn push_formula(&mut self, row: u32, formula: &str, stored: Value) {
        let index = self.formulas.len();
        let (formula, state) = (Arc::from(formula), FormulaState::Unknown);
        self.formulas.push(FormulaCell { row, formula, stored, state });
        match self.parts.last_mut() {
            Some(Part { end, cells: PartCells::Formulas { results, .. } }) if *end == row => {
                results.push(Value::Empty);
                *end += 1;
            }
            _ => {
                let results = vec![Value::Empty];
                self.push(row, PartCells::Formulas { first: index, results });
            }
        }
    }

    /// Returns the index of the formula in `row`, which is relative to the start of the block.
    pub(crate) fn formula_index(&self, row: u32) -> Option<usize> {
        self.formulas.binary_search_by_key(&row, |formula| formula.row).ok()
    }

    /// Returns the part that contains `row`, and the first row of this part. Both rows are relative
    /// to the start of the block.
    pub(crate) fn part_at(&self, row: u32) -> Option<(&Part, u32)> {
        let index = self.parts.partition_point(|part| part.end <= row);
        let part = self.parts.get(index)?;
        let before = index.checked_sub(1).and_then(|before| self.parts.get(before));
        Some((part, before.map_or(0, |before| before.end)))
    }

    /// Stores the result of the formula in `row`, which is relative to the start of the block.
    pub(crate) fn set_result(&mut self, row: u32, result: Value, explanation: Explanation) {
        let index = self.parts.partition_point(|part| part.end <= row);
        let before = index.checked_sub(1).and_then(|before| self.parts.get(before));
        let first_row = before.map_or(0, |before| before.end);
        if let Some(Part { cells: PartCells::Formulas { results, .. }, .. }) =
            self.parts.get_mut(index)
            && let Some(slot) = results.get_mut((row - first_row) as usize)
        {
            *slot = result;
        }
        self.set_state(row, FormulaState::Calculated(explanation));
    }

    pub(crate) fn set_state(&mut self, row: u32, state: FormulaState) {
        if let Some(index) = self.formula_index(row)
            && let Some(formula) = self.formulas.get_mut(index)
        {
            formula.state = state;
        }
    }

    /// Sets the value of every cell that refers to the long text with this hash.
    pub(crate) fn fill_in_text(&mut self, hash: &[u8; 32], value: &Value) {
        for part in &mut self.parts {
            if part.cells == PartCells::LongText(*hash) {
                part.cells = PartCells::Values(vec![value.clone()]);
            }
        }
    }

    /// Returns the number of non-empty cells.
    pub(crate) fn cell_count(&self) -> u64 {
        let count = |part: &Part| match &part.cells {
            PartCells::Empty => 0,
            PartCells::Numbers(numbers) => numbers.len(),
            PartCells::Values(values) => values.len(),
            PartCells::Formulas { results, .. } => results.len(),
            PartCells::LongText(_) => 1,
        };
        self.parts.iter().map(|part| u64::try_from(count(part)).unwrap_or(u64::MAX)).sum()
    }

    /// Returns the approximate memory use of the block in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let value_bytes = |value: &Value| match value {
            Value::Text(text) => size_of::<Value>() + text.len(),
            _ => size_of::<Value>(),
        };
        let part_bytes = |part: &Part| match &part.cells {
            PartCells::Empty | PartCells::LongText(_) => 0,
            PartCells::Numbers(numbers) => numbers.len() * size_of::<f64>(),
            PartCells::Values(values) | PartCells::Formulas { results: values, .. } => {
                values.iter().map(value_bytes).sum()
            }
        };
        let formula_bytes = |formula: &FormulaCell| {
            size_of::<FormulaCell>() + formula.formula.len() + value_bytes(&formula.stored)
        };
        size_of::<Self>()
            + self.parts.iter().map(|part| size_of::<Part>() + part_bytes(part)).sum::<usize>()
            + self.formulas.iter().map(formula_bytes).sum::<usize>()
            + self.formats.len() * size_of::<(u32, Arc<str>)>()
    }
}

/// Returns the number formats set on individual cells of the block. Consecutive cells with the same
/// format share one allocation.
fn formats_of(column: &TileColumn, first_row: u32) -> Vec<(u32, Arc<str>)> {
    let layer = &column.formats;
    let start = layer.count_above(first_row);
    let end = layer.count_above(first_row.saturating_add(BLOCK_ROWS));
    let mut formats: Vec<(u32, Arc<str>)> = Vec::with_capacity(end.saturating_sub(start));
    for index in start..end {
        let (Some(row), Some(text)) = (layer.rows().get(index), layer.get(index)) else { continue };
        let format = match formats.last() {
            Some((_, last)) if **last == *text => Arc::clone(last),
            _ => Arc::from(text),
        };
        formats.push((row - first_row, format));
    }
    formats
}

/// Converts a value of a tile. A long text becomes its preview.
fn block_value(column: &TileColumn, value: &TileValue) -> Value {
    let texts = column.values.texts();
    match value {
        TileValue::Empty => Value::Empty,
        TileValue::Number(number) => Value::Number(*number),
        TileValue::Bool(boolean) => Value::Bool(*boolean),
        TileValue::Error(code) => Value::Error(*code),
        TileValue::Text(span) => Value::Text(span.of(texts).to_owned()),
        TileValue::LongText(index) => match column.values.long_text(*index) {
            Some(text) => Value::Text(text.preview.of(texts).to_owned()),
            None => Value::Empty,
        },
    }
}
