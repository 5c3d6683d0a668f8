//! Determines which cells of the older state a range of entries touched. To report the changes,
//! only these cells must be read, regardless of the size of the sheet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::fold::{FoldedLevel, FoldedSheet};
use super::level::Region;
use super::merge::Window;
use cellar_base::limits::MAX_BAND_CELLS;
use cellar_sheet::a1::{Rectangle, SheetArea};
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::metadata::Extent;
use cellar_sheet::metadata::{SheetMetadata, WorkbookMetadata};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Maximum number of untouched rows between two touched rows in the same window. Reading a few
/// untouched rows reduces the number of windows.
const MAX_GAP_ROWS: u32 = 64;

/// Touched cells of a sheet, in the coordinates of the older state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TouchedCells {
    /// Individual cells as (row, column) pairs.
    cells: BTreeSet<(u32, u32)>,
    /// Regions in which all cells were touched, limited to the used range of the sheet.
    regions: Vec<Region>,
}

/// A window to read. Together, the windows of a sheet contain all its touched cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedWindow {
    /// Rectangle to read, with at most `MAX_BAND_CELLS` cells or a single row.
    pub window: Window,
    /// Whether the window was created for individually touched cells. Such a window may also
    /// contain untouched cells, and [`TouchedCells::has_single_cell`] identifies the touched ones.
    /// Any other window was created for a touched region, and all its cells may be treated as
    /// touched.
    pub has_untouched_cells: bool,
}

/// Returns the touched cells of all sheets that existed before the entries. `old_metadata` and
/// `new_metadata` are the metadata before and after the entries. `level` is the result of folding
/// the entries.
#[must_use]
pub fn touched_cells(
    old_metadata: &WorkbookMetadata,
    new_metadata: &WorkbookMetadata,
    level: &FoldedLevel,
) -> BTreeMap<SheetId, TouchedCells> {
    let mut touched_by_sheet = BTreeMap::new();
    for (sheet_id, old_sheet) in &old_metadata.sheets {
        let is_deleted = !new_metadata.sheets.contains_key(sheet_id);
        let folded_sheet = level.sheets.iter().find(|folded| folded.sheet == *sheet_id);
        let touched = if is_deleted {
            TouchedCells::whole_sheet(old_sheet.extent)
        } else if let Some(folded_sheet) = folded_sheet {
            TouchedCells::of_folded(old_sheet, folded_sheet)
        } else {
            continue;
        };
        if !touched.is_empty() {
            touched_by_sheet.insert(*sheet_id, touched);
        }
    }
    touched_by_sheet
}

/// Returns the rows, columns and sheets of the older state that the entries deleted. Arguments are
/// those of [`touched_cells`]. Rows and columns that an insertion pushed beyond the end of the sheet
/// are not included.
#[must_use]
pub fn deleted_areas(
    old_metadata: &WorkbookMetadata,
    new_metadata: &WorkbookMetadata,
    level: &FoldedLevel,
) -> Vec<SheetArea> {
    let mut areas = Vec::new();
    for (sheet, old_sheet) in &old_metadata.sheets {
        if !new_metadata.sheets.contains_key(sheet) {
            areas.push(SheetArea { sheet: *sheet, cells: Rectangle::EVERYTHING });
            continue;
        }
        let Some(folded) = level.sheets.iter().find(|folded| folded.sheet == *sheet) else {
            continue;
        };
        let Extent { rows, columns } = old_sheet.extent;
        for span in deleted_inside(&folded.moves.rows, rows, Axis::Rows).iter() {
            areas.push(area_of(*sheet, Axis::Rows, span));
        }
        for span in deleted_inside(&folded.moves.columns, columns, Axis::Columns).iter() {
            areas.push(area_of(*sheet, Axis::Columns, span));
        }
    }
    areas
}

