//! Moves of rows and columns of all sheets during a fold, and the formulas that they move.
//!
//! A formula is moved when the fold ends, by composed maps of many moves. Each formula is moved, and
//! each map is composed, a logarithmic number of times.

use cellar_formula::changes::MovedLines;
use cellar_formula::reference::Reference;
use cellar_formula::{Formula, Template};
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{LineMove, SheetId};

/// Cell for which templates are created during a fold. Their distances from it are absolute
/// coordinates, so that a formula does not change when its cell moves.
const ORIGIN: CellName = CellName { row: 0, column: 0 };

/// All insertions and deletions of rows and columns so far.
#[derive(Debug, Clone, Default)]
pub(super) struct LineMoves {
    list: Vec<LineMove>,
    memory_bytes: usize,
}

/// A formula of a folded cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FoldedFormula {
    /// A text that is no formula. It never moves.
    Text(String),
    /// A formula with the coordinates after some of the moves.
    Parsed {
        /// Template of the formula as if it were in [`ORIGIN`].
        template: Template,
        /// Number of moves that are older than the formula.
        moves_before: usize,
    },
}

/// A formula that has not followed the newer moves.
pub(super) struct UnmovedFormula<'a> {
    pub(super) sheet: SheetId,
    pub(super) moves_before: usize,
    pub(super) template: &'a mut Template,
}

impl LineMoves {
    pub(super) fn push(&mut self, line_move: LineMove) {
        self.memory_bytes += line_move.bytes();
        self.list.push(line_move);
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Moves all formulas to the coordinates after the last move. Returns how rows and columns
    /// move during the fold.
    pub(super) fn move_formulas(&self, mut formulas: Vec<UnmovedFormula<'_>>) -> MovedLines {
        formulas.retain(|formula| formula.moves_before < self.list.len());
        formulas.sort_by_key(|formula| formula.moves_before);
        compose(&self.list, 0, &mut formulas)
    }

    /// Returns how rows and columns move after the first `count` moves.
    pub(super) fn after(&self, count: usize) -> MovedLines {
        compose(self.list.get(count..).unwrap_or_default(), count, &mut [])
    }
}

/// Composes moves, and moves the formulas that have moves of the list after them. `first` is the
/// index of the first move. All formulas are older than the last move and not older than the first
/// one.
fn compose(moves: &[LineMove], first: usize, formulas: &mut [UnmovedFormula<'_>]) -> MovedLines {
    match moves {
        [] => MovedLines::default(),
        [line_move] => {
            let moved = line_move.moved_lines();
            formulas.iter_mut().for_each(|formula| formula.apply(&moved));
            moved
        }
        _ => {
            let (older, newer) = moves.split_at(moves.len() / 2);
            let middle = first + older.len();
            let is_older = |formula: &UnmovedFormula<'_>| formula.moves_before < middle;
            let (older_formulas, newer_formulas) =
                formulas.split_at_mut(formulas.partition_point(is_older));
            let newer_lines = compose(newer, middle, newer_formulas);
            let older_lines = compose(older, first, older_formulas);
            older_formulas.iter_mut().for_each(|formula| formula.apply(&newer_lines));
            older_lines.then(&newer_lines)
        }
    }
}

impl UnmovedFormula<'_> {
    fn apply(&mut self, moves: &MovedLines) {
        let move_reference = |reference: &_| Reference::moved(reference, self.sheet, moves);
        *self.template = self.template.map_references(ORIGIN, ORIGIN, move_reference);
    }
}

impl FoldedFormula {
    /// Names of sheets become the numbers that they have in `tabs`.
    pub(super) fn new(text: &str, tabs: &Tabs, moves_before: usize) -> Self {
        match Formula::parse(text, tabs) {
            Ok(formula) => Self::Parsed { template: Template::of(&formula, ORIGIN), moves_before },
            Err(_) => Self::Text(text.to_owned()),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parsed { template, .. } => template.encoded().len(),
        }
    }

    /// Returns the formula if moves may change it.
    pub(super) fn unmoved_mut(&mut self, sheet: SheetId) -> Option<UnmovedFormula<'_>> {
        match self {
            Self::Text(_) => None,
            Self::Parsed { template, moves_before } => {
                Some(UnmovedFormula { sheet, moves_before: *moves_before, template })
            }
        }
    }
}

/// Returns the template of a formula in `cell` from its template in [`ORIGIN`].
pub(super) fn template_in_cell(template: &Template, cell: CellName) -> Template {
    template.map_references(ORIGIN, cell, Reference::clone)
}
