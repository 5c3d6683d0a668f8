//! The two axes of a sheet.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};

/// One of the two axes of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// Rows, numbered from 0 at the top.
    Rows,
    /// Columns, numbered from 0 at the left.
    Columns,
}

impl Axis {
    /// Returns the maximum number of rows or columns of a sheet.
    #[must_use]
    pub fn limit(self) -> u32 {
        match self {
            Self::Rows => MAX_ROWS,
            Self::Columns => MAX_COLUMNS,
        }
    }

    /// Returns the name of the axis for messages: `rows` or `columns`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Columns => "columns",
        }
    }
}
