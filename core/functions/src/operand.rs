//! Intermediate values of an evaluation.

use std::rc::Rc;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use crate::evaluate::Scope;
use crate::expression::OwnedExpression;
use crate::limits::LimitExceeded;
use crate::source::SheetIndex;

/// The reason why an expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The result is an error value, which functions such as `IFERROR` can replace.
    Error(ErrorCode),
    /// A limit was exceeded, which aborts the whole evaluation.
    Limit(LimitExceeded),
}

impl From<ErrorCode> for Stop {
    fn from(code: ErrorCode) -> Self {
        Self::Error(code)
    }
}

impl From<LimitExceeded> for Stop {
    fn from(limit: LimitExceeded) -> Self {
        Self::Limit(limit)
    }
}

pub(crate) type Outcome<T> = Result<T, Stop>;

/// A rectangle of cells in one sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) sheet: SheetIndex,
    pub(crate) first: CellName,
    pub(crate) last: CellName,
}

impl Area {
    pub(crate) fn cell(sheet: SheetIndex, row: u32, column: u32) -> Self {
        let name = CellName { row, column };
        Self { sheet, first: name, last: name }
    }

    pub(crate) fn rows(self) -> u32 {
        self.last.row - self.first.row + 1
    }

    pub(crate) fn columns(self) -> u32 {
        self.last.column - self.first.column + 1
    }

    pub(crate) fn is_cell(self) -> bool {
        self.first == self.last
    }

    pub(crate) fn size(self) -> u64 {
        u64::from(self.rows()) * u64::from(self.columns())
    }

    /// Returns the intersection of two areas, or `None` if it is empty.
    pub(crate) fn intersection(self, other: Self) -> Option<Self> {
        if self.sheet != other.sheet {
            return None;
        }
        let first = CellName {
            row: self.first.row.max(other.first.row),
            column: self.first.column.max(other.first.column),
        };
        let last = CellName {
            row: self.last.row.min(other.last.row),
            column: self.last.column.min(other.last.column),
        };
        let is_empty = first.row > last.row || first.column > last.column;
        if is_empty { None } else { Some(Self { sheet: self.sheet, first, last }) }
    }

    /// Returns the smallest area that contains both areas, or `None` if they are in different
    /// sheets.
    pub(crate) fn bounding(self, other: Self) -> Option<Self> {
        if self.sheet != other.sheet {
            return None;
        }
        Some(Self {
            sheet: self.sheet,
            first: CellName {
                row: self.first.row.min(other.first.row),
                column: self.first.column.min(other.first.column),
            },
            last: CellName {
                row: self.last.row.max(other.last.row),
                column: self.last.column.max(other.last.column),
            },
        })
    }
}

/// A non-empty two-dimensional array of values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The values in row-major order.
    pub(crate) values: Vec<Value>,
}

impl Matrix {
    pub(crate) fn get(&self, row: usize, column: usize) -> &Value {
        const OUTSIDE: &Value = &Value::Error(ErrorCode::NotAvailable);
        if column >= self.columns {
            return OUTSIDE;
        }
        self.values.get(row * self.columns + column).unwrap_or(OUTSIDE)
    }

    pub(crate) fn row(&self, row: usize) -> &[Value] {
        let start = row * self.columns;
        self.values.get(start..start + self.columns).unwrap_or(&[])
    }

    pub(crate) fn column(&self, column: usize) -> impl Iterator<Item = &Value> {
        self.values.iter().skip(column).step_by(self.columns.max(1))
    }

    /// Creates an array with a single column.
    pub(crate) fn from_column(values: Vec<Value>) -> Self {
        Self { rows: values.len(), columns: 1, values }
    }

    /// Creates an array with a single row.
    pub(crate) fn from_row(values: Vec<Value>) -> Self {
        Self { rows: 1, columns: values.len(), values }
    }

    pub(crate) fn from_rows(rows: Vec<Vec<Value>>) -> Self {
        let columns = rows.first().map_or(0, Vec::len);
        Self { rows: rows.len(), columns, values: rows.into_iter().flatten().collect() }
    }

    fn from_fn(rows: usize, columns: usize, mut value: impl FnMut(usize, usize) -> Value) -> Self {
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                values.push(value(row, column));
            }
        }
        Self { rows, columns, values }
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |row, column| self.get(column, row).clone())
    }
}

/// A function created by `LAMBDA`, with the variables that it captured.
#[derive(Debug)]
pub(crate) struct Lambda {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: OwnedExpression,
    pub(crate) scope: Scope,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) is_optional: bool,
}

/// An intermediate value of an evaluation.
#[derive(Debug, Clone)]
pub(crate) enum Operand {
    /// An omitted argument, such as the second one in `IF(A1,,2)`.
    Omitted,
    Value(Value),
    Array(Rc<Matrix>),
    /// A reference to one or more areas.
    Reference(Rc<Vec<Area>>),
    Lambda(Rc<Lambda>),
    /// A function passed as an argument, such as `SUM` in `BYROW(A1:B2,SUM)`.
    Function(&'static crate::function::Function),
}

impl Operand {
    pub(crate) fn number(number: f64) -> Self {
        Self::Value(Value::Number(number))
    }

    pub(crate) fn area(area: Area) -> Self {
        Self::Reference(Rc::new(vec![area]))
    }

    /// Creates an operand from an array. A single-element array becomes a value.
    pub(crate) fn matrix(mut matrix: Matrix) -> Self {
        if matrix.values.len() == 1 {
            return Self::Value(matrix.values.pop().unwrap_or_default());
        }
        Self::Array(Rc::new(matrix))
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<f64> for Operand {
    fn from(number: f64) -> Self {
        Self::number(number)
    }
}

impl From<bool> for Operand {
    fn from(value: bool) -> Self {
        Self::Value(Value::Bool(value))
    }
}

impl From<String> for Operand {
    fn from(text: String) -> Self {
        Self::Value(Value::Text(text))
    }
}

impl From<Matrix> for Operand {
    fn from(matrix: Matrix) -> Self {
        Self::matrix(matrix)
    }
}
