//! Moves of blocks of cells by cut and paste.

use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle};

use crate::reference::{Area, Coordinate, Ends, Reference, ReferenceSheet};

/// A block of cells that moves and overwrites the cells at its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedBlock {
    from_sheet: SheetId,
    from: Rectangle,
    to_sheet: SheetId,
    to: Rectangle,
}

/// Error for a block that would extend beyond the largest possible sheet after its move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{from} does not fit at {to}: it would extend beyond the largest possible sheet")]
pub struct OutsideSheet {
    /// The cells to move.
    pub from: Rectangle,
    /// Destination of the top left cell.
    pub to: CellName,
}

impl MovedBlock {
    /// Creates a move of the cells in `from`. `to` is the destination of the top left cell.
    ///
    /// # Errors
    /// Returns [`OutsideSheet`] if the destination extends beyond the largest possible sheet.
    pub fn new(
        from_sheet: SheetId,
        from: Rectangle,
        to_sheet: SheetId,
        to: CellName,
    ) -> Result<Self, OutsideSheet> {
        let last = |first: u32, last: u32, new_first: u32, axis: Axis| {
            let new_last = new_first.checked_add(last.saturating_sub(first))?;
            Some(new_last).filter(|index| *index < axis.limit())
        };
        let last_row = last(from.first.row, from.last.row, to.row, Axis::Rows);
        let last_column = last(from.first.column, from.last.column, to.column, Axis::Columns);
        let (Some(row), Some(column)) = (last_row, last_column) else {
            return Err(OutsideSheet { from, to });
        };
        let to = Rectangle { first: to, last: CellName { row, column } };
        Ok(Self { from_sheet, from, to_sheet, to })
    }

    /// Returns whether the block contains a cell before the move.
    #[must_use]
    pub fn contains(&self, sheet: SheetId, cell: CellName) -> bool {
        sheet == self.from_sheet && self.from.contains(cell.row, cell.column)
    }

    /// Returns the destination index of a row or column of the block.
    fn move_index(&self, axis: Axis, index: u32) -> u32 {
        let (from, to) = match axis {
            Axis::Rows => (self.from.first.row, self.to.first.row),
            Axis::Columns => (self.from.first.column, self.to.first.column),
        };
        to.saturating_add(index.saturating_sub(from))
    }
}

impl Reference {
    /// Returns the reference after a block of cells has moved. `own_sheet` and `cell` are the
    /// position of the formula before the move.
    ///
    /// The reference follows the block if the block contains all referenced cells. It becomes
    /// `#REF!` if the block overwrites all referenced cells. Otherwise, it still refers to the same
    /// cells, even if the block contains the formula.
    #[must_use]
    pub fn after_move(&self, own_sheet: SheetId, cell: CellName, block: &MovedBlock) -> Self {
        let formula_sheet =
            if block.contains(own_sheet, cell) { block.to_sheet } else { own_sheet };
        let unmoved = || {
            if formula_sheet == own_sheet { self.clone() } else { self.on_another_sheet(own_sheet) }
        };
        let (Some(sheet), Some(rectangle)) = (self.sheet_number(own_sheet), self.area.rectangle())
        else {
            return unmoved();
        };
        if sheet == block.from_sheet && covers(block.from, rectangle) {
            return self.moved_with_block(block, formula_sheet);
        }
        if sheet == block.to_sheet && covers(block.to, rectangle) {
            return Self { sheet: self.sheet.clone(), area: Area::Deleted };
        }
        unmoved()
    }

    fn moved_with_block(&self, block: &MovedBlock, formula_sheet: SheetId) -> Self {
        let move_coordinate = |axis, coordinate: Coordinate| Coordinate {
            index: block.move_index(axis, coordinate.index),
            ..coordinate
        };
        let area = self.area.map_ends(|axis, Ends { first, last }| {
            Some(Ends { first: move_coordinate(axis, first), last: move_coordinate(axis, last) })
        });
        let names_no_sheet = self.sheet == ReferenceSheet::Own;
        let sheet = if names_no_sheet && formula_sheet == block.to_sheet {
            ReferenceSheet::Own
        } else {
            ReferenceSheet::Numbered(block.to_sheet)
        };
        Self { sheet, area }
    }
}

fn covers(outer: Rectangle, inner: Rectangle) -> bool {
    outer.contains(inner.first.row, inner.first.column)
        && outer.contains(inner.last.row, inner.last.column)
}
