//! The changes of the entries after a root.

use super::OutdatedAreas;
use crate::dependents::SearchedState;
use crate::fold::{FoldedLevel, FoldedSheet};
use crate::level::Region;
use crate::root::Root;
use crate::tile::TileColumn;
use cellar_formula::changes::MovedLines;
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Number of runs of changed rows of a column above which the rows between them count as changed.
const MAX_COLUMN_RUNS: usize = 64;

/// The changes of the entries after a root.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The cells that the entries changed, and those that were outdated before, in the coordinates
    /// after the entries.
    pub(super) cells: OutdatedAreas,
    /// Whether sheets were added, deleted, renamed or moved.
    pub(super) sheets: bool,
    /// Whether defined names were changed.
    pub(super) names: bool,
}

/// Returns how the entries after a root move rows and columns.
pub(super) fn moves_of(tail: &FoldedLevel) -> MovedLines {
    tail.sheets.iter().map(|folded| (folded.sheet, folded.moves.lines())).collect()
}

impl Changes {
    /// Returns the changes of the entries after `root`. If a value was outdated before, it still is.
    pub(super) fn of(root: &Root, state: &SearchedState<'_>, moves: &MovedLines) -> Self {
        let SearchedState { tail, metadata, .. } = state;
        let outdated_before = root.outdated.clone();
        let mut cells = outdated_before.unwrap_or_else(OutdatedAreas::everything).moved(moves);
        let mut add = |sheet, cells_of_sheet| cells.add(SheetArea { sheet, cells: cells_of_sheet });
        for old in &root.sheets {
            match metadata.sheets.get(&old.sheet) {
                None => add(old.sheet, Rectangle::EVERYTHING),
                Some(new) => {
                    ends_of_changed(old.extent, new.extent).for_each(|cells| add(old.sheet, cells));
                }
            }
        }
        for imported in &tail.imported.sheets {
            add(imported.sheet, Rectangle::EVERYTHING);
        }
        for folded in &tail.sheets {
            changed_cells(folded).into_iter().for_each(|cells| add(folded.sheet, cells));
        }
        let old_sheets = root.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.as_str()));
        let tabs = &metadata.tabs;
        let new_sheet = |sheet: &SheetId| (*sheet, tabs.name(*sheet).unwrap_or_default());
        let sheets = !old_sheets.eq(tabs.order().iter().map(new_sheet));
        Self { cells, sheets, names: root.names != metadata.names }
    }
}

/// Returns the last possible row if the number of used rows has changed, and the last possible column
/// accordingly. Some results depend on the used range, but only if a reference extends to the end of
/// the sheet, such as `A:A`.
fn ends_of_changed(old: Extent, new: Extent) -> impl Iterator<Item = Rectangle> {
    let Rectangle { first, last } = Rectangle::EVERYTHING;
    let last_row = Rectangle { first: CellName { row: last.row, ..first }, last };
    let last_column = Rectangle { first: CellName { column: last.column, ..first }, last };
    let rows = (old.rows != new.rows).then_some(last_row);
    rows.into_iter().chain((old.columns != new.columns).then_some(last_column))
}

fn changed_cells(folded: &FoldedSheet) -> Vec<Rectangle> {
    let mut cells: Vec<Rectangle> = folded.tile.columns.iter().flat_map(column_cells).collect();
    for Region { rows, columns } in folded.moves.clears() {
        for row_span in few_spans(rows) {
            cells.extend(few_spans(columns).map(|column_span| rectangle(row_span, column_span)));
        }
    }
    cells
}

/// Returns the changed cells of a column. If there are too many runs of rows, also those between.
fn column_cells(column: &TileColumn) -> Vec<Rectangle> {
    let layers = [column.values.rows(), column.formats.rows()];
    let runs = layers.into_iter().flat_map(|rows| few_spans(&Spans::of(rows.iter().copied())));
    runs.map(|rows| rectangle(rows, Span { first: column.index, count: 1 })).collect()
}

/// Returns the spans, or one span from the first to the last if there are too many.
fn few_spans(spans: &Spans) -> impl Iterator<Item = Span> + use<> {
    let mut few: Vec<Span> = spans.iter().collect();
    if let (Some(first), Some(last)) = (few.first(), few.last())
        && few.len() > MAX_COLUMN_RUNS
    {
        few = vec![Span { first: first.first, count: last.end() - first.first }];
    }
    few.into_iter()
}

/// Returns the cells in some rows and columns. Spans of a level are not empty.
pub(super) fn rectangle(rows: Span, columns: Span) -> Rectangle {
    let last = |span: Span| span.end().saturating_sub(1);
    Rectangle {
        first: CellName { row: rows.first, column: columns.first },
        last: CellName { row: last(rows), column: last(columns) },
    }
}
