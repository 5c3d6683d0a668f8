//! Reads the values of operands.

use std::rc::Rc;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use super::Evaluator;
use crate::operand::{Area, Matrix, Operand, Outcome};
use crate::source::Block;

impl Evaluator<'_> {
    /// Returns the value of a cell.
    pub(crate) fn read_cell(&self, area: Area) -> Outcome<Value> {
        self.budget.spend_cells(1, &self.context.limits)?;
        let value = self.source.cell(area.sheet, area.first);
        self.spend_copy(&value)?;
        Ok(value)
    }

    /// Returns the value of an operand that has one value. The value may be an error value.
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

    /// Returns the part of an area that can contain values.
    pub(crate) fn used_part(&self, area: Area) -> Option<Area> {
        let used = self.source.used_size(area.sheet);
        let row = used.rows.checked_sub(1)?;
        let column = used.columns.checked_sub(1)?;
        let first = CellName { row: 0, column: 0 };
        area.intersection(Area { sheet: area.sheet, first, last: CellName { row, column } })
    }

    /// Returns the values of an operand as an array. A whole column is clipped to the used rows.
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

    /// Clips an area that reaches the edge of the sheet to the used cells, but not below one cell.
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

    /// Passes the used cells of an area to `visit`, column by column, in blocks. Stops at the first
    /// error that `visit` returns.
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
    /// Creates an array, and reserves its memory value by value.
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

    /// Reserves the memory of a value of an array besides the array itself.
    pub(crate) fn spend_value(&self, value: &Value) -> Outcome<()> {
        match value {
            Value::Text(text) => {
                self.spend_text(text.len())?;
                self.spend_copy(value)
            }
            _ => Ok(()),
        }
    }

    /// Counts the copy of a long text as steps.
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
