//! Metadata of a workbook: its state without cells.
//!
//! A range format grows when rows are inserted inside its range. The range therefore depends on
//! every insert, and not only on where each row ends up. For this reason, range formats are stored
//! in the root of a snapshot instead of its levels.

mod format_layer;
mod names;
mod sheet_numbers;
mod sheet_set;
mod summary;
mod tabs;

pub use format_layer::{FormatLayer, RangeFormat};
pub use sheet_numbers::SheetNumbers;
pub use sheet_set::{SheetFault, SheetSet};
pub use summary::StateSummary;
pub use tabs::Tabs;

pub use crate::extent::Extent;

use std::collections::BTreeMap;

use crate::sheet_id::SheetId;

/// Metadata of a workbook, as stored in the root of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbookMetadata {
    /// Order and names of the sheets.
    pub tabs: Tabs,
    /// Metadata of each sheet.
    pub sheets: BTreeMap<SheetId, SheetMetadata>,
}

/// Metadata of a sheet: its state without cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SheetMetadata {
    /// Used range of the sheet.
    pub extent: Extent,
    /// Range formats of the sheet.
    pub formats: FormatLayer,
}

impl Default for WorkbookMetadata {
    fn default() -> Self {
        let sheets = BTreeMap::from([(SheetId::FIRST, SheetMetadata::default())]);
        Self { tabs: Tabs::default(), sheets }
    }
}