/// Returns the deleted rows or columns. If they are the last ones of the largest possible sheet, only
/// those in the used range are included.
fn deleted_inside(map: &AxisMap, used_length: u32, axis: Axis) -> Spans {
    let limit = axis.limit();
    let inside = |span: Span| {
        let end = if span.end() < limit { span.end() } else { used_length.min(limit) };
        Span { count: end.saturating_sub(span.first), ..span }
    };
    Spans::from_sorted(deleted_lines(map).iter().map(inside).collect())
}

/// Returns all cells in these rows or columns. `span` must not be empty.
fn area_of(sheet: SheetId, axis: Axis, span: Span) -> SheetArea {
    let Rectangle { mut first, mut last } = Rectangle::EVERYTHING;
    let last_line = span.end().saturating_sub(1);
    match axis {
        Axis::Rows => (first.row, last.row) = (span.first, last_line),
        Axis::Columns => (first.column, last.column) = (span.first, last_line),
    }
    SheetArea { sheet, cells: Rectangle { first, last } }
}

impl TouchedCells {
    /// Creates touched cells from single cells, as (row, column) pairs, and from regions of rows and
    /// columns. Regions are limited to the used range.
    #[must_use]
    pub fn of(
        cells: BTreeSet<(u32, u32)>,
        regions: impl IntoIterator<Item = (Spans, Spans)>,
        extent: Extent,
    ) -> Self {
        let mut touched = Self { cells, regions: Vec::new() };
        for (rows, columns) in regions {
            touched.add_region(&rows, &columns, extent);
        }
        touched
    }

    /// Returns all cells of a sheet with this extent.
    #[must_use]
    pub fn whole_sheet(extent: Extent) -> Self {
        let mut touched = Self::default();
        let Extent { rows, columns } = extent;
        touched.add_region(&Spans::one(0, rows), &Spans::one(0, columns), extent);
        touched
    }

    fn of_folded(old_sheet: &SheetMetadata, folded: &FoldedSheet) -> Self {
        let mut touched = Self::default();
        touched.add_edited_cells(folded);
        touched.add_cleared_regions(old_sheet, folded);
        touched.add_deleted_lines(old_sheet, folded);
        touched
    }

    /// Adds the cells set by the entries, at their positions in the older state.
    fn add_edited_cells(&mut self, folded: &FoldedSheet) {
        let old_rows = folded.moves.rows.reversed();
        let old_columns = folded.moves.columns.reversed();
        for column in &folded.tile.columns {
            let Some(old_column) = old_columns.get(column.index) else { continue };
            for row in column.values.rows().iter().chain(column.formats.rows()) {
                if let Some(old_row) = old_rows.get(*row) {
                    self.cells.insert((old_row, old_column));
                }
            }
        }
    }

    /// Adds the regions cleared by the entries, at their positions in the older state.
    fn add_cleared_regions(&mut self, old_sheet: &SheetMetadata, folded: &FoldedSheet) {
        let old_rows = folded.moves.rows.reversed();
        let old_columns = folded.moves.columns.reversed();
        for region in folded.moves.clears() {
            let rows = old_rows.kept_spans(&region.rows);
            let columns = old_columns.kept_spans(&region.columns);
            self.add_region(&rows, &columns, old_sheet.extent);
        }
    }

