//! Determines which cells of the older state a range of entries touched. Only these cells must be
//! read to report the changes, regardless of sheet size.

use std::collections::{BTreeMap, BTreeSet};

use super::fold::{FoldedLevel, FoldedSheet};
use super::level::Region;
use super::merge::Window;
use cellar_base::limits::MAX_BAND_CELLS;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::metadata::{Extent, RangeFormat};
use cellar_sheet::metadata::{SheetMetadata, WorkbookMetadata};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Maximum gap of untouched rows that is read together with the touched rows around it, to reduce
/// the number of windows.
const MAX_GAP_ROWS: u32 = 64;

/// Touched cells of a sheet, in the coordinates of the older state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TouchedCells {
    /// Individual cells as (row, column) pairs.
    cells: BTreeSet<(u32, u32)>,
    /// Fully touched regions, clipped to the extent of the sheet.
    regions: Vec<Region>,
}

/// A window to read. The windows of a sheet together contain all its touched cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedWindow {
    /// The window, limited to `MAX_BAND_CELLS` cells or a single row.
    pub window: Window,
    /// Whether the window also contains untouched cells; see [`TouchedCells::has_single_cell`].
    pub partly: bool,
}

/// Returns the touched cells of all sheets that existed before the entries. `before` and `after`
/// are the metadata before and after the entries; `level` is the result of folding the entries.
#[must_use]
pub fn touched_cells(
    before: &WorkbookMetadata,
    after: &WorkbookMetadata,
    level: &FoldedLevel,
) -> BTreeMap<SheetId, TouchedCells> {
    let mut touched_by_sheet = BTreeMap::new();
    for (id, sheet) in &before.sheets {
        let touched = if after.sheets.contains_key(id) {
            let Some(folded) = level.sheets.iter().find(|folded| folded.sheet == *id) else {
                continue;
            };
            TouchedCells::of_folded(sheet, folded)
        } else {
            TouchedCells::whole_sheet(sheet.extent)
        };
        if !touched.is_empty() {
            touched_by_sheet.insert(*id, touched);
        }
    }
    touched_by_sheet
}

impl TouchedCells {
    /// Returns all cells of a sheet with this extent.
    #[must_use]
    pub fn whole_sheet(extent: Extent) -> Self {
        let mut touched = Self::default();
        let Extent { rows, columns } = extent;
        touched.add_region(&Spans::one(0, rows), &Spans::one(0, columns), extent);
        touched
    }

    fn of_folded(sheet: &SheetMetadata, folded: &FoldedSheet) -> Self {
        let mut touched = Self::default();
        touched.add_edited_cells(folded);
        touched.add_cleared_regions(sheet, folded);
        touched.add_deleted_lines(sheet, folded);
        touched
    }

    /// Adds the cells set by the entries, at their older positions.
    fn add_edited_cells(&mut self, folded: &FoldedSheet) {
        let (old_rows, old_columns) =
            (folded.moves.rows.reversed(), folded.moves.columns.reversed());
        for column in &folded.tile.columns {
            let Some(old_column) = old_columns.get(column.column) else { continue };
            let rows = column.values.rows().iter().chain(column.formats.rows());
            let old_places = rows.filter_map(|row| Some((old_rows.get(*row)?, old_column)));
            self.cells.extend(old_places);
        }
    }

    /// Adds the regions cleared by the entries, at their older positions.
    fn add_cleared_regions(&mut self, sheet: &SheetMetadata, folded: &FoldedSheet) {
        let (old_rows, old_columns) =
            (folded.moves.rows.reversed(), folded.moves.columns.reversed());
        for clear in folded.moves.clears() {
            let rows = old_rows.kept_spans(&clear.rows);
            let columns = old_columns.kept_spans(&clear.columns);
            self.add_region(&rows, &columns, sheet.extent);
        }
    }

    /// Adds deleted rows and columns, and range formats cut by the deletion.
    fn add_deleted_lines(&mut self, sheet: &SheetMetadata, folded: &FoldedSheet) {
        let rows = deleted_lines(&folded.moves.rows);
        let columns = deleted_lines(&folded.moves.columns);
        // A range format that ended inside deleted lines does not grow back when an undo restores
        // the lines.
        let is_cut = |record: &RangeFormat| {
            has_end_inside(&record.rows, &rows, Axis::Rows)
                || has_end_inside(&record.columns, &columns, Axis::Columns)
        };
        for record in sheet.formats.records() {
            if is_cut(record) {
                self.add_region(&record.rows, &record.columns, sheet.extent);
            }
        }
        self.add_region(&rows, &Spans::all(Axis::Columns), sheet.extent);
        self.add_region(&Spans::all(Axis::Rows), &columns, sheet.extent);
    }

