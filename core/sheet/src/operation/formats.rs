//! Operations that clear a range or set its number format.

use serde::{Deserialize, Serialize};

use super::InvalidOperation;
use super::axes::validated_spans;
use super::set_cells::{check_format_of, check_number_format};
use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::Spans;

/// Name of the range in error messages.
const FORMATTED_RANGE: &str = "the range";

/// Clears the values and formulas of a range. Number formats are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClearRange {
    /// Number of the sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// Rows of the range. The default is all rows.
    #[serde(default = "all_rows")]
    pub rows: Spans,
    /// Columns of the range. The default is all columns.
    #[serde(default = "all_columns")]
    pub columns: Spans,
}

/// Sets the number format of a range. Blank cells in the range are formatted too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetFormat {
    /// Number of the sheet.
    #[serde(default)]
    pub sheet: SheetId,
    /// Rows of the range. The default is all rows.
    #[serde(default = "all_rows")]
    pub rows: Spans,
    /// Columns of the range. The default is all columns.
    #[serde(default = "all_columns")]
    pub columns: Spans,
    /// New number format in the notation of Excel, such as `#,##0.00` or `d mmm yyyy`. `General`
    /// removes the number format of the range. A mutation with another code is rejected.
    pub format: String,
}

fn all_rows() -> Spans {
    Spans::all(Axis::Rows)
}

fn all_columns() -> Spans {
    Spans::all(Axis::Columns)
}

impl ClearRange {
    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        let rows = validated_spans(self.rows, Axis::Rows)?;
        let columns = validated_spans(self.columns, Axis::Columns)?;
        Ok(Self { rows, columns, ..self })
    }
}

impl SetFormat {
    pub(super) fn check_number_format(&self) -> Result<(), InvalidOperation> {
        check_number_format(|| FORMATTED_RANGE.to_owned(), &self.format)
    }

    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        check_format_of(FORMATTED_RANGE, &self.format)?;
        let rows = validated_spans(self.rows, Axis::Rows)?;
        let columns = validated_spans(self.columns, Axis::Columns)?;
        Ok(Self { rows, columns, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::*;

    #[test]
    fn rejects_unknown_number_formats_unless_they_are_in_a_log() {
        let operation = |format: &str| {
            let format = format.to_owned();
            Operation::SetFormat(SetFormat {
                sheet: SheetId::FIRST,
                rows: all_rows(),
                columns: all_columns(),
                format,
            })
        };
        for format in ["General", "0%", "d mmm yyyy"] {
            assert!(operation(format).validated().is_ok(), "{format}");
        }
        let error = operation("0.00;[Rot]0").validated().unwrap_err().to_string();
        let start = "the range: 0.00;[Rot]0 is not a number format: character 6: [Rot] is not a";
        assert!(error.starts_with(start), "{error}");
        assert!(operation("0.00;[Rot]0").validated_from_log().is_ok());
        assert!(operation("").validated_from_log().is_err());
    }
}
