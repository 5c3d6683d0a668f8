//! How references change when their formula is copied or moved.

use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;

use crate::reference::{Coordinate, Ends, Reference, ReferenceSheet};

impl Reference {
    /// Returns the reference after its formula was copied from the cell `from` to the cell `to`.
    /// Coordinates without `$` keep their distance from the formula. A reference that would extend
    /// beyond the largest possible sheet becomes `#REF!`.
    #[must_use]
    pub fn copied(&self, from: CellName, to: CellName) -> Self {
        let move_coordinate = |axis: Axis, coordinate: Coordinate| {
            if coordinate.is_absolute {
                return Some(coordinate);
            }
            let (from, to) = match axis {
                Axis::Rows => (from.row, to.row),
                Axis::Columns => (from.column, to.column),
            };
            let moved = i64::from(coordinate.index) + i64::from(to) - i64::from(from);
            let index = u32::try_from(moved).ok().filter(|index| *index < axis.limit())?;
            Some(Coordinate { index, ..coordinate })
        };
        let area = self.area.map_ends(|axis, Ends { first, last }| {
            Some(Ends::sorted(move_coordinate(axis, first)?, move_coordinate(axis, last)?))
        });
        Self { sheet: self.sheet.clone(), area }
    }

    /// Returns a reference that names its sheet, so that it still refers to the same cells after
    /// its formula moves to another sheet. `own_sheet` is the sheet that contains the formula
    /// before the move.
    #[must_use]
    pub fn on_another_sheet(&self, own_sheet: SheetId) -> Self {
        match self.sheet {
            ReferenceSheet::Own => {
                Self { sheet: ReferenceSheet::Numbered(own_sheet), area: self.area }
            }
            _ => self.clone(),
        }
    }
}
