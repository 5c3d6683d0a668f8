//! Stored encoding of cell edits in log entries. It must never change, because existing logs depend
//! on it.

mod runs;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::decimal::StoredDecimal;
use super::unreadable::UnreadableOperation;
use super::{CellEdit, SetCells};
use crate::cell::{ErrorCode, Value};
use cellar_base::limits::{MAX_CELLS_PER_OPERATION, MAX_COLUMNS, MAX_FORMAT_BYTES, MAX_ROWS};
use cellar_grid::SheetId;

/// Stored encoding of cell edits: runs of adjacent cells in a row. Each number format is stored
/// only once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredSetCells {
    sheet: u32,
    /// Number formats of the edits, in the order of their first use.
    #[serde(deserialize_with = "cellar_base::bounded::at_most::<_, _, MAX_CELLS_PER_OPERATION>")]
    formats: Vec<String>,
    #[serde(deserialize_with = "runs::deserialize_runs")]
    runs: Vec<Run>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Run {
    /// Row of the run. Each run after the first stores the distance from the row of the preceding
    /// run.
    rows_down: u32,
    column: u32,
    cells: Vec<StoredCell>,
}

/// Stored encoding of the edit of one cell. Edits that only set a value have variants of their own.
///
/// A number format is stored as its index in `formats` plus 1, and 0 leaves the number format
/// unchanged. The type is not recursive, so malformed input cannot cause deep recursion in the
/// decoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum StoredCell {
    Empty,
    Integer(i64),
    Decimal(StoredDecimal),
    Number(f64),
    Text(String),
    False,
    True,
    Error(u8),
    FormatOnly(u32),
    Formatted(u32, StoredValue),
    Formula(u32, String, StoredValue),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum StoredValue {
    Empty,
    Integer(i64),
    Decimal(StoredDecimal),
    Number(f64),
    Text(String),
    False,
    True,
    Error(u8),
}

impl From<&SetCells> for StoredSetCells {
    fn from(set: &SetCells) -> Self {
        let mut formats = FormatNumbers::default();
        let mut runs: Vec<Run> = Vec::new();
        let mut previous_edit: Option<&CellEdit> = None;
        let sorted_edits = sorted_by_row_and_column(&set.cells);
        for edit in sorted_edits.iter() {
            let format_number = match &edit.format {
                Some(format) => formats.number_of(format),
                None => FORMAT_UNCHANGED,
            };
            let cell = StoredCell::new(edit, format_number);
            let extends_run = previous_edit.is_some_and(|previous| is_right_of(previous, edit));
            match runs.last_mut() {
                Some(run) if extends_run => run.cells.push(cell),
                _ => {
                    let run_row = previous_edit.map_or(0, |previous| previous.row);
                    let rows_down = edit.row.saturating_sub(run_row);
                    runs.push(Run { rows_down, column: edit.column, cells: vec![cell] });
                }
            }
            previous_edit = Some(edit);
        }
        Self { sheet: set.sheet.0, formats: formats.names, runs }
    }
}

fn is_right_of(left_edit: &CellEdit, edit: &CellEdit) -> bool {
    edit.row == left_edit.row && left_edit.column.checked_add(1) == Some(edit.column)
}

/// Returns the edits sorted by row and column. The encoding stores only nonnegative distances.
fn sorted_by_row_and_column(edits: &[CellEdit]) -> Cow<'_, [CellEdit]> {
    let row_and_column = |edit: &CellEdit| (edit.row, edit.column);
    if edits.is_sorted_by_key(row_and_column) {
        return Cow::Borrowed(edits);
    }
    let mut sorted_edits = edits.to_vec();
    sorted_edits.sort_by_key(row_and_column);
    Cow::Owned(sorted_edits)
}

const FORMAT_UNCHANGED: u32 = 0;

/// The number formats of an operation, numbered from 1 in the order of their first use.
#[derive(Default)]
struct FormatNumbers {
    names: Vec<String>,
    numbers: std::collections::HashMap<String, u32>,
}

impl FormatNumbers {
    fn number_of(&mut self, format: &str) -> u32 {
        if let Some(number) = self.numbers.get(format) {
            return *number;
        }
        self.names.push(format.to_owned());
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.numbers.insert(format.to_owned(), number);
        number
    }
}

impl StoredCell {
    fn new(edit: &CellEdit, format_number: u32) -> Self {
        let Some(value) = edit.value.as_ref().map(StoredValue::from) else {
            return Self::FormatOnly(format_number);
        };
        if let Some(formula) = &edit.formula {
            return Self::Formula(format_number, formula.clone(), value);
        }
        if format_number == FORMAT_UNCHANGED {
            Self::from_plain_value(value)
        } else {
            Self::Formatted(format_number, value)
        }
    }

