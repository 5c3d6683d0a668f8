//! Sums, minima and maxima of cells and ranges.

use std::collections::HashMap;

use cellar_sheet::cell::{ErrorCode, Value};

use super::calls::gives_values;
use super::cells::{Builder, Cells};
use super::{Rows, RunEvaluator, number_value};
use crate::expression::{CellReference, Coordinate, Expressions, Node};
use crate::library::collect::{NonNumeric, Origin, number_of};
use crate::number::count;
use crate::operand::Stop;
use crate::source::{Block, SheetIndex};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Aggregate {
    Sum,
    Minimum,
    Maximum,
}

impl Aggregate {
    fn named(name: &str) -> Option<Self> {
        match name {
            "SUM" => Some(Self::Sum),
            "MIN" => Some(Self::Minimum),
            "MAX" => Some(Self::Maximum),
            _ => None,
        }
    }

    fn start(self) -> f64 {
        match self {
            Self::Sum => 0.0,
            Self::Minimum => f64::INFINITY,
            Self::Maximum => f64::NEG_INFINITY,
        }
    }

    /// Adds numbers one after the other, so that the total does not depend on blocks.
    fn add(self, total: f64, numbers: &[f64]) -> f64 {
        let numbers = numbers.iter().copied();
        match self {
            Self::Sum => numbers.fold(total, |sum, number| sum + number),
            Self::Minimum => numbers.fold(total, f64::min),
            Self::Maximum => numbers.fold(total, f64::max),
        }
    }
}

/// The total of the values so far. The first error is kept.
#[derive(Debug, Clone, Copy)]
struct Total {
    aggregate: Aggregate,
    total: f64,
    error: Option<ErrorCode>,
}

impl Total {
    fn new(aggregate: Aggregate) -> Self {
        Self { aggregate, total: aggregate.start(), error: None }
    }

    fn add_numbers(&mut self, numbers: &[f64]) {
        if self.error.is_none() {
            self.total = self.aggregate.add(self.total, numbers);
        }
    }

    /// Adds a value. Returns `None` if a limit was exceeded.
    fn add_value(&mut self, origin: Origin, value: &Value) -> Option<()> {
        if self.error.is_none() {
            match number_of(origin, value, NonNumeric::Skip) {
                Ok(Some(number)) => self.total = self.aggregate.add(self.total, &[number]),
                Ok(None) => {}
                Err(Stop::Error(code)) => self.error = Some(code),
                Err(Stop::Limit(_)) => return None,
            }
        }
        Some(())
    }

    fn result(&self) -> Value {
        match self.error {
            Some(code) => Value::Error(code),
            None if self.aggregate == Aggregate::Sum => number_value(self.total),
            None if self.total.is_finite() => Value::Number(self.total),
            None => Value::Number(0.0),
        }
    }
}

/// A range that starts with a fixed cell of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct GrowingRange {
    sheet: SheetIndex,
    column: u32,
    first_row: u32,
    aggregate: Aggregate,
}

/// Totals of ranges that grow from row to row, such as `$A$1:A7`. An evaluation of the rows below
/// continues with them. They are valid as long as the cells do not change.
#[derive(Debug, Clone, Default)]
pub struct RunTotals(HashMap<GrowingRange, (u32, Total)>);

impl RunTotals {
    /// Maximum number of totals. Beyond it, all totals are dropped.
    const MAX_TOTALS: usize = 1_024;

    /// Returns the next row of a range and the total above it.
    fn at(&self, range: GrowingRange) -> (u32, Total) {
        let start = (range.first_row, Total::new(range.aggregate));
        self.0.get(&range).copied().unwrap_or(start)
    }

    fn keep(&mut self, range: GrowingRange, next_row: u32, total: Total) {
        if self.0.len() >= Self::MAX_TOTALS {
            self.0.clear();
        }
        self.0.insert(range, (next_row, total));
    }
}

/// An argument.
enum Part {
    Cells(Origin, Cells),
    /// A range that moves with the rows.
    Moving(MovingRange),
    Growing(GrowingRange),
}

#[derive(Debug, Clone, Copy)]
struct MovingRange {
    sheet: SheetIndex,
    first_column: u32,
    last_column: u32,
    /// First row of the range of the first cell.
    first_row: u32,
    height: u32,
}

