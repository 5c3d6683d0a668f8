//! Operations on whole ranges: clear and format.

use serde::{Deserialize, Serialize};

use super::set_cells::check_format;
use super::{InvalidOperation, SheetId, Spans};
use crate::axis_map::Axis;

/// Clears the values and formulas of a range; its formats are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClearRange {
    /// Sheet id.
    #[serde(default)]
    pub sheet: SheetId,
    /// Rows; absent for all.
    #[serde(default = "all_rows")]
    pub rows: Spans,
    /// Columns; absent for all.
    #[serde(default = "all_columns")]
    pub columns: Spans,
}

/// Sets the number format of a range, including its blank cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetFormat {
    /// Sheet id.
    #[serde(default)]
    pub sheet: SheetId,
    /// Rows; absent for all.
    #[serde(default = "all_rows")]
    pub rows: Spans,
    /// Columns; absent for all.
    #[serde(default = "all_columns")]
    pub columns: Spans,
    /// Number format; `General` removes it.
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
        let rows = self.rows.validated(Axis::Rows)?;
        Ok(Self { rows, columns: self.columns.validated(Axis::Columns)?, ..self })
    }
}

impl SetFormat {
    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        check_format("the range", &self.format)?;
        let rows = self.rows.validated(Axis::Rows)?;
        Ok(Self { rows, columns: self.columns.validated(Axis::Columns)?, ..self })
    }
}
