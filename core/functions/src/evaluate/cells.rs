//! Reads the cells and values of operands.

use std::rc::Rc;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use super::Evaluator;
use crate::operand::{Area, Matrix, Operand, Outcome};
use crate::source::Block;

impl Evaluator<'_> {
    /// Returns the value of the first cell of an area.
    pub(crate) fn read_cell(&self, area: Area) -> Outcome<Value> {
        self.budget.spend_cells(1, &self.context.limits)?;
        let value = self.source.cell(area.sheet, area.first);
        self.spend_copy(&value)?;
        Ok(value)
    }

    /// Returns the value of an operand, which may be an error value. An array is reduced to its
    /// first element. Fails with `#VALUE!` if the operand is a reference to several cells.
    pub(crate) fn single(&self, operand: &Operand) -> Outcome<Value> {
        match operand {
            Operand::Omitted => Ok(Value::Empty),
            Operand::Value(value) => Ok(value.clone()),
            Operand::Array(matrix) => Ok(matrix.get(0, 0).clone()),
            Operand::Reference(areas) => match areas.as_slice() {
                [area] if area.is_cell() => self.read_cell(*area),
                _ => Err(ErrorCode::Value.into()),
            },
            Operand::Lambda(_) | Operand::Function(_) => Err(ErrorCode::Calc.into()),
        }
    }

    /// Returns the intersection of an area with the used range of its sheet, or `None` if it is
    /// empty.
    pub(crate) fn used_part(&self, area: Area) -> Option<Area> {
        let used = self.source.used_size(area.sheet);
        let row = used.rows.checked_sub(1)?;
        let column = used.columns.checked_sub(1)?;
        let first = CellName { row: 0, column: 0 };
        area.intersection(Area { sheet: area.sheet, first, last: CellName { row, column } })
    }

    /// Returns the values of an operand as an array. Whole rows and columns are clipped to the used
    /// range.
    pub(crate) fn matrix(&self, operand: &Operand) -> Outcome<Rc<Matrix>> {
        match operand {
            Operand::Array(matrix) => Ok(Rc::clone(matrix)),
            Operand::Reference(areas) => match areas.as_slice() {
                [area] => Ok(Rc::new(self.area_matrix(self.clipped(*area))?)),
                _ => Err(ErrorCode::Value.into()),
            },
            other => {
                let value = self.single(other)?;
                Ok(Rc::new(Matrix { rows: 1, columns: 1, values: vec![value] }))
            }
        }
    }

    /// Clips an area that extends to the last row or column of the sheet to the used range. At
    /// least one row and one column remain.
    pub(crate) fn clipped(&self, area: Area) -> Area {
        let grid = self.source.grid_size();
        let used = self.source.used_size(area.sheet);
        let mut clipped = area;
        if area.last.row == grid.rows - 1 {
            clipped.last.row = used.rows.saturating_sub(1).max(area.first.row);
        }
        if area.last.column == grid.columns - 1 {
            clipped.last.column = used.columns.saturating_sub(1).max(area.first.column);
        }
        clipped
    }

    fn area_matrix(&self, area: Area) -> Outcome<Matrix> {
        let (rows, columns) = (area.rows() as usize, area.columns() as usize);
        self.spend_array(rows, columns)?;
        let mut values = vec![Value::Empty; rows * columns];
        if let Some(used) = self.used_part(area) {
            self.budget.spend_cells(used.size(), &self.context.limits)?;
            for column in used.first.column..=used.last.column {
                let mut row = (used.first.row - area.first.row) as usize;
                let offset = (column - area.first.column) as usize;
                let mut bytes = 0_usize;
                let mut put = |value: Value| {
                    if let Value::Text(text) = &value {
                        bytes += text.len();
                    }
                    if let Some(slot) = values.get_mut(row * columns + offset) {
                        *slot = value;
                    }
                    row += 1;
                };
                self.source.visit_column(
                    area.sheet,
                    column,
                    used.first.row,
                    used.last.row,
                    &mut |block| {
                        match block {
                            Block::Empty(cells) => (0..cells).for_each(|_| put(Value::Empty)),
                            Block::Numbers(numbers) => {
                                numbers.iter().for_each(|number| put(Value::Number(*number)));
                            }
                            Block::Values(values) => {
                                values.iter().for_each(|value| put(value.clone()));
                            }
                        }
                        true
                    },
                );
                self.spend_text(bytes)?;
            }
        }
        Ok(Matrix { rows, columns, values })
    }

    /// Visits the used cells of an area in blocks, column by column. Stops when `visit` returns an
    /// error.
    pub(crate) fn visit_blocks(
        &self,
        area: Area,
        visit: &mut dyn FnMut(Block<'_>) -> Outcome<()>,
    ) -> Outcome<()> {
        let Some(used) = self.used_part(area) else { return Ok(()) };
        self.budget.spend_cells(used.size(), &self.context.limits)?;
        for column in used.first.column..=used.last.column {
            let mut result = Ok(());
            self.source.visit_column(
                area.sheet,
                column,
                used.first.row,
                used.last.row,
                &mut |block| {
                    result = visit(block);
                    result.is_ok()
                },
            );
            result?;
        }
        Ok(())
    }

    /// Returns the number of rows and columns of an operand.
    pub(crate) fn size(&self, operand: &Operand) -> Outcome<(usize, usize)> {
        match operand {
            Operand::Array(matrix) => Ok((matrix.rows, matrix.columns)),
            Operand::Reference(areas) => match areas.as_slice() {
                [area] => Ok((area.rows() as usize, area.columns() as usize)),
                _ => Err(ErrorCode::Value.into()),
            },
            _ => Ok((1, 1)),
        }
    }
}

impl Evaluator<'_> {
    /// Creates an array by calling `value` for each row and column, and counts its memory.
    pub(crate) fn build(
        &self,
        rows: usize,
        columns: usize,
        mut value: impl FnMut(usize, usize) -> Value,
    ) -> Outcome<Matrix> {
        self.spend_array(rows, columns)?;
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let value = value(row, column);
                self.spend_value(&value)?;
                values.push(value);
            }
        }
        Ok(Matrix { rows, columns, values })
    }

    /// Counts the heap memory of an array element. Only strings use heap memory.
    pub(crate) fn spend_value(&self, value: &Value) -> Outcome<()> {
        match value {
            Value::Text(text) => {
                self.spend_text(text.len())?;
                self.spend_copy(value)
            }
            _ => Ok(()),
        }
    }

    /// Counts the steps for copying a value, if it is a long string.
    pub(crate) fn spend_copy(&self, value: &Value) -> Outcome<()> {
        const BYTES_PER_STEP: usize = 64;
        match value {
            Value::Text(text) if text.len() > BYTES_PER_STEP => {
                self.spend(crate::number::count(text.len() / BYTES_PER_STEP))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn spend_cells(&self, cells: u64) -> Outcome<()> {
        Ok(self.budget.spend_cells(cells, &self.context.limits)?)
    }
}