    fn from_plain_value(value: StoredValue) -> Self {
        match value {
            StoredValue::Empty => Self::Empty,
            StoredValue::Integer(integer) => Self::Integer(integer),
            StoredValue::Decimal(decimal) => Self::Decimal(decimal),
            StoredValue::Number(number) => Self::Number(number),
            StoredValue::Text(text) => Self::Text(text),
            StoredValue::False => Self::False,
            StoredValue::True => Self::True,
            StoredValue::Error(error_number) => Self::Error(error_number),
        }
    }

    fn format_number(&self) -> u32 {
        match self {
            Self::FormatOnly(format_number)
            | Self::Formatted(format_number, _)
            | Self::Formula(format_number, _, _) => *format_number,
            _ => FORMAT_UNCHANGED,
        }
    }

    fn into_formula_and_value(self) -> (Option<String>, Option<StoredValue>) {
        match self {
            Self::Empty => (None, Some(StoredValue::Empty)),
            Self::Integer(integer) => (None, Some(StoredValue::Integer(integer))),
            Self::Decimal(decimal) => (None, Some(StoredValue::Decimal(decimal))),
            Self::Number(number) => (None, Some(StoredValue::Number(number))),
            Self::Text(text) => (None, Some(StoredValue::Text(text))),
            Self::False => (None, Some(StoredValue::False)),
            Self::True => (None, Some(StoredValue::True)),
            Self::Error(error_number) => (None, Some(StoredValue::Error(error_number))),
            Self::FormatOnly(_) => (None, None),
            Self::Formatted(_, value) => (None, Some(value)),
            Self::Formula(_, formula, value) => (Some(formula), Some(value)),
        }
    }
}

impl From<&Value> for StoredValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Empty => Self::Empty,
            Value::Number(number) => match crate::cell::exact_integer(*number) {
                Some(integer) => Self::Integer(integer),
                None => StoredDecimal::exact_and_shorter(*number)
                    .map_or(Self::Number(*number), Self::Decimal),
            },
            Value::Text(text) => Self::Text(text.clone()),
            Value::Bool(false) => Self::False,
            Value::Bool(true) => Self::True,
            Value::Error(code) => Self::Error(code.number()),
        }
    }
}

impl StoredSetCells {
    pub(super) fn into_operation(self) -> Result<SetCells, UnreadableOperation> {
        let Self { sheet: sheet_number, formats, runs } = self;
        let cell_count: usize = runs.iter().map(|run| run.cells.len()).sum();
        let has_long_format = formats.iter().any(|format| format.len() > MAX_FORMAT_BYTES);
        if cell_count > MAX_CELLS_PER_OPERATION || has_long_format {
            return Err(UnreadableOperation::TooLarge);
        }
        let mut edits = Vec::with_capacity(cell_count);
        let mut row = 0_u32;
        for run in runs {
            row = row.checked_add(run.rows_down).ok_or(UnreadableOperation::OutOfRange)?;
            for (offset, cell) in (0_u32..).zip(run.cells) {
                let column =
                    run.column.checked_add(offset).ok_or(UnreadableOperation::OutOfRange)?;
                if row >= MAX_ROWS || column >= MAX_COLUMNS {
                    return Err(UnreadableOperation::OutOfRange);
                }
                edits.push(cell.into_edit(row, column, &formats)?);
            }
        }
        Ok(SetCells { sheet: SheetId(sheet_number), cells: edits })
    }
}

impl StoredCell {
    fn into_edit(
        self,
        row: u32,
        column: u32,
        formats: &[String],
    ) -> Result<CellEdit, UnreadableOperation> {
        let format = match self.format_number() {
            FORMAT_UNCHANGED => None,
            format_number => Some(format_with_number(formats, format_number)?),
        };
        let (formula, stored_value) = self.into_formula_and_value();
        let value = stored_value.map(Value::try_from).transpose()?;
        Ok(CellEdit { row, column, value, formula, format })
    }
}

/// Numbers start at 1.
fn format_with_number(
    formats: &[String],
    format_number: u32,
) -> Result<String, UnreadableOperation> {
    let format_index = usize::try_from(format_number).ok().and_then(|number| number.checked_sub(1));
    let format = format_index.and_then(|index| formats.get(index));
    format.cloned().ok_or(UnreadableOperation::OutOfRange)
}

impl TryFrom<StoredValue> for Value {
    type Error = UnreadableOperation;

