//! Keeps the calculation of a reader between its reads.

use cellar_grid::SheetId;
use cellar_grid::a1::SheetArea;
use cellar_sheet::metadata::Extent;
use cellar_snapshot::merge::Window;

use crate::calculation::Calculation;

/// The calculation that a reader of one position continues with each read.
#[derive(Debug, Default)]
pub enum KeptCalculation {
    /// The reader has read nothing yet.
    #[default]
    None,
    /// No result fills several cells, and no formula was read yet.
    WithoutSpills,
    /// The calculation, which knows the cells that results fill.
    Started(Box<Calculation>),
}

impl KeptCalculation {
    /// Keeps the results, and drops the cells that are only inputs of formulas. Returns `None` if
    /// there is no result, or if the results need more than `max_bytes` of memory.
    #[must_use]
    pub fn with_results_only(self, max_bytes: usize) -> Option<Self> {
        let Self::Started(mut calculation) = self else { return None };
        calculation.cells.drop_blocks_without_formulas();
        (calculation.cells.memory_bytes() <= max_bytes).then_some(Self::Started(calculation))
    }

    /// Returns the used range of a sheet with the cells that results fill. `stored` is the used range
    /// without them.
    #[must_use]
    pub fn used_range(&self, sheet: SheetId, stored: Extent) -> Extent {
        match self {
            Self::Started(calculation) => calculation.used_range(sheet),
            Self::None | Self::WithoutSpills => stored,
        }
    }

    /// Returns the cells whose values are not those without spilled cells: those that results fill,
    /// and formulas with results of several cells that do not fit.
    #[must_use]
    pub fn changed_by_spills(&self) -> Vec<SheetArea> {
        match self {
            Self::Started(calculation) => calculation.cells.spills.changed_cells().collect(),
            Self::None | Self::WithoutSpills => Vec::new(),
        }
    }

    /// Returns the number of cells of a window that results of other cells fill.
    #[must_use]
    pub fn spilled_cell_count(&self, sheet: SheetId, window: &Window) -> u64 {
        match self {
            Self::Started(calculation) => calculation.cells.spills.cell_count(sheet, window),
            Self::None | Self::WithoutSpills => 0,
        }
    }
}