impl RunEvaluator<'_> {
    /// Computes `SUM`, `MIN` or `MAX` of each row. Returns `None` for other functions, and if an
    /// argument is not supported.
    pub(super) fn call_aggregate(
        &self,
        name: &str,
        arguments: Expressions<'_>,
        rows: Rows<'_>,
    ) -> Option<Cells> {
        let aggregate = Aggregate::named(name)?;
        let mut totals = vec![Total::new(aggregate); rows.len()];
        for (index, argument) in arguments.iter().enumerate() {
            let part = match argument.node() {
                Node::Reference(reference) => {
                    self.costs.add_steps(rows.len(), 1);
                    self.range_part(aggregate, reference, rows, index == 0)?
                }
                _ if gives_values(argument) => {
                    Part::Cells(Origin::Argument, self.evaluate(argument, rows)?)
                }
                _ => return None,
            };
            match part {
                Part::Cells(origin, cells) => add_cells(&mut totals, origin, &cells)?,
                Part::Moving(range) => self.add_moving_range(&mut totals, range)?,
                Part::Growing(range) => self.add_growing_range(&mut totals, range)?,
            }
        }
        let mut builder = Builder::with_capacity(rows.len());
        totals.iter().for_each(|total| builder.push(total.result()));
        Some(builder.finish())
    }

    fn range_part(
        &self,
        aggregate: Aggregate,
        reference: &CellReference,
        rows: Rows<'_>,
        is_first: bool,
    ) -> Option<Part> {
        if reference.only_cell().is_some() {
            return Some(Part::Cells(Origin::Cell, self.read_reference(reference, rows)?));
        }
        let Rows::All(_) = rows else { return None };
        let sheet = self.sheet_of(reference)?;
        let own = self.context.cell;
        let columns = [reference.first_column?, reference.last_column?];
        let [left, right] = [columns[0].at(own.column)?, columns[1].at(own.column)?];
        let (first_column, last_column) = (left.min(right), left.max(right));
        match (reference.first_row?, reference.last_row?) {
            (Coordinate::Relative(top), Coordinate::Relative(bottom)) => {
                let first_row = Coordinate::Relative(top.min(bottom)).at(own.row)?;
                let height = top.abs_diff(bottom) + 1;
                Some(Part::Moving(MovingRange {
                    sheet,
                    first_column,
                    last_column,
                    first_row,
                    height,
                }))
            }
            (Coordinate::Fixed(first_row), Coordinate::Relative(0))
            | (Coordinate::Relative(0), Coordinate::Fixed(first_row))
                if is_first && first_column == last_column && first_row <= own.row =>
            {
                Some(Part::Growing(GrowingRange {
                    sheet,
                    column: first_column,
                    first_row,
                    aggregate,
                }))
            }
            _ => None,
        }
    }

    fn add_moving_range(&self, totals: &mut [Total], range: MovingRange) -> Option<()> {
        /// Maximum number of rows of a range whose columns are kept in memory.
        const MAX_HEIGHT: u32 = 1_024;
        let height = range.height as usize;
        if range.height > MAX_HEIGHT {
            return None;
        }
        let last_row = range.first_row.checked_add(self.row_count - 1)?;
        let last_row = last_row.checked_add(range.height - 1)?;
        if last_row >= self.source.grid_size().rows {
            return None;
        }
        let used_columns = self.source.used_size(range.sheet).columns;
        for column in range.first_column..=range.last_column {
            if column >= used_columns {
                break;
            }
            let read = count(totals.len()) + u64::from(range.height);
            self.costs.add_cells(totals.len(), u64::from(range.height), read);
            match self.read_column(range.sheet, column, range.first_row, last_row)? {
                Cells::Numbers(numbers) => {
                    for (total, window) in totals.iter_mut().zip(numbers.windows(height)) {
                        total.add_numbers(window);
                    }
                }
                Cells::Values(values) => {
                    for (total, window) in totals.iter_mut().zip(values.windows(height)) {
                        window.iter().try_for_each(|value| total.add_value(Origin::Cell, value))?;
                    }
                }
                Cells::Same(_) | Cells::Booleans(_) => return None,
            }
        }
        Some(())
    }

    fn add_growing_range(&self, totals: &mut [Total], range: GrowingRange) -> Option<()> {
        let own_row = self.context.cell.row;
        let last_row = own_row.checked_add(self.row_count - 1)?;
        let (mut next_row, mut total) = self.totals.borrow().at(range);
        if next_row > own_row {
            (next_row, total) = (range.first_row, Total::new(range.aggregate));
        }
        let done_cells = u64::from(last_row - next_row + 1);
        let used = self.source.used_size(range.sheet);
        let last_used = last_row.min(used.rows.saturating_sub(1));
        let mut row = next_row;
        if range.column < used.columns && next_row < used.rows {
            let mut put = |row: u32, total: Total| {
                if let Some(offset) = row.checked_sub(own_row)
                    && let Some(slot) = totals.get_mut(offset as usize)
                {
                    *slot = total;
                }
            };
            let visit = &mut |block: Block<'_>| {
                match block {
                    Block::Empty(cells) => {
                        for _ in 0..cells {
                            put(row, total);
                            row += 1;
                        }
                    }
                    Block::Numbers(numbers) => {
                        for number in numbers {
                            total.add_numbers(std::slice::from_ref(number));
                            put(row, total);
                            row += 1;
                        }
                    }
                    Block::Values(values) => {
                        for value in values {
                            if total.add_value(Origin::Cell, value).is_none() {
                                return false;
                            }
                            put(row, total);
                            row += 1;
                        }
                    }
                }
                true
            };
            self.source.visit_column(range.sheet, range.column, next_row, last_used, visit);
            if row <= last_used {
                return None;
            }
        }
        let below = row.max(own_row) - own_row;
        totals.iter_mut().skip(below as usize).for_each(|slot| *slot = total);
        self.totals.borrow_mut().keep(range, last_row + 1, total);
        let most_cells = u64::from(last_row - range.first_row + 1);
        let all_cells = most_cells.saturating_mul(count(totals.len()));
        self.costs.add_growing(all_cells, most_cells, done_cells);
        Some(())
    }
}

fn add_cells(totals: &mut [Total], origin: Origin, cells: &Cells) -> Option<()> {
    if let Cells::Numbers(numbers) = cells {
        for (total, number) in totals.iter_mut().zip(numbers) {
            total.add_numbers(std::slice::from_ref(number));
        }
        return Some(());
    }
    let mut place = Value::Empty;
    for (index, total) in totals.iter_mut().enumerate() {
        total.add_value(origin, cells.borrowed(index, &mut place))?;
    }
    Some(())
}
