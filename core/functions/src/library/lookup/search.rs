//! Searches within a single row or column.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use cellar_sheet::cell::{ErrorCode, Value};
use regex_lite::Regex;

use crate::call::{Call, ensure};
use crate::evaluate::Evaluator;
use crate::lookup_index::LookupIndex;
use crate::operand::{Area, Matrix, Operand, Outcome};
use crate::source::Block;
use crate::value::wildcard::Pattern;
use crate::value::{compare_filled, compare_numbers, equal_texts, type_rank};

/// A single row or column of values. The cells of a column are read only when they are compared.
pub(super) struct Vector<'c, 'e> {
    evaluator: &'c Evaluator<'e>,
    cells: Cells,
    /// Number of values, including empty cells outside the used range.
    pub(super) length: usize,
}

enum Cells {
    Column(Area),
    Values(Rc<Matrix>),
}

impl<'c, 'e> Vector<'c, 'e> {
    /// Converts an argument to a vector. Fails with `#N/A` unless it is a single row or column.
    pub(super) fn of_argument(call: &Call<'c, 'e>, index: usize) -> Outcome<Self> {
        let operand = call.operand(index);
        if let Operand::Value(Value::Error(code)) = operand {
            return Err((*code).into());
        }
        let (rows, columns) = call.evaluator.size(operand)?;
        ensure(rows == 1 || columns == 1, ErrorCode::NotAvailable)?;
        Self::of_operand(call.evaluator, operand)
    }

    /// Converts an operand, which must be a single row or column, to a vector.
    pub(super) fn of_operand(evaluator: &'c Evaluator<'e>, operand: &Operand) -> Outcome<Self> {
        let (rows, columns) = evaluator.size(operand)?;
        let length = rows * columns;
        let cells = match operand {
            Operand::Reference(_) if columns == 1 => Cells::Column(evaluator.only_area(operand)?),
            other => Cells::Values(evaluator.matrix(other)?),
        };
        Ok(Self { evaluator, cells, length })
    }

    /// Returns the number of values up to the end of the used range.
    pub(super) fn used_length(&self) -> usize {
        match &self.cells {
            Cells::Values(matrix) => matrix.values.len(),
            Cells::Column(area) => match self.evaluator.used_part(*area) {
                Some(used) => (used.last.row - area.first.row + 1) as usize,
                None => 0,
            },
        }
    }

    pub(super) fn get(&self, index: usize) -> Outcome<Value> {
        self.evaluator.spend(1)?;
        match &self.cells {
            Cells::Values(matrix) => Ok(matrix.values.get(index).cloned().unwrap_or_default()),
            Cells::Column(area) => {
                let row = area.first.row.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
                self.evaluator.read_cell(Area::cell(area.sheet, row, area.first.column))
            }
        }
    }

    /// Returns an index of the values, if there is one. A search counts as reading one cell.
    fn lookup_index(&self) -> Outcome<Option<Arc<LookupIndex>>> {
        let Cells::Column(area) = &self.cells else { return Ok(None) };
        let Some(used) = self.evaluator.used_part(*area) else { return Ok(None) };
        let (first, last) = (used.first, used.last);
        let found =
            self.evaluator.source.lookup_index(area.sheet, first.column, first.row, last.row);
        let Some((index, cells_read)) = found else { return Ok(None) };
        self.evaluator.spend_cells(cells_read + 1)?;
        Ok(Some(index))
    }

    /// Calls `visit` with each index and value until it returns `false`.
    fn scan(&self, visit: &mut dyn FnMut(usize, &Value) -> bool) -> Outcome<()> {
        let area = match &self.cells {
            Cells::Values(matrix) => {
                self.evaluator.spend(crate::number::count(matrix.values.len()))?;
                let mut values = matrix.values.iter().enumerate();
                values.all(|(index, value)| visit(index, value));
                return Ok(());
            }
            Cells::Column(area) => area,
        };
        let Some(used) = self.evaluator.used_part(*area) else { return Ok(()) };
        let mut index = 0;
        let (sheet, column) = (area.sheet, area.first.column);
        let mut next = |value: &Value| {
            index += 1;
            visit(index - 1, value)
        };
        self.evaluator.source.visit_column(
            sheet,
            column,
            used.first.row,
            used.last.row,
            &mut |block| match block {
                Block::Empty(cells) => (0..cells).all(|_| next(&Value::Empty)),
                Block::Numbers(numbers) => {
                    numbers.iter().all(|number| next(&Value::Number(*number)))
                }
                Block::Values(values) => values.iter().all(&mut next),
            },
        );
        self.evaluator.spend_cells(crate::number::count(index))
    }
}

