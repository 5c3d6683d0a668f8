//! How operations move rows and columns.

use super::{DeleteSpans, InsertBefore, Operation};
use cellar_formula::LineMap;
use cellar_formula::changes::MovedLines;
use cellar_grid::{Axis, SheetId, Spans};

/// An insertion or deletion of rows or columns of one sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMove {
    sheet: SheetId,
    axis: Axis,
    change: LineChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LineChange {
    Insert { before: u32, count: u32 },
    Delete(Spans),
}

impl LineMove {
    /// Returns how an operation moves rows or columns, or `None` if it neither inserts nor deletes any.
    #[must_use]
    pub fn of(operation: &Operation) -> Option<Self> {
        match operation {
            Operation::InsertRows(insert) => Some(Self::insertion(Axis::Rows, insert)),
            Operation::InsertColumns(insert) => Some(Self::insertion(Axis::Columns, insert)),
            Operation::DeleteRows(delete) => Some(Self::deletion(Axis::Rows, delete)),
            Operation::DeleteColumns(delete) => Some(Self::deletion(Axis::Columns, delete)),
            Operation::SetCells(_)
            | Operation::ClearRange(_)
            | Operation::SetFormat(_)
            | Operation::AddSheet(_)
            | Operation::RenameSheet(_)
            | Operation::SetName(_)
            | Operation::DeleteSheet(_)
            | Operation::ImportSheet(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_) => None,
        }
    }

    fn insertion(axis: Axis, insert: &InsertBefore) -> Self {
        let change = LineChange::Insert { before: insert.before, count: insert.count };
        Self { sheet: insert.sheet, axis, change }
    }

    fn deletion(axis: Axis, delete: &DeleteSpans) -> Self {
        Self { sheet: delete.sheet, axis, change: LineChange::Delete(delete.spans.clone()) }
    }

    /// Returns the sheet whose rows or columns move.
    #[must_use]
    pub fn sheet(&self) -> SheetId {
        self.sheet
    }

    /// Returns the approximate size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        const SPAN_BYTES: usize = 8;
        let spans = match &self.change {
            LineChange::Insert { .. } => 0,
            LineChange::Delete(spans) => spans.len(),
        };
        spans.saturating_mul(SPAN_BYTES).saturating_add(size_of::<Self>())
    }

    /// Returns the map by which references follow the move.
    #[must_use]
    pub fn moved_lines(&self) -> MovedLines {
        let map = match &self.change {
            LineChange::Insert { before, count } => LineMap::insert(self.axis, *before, *count),
            LineChange::Delete(spans) => LineMap::delete(self.axis, spans),
        };
        MovedLines::one(self.sheet, self.axis, map)
    }
}

impl Operation {
    /// Returns how the operation moves the rows and columns to which formulas refer. The result is
    /// empty if the operation neither inserts nor deletes rows or columns.
    #[must_use]
    pub fn moved_lines(&self) -> MovedLines {
        LineMove::of(self).map_or_else(MovedLines::default, |line_move| line_move.moved_lines())
    }
}
