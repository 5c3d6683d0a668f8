//! Cell type accepted by writers.

use cellar_sheet::cell::Value;

/// A cell to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellToWrite<'a> {
    pub value: &'a Value,
    /// Text of the formula that computed the value.
    pub formula: Option<&'a str>,
    /// Number format, or `None` for `General`.
    pub format: Option<&'a str>,
}
