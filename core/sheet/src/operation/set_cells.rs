//! The `SetCells` operation: a list of cell edits.

use serde::{Deserialize, Deserializer, Serialize};

use super::InvalidOperation;
use crate::a1::CellName;
use crate::cell::{GENERAL, NumberFormat, TypedText, Value, json_text_bytes};
use cellar_base::limits::{
    MAX_CELLS_PER_OPERATION, MAX_COLUMNS, MAX_FORMAT_BYTES, MAX_FORMULA_BYTES, MAX_ROWS,
    MAX_TEXT_BYTES,
};
use cellar_formula::Formula;
use cellar_formula::reference::NoSheets;
use cellar_grid::SheetId;

/// Sets or clears cells in one sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetCells {
    /// Number of the sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// The edits. If a cell is edited more than once, the last edit is kept. The server sorts the
    /// edits by row and column.
    pub cells: Vec<CellEdit>,
}

/// An edit of one cell. Properties of the cell whose fields are absent remain unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellEdit {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// New value. `null` clears the value and the formula. If absent, both remain unchanged. Beside a
    /// formula, it may be absent or `null`: the value is calculated when the cell is read.
    #[serde(default, deserialize_with = "present_value", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Value, required = false))]
    pub value: Option<Value>,
    /// Formula that produced the value, starting with `=`. It is stored with references and names of
    /// functions in upper case. A new value without a formula removes the old formula. A mutation
    /// with a syntax error is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// New number format in the notation of Excel, such as `#,##0.00` or `d mmm yyyy`. `General`
    /// removes the number format. If absent, the number format remains unchanged. A mutation with
    /// another code is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// Deserializes a present field as `Some`, even if it is `null`. An absent field becomes `None` by
/// default.
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
        self.cells.iter_mut().for_each(CellEdit::add_value_of_formula);
        self.cells.iter().try_for_each(CellEdit::check)?;
        self.cells = sort_and_merge_edits(self.cells);
        Ok(self)
    }

    /// Writes each formula as its canonical text. Names of sheets stay as they are, because the sheets
    /// of the spreadsheet are not known.
    ///
    /// # Errors
    /// Returns [`InvalidOperation::Formula`] for the first text that is not a formula.
    pub(super) fn normalize_formulas(&mut self) -> Result<(), InvalidOperation> {
        self.cells.iter_mut().try_for_each(CellEdit::normalize_formula)
    }

    /// Most cells of an operation have the same number format as the cell before, which is not
    /// checked again.
    pub(super) fn check_number_formats(&self) -> Result<(), InvalidOperation> {
        let mut checked_format = None;
        for edit in &self.cells {
            if edit.format.is_some() && edit.format.as_deref() != checked_format {
                edit.check_number_format()?;
                checked_format = edit.format.as_deref();
            }
        }
        Ok(())
    }
}

/// Sorts edits by row and column. If a cell is edited more than once, the last value and the last
/// format are kept.
fn sort_and_merge_edits(mut edits: Vec<CellEdit>) -> Vec<CellEdit> {
    edits.sort_by_key(|edit| (edit.row, edit.column));
    let mut merged_edits: Vec<CellEdit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match merged_edits.last_mut() {
            Some(merged_edit) if merged_edit.is_of_same_cell(&edit) => {
                merged_edit.override_by(edit);
            }
            _ => merged_edits.push(edit),
        }
    }
    merged_edits
}

/// Checks that Excel would accept a number format. `cell` is the cell or range that the error
/// message mentions.
pub(super) fn check_number_format(
    cell: impl FnOnce() -> String,
    format: &str,
) -> Result<(), InvalidOperation> {
    if format == GENERAL {
        return Ok(());
    }
    NumberFormat::parse(format).map(|_| ()).map_err(|fault| InvalidOperation::NumberFormat {
        cell: cell(),
        format: format.to_owned(),
        fault,
    })
}

impl CellEdit {
    /// Creates the edit that replaces the content of a cell by a typed text.
    #[must_use]
    pub fn typed(cell: CellName, typed: TypedText) -> Self {
        let CellName { row, column } = cell;
        let TypedText { value, formula, format } = typed;
        Self { row, column, value: Some(value), formula, format }
    }