    // Cellar writes only integers below 2⁵³. Larger integers are rounded, like numbers in JSON.
    #[allow(clippy::cast_precision_loss, reason = "exact for what Cellar writes")]
    fn try_from(stored: StoredValue) -> Result<Self, UnreadableOperation> {
        match stored {
            StoredValue::Empty => Ok(Self::Empty),
            StoredValue::Integer(integer) => Ok(Self::Number(integer as f64)),
            StoredValue::Decimal(decimal) => Ok(Self::Number(decimal.number())),
            StoredValue::Number(number) if number.is_finite() => Ok(Self::Number(number)),
            StoredValue::Number(_) => Err(UnreadableOperation::NumberNotFinite),
            StoredValue::Text(text) => Ok(Self::Text(text)),
            StoredValue::False => Ok(Self::Bool(false)),
            StoredValue::True => Ok(Self::Bool(true)),
            StoredValue::Error(number) => ErrorCode::from_number(number)
                .map(Self::Error)
                .ok_or(UnreadableOperation::UnknownErrorValue { number }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::operation::{Operation, StoredOperation};

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Empty),
            (proptest::num::f64::NORMAL | proptest::num::f64::ZERO).prop_map(Value::Number),
            any::<i32>().prop_map(|number| Value::Number(f64::from(number))),
            ".{0,12}".prop_map(Value::Text),
            any::<bool>().prop_map(Value::Bool),
            (1..=12_u8).prop_map(|number| Value::Error(ErrorCode::from_number(number).unwrap())),
        ]
    }

    fn any_edit() -> impl Strategy<Value = CellEdit> {
        let format = proptest::option::of("0\\.0{1,3}");
        let value = (any_value(), proptest::option::of("=[A-C][1-9]"));
        (0..6_u32, 0..6_u32, proptest::option::of(value), format).prop_map(
            |(row, column, value, format)| {
                let (value, formula) = value.map_or((None, None), |(v, f)| (Some(v), f));
                let format = if value.is_none() { Some("0".to_owned()) } else { format };
                CellEdit { row, column, value, formula, format }
            },
        )
    }

    proptest! {
        #[test]
        fn round_trips_every_operation(cells in proptest::collection::vec(any_edit(), 1..40)) {
            let set = SetCells { sheet: SheetId::FIRST, cells };
            let operation = Operation::SetCells(set).validated().unwrap();
            let bytes = postcard::to_allocvec(&StoredOperation::from(&operation)).unwrap();
            let stored: StoredOperation = postcard::from_bytes(&bytes).unwrap();
            prop_assert_eq!(Operation::try_from(stored).unwrap(), operation);
        }

        #[test]
        fn decoding_any_bytes_does_not_panic(bytes: Vec<u8>) {
            if let Ok(stored) = postcard::from_bytes::<StoredOperation>(&bytes) {
                let _ = Operation::try_from(stored);
            }
        }
    }

    #[test]
    fn a_row_of_small_integers_takes_two_bytes_per_cell() {
        let edit = |column| CellEdit {
            row: 0,
            column,
            value: Some(Value::Number(7.0)),
            formula: None,
            format: None,
        };
        let set = SetCells { sheet: SheetId::FIRST, cells: (0..10).map(edit).collect() };
        let stored = StoredOperation::from(&Operation::SetCells(set));
        assert_eq!(postcard::to_allocvec(&stored).unwrap().len(), 27);
    }

    #[test]
    fn decoding_limits_cells_and_formats() {
        let operation = |count: usize, format_bytes: usize| {
            let cells = vec![StoredCell::FormatOnly(1); count];
            let runs = vec![Run { rows_down: 0, column: 0, cells }];
            let formats = vec!["0".repeat(format_bytes)];
            let set = StoredSetCells { sheet: 0, formats, runs };
            Operation::try_from(StoredOperation::SetCells(set))
        };
        assert!(operation(MAX_CELLS_PER_OPERATION, MAX_FORMAT_BYTES).is_ok());
        assert!(operation(MAX_CELLS_PER_OPERATION + 1, 1).is_err());
        assert!(operation(1, MAX_FORMAT_BYTES + 1).is_err());
        let infinite = StoredValue::Number(f64::INFINITY);
        assert_eq!(Value::try_from(infinite), Err(UnreadableOperation::NumberNotFinite));
    }

    #[test]
    fn decoding_rejects_cells_outside_the_sheet() {
        let operation = |rows_down, column, count| {
            let cell = StoredCell::True;
            let runs = vec![Run { rows_down, column, cells: vec![cell; count] }];
            let set = StoredSetCells { sheet: 0, formats: vec![], runs };
            Operation::try_from(StoredOperation::SetCells(set))
        };
        assert!(operation(MAX_ROWS - 1, MAX_COLUMNS - 1, 1).is_ok());
        assert!(operation(MAX_ROWS, 0, 1).is_err());
        assert!(operation(0, MAX_COLUMNS - 1, 2).is_err());
    }
}
