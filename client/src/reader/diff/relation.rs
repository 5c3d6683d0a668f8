//! How the second of two compared states is related to the first.

use cellar_sheet::axis_map::MatchingBand;
use cellar_sheet::workbook::{ComparedSheets, Workbook, WorkbookDiff, WorkbookTooLarge};

use super::state::ComparedState;
use crate::reader::ReaderError;

pub(super) enum Relation {
    /// A later state of the same spreadsheet.
    Later,
    /// An earlier state of the same spreadsheet.
    Earlier,
    /// A state of another spreadsheet. Both have developed from this state.
    Branch(Box<ComparedState>),
}

impl Relation {
    pub(super) fn compared_sheets(&self, from: &Workbook, to: &Workbook) -> Vec<ComparedSheets> {
        match self {
            Self::Later | Self::Earlier => from.compared_sheets(to),
            Self::Branch(shared) => to.sheets_compared_with_branch(from, &shared.skeleton),
        }
    }

    /// `shared` is the state from which branches have developed, with the cells of the compared rows.
    pub(super) fn diff(
        &self,
        from: &Workbook,
        to: &Workbook,
        shared: Option<&Workbook>,
    ) -> WorkbookDiff {
        match self {
            Self::Later => from.diff(to),
            Self::Earlier => from.diff_to_earlier(to),
            Self::Branch(state) => to.diff_from_branch(from, shared.unwrap_or(&state.skeleton)),
        }
    }

    /// Returns the state from which branches have developed, with the cells of a band. Returns `None` if
    /// that state does not have the rows.
    pub(super) async fn fill_shared_rows(
        &mut self,
        sheets: &ComparedSheets,
        band: &MatchingBand,
    ) -> Result<Option<Result<Workbook, WorkbookTooLarge>>, ReaderError> {
        let (Self::Branch(shared), Some((sheet, parts))) = (self, sheets.shared_rows(band)) else {
            return Ok(None);
        };
        let rows = shared.read_rows(Some(sheet), &parts).await?;
        shared.fill(Some(sheet), rows).await.map(Some)
    }
}
