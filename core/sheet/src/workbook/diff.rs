//! Differences between two states of a spreadsheet.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::display_eq::formats_display_same;
use super::sheet::{CellId, Sheet, StoredCell};
use super::stored_formula::FormulaReader;
use super::tab_order::{OrderDiff, diff_order};
use super::{NameDiff, SheetReader, Workbook};
use crate::a1::CellName;
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::metadata::Tabs;
use crate::operation::{SheetId, Span, Spans};
use cellar_formula::changes::MovedLines;

/// A cell and its coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellAt {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// Content of the cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Whether the formula was not calculated. The value is then the one that is stored beside the
    /// formula, such as that of an imported file, or `null`. Absent if `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Reference of the cell, such as `B3`, whose formula fills this cell with a part of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_by: Option<String>,
    /// The cells, such as `B3:C9`, that the formula of this cell fills, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fills: Option<String>,
    /// Why the formula was not calculated, or which cells form a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Text that the cell displays in its number format. Present if the request asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl CellAt {
    /// Creates a cell whose value is its own and not stale.
    #[must_use]
    pub fn new(row: u32, column: u32, cell: Cell) -> Self {
        Self {
            row,
            column,
            cell,
            stale: false,
            filled_by: None,
            fills: None,
            note: None,
            text: None,
        }
    }

    /// Returns the reference of the cell, such as `B3`.
    #[must_use]
    pub fn name(&self) -> CellName {
        CellName { row: self.row, column: self.column }
    }

    /// Returns the text that the cell displays.
    #[must_use]
    pub fn text(&self) -> String {
        self.cell.text()
    }
}

/// Differences between two states of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkbookDiff {
    /// Sheets that differ, ordered by number.
    pub sheets: Vec<SheetDiff>,
    /// Names that differ, in alphabetical order.
    pub names: Vec<NameDiff>,
    /// The order of the sheets, if the sheets of both states are in another order.
    pub order: Option<OrderDiff>,
    /// Whether more formulas may have lost references than the sheets contain.
    pub formulas_incomplete: bool,
}

/// Differences of one sheet between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetDiff {
    /// Number of the sheet. If a sheet was replaced by another sheet with the same name, the number of
    /// the new sheet.
    pub sheet: SheetId,
    /// Name of the sheet in the later state. If the sheet was deleted, its name in the earlier
    /// state.
    pub name: String,
    /// Change to the sheet as a whole.
    pub change: SheetChange,
    /// Inserted and deleted rows.
    pub rows: AxisDiff,
    /// Inserted and deleted columns.
    pub columns: AxisDiff,
    /// Whether range formats differ other than by insertions and deletions of rows and columns.
    pub formats_changed: bool,
    /// Cells that were changed, with their coordinates in the later state.
    pub cells: Vec<CellDiff>,
    /// Cells that were deleted with their row, column or sheet, with their coordinates in the
    /// earlier state.
    pub deleted_cells: Vec<CellAt>,
}

/// How a sheet as a whole has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SheetChange {
    Added,
    Deleted,
    Renamed,
    /// The sheet has the same name in both states. It may have been replaced by another sheet with
    /// this name.
    Kept,
}

/// Inserted and deleted rows or columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AxisDiff {
    /// Inserted rows or columns, with their indices in the later state.
    #[serde(default, skip_serializing_if = "Spans::is_empty")]
    pub inserted: Spans,
    /// Deleted rows or columns, with their indices in the earlier state.
    #[serde(default, skip_serializing_if = "Spans::is_empty")]
    pub deleted: Spans,
}

/// A cell that differs between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellDiff {
    /// Row in the later state, 0-based.
    pub row: u32,
    /// Column in the later state, 0-based.
    pub column: u32,
    /// Contents in the earlier state.
    pub before: Cell,
    /// Contents in the later state.
    pub after: Cell,
}

/// How the new state is related to the old one.
#[derive(Clone, Copy)]
pub(super) enum NewState<'m> {
    Later,
    /// The new formula moved and became the old one.
    Earlier,
    /// Both have developed from a state with these sheets.
    Branch {
        shared: &'m Tabs,
    },
}

/// How formulas of two states are compared.
#[derive(Clone, Copy)]
pub(super) struct FormulaComparison<'m> {
    /// Leads from the earlier state to the later state. A formula whose references only follow it is
    /// unchanged.
    pub(super) moved: &'m MovedLines,
    pub(super) new_state: NewState<'m>,
    /// Like `moved`, but rows and columns that were replaced by as many count as kept.
    pub(super) moved_in_place: Option<&'m MovedLines>,
    /// Whether the displayed texts are compared: a formula with the same text is unchanged, although
    /// it refers to other cells, and a formula that lost a reference is changed.
    pub(super) by_text: bool,
}

