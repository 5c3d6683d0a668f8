//! The metadata of a workbook: its state without cells.
//!
//! Range formats grow when rows are inserted inside them, so their places depend on every operation
//! and not only on the final place of each row. They are therefore stored as a whole in the root,
//! and in no level.

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

/// Metadata of a workbook, as in the root of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbookMetadata {
    /// Sheets, their order and names.
    pub tabs: Tabs,
    /// Metadata of each sheet.
    pub sheets: BTreeMap<SheetId, SheetMetadata>,
}

/// A sheet without its cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SheetMetadata {
    /// Used range.
    pub extent: Extent,
    /// Range formats.
    pub formats: FormatLayer,
}

impl Default for WorkbookMetadata {
    fn default() -> Self {
        let sheets = BTreeMap::from([(SheetId::FIRST, SheetMetadata::default())]);
        Self { tabs: Tabs::default(), sheets }
    }
}
