//! Tests a group of rows against the conditions of a filter.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Cell;
use cellar_sheet::condition::{Condition, Conditions};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::WindowEstimate;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use super::super::{LogError, View};
use super::budget::Budget;

/// The rows of a group that fulfil all conditions.
pub(super) struct Evaluated {
    pub(super) rows: Vec<u32>,
    /// The stale cells that were compared.
    pub(super) stale_cells: BTreeSet<CellName>,
    /// First row that was not tested because the budget was used up. No later row was tested
    /// either.
    pub(super) page_end: Option<u32>,
}

pub(super) fn column_window(rows: Range<u32>, column: u32) -> Window {
    Window { rows, columns: column..column.saturating_add(1) }
}

/// Returns the rows of a group that fulfil all conditions. `candidates` are the cells of the group
/// in the column [`Conditions::filled_column`]. Conditions on this column are tested first. Other
/// columns are only read for rows that fulfil them.
pub(super) async fn evaluate(
    view: &mut View,
    sheet: SheetId,
    conditions: &Conditions,
    candidates: &[TileCell],
    budget: &mut Budget,
) -> Result<Evaluated, LogError> {
    let filled_column = conditions.filled_column();
    let rows = candidates.iter().map(|cell| cell.row).collect();
    let mut evaluated = Evaluated { rows, stale_cells: BTreeSet::new(), page_end: None };
    let is_on_filled = |condition: &&Condition| condition.column() == filled_column;
    let first = conditions.list().iter().filter(is_on_filled);
    let others = conditions.list().iter().filter(|condition| !is_on_filled(condition));
    let mut column = Column::of(filled_column, candidates.to_vec());
    for condition in first.chain(others) {
        let (Some(first), Some(last)) = (evaluated.rows.first(), evaluated.rows.last()) else {
            break;
        };
        if column.index != condition.column() {
            let window = column_window(*first..last.saturating_add(1), condition.column());
            let cells = view.cells_with_previews(sheet, &window).await?;
            budget.take_window();
            let count = u64::try_from(cells.len()).unwrap_or(u64::MAX);
            budget.take_estimate(WindowEstimate { cells: count, tiles: 1 });
            column = Column::of(condition.column(), cells);
        }
        column.retain_fulfilling(view, condition, &mut evaluated, budget).await?;
    }
    Ok(evaluated)
}

struct Column {
    index: u32,
    cells: HashMap<u32, TileCell>,
}

impl Column {
    fn of(index: u32, cells: Vec<TileCell>) -> Self {
        Self { index, cells: cells.into_iter().map(|cell| (cell.row, cell)).collect() }
    }

    /// Removes the rows that do not fulfil the condition and the rows that cannot be tested because
    /// the budget is used up.
    async fn retain_fulfilling(
        &mut self,
        view: &View,
        condition: &Condition,
        evaluated: &mut Evaluated,
        budget: &mut Budget,
    ) -> Result<(), LogError> {
        let blank = Cell::default();
        let rows = std::mem::take(&mut evaluated.rows);
        for (index, row) in rows.into_iter().enumerate() {
            // The first row is always tested, so that the next page starts after it.
            let ends = if index > 0 { budget.has_no_text() } else { budget.ends_at_cell() };
            if ends {
                evaluated.page_end = Some(row);
                break;
            }
            let cell = match self.cells.get_mut(&row) {
                None => &blank,
                Some(tile_cell) => {
                    if tile_cell.long_text.is_some() {
                        budget.take_long_text();
                        view.fill_in_long_text(tile_cell).await?;
                        tile_cell.long_text = None;
                    }
                    if tile_cell.is_stale {
                        evaluated.stale_cells.insert(CellName { row, column: self.index });
                    }
                    &tile_cell.cell
                }
            };
            if condition.is_regex() {
                budget.take_regex_text(cell);
            }
            if condition.is_fulfilled_by(cell) {
                evaluated.rows.push(row);
            }
        }
        Ok(())
    }
}
