//! The insertions and deletions of rows and columns that formulas of a workbook must follow.

use cellar_formula::changes::MovedLines;

use crate::operation::LineMove;
use cellar_base::limits::MAX_UNRESOLVED_MOVES;

/// The insertions and deletions since the first formula was set, in order. A formula stores the
/// number of moves before it, and is moved when it is read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Moves {
    list: Vec<LineMove>,
    /// Formulas have followed at least this number of moves.
    resolved: usize,
    /// Whether the workbook has had a formula. Without formulas, nothing follows moves.
    is_recording: bool,
    /// Whether the moves cannot be compared with those of other states.
    is_unrelated: bool,
}

impl Moves {
    /// Returns the moves of a state in which all formulas have followed all moves.
    pub(super) fn unrelated() -> Self {
        Self { is_recording: true, is_unrelated: true, ..Self::default() }
    }

    pub(super) fn start_recording(&mut self) {
        self.is_recording = true;
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds a move. Returns its approximate size in memory, in bytes.
    pub(super) fn push(&mut self, line_move: LineMove) -> usize {
        if !self.is_recording {
            return 0;
        }
        let bytes = line_move.bytes();
        self.list.push(line_move);
        bytes
    }

    /// Returns the approximate size in memory, in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.list.iter().map(LineMove::bytes).sum()
    }

    /// Returns whether all formulas must be moved before the next operation.
    pub(super) fn must_be_resolved(&self) -> bool {
        self.list.len().saturating_sub(self.resolved) >= MAX_UNRESOLVED_MOVES
    }

    pub(super) fn mark_as_resolved(&mut self) {
        self.resolved = self.list.len();
    }

    /// Returns the composed map of the moves after the first `count`.
    pub(super) fn after(&self, count: usize) -> MovedLines {
        compose(self.list.get(count..).unwrap_or_default())
    }

    /// Returns the map to the later state `later`, or `None` if `later` has other moves.
    pub(super) fn map_to(&self, later: &Self) -> Option<MovedLines> {
        if !self.is_recording {
            return Some(MovedLines::default());
        }
        let are_related = !self.is_unrelated && !later.is_unrelated;
        let is_earlier = are_related && later.list.starts_with(&self.list);
        if is_earlier { Some(later.after(self.list.len())) } else { None }
    }
}

/// Composes maps pairwise, so that the time does not grow with the square of their number.
fn compose(moves: &[LineMove]) -> MovedLines {
    match moves {
        [] => MovedLines::default(),
        [line_move] => line_move.moved_lines(),
        _ => {
            let (first, last) = moves.split_at(moves.len() / 2);
            compose(first).then(&compose(last))
        }
    }
}
