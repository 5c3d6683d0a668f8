//! The `SetCells` operation: a list of cell edits.

use serde::{Deserialize, Deserializer, Serialize};

use super::InvalidOperation;
use crate::a1::CellName;
use crate::cell::{Value, json_text_bytes};
use crate::sheet_id::SheetId;
use cellar_base::limits::{
    MAX_CELLS_PER_OPERATION, MAX_COLUMNS, MAX_FORMAT_BYTES, MAX_FORMULA_BYTES, MAX_ROWS,
    MAX_TEXT_BYTES,
};

/// Sets or clears cells of one sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetCells {
    /// Number of the sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// Cell edits. The server sorts them by row and column. If a cell is edited more than once, the
    /// last edit wins.
    pub cells: Vec<CellEdit>,
}

/// An edit of one cell. Absent fields leave the corresponding property unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellEdit {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// New value; `null` clears the value and the formula. If absent, both remain unchanged.
    #[serde(default, deserialize_with = "present_value", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Value, required = false))]
    pub value: Option<Value>,
    /// Formula that produced the value. A new value without a formula removes the old formula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// New number format; `General` removes the number format. If absent, the format remains
    /// unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// Deserializes a field that is present, so that `null` becomes `Some(Value::Empty)`. An absent
/// field becomes `None` through its default.
fn present_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl SetCells {
    pub(super) fn validated(mut self) -> Result<Self, InvalidOperation> {
        if self.cells.is_empty() {
            return Err(InvalidOperation::NoCells);
        }
        if self.cells.len() > MAX_CELLS_PER_OPERATION {
            return Err(InvalidOperation::TooManyCells {
                count: self.cells.len(),
                max: MAX_CELLS_PER_OPERATION,
            });
        }
        self.cells.iter().try_for_each(CellEdit::validate)?;
        self.cells = merge_edits(self.cells);
        Ok(self)
    }
}

/// Sorts edits by row and column, and merges the edits of each cell. The last value and the last
/// format win.
fn merge_edits(mut cells: Vec<CellEdit>) -> Vec<CellEdit> {
    cells.sort_by_key(|edit| (edit.row, edit.column));
    let mut merged: Vec<CellEdit> = Vec::with_capacity(cells.len());
    for edit in cells {
        match merged.last_mut() {
            Some(last) if (last.row, last.column) == (edit.row, edit.column) => {
                if edit.value.is_some() {
                    last.value = edit.value;
                    last.formula = edit.formula;
                }
                last.format = edit.format.or(last.format.take());
            }
            _ => merged.push(edit),
        }
    }
    merged
}

impl CellEdit {
    /// Returns the approximate size of the edit in memory and in a response, in bytes.
    pub(super) fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 96;
        let length = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
        let value = self.value.as_ref().map_or(0, Value::json_bytes);
        FRAME_BYTES + value + length(&self.formula) + length(&self.format)
    }

    fn validate(&self) -> Result<(), InvalidOperation> {
        let cell_name = || CellName { row: self.row, column: self.column }.to_string();
        if self.row >= MAX_ROWS || self.column >= MAX_COLUMNS {
            return Err(InvalidOperation::OutsideSheet {
                row: self.row,
                column: self.column,
                rows: MAX_ROWS,
                columns: MAX_COLUMNS,
            });
        }
        match &self.value {
            Some(Value::Number(number)) if !number.is_finite() => {
                return Err(InvalidOperation::NotFinite { cell: cell_name() });
            }
            Some(Value::Text(text)) => check_length(cell_name, "text", text, MAX_TEXT_BYTES)?,
            _ => {}
        }
        if let Some(formula) = &self.formula {
            check_length(cell_name, "formula", formula, MAX_FORMULA_BYTES)?;
        }
        if self.value.is_none() && self.formula.is_some() {
            let why = "a formula requires a value; send null if the value is not known yet";
            return Err(InvalidOperation::EmptyEdit { cell: cell_name(), why });
        }
        if self.value.is_none() && self.format.is_none() {
            let why = "the edit has neither a value nor a format";
            return Err(InvalidOperation::EmptyEdit { cell: cell_name(), why });
        }
        match &self.format {
            Some(format) => check_format(&cell_name(), format),
            None => Ok(()),
        }
    }
}

fn check_length(
    cell_name: impl Fn() -> String,
    what: &'static str,
    text: &str,
    max: usize,
) -> Result<(), InvalidOperation> {
    let length = text.len();
    if length > max {
        return Err(InvalidOperation::TooLong { cell: cell_name(), what, length, max });
    }
    Ok(())
}

