//! A cell that is written to a csv or xlsx file.

use cellar_sheet::cell::Value;

/// A cell to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellToWrite<'a> {
    pub value: &'a Value,
    /// Text of the formula from which the value was computed.
    pub formula: Option<&'a str>,
    /// Number format, or `None` for `General`.
    pub format: Option<&'a str>,
    pub spill: Spill,
}

/// The relation of a cell to a result of several cells. csv files do not contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spill {
    /// The value is the cell's own: a constant, or a result whose size is not known.
    #[default]
    None,
    /// The result of the cell's formula fills an area, of which this is the top left cell.
    Anchor {
        /// Number of rows of the area.
        rows: u32,
        /// Number of columns of the area.
        columns: u32,
    },
    /// The value comes from a formula in another cell. An xlsx file contains it only if the size of
    /// the result is known, because Excel would read it as a constant in the way of the result.
    Spilled,
}