    fn normalize_formula(&mut self) -> Result<(), InvalidOperation> {
        let Some(text) = &self.formula else { return Ok(()) };
        let parsed = Formula::parse(text, &NoSheets).and_then(|formula| {
            formula.check_supported()?;
            Ok(formula)
        });
        let formula = parsed.map_err(|error| InvalidOperation::Formula {
            cell: self.cell_name(),
            formula: text.clone(),
            error,
        })?;
        let canonical_text = formula.canonical_text(&NoSheets);
        // The canonical text may have quotes that the written text does not have.
        check_length(|| self.cell_name(), "formula", &canonical_text, MAX_FORMULA_BYTES)?;
        self.formula = Some(canonical_text);
        Ok(())
    }

    pub(super) fn check_number_format(&self) -> Result<(), InvalidOperation> {
        match &self.format {
            Some(format) => check_number_format(|| self.cell_name(), format),
            None => Ok(()),
        }
    }

    pub(super) fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 96;
        let text_bytes = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
        let value_bytes = self.value.as_ref().map_or(0, Value::json_bytes);
        FRAME_BYTES + value_bytes + text_bytes(&self.formula) + text_bytes(&self.format)
    }

    fn is_of_same_cell(&self, other: &Self) -> bool {
        self.row == other.row && self.column == other.column
    }

    fn override_by(&mut self, later_edit: Self) {
        if later_edit.value.is_some() {
            self.value = later_edit.value;
            self.formula = later_edit.formula;
        }
        if later_edit.format.is_some() {
            self.format = later_edit.format;
        }
    }

    fn check(&self) -> Result<(), InvalidOperation> {
        if self.row >= MAX_ROWS || self.column >= MAX_COLUMNS {
            return Err(InvalidOperation::OutsideSheet {
                row: self.row,
                column: self.column,
                rows: MAX_ROWS,
                columns: MAX_COLUMNS,
            });
        }
        self.check_value()?;
        if let Some(formula) = &self.formula {
            check_length(|| self.cell_name(), "formula", formula, MAX_FORMULA_BYTES)?;
        }
        self.check_is_not_empty()?;
        match &self.format {
            Some(format) => check_format_of(&self.cell_name(), format),
            None => Ok(()),
        }
    }

    /// A formula without a value has an unknown value.
    fn add_value_of_formula(&mut self) {
        if self.formula.is_some() && self.value.is_none() {
            self.value = Some(Value::Empty);
        }
    }

    fn check_value(&self) -> Result<(), InvalidOperation> {
        match &self.value {
            Some(Value::Number(number)) if !number.is_finite() => {
                Err(InvalidOperation::NotFinite { cell: self.cell_name() })
            }
            Some(Value::Text(text)) => {
                check_length(|| self.cell_name(), "text", text, MAX_TEXT_BYTES)
            }
            _ => Ok(()),
        }
    }

    fn check_is_not_empty(&self) -> Result<(), InvalidOperation> {
        if self.value.is_some() {
            return Ok(());
        }
        if self.format.is_none() {
            let reason = "the edit has neither a value nor a format";
            return Err(InvalidOperation::EmptyEdit { cell: self.cell_name(), reason });
        }
        Ok(())
    }

    fn cell_name(&self) -> String {
        CellName { row: self.row, column: self.column }.to_string()
    }
}

fn check_length(
    cell_name: impl Fn() -> String,
    part: &'static str,
    text: &str,
    max_bytes: usize,
) -> Result<(), InvalidOperation> {
    let byte_length = text.len();
    if byte_length > max_bytes {
        return Err(InvalidOperation::TooLong { cell: cell_name(), part, byte_length, max_bytes });
    }
    Ok(())
}