    /// Adds deleted rows and columns. Also adds the ranges of range formats that start or end
    /// inside them.
    fn add_deleted_lines(&mut self, old_sheet: &SheetMetadata, folded: &FoldedSheet) {
        let deleted_rows = deleted_lines(&folded.moves.rows);
        let deleted_columns = deleted_lines(&folded.moves.columns);
        for range_format in old_sheet.formats.records() {
            // Undoing a deletion restores the rows or columns, but not the extent of a range format
            // that started or ended inside them.
            let is_cut = has_end_inside(&range_format.rows, &deleted_rows, Axis::Rows)
                || has_end_inside(&range_format.columns, &deleted_columns, Axis::Columns);
            if is_cut {
                self.add_region(&range_format.rows, &range_format.columns, old_sheet.extent);
            }
        }
        self.add_region(&deleted_rows, &Spans::all(Axis::Columns), old_sheet.extent);
        self.add_region(&Spans::all(Axis::Rows), &deleted_columns, old_sheet.extent);
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

    /// Returns whether a cell is one of the individually touched cells. Cells that are only in
    /// touched regions do not count.
    #[must_use]
    pub fn has_single_cell(&self, row: u32, column: u32) -> bool {
        self.cells.contains(&(row, column))
    }

    /// Returns the windows to read, which together contain all touched cells.
    #[must_use]
    pub fn windows(&self) -> Vec<TouchedWindow> {
        let mut windows = Vec::new();
        self.push_cell_windows(&mut windows);
        self.push_region_windows(&mut windows);
        windows
    }

    fn push_cell_windows(&self, windows: &mut Vec<TouchedWindow>) {
        let mut touched_rows: Vec<u32> = self.cells.iter().map(|(row, _)| *row).collect();
        touched_rows.dedup();
        for row_span in join_near_spans(&Spans::of(touched_rows)) {
            let cells_in_span = self.cells.range((row_span.first, 0)..(row_span.end(), 0));
            let mut first_column = u32::MAX;
            let mut column_end = 0;
            for (_, column) in cells_in_span {
                first_column = first_column.min(*column);
                column_end = column_end.max(column.saturating_add(1));
            }
            let has_untouched_cells = true;
            push_bands(row_span, first_column..column_end, has_untouched_cells, windows);
        }
    }

    fn push_region_windows(&self, windows: &mut Vec<TouchedWindow>) {
        for region in &self.regions {
            let first_column = region.columns.iter().next().map_or(0, |span| span.first);
            let column_end = region.columns.iter().next_back().map_or(0, Span::end);
            for row_span in join_near_spans(&region.rows) {
                let has_untouched_cells = false;
                push_bands(row_span, first_column..column_end, has_untouched_cells, windows);
            }
        }
    }
}

/// A span of the entire axis does not count, because it has no ends.
fn has_end_inside(spans: &Spans, deleted: &Spans, axis: Axis) -> bool {
    if spans.is_all(axis) || deleted.is_empty() {
        return false;
    }
    let first_and_last = |span: Span| [span.first, span.end().saturating_sub(1)];
    spans.iter().flat_map(first_and_last).any(|line| deleted.contains(line))
}

/// Returns the rows or columns that an axis map deletes, in the older coordinates.
fn deleted_lines(map: &AxisMap) -> Spans {
    let mut deleted_spans = Vec::new();
    let mut kept_end = 0_u32;
    for kept_run in map.runs() {
        let deleted_count = kept_run.src.saturating_sub(kept_end);
        deleted_spans.push(Span { first: kept_end, count: deleted_count });
        kept_end = kept_run.src.saturating_add(kept_run.len);
    }
    deleted_spans.push(Span { first: kept_end, count: u32::MAX - kept_end });
    Spans::from_sorted(deleted_spans)
}

fn join_near_spans(spans: &Spans) -> Vec<Span> {
    let mut joined_spans: Vec<Span> = Vec::new();
    for span in spans.iter() {
        match joined_spans.last_mut() {
            Some(last) if span.first.saturating_sub(last.end()) <= MAX_GAP_ROWS => {
                last.count = span.end().saturating_sub(last.first);
            }
            _ => joined_spans.push(span),
        }
    }
    joined_spans
}

/// Splits a rectangle into windows of at most `MAX_BAND_CELLS` cells or a single row each.
/// `has_untouched_cells` becomes [`TouchedWindow::has_untouched_cells`] of all windows.
fn push_bands(
    rows: Span,
    columns: Range<u32>,
    has_untouched_cells: bool,
    windows: &mut Vec<TouchedWindow>,
) {
    let column_count = columns.end.saturating_sub(columns.start).max(1);
    let rows_per_band = (MAX_BAND_CELLS / column_count).max(1);
    let mut first_row = rows.first;
    while first_row < rows.end() {
        let end_row = first_row.saturating_add(rows_per_band).min(rows.end());
        let window = Window { rows: first_row..end_row, columns: columns.clone() };
        windows.push(TouchedWindow { window, has_untouched_cells });
        first_row = end_row;
    }
}
