//! Compares two positions of a spreadsheet, or of two spreadsheets that share their history, of any
//! size. They are read from chunks, a band of rows at a time. The server compares positions by the
//! cells that were edited in between, which is faster, but not if they are too many for its memory.

mod listed;
mod relation;
mod shared;
mod state;

use std::slice::from_ref;
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
use relation::Relation;
use shared::last_shared_position;
use state::{ComparedState, skeleton_after};

impl Spreadsheet {
    /// Compares two positions like [`Spreadsheet::diff`], however many cells were edited in between.
    /// At most `max_cells` cells of each sheet are listed, the others are counted. `report_progress`
    /// is called with the number of rows compared so far.
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
        let (first, second, relation) = if from <= to {
            (earlier, later, Relation::Later)
        } else {
            (later, earlier, Relation::Earlier)
        };
        let comparison = Comparison { from: first, to: second, relation };
        comparison.compare_all_sheets((from, to), max_cells, report_progress).await
    }

    /// Compares a position of this spreadsheet with one of another spreadsheet like
    /// [`Spreadsheet::diff_with`], and otherwise like [`Spreadsheet::diff_from_chunks`].
    ///
    /// Also returns `None` if the spreadsheets share no history, or only that of a spreadsheet to which
    /// the token grants no access.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if a spreadsheet cannot be loaded.
    pub async fn diff_with_from_chunks(
        &self,
        from: Position,
        (other, to): (&Self, Position),
        max_cells: usize,
        report_progress: impl FnMut(u64),
    ) -> Result<Option<ListedDiff>, ReaderError> {
        let Some(shared) = last_shared_position((self, from), (other, to)).await? else {
            return Ok(None);
        };
        let source = |spreadsheet: &Self| {
            Arc::new(SnapshotSource::read_only(spreadsheet.clone(), spreadsheet.cache()))
        };
        let (from_source, to_source) = (source(self), source(other));
        let (from_state, to_state, shared_state) = tokio::try_join!(
            ReadableState::load_at(&from_source, from),
            ReadableState::load_at(&to_source, to),
            ReadableState::load_at(&from_source, shared),
        )?;
        let Some(((from_state, to_state), shared_state)) =
            from_state.zip(to_state).zip(shared_state)
        else {
            return Ok(None);
        };
        let skeleton = Workbook::skeleton(&shared_state.metadata);
        let branch = skeleton.branch();
        let (from_skeleton, to_skeleton) = tokio::try_join!(
            skeleton_after(&from_source, &skeleton, shared, from),
            skeleton_after(&to_source, &branch, shared, to),
        )?;
        let compared = |source, state, skeleton| ComparedState { source, state, skeleton };
        let comparison = Comparison {
            from: compared(Arc::clone(&from_source), from_state, from_skeleton),
            to: compared(to_source, to_state, to_skeleton),
            relation: Relation::Branch(Box::new(compared(from_source, shared_state, skeleton))),
        };
        comparison.compare_all_sheets((from, to), max_cells, report_progress).await
    }
}

struct Comparison {
    from: ComparedState,
    to: ComparedState,
    relation: Relation,
}

impl Comparison {
    async fn compare_all_sheets(
        mut self,
        positions: (Position, Position),
        max_cells: usize,
        report_progress: impl FnMut(u64),
    ) -> Result<Option<ListedDiff>, ReaderError> {
        let (from, to) = (&self.from.skeleton, &self.to.skeleton);
        let whole = self.relation.diff(from, to, None);
        let compared = self.relation.compared_sheets(from, to);
        let listed = ListedDiff::new(positions, whole, max_cells);
        let mut progress = Progress { listed, report_progress, rows: 0 };
        for sheets in compared {
            if !self.compare_sheets(&sheets, &mut progress).await? {
                return Ok(None);
            }
        }
        Ok(Some(progress.listed))
    }

    /// Returns `false` if the sheets cannot be compared, because their rows are in another order.
    async fn compare_sheets(
        &mut self,
        sheets: &ComparedSheets,
        progress: &mut Progress<impl FnMut(u64)>,
    ) -> Result<bool, ReaderError> {
        let (from_extent, to_extent) = (self.from.extent(sheets.from), self.to.extent(sheets.to));
        let bands = MatchingBands::new(&sheets.rows, from_extent.rows, to_extent.rows);
        let Some(mut bands) = bands else { return Ok(false) };
        let mut height =
            BandHeight::new(BandSize::OF_TWO_STATES, from_extent.columns.max(to_extent.columns));
        while let Some(band) = bands.peek(height.rows()) {
            match self.compare_band(sheets, &band).await? {
                Ok(compared) => {
                    bands.remove(&band);
                    height.adapt(compared.cells);
                    progress.add(&band, compared.diff);
                }
                Err(WorkbookTooLarge) if height.rows() > 1 => height.halve(),
                Err(too_large) => return Err(ComparedState::too_large(too_large)),
            }
        }
        Ok(true)
    }

    async fn compare_band(
        &mut self,
        sheets: &ComparedSheets,
        band: &MatchingBand,
    ) -> Result<Result<ComparedBand, WorkbookTooLarge>, ReaderError> {
        let (before, after) = tokio::try_join!(
            self.from.read_rows(sheets.from, from_ref(&band.src)),
            self.to.read_rows(sheets.to, from_ref(&band.dst)),
        )?;
        let cells = before.cell_count() + after.cell_count();
        if sheets.is_in_place(band) && before.tiles == after.tiles {
            return Ok(Ok(ComparedBand { cells, diff: WorkbookDiff::default() }));
        }
        let (before, after, shared) = tokio::try_join!(
            self.from.fill(sheets.from, before),
            self.to.fill(sheets.to, after),
            self.relation.fill_shared_rows(sheets, band),
        )?;
        Ok(before.and_then(|before| {
            let diff = self.relation.diff(&before, &after?, shared.transpose()?.as_ref());
            Ok(ComparedBand { cells, diff })
        }))
    }
}

/// The differences of the rows that were compared.
struct Progress<P> {
    listed: ListedDiff,
    report_progress: P,
    rows: u64,
}

impl<P: FnMut(u64)> Progress<P> {
    fn add(&mut self, band: &MatchingBand, diff: WorkbookDiff) {
        self.listed.add_cells(diff);
        self.rows += u64::try_from(band.src.len().max(band.dst.len())).unwrap_or(u64::MAX);
        (self.report_progress)(self.rows);
    }
}

/// Cells of a band in both states, and their differences.
struct ComparedBand {
    cells: usize,
    diff: WorkbookDiff,
}
