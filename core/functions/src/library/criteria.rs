//! Criteria of `COUNTIF`, `SUMIFS` and similar functions.

use std::cmp::Ordering;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::number::count;
use crate::operand::{Operand, Outcome};
use crate::source::Block;
use crate::value::wildcard::Pattern;
use crate::value::{DateRules, bool_of_text, compare_numbers, compare_texts, parse_number};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone)]
enum Wanted {
    Number(f64),
    Bool(bool),
    Error(ErrorCode),
    Text(String, Pattern),
    /// An empty string, which matches empty cells and empty strings.
    EmptyText,
    /// An operator without an operand: `=` matches empty cells, and `<>` all other cells.
    Nothing,
}

/// A parsed criterion, such as `>=5` or `a*`.
#[derive(Debug, Clone)]
pub(crate) struct Criterion {
    comparison: Comparison,
    wanted: Wanted,
}

const OPERATORS: [(&str, Comparison); 6] = [
    (">=", Comparison::GreaterOrEqual),
    ("<=", Comparison::LessOrEqual),
    ("<>", Comparison::NotEqual),
    (">", Comparison::Greater),
    ("<", Comparison::Less),
    ("=", Comparison::Equal),
];

impl Criterion {
    pub(crate) fn new(value: &Value) -> Self {
        let wanted = match value {
            Value::Empty => Wanted::Number(0.0),
            Value::Number(number) => Wanted::Number(*number),
            Value::Bool(value) => Wanted::Bool(*value),
            Value::Error(code) => Wanted::Error(*code),
            Value::Text(text) => return Self::of_text(text),
        };
        Self { comparison: Comparison::Equal, wanted }
    }

    fn of_text(text: &str) -> Self {
        if text.is_empty() {
            return Self { comparison: Comparison::Equal, wanted: Wanted::EmptyText };
        }
        let operator = OPERATORS
            .iter()
            .find_map(|(sign, comparison)| Some((text.strip_prefix(sign)?, *comparison)));
        let (rest, comparison) = operator.unwrap_or((text, Comparison::Equal));
        let wanted = if rest.is_empty() {
            Wanted::Nothing
        } else if let Some(number) = parse_number(rest, DateRules::default()) {
            Wanted::Number(number)
        } else if let Some(value) = bool_of_text(rest) {
            Wanted::Bool(value)
        } else if let Ok(code) = rest.to_uppercase().parse() {
            Wanted::Error(code)
        } else {
            Wanted::Text(rest.to_owned(), Pattern::new(rest))
        };
        Self { comparison, wanted }
    }

    pub(crate) fn matches_number(&self, number: f64) -> bool {
        match &self.wanted {
            Wanted::Number(wanted) => self.holds(compare_numbers(number, *wanted)),
            _ => self.comparison == Comparison::NotEqual,
        }
    }

    pub(crate) fn matches_empty(&self) -> bool {
        match &self.wanted {
            Wanted::EmptyText => true,
            Wanted::Nothing => self.comparison == Comparison::Equal,
            _ => self.comparison == Comparison::NotEqual,
        }
    }

    pub(crate) fn matches(&self, value: &Value) -> bool {
        match (value, &self.wanted) {
            (Value::Empty, _) => self.matches_empty(),
            (Value::Number(number), _) => self.matches_number(*number),
            (Value::Text(text), Wanted::EmptyText) => text.is_empty(),
            (Value::Text(text), Wanted::Text(wanted, pattern)) => {
                self.matches_text(text, wanted, pattern)
            }
            (Value::Text(text), Wanted::Number(wanted)) => match self.comparison {
                Comparison::Equal => parse_number(text, DateRules::default())
                    .is_some_and(|number| compare_numbers(number, *wanted).is_eq()),
                comparison => comparison == Comparison::NotEqual,
            },
            (Value::Bool(value), Wanted::Bool(wanted)) => self.holds(value.cmp(wanted)),
            (Value::Error(code), Wanted::Error(wanted)) => match self.comparison {
                Comparison::Equal => code == wanted,
                Comparison::NotEqual => code != wanted,
                _ => false,
            },
            _ => self.comparison == Comparison::NotEqual,
        }
    }

    fn matches_text(&self, text: &str, wanted: &str, pattern: &Pattern) -> bool {
        match self.comparison {
            Comparison::Equal => pattern.matches(text),
            Comparison::NotEqual => !pattern.matches(text),
            _ => self.holds(compare_texts(text, wanted)),
        }
    }

