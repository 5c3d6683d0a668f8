//! Finds the formulas that read given cells, without reading all cells.
//!
//! The tile indexes say which tiles may have formulas. The templates of these tiles are moved to the
//! newest coordinates and compared with the searched cells. A cell that matches may be hidden by a
//! newer level, so it is then read like a window.

mod candidates;
mod scan;
mod search;
mod searched_cells;
mod sheet_search;

pub use cellar_sheet::a1::SheetArea;
pub use search::{DependentSearch, SearchStep};
pub(crate) use searched_cells::names_may_be_called;

use crate::fold::FoldedLevel;
use crate::root::Root;
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::SheetId;

/// The state whose formulas are searched: a root with the entries after it.
#[derive(Debug, Clone, Copy)]
pub struct SearchedState<'a> {
    /// The root, or `None` if the entries start with the empty state.
    pub root: Option<&'a Root>,
    /// Effect of the entries after the root.
    pub tail: &'a FoldedLevel,
    /// Sheets and defined names after the entries.
    pub metadata: &'a WorkbookMetadata,
}

/// Bounds of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DependentBounds {
    /// Maximum number of formulas to find.
    pub formulas: usize,
    /// Maximum number of tiles to load.
    pub tiles: usize,
}

/// A formula that reads searched cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependentFormula {
    /// Sheet of the formula.
    pub sheet: SheetId,
    /// Cell of the formula.
    pub cell: CellName,
    /// Text of the formula.
    pub text: String,
}

/// The formulas that read searched cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DependentFormulas {
    /// The formulas in the order of the sheets, then of rows, then of columns. Those that read the
    /// cells through a defined name are included. References that a formula calculates, as with
    /// `INDIRECT`, are not known.
    pub formulas: Vec<DependentFormula>,
    /// Whether these are all formulas that read the cells. If not, a bound ended the search.
    pub complete: bool,
}