/// The value or pattern that an exact search looks for.
pub(super) enum Wanted {
    Value(Value),
    Pattern(Pattern),
    Regex(Regex),
}

impl Wanted {
    /// Converts the lookup value of `MATCH`, `VLOOKUP` or `HLOOKUP`. Text may contain wildcards.
    pub(super) fn with_wildcards(value: Value) -> Self {
        match value {
            Value::Text(text) if text.contains(['*', '?', '~']) => {
                Self::Pattern(Pattern::new(&text))
            }
            other => Self::Value(other),
        }
    }

    fn matches(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Value(Value::Number(wanted)), Value::Number(number)) => {
                compare_numbers(*wanted, *number).is_eq()
            }
            (Self::Value(Value::Text(wanted)), Value::Text(text)) => equal_texts(wanted, text),
            (Self::Value(wanted), value) => wanted == value,
            (Self::Pattern(pattern), Value::Text(text)) => pattern.matches(text),
            (Self::Regex(regex), Value::Text(text)) => regex.is_match(text),
            _ => false,
        }
    }
}

/// The direction of a linear search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    FirstToLast,
    LastToFirst,
}

/// Returns the index of the first match in the given direction.
pub(super) fn find_exact(
    vector: &Vector<'_, '_>,
    wanted: &Wanted,
    direction: Direction,
) -> Outcome<Option<usize>> {
    if let Wanted::Value(value @ (Value::Number(_) | Value::Text(_) | Value::Bool(_))) = wanted
        && let Some(index) = vector.lookup_index()?
    {
        let found = index.find(value, direction == Direction::LastToFirst);
        return Ok(found.map(|place| place as usize));
    }
    let mut found = None;
    vector.scan(&mut |index, value| {
        if wanted.matches(value) {
            found = Some(index);
            return direction == Direction::LastToFirst;
        }
        true
    })?;
    let seeks_empty = matches!(wanted, Wanted::Value(Value::Empty));
    if seeks_empty && found.is_none() && vector.used_length() < vector.length {
        return Ok(Some(vector.used_length()));
    }
    Ok(found)
}

/// Returns the index of a value equal to `wanted`, or else of the nearest value on the given side:
/// `Less` for the next smaller value, `Greater` for the next larger value.
pub(super) fn find_nearest(
    vector: &Vector<'_, '_>,
    wanted: &Value,
    side: Ordering,
    direction: Direction,
) -> Outcome<Option<usize>> {
    let mut best: Option<(usize, Value)> = None;
    vector.scan(&mut |index, value| {
        if matches!(value, Value::Empty | Value::Error(_)) {
            return true;
        }
        let order = compare_filled(value, wanted);
        if order != Ordering::Equal && order != side {
            return true;
        }
        let is_better = match &best {
            None => true,
            Some((_, known)) => match compare_filled(value, known) {
                Ordering::Equal => direction == Direction::LastToFirst,
                towards => towards == side.reverse(),
            },
        };
        if is_better {
            best = Some((index, value.clone()));
        }
        true
    })?;
    Ok(best.map(|(index, _)| index))
}

/// Returns the index of the last value that does not sort after `wanted`, by binary search in
/// sorted values. Values of other types are skipped. Returns `None` if all values sort after
/// `wanted`.
pub(super) fn bisect(
    vector: &Vector<'_, '_>,
    wanted: &Value,
    is_descending: bool,
) -> Outcome<Option<usize>> {
    let (mut low, mut high) = (0, vector.used_length());
    let mut found = None;
    while low < high {
        let middle = low + (high - low) / 2;
        let mut probe = middle;
        let mut value = vector.get(probe)?;
        while type_rank(&value) != type_rank(wanted) && probe + 1 < high {
            probe += 1;
            value = vector.get(probe)?;
        }
        if type_rank(&value) != type_rank(wanted) {
            high = middle;
            continue;
        }
        let order = compare_filled(&value, wanted);
        let order = if is_descending { order.reverse() } else { order };
        if order == Ordering::Greater {
            high = middle;
        } else {
            found = Some(probe);
            low = probe + 1;
        }
    }
    Ok(found)
}
