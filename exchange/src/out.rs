//! A cell on its way out.

use cellar_sheet::cell::Value;

/// What a writer is given of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutCell<'a> {
    /// Its value.
    pub value: &'a Value,
    /// Its formula's text, if the value came from one.
    pub formula: Option<&'a str>,
    /// Its number format; `None` is `General`.
    pub format: Option<&'a str>,
}
