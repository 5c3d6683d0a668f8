//! Rows and columns that were deleted and replaced by as many at the same place.
//!
//! If an undo or a revert has restored deleted rows, they are the same rows with new ids.

use std::borrow::Cow;

use super::Workbook;
use crate::axis_map::{AxisMap, Run};
use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_grid::SheetId;

/// Returns a run for each group of deleted rows or columns that was replaced by as many.
pub(super) fn replaced_lines(map: &AxisMap) -> Vec<Run> {
    if !map.keeps_order() {
        return Vec::new();
    }
    let mut replaced = Vec::new();
    let (mut src_end, mut dst_end) = (0_u32, 0_u32);
    for run in map.runs() {
        let deleted_len = run.src.saturating_sub(src_end);
        if deleted_len > 0 && deleted_len == run.dst.saturating_sub(dst_end) {
            replaced.push(Run { src: src_end, dst: dst_end, len: deleted_len });
        }
        src_end = run.src.saturating_add(run.len);
        dst_end = run.dst.saturating_add(run.len);
    }
    replaced
}

/// Adds runs to a map for the rows or columns that were replaced.
pub(super) fn with_replaced_lines(map: AxisMap) -> AxisMap {
    let replaced = replaced_lines(&map);
    replaced.into_iter().fold(map, AxisMap::with_run)
}

impl Workbook {
    /// Returns a workbook that displays the same. In each sheet of the earlier state `earlier`, rows
    /// and columns that replaced as many have the ids that they had there.
    pub(super) fn with_replaced_ids(&self, earlier: &Self) -> Cow<'_, Self> {
        let mut renamed = Vec::new();
        for (id, sheet) in &self.sheets {
            let earlier_sheet = earlier.sheets.get(id);
            if let Some(Cow::Owned(sheet)) =
                earlier_sheet.map(|earlier| sheet.with_replaced_ids(earlier))
            {
                renamed.push((*id, sheet));
            }
        }
        if renamed.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut workbook = self.clone();
        workbook.sheets.extend(renamed);
        Cow::Owned(workbook)
    }

    /// Like [`Workbook::with_replaced_ids`], for a state that a revert changes back: how rows and columns
    /// moved since `earlier` follows from their ids.
    pub(super) fn with_kept_lines(&self, earlier: &Self) -> Cow<'_, Self> {
        match self.with_replaced_ids(earlier) {
            Cow::Borrowed(unchanged) => Cow::Borrowed(unchanged),
            Cow::Owned(workbook) => Cow::Owned(workbook.without_moves()),
        }
    }

    /// Returns how rows and columns have moved to a later state, if replaced rows and columns count as
    /// kept.
    pub(super) fn moved_in_place_to(&self, later: &Self) -> MovedLines {
        self.moved_in_place(|id| self.sheet_lines_to(later, id))
    }

    /// `lines_of` returns how the rows and columns of a sheet have moved to a later state.
    pub(super) fn moved_in_place(
        &self,
        lines_of: impl Fn(SheetId) -> Option<SheetLines>,
    ) -> MovedLines {
        let in_place = |id: &SheetId| {
            let SheetLines { rows, columns } = lines_of(*id)?;
            let rows = with_replaced_lines(rows.kept().clone());
            let columns = with_replaced_lines(columns.kept().clone());
            Some((*id, SheetLines::of_axis_maps(rows, columns)))
        };
        self.sheets.keys().filter_map(in_place).collect()
    }

    /// Like [`Workbook::moved_in_place`], but only contains the sheets with replaced rows or columns.
    pub(super) fn moved_in_place_if_replaced(
        &self,
        lines_of: impl Fn(SheetId) -> Option<SheetLines>,
    ) -> MovedLines {
        self.moved_in_place(|id| {
            let lines = lines_of(id)?;
            let is_replaced = |map: &AxisMap| !replaced_lines(map).is_empty();
            let has_replaced = is_replaced(lines.rows.kept()) || is_replaced(lines.columns.kept());
            has_replaced.then_some(lines)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis_map::Axis;

    fn map(runs: &[(u32, u32, u32)]) -> AxisMap {
        let mut map = AxisMap::empty(Axis::Columns);
        for (src, dst, len) in runs {
            map.push(Run { src: *src, dst: *dst, len: *len });
        }
        map
    }

    #[test]
    fn only_as_many_lines_at_the_same_place_are_replaced() {
        let replaced = |runs: &[(u32, u32, u32)]| {
            let lines = replaced_lines(&map(runs)).into_iter();
            lines.map(|run| (run.src, run.dst, run.len)).collect::<Vec<_>>()
        };
        assert_eq!(replaced(&[(0, 0, 3), (5, 5, 10)]), [(3, 3, 2)]);
        assert_eq!(replaced(&[(2, 2, 3)]), [(0, 0, 2)], "the first lines");
        assert_eq!(replaced(&[(0, 1, 3), (5, 6, 10)]), [(3, 4, 2)], "moved by an insertion");
        assert_eq!(replaced(&[(0, 0, 3), (5, 4, 10)]), []);
        assert_eq!(replaced(&[(0, 0, 3)]), [], "after the last kept line");
        let filled = with_replaced_lines(map(&[(0, 0, 3), (5, 5, 10)]));
        assert_eq!(filled, map(&[(0, 0, 15)]));
    }
}
