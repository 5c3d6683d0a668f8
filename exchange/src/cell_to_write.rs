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
}