    fn add_region(&mut self, rows: &Spans, columns: &Spans, extent: Extent) {
        let rows = rows.intersection(&Spans::one(0, extent.rows));
        let columns = columns.intersection(&Spans::one(0, extent.columns));
        let region = Region { rows, columns };
        if !region.is_empty() {
            self.regions.push(region);
        }
    }

    fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.regions.is_empty()
    }

    /// Returns whether a cell was touched individually rather than as part of a region.
    #[must_use]
    pub fn has_single_cell(&self, row: u32, column: u32) -> bool {
        self.cells.contains(&(row, column))
    }

    /// Returns the windows to read.
    #[must_use]
    pub fn windows(&self) -> Vec<TouchedWindow> {
        let mut windows = Vec::new();
        self.push_cell_windows(&mut windows);
        self.push_region_windows(&mut windows);
        windows
    }

    fn push_cell_windows(&self, windows: &mut Vec<TouchedWindow>) {
        let rows = Spans::of(dedup_sorted(self.cells.iter().map(|(row, _)| *row)));
        for span in join_near_spans(&rows) {
            let cells = self.cells.range((span.first, 0)..(span.end(), 0));
            let columns = cells.map(|(_, column)| *column);
            let (first, last) = columns
                .fold((u32::MAX, 0), |(first, last), column| (first.min(column), last.max(column)));
            push_bands(span, first..last.saturating_add(1), true, windows);
        }
    }

    fn push_region_windows(&self, windows: &mut Vec<TouchedWindow>) {
        for region in &self.regions {
            let mut columns = region.columns.iter();
            let first = columns.clone().next().map_or(0, |span| span.first);
            let end = columns.next_back().map_or(0, Span::end);
            for span in join_near_spans(&region.rows) {
                push_bands(span, first..end, false, windows);
            }
        }
    }
}

/// Returns whether any of `spans` starts or ends inside `deleted`. Spans of the whole axis have no
/// ends and do not count.
fn has_end_inside(spans: &Spans, deleted: &Spans, axis: Axis) -> bool {
    if spans.is_all(axis) || deleted.is_empty() {
        return false;
    }
    let first_and_last = |span: Span| [span.first, span.end().saturating_sub(1)];
    spans.iter().flat_map(first_and_last).any(|line| deleted.contains(line))
}

/// Returns the deleted lines of an axis map, in the older coordinates.
fn deleted_lines(map: &AxisMap) -> Spans {
    let mut deleted = Vec::new();
    let mut kept_end = 0_u32;
    for run in map.runs() {
        deleted.push(Span { first: kept_end, count: run.src.saturating_sub(kept_end) });
        kept_end = run.src.saturating_add(run.len);
    }
    deleted.push(Span { first: kept_end, count: u32::MAX.saturating_sub(kept_end) });
    Spans::from_sorted(deleted)
}

fn dedup_sorted(sorted: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut distinct: Vec<u32> = sorted.collect();
    distinct.dedup();
    distinct
}

/// Joins spans that are at most `MAX_GAP_ROWS` apart.
fn join_near_spans(spans: &Spans) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for span in spans.iter() {
        match joined.last_mut() {
            Some(last) if span.first.saturating_sub(last.end()) <= MAX_GAP_ROWS => {
                last.count = span.end().saturating_sub(last.first);
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// Splits a rectangle into windows limited to `MAX_BAND_CELLS` cells or a single row.
fn push_bands(
    rows: Span,
    columns: std::ops::Range<u32>,
    partly: bool,
    windows: &mut Vec<TouchedWindow>,
) {
    let width = columns.end.saturating_sub(columns.start).max(1);
    let height = (MAX_BAND_CELLS / width).max(1);
    let mut first = rows.first;
    while first < rows.end() {
        let end = first.saturating_add(height).min(rows.end());
        let window = Window { rows: first..end, columns: columns.clone() };
        windows.push(TouchedWindow { window, partly });
        first = end;
    }
}