impl Workbook {
    /// Returns the differences between this state and another state of the same spreadsheet. A sheet
    /// that was replaced by another sheet with the same name is compared with that sheet, row by row
    /// and column by column. Rows and columns that were replaced by as many at the same place are the
    /// same ones, because an undo may have restored them. A formula whose references only follow
    /// inserted and deleted rows and columns is unchanged, unless one became `#REF!`.
    #[must_use]
    pub fn diff(&self, to: &Self) -> WorkbookDiff {
        self.diff_in_time(to, NewState::Later)
    }

    /// Like [`Workbook::diff`], from a later to an earlier state.
    #[must_use]
    pub fn diff_to_earlier(&self, to: &Self) -> WorkbookDiff {
        self.diff_in_time(to, NewState::Earlier)
    }

    fn diff_in_time(&self, to: &Self, new_state: NewState<'_>) -> WorkbookDiff {
        let is_back_in_time = matches!(new_state, NewState::Earlier);
        let (earlier, later) = if is_back_in_time { (to, self) } else { (self, to) };
        let (moved, moved_in_place) =
            (&earlier.moved_lines_to(later), Some(&earlier.moved_in_place_to(later)));
        let comparison = FormulaComparison { moved, new_state, moved_in_place, by_text: true };
        let replacements: BTreeMap<SheetId, SheetId> = self
            .sheets
            .keys()
            .filter_map(|old| Some((*old, self.replacement(*old, to)?)))
            .collect();
        let old_ids: BTreeMap<SheetId, SheetId> =
            replacements.iter().map(|(old, new)| (*new, *old)).collect();
        let renamed = &to.with_replaced_ids(self);
        let diff = self.diff_sheets(to, |id| match old_ids.get(&id) {
            Some(old_id) => Some(self.diff_replaced_sheet(*old_id, id, to)),
            None if replacements.contains_key(&id) => None,
            None => Some(self.diff_sheet(id, renamed, comparison)),
        });
        let new_number = |old: SheetId| match to.sheet(old) {
            Some(_) => Some(old),
            None => replacements.get(&old).copied(),
        };
        WorkbookDiff {
            names: self.diff_names(to, |sheet| self.sheet_lines_to(to, sheet)),
            order: diff_order(&self.tabs, &to.tabs, new_number),
            ..diff
        }
    }

    /// Like [`Workbook::diff`], but compares only sheets with the same number, and also contains
    /// formulas with the same text that refer to other cells.
    pub(super) fn diff_by_number(&self, to: &Self) -> WorkbookDiff {
        let comparison = FormulaComparison {
            moved: &self.moved_lines_to(to),
            new_state: NewState::Later,
            moved_in_place: None,
            by_text: false,
        };
        self.diff_sheets(to, |id| Some(self.diff_sheet(id, to, comparison)))
    }

    fn diff_sheets(
        &self,
        to: &Self,
        diff_of: impl Fn(SheetId) -> Option<SheetDiff>,
    ) -> WorkbookDiff {
        let ids: BTreeSet<SheetId> = self.sheets.keys().chain(to.sheets.keys()).copied().collect();
        let sheet_diffs = ids.into_iter().filter_map(diff_of);
        let sheets = sheet_diffs.filter(SheetDiff::has_differences).collect();
        WorkbookDiff { sheets, ..WorkbookDiff::default() }
    }

    /// Returns the sheet that has the name of a sheet that no longer exists. Both sheets must not
    /// exist in both states.
    pub(super) fn replacement(&self, old_id: SheetId, to: &Self) -> Option<SheetId> {
        let new_id = to.tabs.named(self.tabs.name(old_id)?)?;
        let is_replaced = to.sheet(old_id).is_none() && self.sheet(new_id).is_none();
        if is_replaced { Some(new_id) } else { None }
    }

    pub(super) fn diff_replaced_sheet(
        &self,
        old_id: SheetId,
        new_id: SheetId,
        to: &Self,
    ) -> SheetDiff {
        let (Some(old), Some(new)) = (self.sheet(old_id), to.sheet(new_id)) else {
            return self.diff_sheet(new_id, to, by_text_alone(&MovedLines::default()));
        };
        let name = to.tabs.name(new_id).unwrap_or_default().to_owned();
        let (old_sheet, new_sheet) = (old.sheet.with_new_ids(), new.sheet.with_new_ids());
        let old = SheetReader { sheet: &old_sheet, ..old };
        let new = SheetReader { sheet: &new_sheet, ..new };
        let diff = diff_contents(old, new, by_text_alone(&MovedLines::default()));
        SheetDiff { sheet: new_id, name, ..diff }
    }

