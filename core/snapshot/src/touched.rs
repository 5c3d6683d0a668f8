//! Which cells entries touched, where they stood before: all that has to be known of the older state to
//! say what became of it, however large its sheets are.

use std::collections::{BTreeMap, BTreeSet};

use super::fold::{FoldedLevel, FoldedSheet};
use super::level::Region;
use super::merge::Window;
use cellar_base::limits::MAX_BAND_CELLS;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::metadata::{Extent, RangeFormat};
use cellar_sheet::metadata::{SheetMetadata, WorkbookMetadata};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Rows between two touched ones that are read along.
const NEAR_ROWS: u32 = 64;

/// The touched cells of a sheet, in the space of the older state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Touched {
    /// By row, then column.
    cells: BTreeSet<(u32, u32)>,
    /// Within the extent of the sheet.
    regions: Vec<Region>,
}

/// What is to be read of a sheet: together, all that was touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedWindow {
    /// The window; it spans at most `MAX_BAND_CELLS` cells, or one row.
    pub window: Window,
    /// Whether only some of its cells were touched: see [`Touched::has`].
    pub partly: bool,
}

/// What entries touched of the sheets that were there before, by the metadata before and after and the
/// level that they fold into.
#[must_use]
pub fn touched(
    before: &WorkbookMetadata,
    after: &WorkbookMetadata,
    level: &FoldedLevel,
) -> BTreeMap<SheetId, Touched> {
    let sheets = before.sheets.iter().filter_map(|(id, sheet)| {
        let touched = match after.sheets.contains_key(id) {
            false => Touched::all(sheet.extent),
            true => {
                let folded = level.sheets.iter().find(|folded| folded.sheet == *id)?;
                Touched::by(sheet, folded)
            }
        };
        (!touched.is_nothing()).then_some((*id, touched))
    });
    sheets.collect()
}

impl Touched {
    /// All cells of a sheet.
    #[must_use]
    pub fn all(extent: Extent) -> Self {
        let mut touched = Self::default();
        let Extent { rows, columns } = extent;
        touched.region(&Spans::one(0, rows), &Spans::one(0, columns), extent);
        touched
    }

    fn by(sheet: &SheetMetadata, folded: &FoldedSheet) -> Self {
        let mut touched = Self::default();
        let (rows, columns) = (folded.moves.rows.reversed(), folded.moves.columns.reversed());
        for column in &folded.tile.columns {
            let Some(number) = columns.get(column.column) else { continue };
            let held = column.values.rows().iter().chain(column.formats.rows());
            let stood = held.filter_map(|row| Some((rows.get(*row)?, number)));
            touched.cells.extend(stood);
        }
        for clear in folded.moves.clears() {
            let (rows, columns) = (rows.kept(&clear.rows), columns.kept(&clear.columns));
            touched.region(&rows, &columns, sheet.extent);
        }
        let (rows, columns) = (lost(&folded.moves.rows), lost(&folded.moves.columns));
        // What ended where lines are lost does not grow again when they are back.
        let cut = |record: &&RangeFormat| {
            ends_in(&record.rows, &rows, Axis::Rows)
                || ends_in(&record.columns, &columns, Axis::Columns)
        };
        for record in sheet.formats.records().iter().filter(cut) {
            touched.region(&record.rows, &record.columns, sheet.extent);
        }
        touched.region(&rows, &Spans::all(Axis::Columns), sheet.extent);
        touched.region(&Spans::all(Axis::Rows), &columns, sheet.extent);
        touched
    }

    fn region(&mut self, rows: &Spans, columns: &Spans, extent: Extent) {
        let rows = rows.intersection(&Spans::one(0, extent.rows));
        let region = Region { rows, columns: columns.intersection(&Spans::one(0, extent.columns)) };
        if !region.is_empty() {
            self.regions.push(region);
        }
    }

    fn is_nothing(&self) -> bool {
        self.cells.is_empty() && self.regions.is_empty()
    }

    /// Whether a cell was touched alone.
    #[must_use]
    pub fn has(&self, row: u32, column: u32) -> bool {
        self.cells.contains(&(row, column))
    }

    /// What is to be read.
    #[must_use]
    pub fn windows(&self) -> Vec<TouchedWindow> {
        let mut windows = Vec::new();
        let rows = Spans::of(distinct(self.cells.iter().map(|(row, _)| *row)));
        for span in near(&rows) {
            let inside = self.cells.range((span.first, 0)..(span.end(), 0));
            let columns = inside.map(|(_, column)| *column);
            let (first, last) = columns
                .fold((u32::MAX, 0), |(first, last), column| (first.min(column), last.max(column)));
            bands(span, first..last.saturating_add(1), true, &mut windows);
        }
        for region in &self.regions {
            let mut columns = region.columns.iter();
            let first = columns.clone().next().map_or(0, |span| span.first);
            let end = columns.next_back().map_or(0, Span::end);
            for span in near(&region.rows) {
                bands(span, first..end, false, &mut windows);
            }
        }
        windows
    }
}

/// Whether spans begin or end inside of others.
fn ends_in(spans: &Spans, others: &Spans, axis: Axis) -> bool {
    let ends = |span: Span| [span.first, span.end().saturating_sub(1)];
    let inside = |at: u32| others.contains(at);
    !spans.is_all(axis) && !others.is_empty() && spans.iter().flat_map(ends).any(inside)
}

/// What an axis map keeps nothing of.
fn lost(map: &AxisMap) -> Spans {
    let (mut lost, mut end) = (Vec::new(), 0_u32);
    for run in map.runs() {
        lost.push(Span { first: end, count: run.src.saturating_sub(end) });
        end = run.src.saturating_add(run.len);
    }
    lost.push(Span { first: end, count: u32::MAX.saturating_sub(end) });
    Spans::from_sorted(lost)
}

fn distinct(sorted: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = sorted.collect();
    all.dedup();
    all
}

/// Spans that are near each other as one.
fn near(spans: &Spans) -> Vec<Span> {
    let mut near: Vec<Span> = Vec::new();
    for span in spans.iter() {
        match near.last_mut() {
            Some(last) if span.first.saturating_sub(last.end()) <= NEAR_ROWS => {
                last.count = span.end().saturating_sub(last.first);
            }
            _ => near.push(span),
        }
    }
    near
}

/// Windows of so many cells at most.
fn bands(
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
