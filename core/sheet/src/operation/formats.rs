//! Operations that clear a range or set its number format.

use serde::{Deserialize, Serialize};

use super::InvalidOperation;
use super::axes::validated_spans;
use super::set_cells::check_format_of;
use crate::axis::Axis;
use crate::sheet_id::SheetId;
use crate::spans::Spans;

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
    /// New number format. `General` removes the number format of the range.
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
    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        check_format_of("the range", &self.format)?;
        let rows = validated_spans(self.rows, Axis::Rows)?;
        let columns = validated_spans(self.columns, Axis::Columns)?;
        Ok(Self { rows, columns, ..self })
    }
}
