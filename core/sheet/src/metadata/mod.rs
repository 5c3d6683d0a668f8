//! Workbook metadata: the state of a workbook without its cells.
//!
//! Metadata is stored in the snapshot root and not in LSM levels, because range formats depend on
//! each insertion. A range format grows only if rows are inserted inside its range, and the final
//! order of the rows does not show this.

mod defined_names;
mod format_layer;
mod line_places;
mod names;
mod sheet_numbers;
mod sheet_places;
mod sheet_set;
mod summary;
mod tabs;

pub use defined_names::{DefinedName, DefinedNames, TooManyNames, UnreadableName};
pub use format_layer::{FormatLayer, RangeFormat, TooManyRangeFormats};
pub use line_places::{DeletedLines, DeletedLinesOfSheets, LinePlaces};
pub use sheet_numbers::SheetNumbers;
pub use sheet_places::SheetPlaces;
pub use sheet_set::{SheetFault, SheetSet};
pub use summary::StateSummary;
pub use tabs::Tabs;

pub use crate::extent::Extent;
pub use cellar_formula::reference::SheetNames;

use std::collections::BTreeMap;

use cellar_grid::SheetId;

/// Workbook metadata, stored in a snapshot root.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbookMetadata {
    /// Order and names of the sheets.
    pub tabs: Tabs,
    /// Metadata of each sheet.
    pub sheets: BTreeMap<SheetId, SheetMetadata>,
    /// Names that formulas use.
    pub names: DefinedNames,
}

/// Sheet metadata: the state of a sheet without its cells.
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
        Self { tabs: Tabs::default(), sheets, names: DefinedNames::default() }
    }
}