    fn holds(&self, ordering: Ordering) -> bool {
        match self.comparison {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::LessOrEqual => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

/// The size of the part of a range, from its first cell, that can contain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The cells that meet all criteria, in ranges of the same size.
pub(crate) struct Selection {
    pub(crate) extent: Extent,
    /// Whether each cell of `extent` meets all criteria, column by column.
    pub(crate) mask: Vec<bool>,
    /// Number of cells outside `extent` that meet all criteria. All of them are empty.
    pub(crate) outside: u64,
}

impl Selection {
    pub(crate) fn count(&self) -> u64 {
        count(self.mask.iter().filter(|is_selected| **is_selected).count()) + self.outside
    }
}

impl Call<'_, '_> {
    fn extent_of(&self, operand: &Operand) -> Outcome<Extent> {
        let (rows, columns) = self.evaluator.size(operand)?;
        let Operand::Reference(_) = operand else { return Ok(Extent { rows, columns }) };
        let area = self.evaluator.only_area(operand)?;
        Ok(match self.evaluator.used_part(area) {
            Some(used) => Extent {
                rows: (used.last.row - area.first.row + 1) as usize,
                columns: (used.last.column - area.first.column + 1) as usize,
            },
            None => Extent { rows: 0, columns: 0 },
        })
    }

    /// Selects the cells that meet all criteria. The ranges are the arguments `first`, `first + 2`,
    /// … before `last`, and each is followed by its criterion. The extent also covers the values of
    /// `aggregated`.
    pub(crate) fn select(
        &self,
        first: usize,
        last: usize,
        aggregated: Option<&Operand>,
    ) -> Outcome<Selection> {
        let size = self.evaluator.size(self.operand(first))?;
        let mut extent = match aggregated {
            Some(operand) => self.extent_of(operand)?,
            None => Extent { rows: 0, columns: 0 },
        };
        for index in (first..last).step_by(2) {
            if let Operand::Value(Value::Error(code)) = self.operand(index) {
                return Err((*code).into());
            }
            ensure(self.evaluator.size(self.operand(index))? == size, ErrorCode::Value)?;
            let own = self.extent_of(self.operand(index))?;
            extent.rows = extent.rows.max(own.rows).min(size.0);
            extent.columns = extent.columns.max(own.columns).min(size.1);
        }
        self.evaluator.spend(count(extent.rows).saturating_mul(count(extent.columns)))?;
        let mut mask = vec![true; extent.rows * extent.columns];
        self.evaluator.spend_text(mask.len())?;
        let mut selects_empty = true;
        for index in (first..last).step_by(2) {
            let criterion = Criterion::new(&self.any_value(index + 1)?);
            selects_empty &= criterion.matches_empty();
            self.restrict(&mut mask, extent, self.operand(index), &criterion)?;
        }
        let cells = count(size.0).saturating_mul(count(size.1));
        let outside = if selects_empty { cells - count(mask.len()) } else { 0 };
        Ok(Selection { extent, mask, outside })
    }

    fn restrict(
        &self,
        mask: &mut [bool],
        extent: Extent,
        operand: &Operand,
        criterion: &Criterion,
    ) -> Outcome<()> {
        self.visit_extent(operand, extent, &mut |place, block| {
            let mut slots = mask.iter_mut().skip(place);
            match block {
                Block::Empty(cells) => {
                    let is_match = criterion.matches_empty();
                    slots.by_ref().take(cells as usize).for_each(|slot| *slot &= is_match);
                }
                Block::Numbers(numbers) => {
                    for (slot, number) in slots.zip(numbers) {
                        *slot &= criterion.matches_number(*number);
                    }
                }
                Block::Values(values) => {
                    for (slot, value) in slots.zip(values) {
                        *slot &= criterion.matches(value);
                    }
                }
            }
            Ok(())
        })
    }

    /// Calls `visit` with the values of an operand within an extent, column by column. The values
    /// are passed in blocks, each with the index of its first value.
    pub(crate) fn visit_extent(
        &self,
        operand: &Operand,
        extent: Extent,
        visit: &mut dyn FnMut(usize, Block<'_>) -> Outcome<()>,
    ) -> Outcome<()> {
        let Operand::Reference(_) = operand else {
            let matrix = self.evaluator.matrix(operand)?;
            for column in 0..extent.columns {
                let values: Vec<_> = matrix.column(column).cloned().collect();
                visit(column * extent.rows, Block::Values(&values))?;
            }
            return Ok(());
        };
        if extent.rows == 0 || extent.columns == 0 {
            return Ok(());
        }
        let area = self.evaluator.only_area(operand)?;
        for column in 0..extent.columns {
            let place = column * extent.rows;
            self.visit_extent_column(area, column, extent.rows, &mut |row, block| {
                visit(place + row, block)
            })?;
        }
        Ok(())
    }

    /// Calls `visit` with the first `rows` rows of a column of an area, in blocks. Cells below the
    /// used range are passed as empty cells.
    fn visit_extent_column(
        &self,
        area: crate::operand::Area,
        column: usize,
        rows: usize,
        visit: &mut dyn FnMut(usize, Block<'_>) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut part = area;
        part.first.column += u32::try_from(column).unwrap_or(u32::MAX);
        part.last.column = part.first.column;
        part.last.row = part.first.row.saturating_add(u32::try_from(rows - 1).unwrap_or(u32::MAX));
        let mut row = 0;
        self.evaluator.visit_blocks(part, &mut |block| {
            let length = match block {
                Block::Empty(cells) => cells as usize,
                Block::Numbers(numbers) => numbers.len(),
                Block::Values(values) => values.len(),
            };
            let result = visit(row, block);
            row += length;
            result
        })?;
        let missing = u32::try_from(rows - row.min(rows)).unwrap_or(u32::MAX);
        if missing > 0 { visit(row, Block::Empty(missing)) } else { Ok(()) }
    }

    /// Calls `visit` with the selected numbers of an operand. Fails with the first selected error
    /// value.
    pub(crate) fn visit_selected(
        &self,
        operand: &Operand,
        selection: &Selection,
        visit: &mut dyn FnMut(f64),
    ) -> Outcome<()> {
        self.visit_extent(operand, selection.extent, &mut |place, block| {
            let selected = selection.mask.iter().skip(place);
            match block {
                Block::Empty(_) => {}
                Block::Numbers(numbers) => {
                    for (is_selected, number) in selected.zip(numbers) {
                        if *is_selected {
                            visit(*number);
                        }
                    }
                }
                Block::Values(values) => {
                    for (is_selected, value) in selected.zip(values) {
                        match value {
                            Value::Number(number) if *is_selected => visit(*number),
                            Value::Error(code) if *is_selected => return Err((*code).into()),
                            _ => {}
                        }
                    }
                }
            }
            Ok(())
        })
    }
}
