//! Data that all sheets of a workbook share.

use super::strings::SharedTexts;
use crate::workbook::formats::Format;

/// Shared texts, number formats and date settings of a workbook.
#[derive(Debug, Default)]
pub(crate) struct WorkbookContext {
    pub(crate) texts: SharedTexts,
    /// Number formats by style index.
    pub(crate) styles: Vec<Format>,
    /// Whether dates count from 1904.
    pub(crate) from_1904: bool,
}
