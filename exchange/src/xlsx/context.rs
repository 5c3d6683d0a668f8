//! Data that all sheets of a workbook share.

use super::metadata::DynamicArrays;
use super::strings::SharedTexts;
use crate::workbook::formats::Format;

#[derive(Debug, Default)]
pub(crate) struct WorkbookContext {
    pub(crate) texts: SharedTexts,
    /// Number formats indexed by style.
    pub(crate) styles: Vec<Format>,
    /// Which records of cell metadata mark dynamic arrays.
    pub(crate) dynamic_arrays: DynamicArrays,
    /// Whether the workbook uses the 1904 date system.
    pub(crate) from_1904: bool,
}
