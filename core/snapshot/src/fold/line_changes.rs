//! Moves of rows and columns of all sheets during a fold, and the formulas that they move.
//!
//! A formula is moved when the fold ends, by composed maps of many moves. Each formula is moved, and
//! each map is composed, a logarithmic number of times.

use cellar_formula::changes::MovedLines;
use cellar_formula::reference::Reference;
use cellar_formula::{Formula, LineMap, Template};
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{SheetId, Spans};

/// Cell for which templates are created during a fold. Their distances from it are absolute
/// coordinates, so that a formula does not change when its cell moves.
const ORIGIN: CellName = CellName { row: 0, column: 0 };

/// Inserted or deleted rows or columns of a sheet.
#[derive(Debug, Clone)]
pub(super) struct LineChange {
    pub(super) sheet: SheetId,
    pub(super) axis: Axis,
    pub(super) kind: LineChangeKind,
}

#[derive(Debug, Clone)]
pub(super) enum LineChangeKind {
    Insert { before: u32, count: u32 },
    Delete(Spans),
}

/// All insertions and deletions of rows and columns so far.
#[derive(Debug, Clone, Default)]
pub(super) struct LineChanges {
    changes: Vec<LineChange>,
    deleted_span_count: usize,
}

/// A formula of a folded cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FoldedFormula {
    /// A text that is no formula. It never moves.
    Text(String),
    /// A formula with the coordinates after some of the changes.
    Parsed {
        /// Template of the formula as if it were in [`ORIGIN`].
        template: Template,
        /// Number of changes that are older than the formula.
        changes_before: usize,
    },
}

/// A formula that newer changes move.
pub(super) struct UnmovedFormula<'a> {
    pub(super) sheet: SheetId,
    pub(super) changes_before: usize,
    pub(super) template: &'a mut Template,
}

impl LineChange {
    fn to_moves(&self) -> MovedLines {
        let map = match &self.kind {
            LineChangeKind::Insert { before, count } => LineMap::insert(self.axis, *before, *count),
            LineChangeKind::Delete(spans) => LineMap::delete(self.axis, spans),
        };
        MovedLines::one(self.sheet, self.axis, map)
    }
}

impl LineChanges {
    pub(super) fn push(&mut self, change: LineChange) {
        if let LineChangeKind::Delete(spans) = &change.kind {
            self.deleted_span_count += spans.len();
        }
        self.changes.push(change);
    }

    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        const SPAN_BYTES: usize = 8;
        self.changes.len() * size_of::<LineChange>() + self.deleted_span_count * SPAN_BYTES
    }

    /// Moves all formulas to the coordinates after the last change. Returns how rows and columns
    /// move during the fold.
    pub(super) fn move_formulas(&self, mut formulas: Vec<UnmovedFormula<'_>>) -> MovedLines {
        formulas.retain(|formula| formula.changes_before < self.changes.len());
        formulas.sort_by_key(|formula| formula.changes_before);
        compose(&self.changes, 0, &mut formulas)
    }

    /// Returns how rows and columns move after the first `change_count` changes.
    pub(super) fn moves_after(&self, change_count: usize) -> MovedLines {
        compose(self.changes.get(change_count..).unwrap_or_default(), change_count, &mut [])
    }
}

/// Composes changes, and moves the formulas that have changes of the list after them. `first` is the
/// index of the first change. All formulas are older than the last change and not older than the
/// first one.
fn compose(
    changes: &[LineChange],
    first: usize,
    formulas: &mut [UnmovedFormula<'_>],
) -> MovedLines {
    match changes {
        [] => MovedLines::default(),
        [change] => {
            let moves = change.to_moves();
            formulas.iter_mut().for_each(|formula| formula.apply(&moves));
            moves
        }
        _ => {
            let (older, newer) = changes.split_at(changes.len() / 2);
            let middle = first + older.len();
            let is_older = |formula: &UnmovedFormula<'_>| formula.changes_before < middle;
            let (older_formulas, newer_formulas) =
                formulas.split_at_mut(formulas.partition_point(is_older));
            let newer_moves = compose(newer, middle, newer_formulas);
            let older_moves = compose(older, first, older_formulas);
            older_formulas.iter_mut().for_each(|formula| formula.apply(&newer_moves));
            older_moves.then(&newer_moves)
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
    pub(super) fn new(text: &str, tabs: &Tabs, changes_before: usize) -> Self {
        match Formula::parse(text, tabs) {
            Ok(formula) => {
                Self::Parsed { template: Template::of(&formula, ORIGIN), changes_before }
            }
            Err(_) => Self::Text(text.to_owned()),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parsed { template, .. } => template.encoded().len(),
        }
    }

    /// Returns the formula if changes may move it.
    pub(super) fn unmoved_mut(&mut self, sheet: SheetId) -> Option<UnmovedFormula<'_>> {
        match self {
            Self::Text(_) => None,
            Self::Parsed { template, changes_before } => {
                Some(UnmovedFormula { sheet, changes_before: *changes_before, template })
            }
        }
    }
}

/// Returns the template of a formula in `cell` from its template in [`ORIGIN`].
pub(super) fn template_in_cell(template: &Template, cell: CellName) -> Template {
    template.map_references(ORIGIN, cell, Reference::clone)
}