/// Validates a number format. `cell` is the formatted cell or range, for the error message.
pub(super) fn check_format(cell: &str, format: &str) -> Result<(), InvalidOperation> {
    if format.is_empty() {
        let why = "the format is empty; use `General` to remove a number format";
        return Err(InvalidOperation::EmptyEdit { cell: cell.to_owned(), why });
    }
    check_length(|| cell.to_owned(), "format", format, MAX_FORMAT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(row: u32, column: u32, value: Value) -> CellEdit {
        CellEdit { row, column, value: Some(value), formula: None, format: None }
    }

    fn set(cells: Vec<CellEdit>) -> SetCells {
        SetCells { sheet: SheetId::FIRST, cells }
    }

    #[test]
    fn limits_hold_at_n_and_n_plus_1() {
        let cells = |count: usize| {
            let last = u32::try_from(count).unwrap();
            set((0..last).map(|row| edit(row, 0, Value::Bool(true))).collect())
        };
        assert!(cells(MAX_CELLS_PER_OPERATION).validated().is_ok());
        assert!(cells(MAX_CELLS_PER_OPERATION + 1).validated().is_err());
        assert_eq!(cells(0).validated(), Err(InvalidOperation::NoCells));

        let at = |row, column| set(vec![edit(row, column, Value::Empty)]).validated();
        assert!(at(MAX_ROWS - 1, MAX_COLUMNS - 1).is_ok());
        assert!(at(MAX_ROWS, 0).is_err());
        assert!(at(0, MAX_COLUMNS).is_err());

        let text = |length| set(vec![edit(0, 0, Value::Text("x".repeat(length)))]).validated();
        assert!(text(MAX_TEXT_BYTES).is_ok());
        assert!(text(MAX_TEXT_BYTES + 1).is_err());

        let formula = |length| {
            let formula = Some("f".repeat(length));
            set(vec![CellEdit { formula, ..edit(0, 0, Value::Empty) }]).validated()
        };
        assert!(formula(MAX_FORMULA_BYTES).is_ok());
        assert!(formula(MAX_FORMULA_BYTES + 1).is_err());

        let format = |length| {
            let format = Some("0".repeat(length));
            set(vec![CellEdit { format, ..edit(0, 0, Value::Empty) }]).validated()
        };
        assert!(format(MAX_FORMAT_BYTES).is_ok());
        assert!(format(MAX_FORMAT_BYTES + 1).is_err());
    }

    #[test]
    fn rejects_edits_without_effect() {
        let nothing = CellEdit { row: 1, column: 1, value: None, formula: None, format: None };
        let error = set(vec![nothing.clone()]).validated().unwrap_err();
        assert_eq!(error.to_string(), "B2: the edit has neither a value nor a format");
        let formula = CellEdit { formula: Some("=1".into()), ..nothing };
        assert!(set(vec![formula]).validated().is_err());
        let infinite = set(vec![edit(0, 0, Value::Number(f64::INFINITY))]).validated();
        assert_eq!(infinite, Err(InvalidOperation::NotFinite { cell: "A1".into() }));
    }

    #[test]
    fn the_last_value_and_the_last_format_of_a_cell_win() {
        let format = |text: &str| CellEdit {
            row: 0,
            column: 0,
            value: None,
            formula: None,
            format: Some(text.into()),
        };
        let cells = vec![
            edit(1, 0, Value::Number(1.0)),
            format("0.0"),
            edit(0, 0, Value::Number(2.0)),
            edit(0, 0, Value::Number(3.0)),
        ];
        let merged = set(cells).validated().unwrap().cells;
        let first = CellEdit { format: Some("0.0".into()), ..edit(0, 0, Value::Number(3.0)) };
        assert_eq!(merged, vec![first, edit(1, 0, Value::Number(1.0))]);
    }

    #[test]
    fn null_clears_and_an_absent_value_changes_nothing() {
        let clear: CellEdit = serde_json::from_str(r#"{"row":0,"column":0,"value":null}"#).unwrap();
        assert_eq!(clear.value, Some(Value::Empty));
        let leave: CellEdit =
            serde_json::from_str(r#"{"row":0,"column":0,"format":"0.0"}"#).unwrap();
        assert_eq!(leave.value, None);
        assert!(serde_json::from_str::<CellEdit>(r#"{"row":0,"column":0,"valeu":1}"#).is_err());
        assert!(serde_json::from_str::<CellEdit>(r#"{"row":-1,"column":0}"#).is_err());
    }
}
