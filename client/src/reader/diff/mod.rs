//! Compares two positions of a spreadsheet of any size. Both are read from chunks, a band of rows at
//! a time. The server compares positions by the cells that were edited in between, which is faster,
//! but not if they are too many for its memory.

mod listed;
mod state;

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_sheet::axis_map::{MatchingBand, MatchingBands};
use cellar_sheet::workbook::{ComparedSheets, Workbook, WorkbookDiff, WorkbookTooLarge};

use super::ReaderError;
use super::bands::{BandHeight, BandSize};
use super::objects::SnapshotSource;
use super::opened::ReadableState;
use crate::Spreadsheet;
pub use listed::ListedDiff;
use state::{ComparedState, skeleton_after};

impl Spreadsheet {
    /// Compares two positions like [`Spreadsheet::diff`], however many cells were edited in between.
    /// At most `max_cells` cells of each sheet are listed, the others are counted. `report_progress`
    /// is called with the number of rows compared so far. Only a formula that names a sheet which did
    /// not exist at first may differ here and not there, if its references have moved.
    ///
    /// Returns `None` if a position cannot be read from chunks: too many entries follow its snapshot,
    /// or its root is missing.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if the spreadsheet cannot be loaded.
    pub async fn diff_from_chunks(
        &self,
        from: Position,
        to: Position,
        max_cells: usize,
        report_progress: impl FnMut(u64),
    ) -> Result<Option<ListedDiff>, ReaderError> {
        let source = Arc::new(SnapshotSource::read_only(self.clone(), self.cache()));
        let (start, end) = (from.min(to), from.max(to));
        let (earlier, later) = tokio::try_join!(
            ReadableState::load_at(&source, start),
            ReadableState::load_at(&source, end),
        )?;
        let Some((earlier, later)) = earlier.zip(later) else { return Ok(None) };
        let skeleton = Workbook::skeleton(&earlier.metadata);
        let later_skeleton = skeleton_after(&source, &skeleton, start, end).await?;
        let earlier = ComparedState { source: Arc::clone(&source), state: earlier, skeleton };
        let later = ComparedState { source, state: later, skeleton: later_skeleton };
        let (from_state, to_state, diff): (_, _, DiffStates) = if from <= to {
            (earlier, later, Workbook::diff)
        } else {
            (later, earlier, Workbook::diff_to_earlier)
        };
        let whole = diff(&from_state.skeleton, &to_state.skeleton);
        let listed = ListedDiff::new((from, to), whole, max_cells);
        let comparison =
            Comparison { from: from_state, to: to_state, diff, listed, report_progress, rows: 0 };
        comparison.compare_all_sheets().await
    }
}

type DiffStates = fn(&Workbook, &Workbook) -> WorkbookDiff;

struct Comparison<P> {
    from: ComparedState,
    to: ComparedState,
    diff: DiffStates,
    listed: ListedDiff,
    report_progress: P,
    /// Number of rows that were compared.
    rows: u64,
}

impl<P: FnMut(u64)> Comparison<P> {
    async fn compare_all_sheets(mut self) -> Result<Option<ListedDiff>, ReaderError> {
        for sheets in self.from.skeleton.compared_sheets(&self.to.skeleton) {
            if !self.compare_sheets(&sheets).await? {
                return Ok(None);
            }
        }
        Ok(Some(self.listed))
    }

    /// Returns `false` if the sheets cannot be compared, because their rows are in another order.
    async fn compare_sheets(&mut self, sheets: &ComparedSheets) -> Result<bool, ReaderError> {
        let (from_extent, to_extent) = (self.from.extent(sheets.from), self.to.extent(sheets.to));
        let bands = MatchingBands::new(&sheets.rows, from_extent.rows, to_extent.rows);
        let Some(mut bands) = bands else { return Ok(false) };
        let mut height =
            BandHeight::new(BandSize::OF_TWO_STATES, from_extent.columns.max(to_extent.columns));
        while let Some(band) = bands.peek(height.rows()) {
            match self.compare_band(sheets, &band).await? {
                Ok(ComparedBand { cells, diff }) => {
                    bands.remove(&band);
                    height.adapt(cells);
                    self.listed.add_cells(diff);
                }
                Err(WorkbookTooLarge) if height.rows() > 1 => {
                    height.halve();
                    continue;
                }
                Err(too_large) => return Err(ComparedState::too_large(too_large)),
            }
            self.rows += u64::try_from(band.src.len().max(band.dst.len())).unwrap_or(u64::MAX);
            (self.report_progress)(self.rows);
        }
        Ok(true)
    }

    async fn compare_band(
        &mut self,
        sheets: &ComparedSheets,
        band: &MatchingBand,
    ) -> Result<Result<ComparedBand, WorkbookTooLarge>, ReaderError> {
        let (before, after) = tokio::try_join!(
            self.from.read_rows(sheets.from, &band.src),
            self.to.read_rows(sheets.to, &band.dst),
        )?;
        let cells = before.cell_count() + after.cell_count();
        if sheets.is_in_place(band) && before.tiles == after.tiles {
            return Ok(Ok(ComparedBand { cells, diff: WorkbookDiff::default() }));
        }
        let (before, after) =
            tokio::try_join!(self.from.fill(sheets.from, before), self.to.fill(sheets.to, after))?;
        let diff = |before: Workbook| Ok((self.diff)(&before, &after?));
        Ok(before.and_then(diff).map(|diff| ComparedBand { cells, diff }))
    }
}

/// Cells of a band in both states, and their differences.
struct ComparedBand {
    cells: usize,
    diff: WorkbookDiff,
}