    fn diff_sheet(&self, id: SheetId, to: &Self, comparison: FormulaComparison<'_>) -> SheetDiff {
        let old_name = self.tabs.name(id);
        let new_name = to.tabs.name(id);
        let mut diff = match (self.sheet(id), to.sheet(id)) {
            (Some(old), Some(new)) => diff_contents(old, new, comparison),
            (Some(old), None) => diff_of_deleted_sheet(old),
            (None, Some(new)) => diff_of_added_sheet(new),
            (None, None) => {
                let (sheet, tabs, moves) = (&Sheet::default(), &to.tabs, &to.moves);
                diff_of_added_sheet(SheetReader { id, sheet, tabs, moves })
            }
        };
        if diff.change == SheetChange::Kept && old_name != new_name {
            diff.change = SheetChange::Renamed;
        }
        let name = new_name.or(old_name).unwrap_or_default().to_owned();
        SheetDiff { sheet: id, name, ..diff }
    }
}

impl AxisDiff {
    fn is_empty(&self) -> bool {
        self.inserted.is_empty() && self.deleted.is_empty()
    }
}

impl SheetDiff {
    /// Returns the key by which the sheets of a [`WorkbookDiff`] are ordered: the number, and for equal
    /// numbers the deleted sheet first. A sheet of the other branch may have its number.
    #[must_use]
    pub fn order_key(&self) -> (SheetId, bool) {
        (self.sheet, self.change != SheetChange::Deleted)
    }

    pub(super) fn has_differences(&self) -> bool {
        self.change != SheetChange::Kept
            || !self.rows.is_empty()
            || !self.columns.is_empty()
            || self.formats_changed
            || !self.cells.is_empty()
            || !self.deleted_cells.is_empty()
    }
}

/// Only formulas with the same text are unchanged if no rows and columns have moved.
fn by_text_alone(nothing_moved: &MovedLines) -> FormulaComparison<'_> {
    FormulaComparison {
        moved: nothing_moved,
        new_state: NewState::Later,
        moved_in_place: None,
        by_text: true,
    }
}

/// The caller must set the number, the name and the kind of change.
pub(super) fn diff_contents(
    old: SheetReader<'_>,
    new: SheetReader<'_>,
    comparison: FormulaComparison<'_>,
) -> SheetDiff {
    let (old_sheet, new_sheet) = (old.sheet, new.sheet);
    let (row_map, column_map) = old_sheet.map_to(new_sheet);
    SheetDiff {
        sheet: SheetId::FIRST,
        name: String::new(),
        change: SheetChange::Kept,
        rows: diff_axis(Axis::Rows, old_sheet, new_sheet),
        columns: diff_axis(Axis::Columns, old_sheet, new_sheet),
        formats_changed: !formats_display_same(
            &old_sheet.formats.mapped(&row_map, &column_map),
            &new_sheet.formats,
        ),
        cells: diff_cells(old, new, comparison),
        deleted_cells: deleted_cells(old, new_sheet),
    }
}

pub(super) fn diff_of_added_sheet(added: SheetReader<'_>) -> SheetDiff {
    let blank = SheetReader { sheet: &Sheet::default(), ..added };
    SheetDiff {
        change: SheetChange::Added,
        ..diff_contents(blank, added, by_text_alone(&MovedLines::default()))
    }
}

pub(super) fn diff_of_deleted_sheet(deleted: SheetReader<'_>) -> SheetDiff {
    SheetDiff {
        change: SheetChange::Deleted,
        deleted_cells: cells_with_ids(deleted, |_| true),
        ..diff_contents(deleted, deleted, by_text_alone(&MovedLines::default()))
    }
}

