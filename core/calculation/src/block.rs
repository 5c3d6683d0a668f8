//! A block: the loaded cells in a fixed number of consecutive rows of one column.

use std::ops::Range;
use std::sync::Arc;

use cellar_functions::RunValues;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_snapshot::tile::{TextLayer, TextSpan, TileColumn, TileValue};

use crate::formulas::{FormulaTable, SharedFormula};
use crate::run::{Explanation, FormulaState, Run, value_bytes};
use crate::spills::SpilledCell;
use crate::workbook::CalculatedWorkbook;

/// Number of rows in a block. Cells are loaded in whole blocks, even if a formula reads only one of
/// them.
pub(crate) const BLOCK_ROWS: u32 = 512;

/// The cells in [`BLOCK_ROWS`] consecutive rows of a column. Rows are relative to the start of the
/// block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// Parts in row order, without gaps. Rows after the last part are empty.
    pub(crate) parts: Vec<Part>,
    /// Number formats set on individual cells, in row order.
    formats: Vec<(u32, Arc<str>)>,
    /// Rows of the cells that results of other cells fill, in row order.
    spilled_rows: Vec<u32>,
    /// Number of the request that loaded the block or calculated its formulas last.
    pub(crate) last_request: u64,
}

/// Consecutive cells of the same kind.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Exclusive end row of the part.
    pub(crate) end: u32,
    pub(crate) cells: PartCells,
}

#[derive(Debug, Clone)]
pub(crate) enum PartCells {
    Empty,
    Numbers(Vec<f64>),
    Values(Vec<Value>),
    /// Formulas and their results.
    Run(Box<Run>),
    /// A single text that is stored as a separate object, identified by its hash.
    LongText([u8; 32]),
}

impl PartCells {
    fn is_blank(&self) -> bool {
        matches!(self, Self::Empty)
    }
}

/// A run and its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedRun<'a> {
    pub(crate) run: &'a Run,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// Supplies the formulas of consecutive rows of a column.
struct FormulaCursor<'a> {
    column: &'a TileColumn,
    text_index: usize,
    template_index: usize,
    /// The last template and its formula.
    last: Option<(TextSpan, Arc<SharedFormula>)>,
}

impl<'a> FormulaCursor<'a> {
    fn new(column: &'a TileColumn, first_row: u32) -> Self {
        let text_index = column.formulas.count_above(first_row);
        let template_index = column.templates.count_above(first_row);
        Self { column, text_index, template_index, last: None }
    }

    /// Returns the formula of a row. Rows must be passed in ascending order.
    fn formula(&mut self, row: u32, table: &mut FormulaTable) -> Option<Arc<SharedFormula>> {
        let TileColumn { formulas, templates, .. } = self.column;
        if advance(templates, &mut self.template_index, row) {
            let span = *templates.spans().get(self.template_index)?;
            let formula = match &self.last {
                Some((last, formula)) if *last == span => Arc::clone(formula),
                _ => table.formula(span.of(templates.texts())),
            };
            self.last = Some((span, Arc::clone(&formula)));
            return Some(formula);
        }
        if advance(formulas, &mut self.text_index, row) {
            return formulas.get(self.text_index).map(SharedFormula::of_text);
        }
        None
    }
}

/// Moves `index` to the first text at or after `row`. Returns whether this text is in `row`.
fn advance(layer: &TextLayer, index: &mut usize, row: u32) -> bool {
    while layer.rows().get(*index).is_some_and(|found| *found < row) {
        *index += 1;
    }
    layer.rows().get(*index) == Some(&row)
}

