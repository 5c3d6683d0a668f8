//! The cells that a formula reads, and the formulas that read a cell.

use cellar_api::trace::{name_cell, name_reference, references};
use cellar_api::wire::CellAt;
use cellar_base::limits::MAX_TRACED_FORMULAS;
use cellar_base::position::Position;
use cellar_formula::reference::quoted_sheet_name;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Cell;
use cellar_snapshot::dependents::{DependentBounds, DependentFormula, SheetArea};
use serde::Serialize;

use super::{Reader, ReaderError};

/// The cells that a cell reads, and the formulas that read it. Only direct connections are included.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Trace {
    /// Position of the state that was read.
    pub position: Position,
    /// The cell with its sheet, such as `Sheet1!B2`.
    pub cell: String,
    /// Content of the cell.
    pub content: Cell,
    /// Whether the formula of the cell was not calculated. The value is then the one that is stored
    /// beside the formula.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Why the formula was not calculated, or which cells form a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The cell, with its sheet, whose formula fills this cell with a part of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled_by: Option<String>,
    /// The cells and ranges that the formula names, with their sheets, in the order of the formula.
    /// References that the formula calculates, as with `INDIRECT`, are not included.
    pub reads: Vec<String>,
    /// The formulas that read the cell, by sheet, row and column.
    pub read_by: Vec<TracedFormula>,
    /// Whether `read_by` contains all formulas that name the cell. If not, there are more than
    /// [`MAX_TRACED_FORMULAS`].
    pub complete: bool,
}

/// A formula that reads a traced cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TracedFormula {
    /// The cell with its sheet, such as `Sheet1!B2`.
    pub cell: String,
    /// Text of the formula.
    pub formula: String,
}

impl Reader {
    /// Returns the cells that the formula of a cell reads, and the formulas that read the cell. The
    /// cell is in the sheet named `sheet` (case-insensitive), or in the first sheet if `sheet` is
    /// `None`. All formulas of the spreadsheet are searched.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if cells cannot be read, in particular a problem of kind
    /// `SheetNotFound` if the sheet does not exist.
    pub async fn trace(
        &mut self,
        sheet: Option<&str>,
        cell: CellName,
    ) -> Result<Trace, ReaderError> {
        let rectangle = Rectangle { first: cell, last: cell };
        let reply = self.cells(sheet, rectangle).await?;
        let found = reply.cells.into_iter().next();
        let blank = || CellAt::new(cell.row, cell.column, Cell::default());
        let CellAt { cell: content, stale, note, filled_by, .. } = found.unwrap_or_else(blank);
        let metadata = &self.state.metadata;
        let formula = content.formula.as_deref().unwrap_or_default();
        let reads = references(formula, metadata)
            .iter()
            .map(|reference| name_reference(reference, reply.sheet, metadata))
            .collect();
        let cell_area = SheetArea { sheet: reply.sheet, cells: rectangle };
        let bounds = DependentBounds { formulas: MAX_TRACED_FORMULAS, tiles: usize::MAX };
        let found = self.state.formulas_reading(&self.source, &[cell_area], bounds).await?;
        let metadata = &self.state.metadata;
        let traced = |found: DependentFormula| TracedFormula {
            cell: name_cell(found.sheet, found.cell, metadata),
            formula: found.text,
        };
        Ok(Trace {
            position: self.state.position,
            cell: name_cell(reply.sheet, cell, metadata),
            content,
            stale,
            note,
            filled_by: filled_by.map(|anchor| {
                let name = metadata.tabs.name(reply.sheet).unwrap_or_default();
                format!("{}!{anchor}", quoted_sheet_name(name))
            }),
            reads,
            read_by: found.formulas.into_iter().map(traced).collect(),
            complete: found.complete,
        })
    }
}