/// Returns the cells that differ from the older state, ordered by row and column.
fn diff_cells(
    old: SheetReader<'_>,
    new: SheetReader<'_>,
    comparison: FormulaComparison<'_>,
) -> Vec<CellDiff> {
    let FormulaComparison { moved, new_state, moved_in_place, by_text } = comparison;
    let old_lookup = old.sheet.cell_lookup();
    let new_lookup = new.sheet.cell_lookup();
    let (mut old_formulas, mut new_formulas) = (old.formulas(), new.formulas());
    let old_ids = old.sheet.cells.keys();
    let cell_ids: BTreeSet<CellId> = old_ids.chain(new.sheet.cells.keys()).copied().collect();
    let mut cell_diffs = Vec::new();
    for cell_id in cell_ids {
        let Some((row, column)) = new_lookup.coordinates(cell_id) else { continue };
        let after = displayed_cell(new, cell_id, (row, column), &mut new_formulas);
        let before = match old_lookup.coordinates(cell_id) {
            Some(old_coordinates) => {
                displayed_cell(old, cell_id, old_coordinates, &mut old_formulas)
            }
            None => Cell::default(),
        };
        let differs_otherwise = !before.has_value_of(&after) || before.format != after.format;
        let has_same_text = by_text && before.formula == after.formula;
        let (old_formula, new_formula) = (old.formula(cell_id), new.formula(cell_id));
        let mut only_moved = |moved: &MovedLines| match new_state {
            NewState::Earlier => new_formulas.only_moved_or_followed(
                new_formula,
                moved,
                old_formula,
                &mut old_formulas,
            ),
            NewState::Later => old_formulas.only_moved_or_followed(
                old_formula,
                moved,
                new_formula,
                &mut new_formulas,
            ),
            NewState::Branch { shared } => old_formulas.only_moved_from_branch(
                old_formula,
                moved,
                new_formula,
                &mut new_formulas,
                shared,
            ),
        };
        let has_same_formula =
            has_same_text || only_moved(moved) || moved_in_place.is_some_and(only_moved);
        let mut has_lost = || {
            let lost_before = old_formulas.lost_references(old_formula);
            by_text && lost_before != new_formulas.lost_references(new_formula)
        };
        if differs_otherwise || !has_same_formula || !has_same_text && has_lost() {
            cell_diffs.push(CellDiff { row, column, before, after });
        }
    }
    cell_diffs.sort_by_key(|diff| (diff.row, diff.column));
    cell_diffs
}

fn displayed_cell(
    sheet: SheetReader<'_>,
    cell_id: CellId,
    coordinates: (u32, u32),
    formulas: &mut FormulaReader<'_>,
) -> Cell {
    let blank = StoredCell::default();
    let stored_cell = sheet.sheet.cells.get(&cell_id).unwrap_or(&blank);
    sheet.displayed_cell(coordinates, stored_cell, formulas)
}

/// Returns the cells of the older state that were deleted with their row or column. Blank cells are
/// omitted.
fn deleted_cells(old: SheetReader<'_>, new: &Sheet) -> Vec<CellAt> {
    let new_lookup = new.cell_lookup();
    cells_with_ids(old, |cell_id| new_lookup.coordinates(cell_id).is_none())
}

/// Returns the inserted and deleted rows or columns within the used range.
///
/// Changes at the end of the axis are ignored. Each insertion also removes rows there, and each
/// deletion also adds rows there.
fn diff_axis(axis: Axis, old: &Sheet, new: &Sheet) -> AxisDiff {
    let old_lookup = old.order(axis).index_lookup();
    let new_lookup = new.order(axis).index_lookup();
    let inserted = new_lookup.missing_in(&old_lookup);
    let deleted = old_lookup.missing_in(&new_lookup);
    AxisDiff {
        inserted: truncate_last_span(&inserted, axis, new.used_end(axis)),
        deleted: truncate_last_span(&deleted, axis, old.used_end(axis)),
    }
}

/// Truncates a span at `used_end` if it extends to the end of the axis.
fn truncate_last_span(spans: &Spans, axis: Axis, used_end: u32) -> Spans {
    let truncate = |span: Span| {
        if span.end() < axis.limit() {
            span
        } else {
            Span { count: used_end.saturating_sub(span.first), ..span }
        }
    };
    Spans::from_sorted(spans.iter().map(truncate).collect())
}

/// Returns the cells whose ids satisfy `is_included`, ordered by row and column. Blank cells are
/// omitted.
fn cells_with_ids(sheet: SheetReader<'_>, is_included: impl Fn(CellId) -> bool) -> Vec<CellAt> {
    let lookup = sheet.sheet.cell_lookup();
    let mut formulas = sheet.formulas();
    let mut cells = Vec::new();
    for (cell_id, stored_cell) in &sheet.sheet.cells {
        if !is_included(*cell_id) {
            continue;
        }
        let Some((row, column)) = lookup.coordinates(*cell_id) else { continue };
        let cell = sheet.displayed_cell((row, column), stored_cell, &mut formulas);
        if !cell.is_blank() {
            cells.push(CellAt::new(row, column, cell));
        }
    }
    cells.sort_by_key(|cell_at| (cell_at.row, cell_at.column));
    cells
}