impl Block {
    /// Creates the block that starts at `first_row`. `column` may also contain cells outside the
    /// block.
    pub(crate) fn new(
        column: &TileColumn,
        first_row: u32,
        table: &mut FormulaTable,
        workbook: &CalculatedWorkbook,
    ) -> Self {
        let values = &column.values;
        let start = values.count_above(first_row);
        let end = values.count_above(first_row.saturating_add(BLOCK_ROWS));
        let mut block = Self::default();
        let mut formulas = FormulaCursor::new(column, first_row);
        let cells = values.rows().iter().zip(values.values());
        for (row, value) in cells.skip(start).take(end.saturating_sub(start)) {
            let offset = row - first_row;
            match (formulas.formula(*row, table), value) {
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
        block.separate_formulas_at_edges(
            CellName { row: first_row, column: column.index },
            workbook,
        );
        block.formats = formats_of(column, first_row);
        block
    }

    /// Gives each cell of a run its own formula if the run has cells with references outside the
    /// sheet. `first` is the first cell of the block.
    fn separate_formulas_at_edges(&mut self, first: CellName, workbook: &CalculatedWorkbook) {
        let cell = |row: u32| CellName { row: first.row + row, column: first.column };
        let is_shared = |first_row: u32, part: &Part| match &part.cells {
            PartCells::Run(run) => {
                run.formula.is_shared_between(cell(first_row), cell(part.end - 1))
            }
            _ => true,
        };
        let starts = self.part_starts();
        if starts.iter().zip(&self.parts).all(|(start, part)| is_shared(*start, part)) {
            return;
        }
        let mut parts = Vec::with_capacity(self.parts.len());
        for (start, part) in starts.into_iter().zip(std::mem::take(&mut self.parts)) {
            match &part.cells {
                PartCells::Run(run) if !is_shared(start, &part) => {
                    for row in start..part.end {
                        let text = run.formula.text_in(cell(row), workbook);
                        let stored = run.stored_value((row - start) as usize);
                        let run = Box::new(Run::new(SharedFormula::of_text(&text), stored));
                        parts.push(Part { end: row + 1, cells: PartCells::Run(run) });
                    }
                }
                _ => parts.push(part),
            }
        }
        self.parts = parts;
    }

    /// Fills blank cells with parts of the results of other cells. `first_row` is the first row of
    /// the block.
    pub(crate) fn fill_blank_cells(&mut self, first_row: u32, cells: Vec<SpilledCell<'_>>) {
        if cells.is_empty() {
            return;
        }
        let mut filled = Self::default();
        let mut cells = cells.into_iter().peekable();
        let mut start = 0;
        for part in std::mem::take(&mut self.parts) {
            let part_start = std::mem::replace(&mut start, part.end);
            while let Some(cell) = cells.next_if(|cell| cell.cell.row - first_row < part.end) {
                if part.cells.is_blank() {
                    filled.push_spilled(cell.cell.row - first_row, &cell);
                }
            }
            if !part.cells.is_blank() {
                if filled.end() < part_start {
                    filled.parts.push(Part { end: part_start, cells: PartCells::Empty });
                }
                filled.parts.push(part);
            }
        }
        for cell in cells {
            filled.push_spilled(cell.cell.row - first_row, &cell);
        }
        self.parts = filled.parts;
        self.spilled_rows = filled.spilled_rows;
        self.add_formats(filled.formats);
    }

    fn push_spilled(&mut self, row: u32, cell: &SpilledCell<'_>) {
        match cell.value {
            Value::Number(number) => self.push_number(row, *number),
            value => self.push_value(row, value.clone()),
        }
        self.spilled_rows.push(row);
        if let (Some(format), Value::Number(_)) = (cell.format, cell.value) {
            self.formats.push((row, Arc::clone(format)));
        }
    }

    /// Adds number formats to the cells that have none.
    fn add_formats(&mut self, formats: Vec<(u32, Arc<str>)>) {
        for (row, format) in formats {
            if let Err(index) = self.formats.binary_search_by_key(&row, |(row, _)| *row) {
                self.formats.insert(index, (row, format));
            }
        }
    }

    /// Returns whether a cell has a value or a formula of its own.
    pub(crate) fn has_content(&self, row: u32) -> bool {
        let part = self.part_at(row);
        part.is_some_and(|(part, _)| !part.cells.is_blank())
            && self.spilled_rows.binary_search(&row).is_err()
    }

    fn part_starts(&self) -> Vec<u32> {
        let ends = self.parts.iter().map(|part| part.end);
        std::iter::once(0).chain(ends).take(self.parts.len()).collect()
    }

    /// Returns the number format that is set on an individual cell.
    pub(crate) fn own_format(&self, row: u32) -> Option<&Arc<str>> {
        let index = self.formats.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        self.formats.get(index).map(|(_, format)| format)
    }

    /// Returns whether a cell or a result may have a number format.
    pub(crate) fn has_formats(&self) -> bool {
        !self.formats.is_empty() || self.runs().any(|placed| placed.run.has_derived_formats())
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

    fn push_formula(&mut self, row: u32, formula: Arc<SharedFormula>, stored: Value) {
        let last_start = self.parts.iter().rev().nth(1).map_or(0, |part| part.end);
        match self.parts.last_mut() {
            Some(Part { end, cells: PartCells::Run(run) })
                if *end == row && Arc::ptr_eq(&run.formula, &formula) =>
            {
                run.push(stored, (row - last_start) as usize);
                *end += 1;
            }
            _ => self.push(row, PartCells::Run(Box::new(Run::new(formula, stored)))),
        }
    }

    /// Returns all runs in row order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = PlacedRun<'_>> {
        let mut start = 0;
        self.parts.iter().filter_map(move |part| {
            let first = std::mem::replace(&mut start, part.end);
            match &part.cells {
                PartCells::Run(run) => Some(PlacedRun { run, first, end: part.end }),
                _ => None,
            }
        })
    }

    pub(crate) fn has_formulas(&self) -> bool {
        self.runs().next().is_some()
    }

    /// Returns the run that contains a row.
    pub(crate) fn run_at(&self, row: u32) -> Option<PlacedRun<'_>> {
        let (part, first) = self.part_at(row)?;
        match &part.cells {
            PartCells::Run(run) => Some(PlacedRun { run, first, end: part.end }),
            _ => None,
        }
    }

    /// Returns the run that contains a row, its first row and its number of rows.
    fn run_mut(&mut self, row: u32) -> Option<(&mut Run, u32, usize)> {
        let (index, first) = self.part_index(row);
        match self.parts.get_mut(index) {
            Some(Part { end, cells: PartCells::Run(run) }) => {
                Some((run, first, (*end - first) as usize))
            }
            _ => None,
        }
    }

    fn part_index(&self, row: u32) -> (usize, u32) {
        let index = self.parts.partition_point(|part| part.end <= row);
        let before = index.checked_sub(1).and_then(|before| self.parts.get(before));
        (index, before.map_or(0, |before| before.end))
    }

    /// Returns the part that contains `row`, and the first row of this part.
    pub(crate) fn part_at(&self, row: u32) -> Option<(&Part, u32)> {
        let (index, first) = self.part_index(row);
        Some((self.parts.get(index)?, first))
    }

    /// Stores the result of the formula in `row`. Returns the additional memory in bytes.
    pub(crate) fn set_result(
        &mut self,
        row: u32,
        result: Value,
        explanation: Explanation,
    ) -> usize {
        let Some((run, first, count)) = self.run_mut(row) else { return 0 };
        let place = (row - first) as usize;
        let text_bytes = if let Value::Text(text) = &result { text.len() } else { 0 };
        let column_bytes = match (&run.results, &result) {
            (crate::run::Column::Empty, Value::Number(_)) => count * size_of::<f64>(),
            (crate::run::Column::Empty, _) => count * size_of::<Value>(),
            (crate::run::Column::Numbers(_), Value::Number(_)) => 0,
            (crate::run::Column::Numbers(_), _) => count * size_of::<Value>(),
            (crate::run::Column::Values(_), _) => 0,
        };
        run.set_result(place, result, count);
        run.set_state(place..place + 1, FormulaState::Calculated(explanation), count);
        text_bytes + column_bytes
    }

    /// Stores the results of the formulas in `rows`, which are in the same run. Returns the
    /// additional memory in bytes.
    pub(crate) fn set_results(
        &mut self,
        rows: Range<u32>,
        results: RunValues,
        explanation: Explanation,
    ) -> usize {
        let Some((run, first, count)) = self.run_mut(rows.start) else { return 0 };
        let places = (rows.start - first) as usize..(rows.end - first) as usize;
        let bytes = match &results {
            RunValues::Numbers(numbers) => numbers.len() * size_of::<f64>(),
            RunValues::Values(values) => values.iter().map(value_bytes).sum(),
        };
        run.set_results(places.clone(), results, count);
        run.set_state(places, FormulaState::Calculated(explanation), count);
        bytes
    }

    /// Sets the state of formulas in `rows`, which are in the same run.
    pub(crate) fn set_state(&mut self, rows: Range<u32>, state: FormulaState) {
        if let Some((run, first, count)) = self.run_mut(rows.start) {
            let places = (rows.start - first) as usize..(rows.end - first) as usize;
            run.set_state(places, state, count);
        }
    }

    /// Has the formulas of the run in `row` evaluated one by one.
    pub(crate) fn split_run(&mut self, row: u32) {
        if let Some((run, ..)) = self.run_mut(row) {
            run.is_split = true;
        }
    }

    /// Sets the value of every cell that refers to the long text with this hash.
    pub(crate) fn fill_in_text(&mut self, hash: &[u8; 32], value: &Value) {
        for part in &mut self.parts {
            if matches!(&part.cells, PartCells::LongText(own) if own == hash) {
                part.cells = PartCells::Values(vec![value.clone()]);
            }
        }
    }

    /// Returns the number of non-empty cells.
    pub(crate) fn cell_count(&self) -> u64 {
        let mut start = 0;
        let mut count = 0_u64;
        for part in &self.parts {
            let rows = part.end - std::mem::replace(&mut start, part.end);
            count += match &part.cells {
                PartCells::Empty => 0,
                _ => u64::from(rows),
            };
        }
        count
    }

    /// Returns the approximate memory use of the block in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let part_bytes = |part: &Part| match &part.cells {
            PartCells::Empty | PartCells::LongText(_) => 0,
            PartCells::Numbers(numbers) => numbers.len() * size_of::<f64>(),
            PartCells::Values(values) => values.iter().map(value_bytes).sum(),
            PartCells::Run(run) => run.memory_bytes() + run.results.memory_bytes(),
        };
        size_of::<Self>()
            + self.parts.iter().map(|part| size_of::<Part>() + part_bytes(part)).sum::<usize>()
            + self.formats.len() * size_of::<(u32, Arc<str>)>()
            + self.spilled_rows.len() * size_of::<u32>()
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