/// `cell` is the cell or range that the error message mentions.
pub(super) fn check_format_of(cell: &str, format: &str) -> Result<(), InvalidOperation> {
    if format.is_empty() {
        let reason = "the format is empty; use `General` to remove a number format";
        return Err(InvalidOperation::EmptyEdit { cell: cell.to_owned(), reason });
    }
    check_length(|| cell.to_owned(), "format", format, MAX_FORMAT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::*;

    fn edit(row: u32, column: u32, value: Value) -> CellEdit {
        CellEdit { row, column, value: Some(value), formula: None, format: None }
    }

    fn set(cells: Vec<CellEdit>) -> SetCells {
        SetCells { sheet: SheetId::FIRST, cells }
    }

    fn with_formula(text: &str) -> Operation {
        let formula = Some(text.to_owned());
        Operation::SetCells(set(vec![CellEdit { formula, ..edit(2, 1, Value::Empty) }]))
    }

    #[test]
    fn formulas_are_stored_as_their_canonical_text() {
        for (typed, stored) in [
            ("=sum( b3:a1 )*data!$c$1", "=SUM( A1:B3 )*data!$C$1"),
            ("='My sheet'!a:a", "='My sheet'!A:A"),
            ("=nothing_yet(1)&\"text\"", "=NOTHING_YET(1)&\"text\""),
        ] {
            let validated = with_formula(typed).validated().unwrap();
            assert_eq!(validated, with_formula(stored));
            assert_eq!(validated.clone().validated(), Ok(validated));
        }
    }

    #[test]
    fn rejects_texts_that_are_no_formulas_unless_they_are_in_a_log() {
        for (typed, message) in [
            ("=SUM(A1", "B3: =SUM(A1 is not a formula: character 8: `(` is not closed; add `)`"),
            ("A1", "B3: A1 is not a formula: character 1: a formula starts with `=`"),
            ("=A1;B1", "use `,` to separate arguments"),
            ("=Table1[Sales]", "B3: =Table1[Sales] is not a formula: character 2: "),
        ] {
            let error = with_formula(typed).validated().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert_eq!(with_formula(typed).validated_from_log(), Ok(with_formula(typed)));
        }
        let long = format!("={}", "+".repeat(200));
        let error = with_formula(&long).validated().unwrap_err().to_string();
        assert!(error.contains('…') && error.len() < 200, "{error}");
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

        // Quotes around the sheet name add 2 bytes to the canonical text.
        for (start, added_bytes) in [("=\"", 0), ("=A1!B1&\"", 2)] {
            let formula = |length: usize| {
                let text = "x".repeat(length - start.len() - 1);
                with_formula(&format!("{start}{text}\"")).validated()
            };
            assert!(formula(MAX_FORMULA_BYTES - added_bytes).is_ok(), "{start}");
            let error = formula(MAX_FORMULA_BYTES - added_bytes + 1).unwrap_err();
            assert!(matches!(error, InvalidOperation::TooLong { .. }), "{start}");
        }

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
        let of_formula = set(vec![formula]).validated().unwrap();
        assert_eq!(of_formula.cells[0].value, Some(Value::Empty), "the value is not known yet");
        let infinite = set(vec![edit(0, 0, Value::Number(f64::INFINITY))]).validated();
        assert_eq!(infinite, Err(InvalidOperation::NotFinite { cell: "A1".into() }));
    }

    #[test]
    fn rejects_unknown_number_formats_unless_they_are_in_a_log() {
        let formatted = |row, format: &str| CellEdit {
            format: Some(format.to_owned()),
            ..edit(row, 1, Value::Number(1.0))
        };
        let operation = |format| {
            let cells = vec![formatted(0, "0.00"), formatted(1, "0.00"), formatted(2, format)];
            Operation::SetCells(set(cells))
        };
        for format in ["General", "0.00", "#,##0 \"kg\"", "[h]:mm", "@"] {
            assert!(operation(format).validated().is_ok(), "{format}");
        }
        let error = operation("nonsense").validated().unwrap_err();
        assert_eq!(
            error.to_string(),
            "B3: nonsense is not a number format: character 1: n has no meaning here; put text in \
             double quotes, such as 0 \"kg\""
        );
        assert!(operation("nonsense").validated_from_log().is_ok());
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
