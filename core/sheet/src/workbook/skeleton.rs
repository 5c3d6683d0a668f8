//! States without cells. Two states of a large spreadsheet, or of a fork and its source, are compared
//! by adding the cells of some rows to the skeletons of both.

use std::ops::Range;

use super::branches::SheetPair;
use super::{Sheet, Workbook};
use crate::axis_map::{Axis, AxisMap, MatchingBand};
use crate::metadata::WorkbookMetadata;
use cellar_grid::SheetId;

/// Sheets of two states that [`Workbook::diff`] or [`Workbook::diff_from_branch`] compares with each
/// other.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedSheets {
    /// Number of the sheet in the first state, or `None` if it was added.
    pub from: Option<SheetId>,
    /// Number of the sheet in the second state, or `None` if it was deleted.
    pub to: Option<SheetId>,
    /// Maps the rows of the first state to those of the second state.
    pub rows: AxisMap,
    /// Whether columns and range formats are the same.
    has_same_columns: bool,
    /// Set if both states are branches and have the sheet from the shared state.
    shared: Option<SharedRows>,
}

/// Maps the rows of a sheet of a shared state to those of two branches.
#[derive(Debug, Clone, PartialEq)]
struct SharedRows {
    sheet: SheetId,
    to_old: AxisMap,
    to_new: AxisMap,
}

impl ComparedSheets {
    /// Returns whether the rows of a band are the same ones at the same place in both states. They do
    /// not differ if their stored cells are equal.
    #[must_use]
    pub fn is_in_place(&self, band: &MatchingBand) -> bool {
        self.has_same_columns && band.src == band.dst && self.rows.is_identity_of(&band.src)
    }

    /// Returns the sheet of the shared state, and those of its rows that are in a band of one of the
    /// branches. Returns `None` if the states are no branches, or if only one of them has the sheet.
    #[must_use]
    pub fn shared_rows(&self, band: &MatchingBand) -> Option<(SheetId, Vec<Range<u32>>)> {
        let shared = self.shared.as_ref()?;
        let mut rows: Vec<Range<u32>> = shared.to_old.sources_of(&band.src).collect();
        rows.extend(shared.to_new.sources_of(&band.dst));
        rows.sort_by_key(|rows| rows.start);
        rows.dedup_by(|next, joined| {
            let touches = next.start <= joined.end;
            if touches {
                joined.end = joined.end.max(next.end);
            }
            touches
        });
        Some((shared.sheet, rows))
    }
}

impl Workbook {
    /// Creates a state without cells, from which later states develop by
    /// [`Workbook::apply_operations`] and [`Workbook::drop_cells`]. The differences between these
    /// states can be computed after [`Workbook::fill`] has added cells of the same rows to both.
    #[must_use]
    pub fn skeleton(metadata: &WorkbookMetadata) -> Self {
        let mut skeleton = Self::from_metadata(metadata);
        // The formulas that are added later have followed the moves.
        skeleton.moves.start_recording();
        skeleton
    }

    /// Removes all cells. Used ranges, range formats, rows and columns remain.
    pub fn drop_cells(&mut self) {
        for sheet in self.sheets.values_mut() {
            sheet.drop_cells();
        }
        self.bytes = self.sheets.values().map(Sheet::bytes).fold(0, usize::saturating_add);
    }

    /// Returns the sheets that [`Workbook::diff`] and [`Workbook::diff_to_earlier`] compare.
    #[must_use]
    pub fn compared_sheets(&self, to: &Self) -> Vec<ComparedSheets> {
        let renamed = to.with_replaced_ids(self);
        let mut compared: Vec<_> = self
            .sheets
            .iter()
            .map(|(id, sheet)| match (renamed.sheets.get(id), self.replacement(*id, to)) {
                (Some(new), _) => compared_sheets(*id, sheet, new),
                (None, Some(new_id)) => self.replaced_sheets(*id, new_id, to),
                (None, None) => lone_sheet(Some(*id), None),
            })
            .collect();
        for id in to.sheets.keys() {
            if !compared.iter().any(|sheets| sheets.to == Some(*id)) {
                compared.push(lone_sheet(None, Some(*id)));
            }
        }
        compared
    }

    /// Returns the sheets that [`Workbook::diff_from_branch`] compares.
    #[must_use]
    pub fn sheets_compared_with_branch(&self, from: &Self, shared: &Self) -> Vec<ComparedSheets> {
        let compared = |pair: SheetPair| match pair {
            SheetPair::Shared(id) => self.branches_of_sheet(id, from, shared),
            SheetPair::SameName { old, new } => Some(from.replaced_sheets(old, new, self)),
            SheetPair::Deleted(id) => Some(lone_sheet(Some(id), None)),
            SheetPair::Added(id) => Some(lone_sheet(None, Some(id))),
        };
        self.pair_with_branch(from, shared).into_iter().filter_map(compared).collect()
    }

    fn branches_of_sheet(&self, id: SheetId, from: &Self, shared: &Self) -> Option<ComparedSheets> {
        let new = self.sheet_with_ids_of_branch(id, from, shared)?;
        let rows_to =
            |branch: &Self| Some(shared.sheets.get(&id)?.map_to(branch.sheets.get(&id)?).0);
        let (to_old, to_new) = (rows_to(from)?, rows_to(self)?);
        let shared = Some(SharedRows { sheet: id, to_old, to_new });
        Some(ComparedSheets { shared, ..compared_sheets(id, from.sheets.get(&id)?, &new) })
    }

    fn replaced_sheets(&self, old_id: SheetId, new_id: SheetId, to: &Self) -> ComparedSheets {
        let (old, new) = (self.sheets.get(&old_id), to.sheets.get(&new_id));
        ComparedSheets {
            from: Some(old_id),
            to: Some(new_id),
            rows: AxisMap::identity(Axis::Rows),
            has_same_columns: old.map(|sheet| &sheet.formats) == new.map(|sheet| &sheet.formats),
            shared: None,
        }
    }
}

fn compared_sheets(id: SheetId, old: &Sheet, new: &Sheet) -> ComparedSheets {
    let (rows, columns) = old.map_to(new);
    let has_same_columns = columns.is_identity() && old.formats == new.formats;
    ComparedSheets { from: Some(id), to: Some(id), rows, has_same_columns, shared: None }
}

fn lone_sheet(from: Option<SheetId>, to: Option<SheetId>) -> ComparedSheets {
    let rows = AxisMap::empty(Axis::Rows);
    ComparedSheets { from, to, rows, has_same_columns: false, shared: None }
}
