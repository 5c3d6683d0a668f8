//! Formulas as workbooks store them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cellar_formula::changes::MovedLines;
use cellar_formula::reference::{Area, Ends, Reference, ReferenceSheet, SheetNames};
use cellar_formula::{Formula, Template};

use super::moves::Moves;
use crate::a1::CellName;
use crate::axis_map::Axis;
use crate::metadata::Tabs;
use cellar_grid::SheetId;

/// All templates of a workbook are those of formulas in this cell, so that they contain the
/// coordinates of their references and do not depend on the place of the formula.
pub(in crate::workbook) const TEMPLATE_CELL: CellName = CellName { row: 0, column: 0 };

/// A formula of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::workbook) enum StoredFormula {
    Parsed {
        template: Template,
        /// Number of moves of the workbook that the template already follows.
        moves_before: usize,
    },
    /// A text of an older log that is not a formula. It never changes.
    Text(String),
}

impl StoredFormula {
    /// Parses a formula. Names of sheets are replaced with the numbers that they have now.
    pub(in crate::workbook) fn parse(
        text: &str,
        names: &impl SheetNames,
        moves: &mut Moves,
    ) -> Self {
        let Ok(formula) = Formula::parse(text, names) else { return Self::Text(text.to_owned()) };
        Self::following(Template::of(&formula, TEMPLATE_CELL), moves)
    }

    /// Returns the formula with the template `template` in `cell`.
    pub(in crate::workbook) fn of_template(
        template: &Template,
        cell: CellName,
        moves: &mut Moves,
    ) -> Self {
        let in_template_cell = template.map_references(cell, TEMPLATE_CELL, Reference::clone);
        Self::following(in_template_cell, moves)
    }

    /// Returns a formula that follows the moves from now on.
    fn following(template: Template, moves: &mut Moves) -> Self {
        moves.start_recording();
        Self::Parsed { template, moves_before: moves.len() }
    }

    /// Returns the length of the stored text in bytes.
    pub(in crate::workbook) fn bytes(&self) -> usize {
        match self {
            Self::Parsed { template, .. } => template.encoded().len(),
            Self::Text(text) => text.len(),
        }
    }

    pub(in crate::workbook) fn map_references(&mut self, change: impl Fn(&Reference) -> Reference) {
        if let Self::Parsed { template, moves_before } = self {
            *template = changed_template(template, change);
            *moves_before = 0;
        }
    }

    /// Lets the formula follow all moves.
    pub(in crate::workbook) fn resolve(&mut self, sheet: SheetId, moves: &mut MovesAfter<'_>) {
        if let Self::Parsed { template, moves_before } = self {
            *template = moved_template(template, sheet, moves.after(*moves_before)).into_owned();
            *moves_before = moves.moves.len();
        }
    }
}

/// Returns the template after rows and columns have moved.
pub(in crate::workbook) fn moved_template<'t>(
    template: &'t Template,
    sheet: SheetId,
    moved: &MovedLines,
) -> Cow<'t, Template> {
    let mut references = template.references_at(TEMPLATE_CELL);
    let is_affected = |reference: Reference| {
        reference.sheet_number(sheet).is_some_and(|number| moved.sheet(number).is_some())
    };
    if !references.any(is_affected) {
        return Cow::Borrowed(template);
    }
    Cow::Owned(changed_template(template, |reference| reference.moved(sheet, moved)))
}

pub(in crate::workbook) fn changed_template(
    template: &Template,
    change: impl Fn(&Reference) -> Reference,
) -> Template {
    template.map_references(TEMPLATE_CELL, TEMPLATE_CELL, change)
}

pub(in crate::workbook) fn text_of(template: &Template, tabs: &Tabs) -> String {
    template.text_at(TEMPLATE_CELL, tabs)
}

/// The composed maps from earlier states of a workbook to its state now.
pub(in crate::workbook) struct MovesAfter<'a> {
    moves: &'a Moves,
    maps: BTreeMap<usize, MovedLines>,
}

impl<'a> MovesAfter<'a> {
    pub(in crate::workbook) fn new(moves: &'a Moves) -> Self {
        Self { moves, maps: BTreeMap::new() }
    }

    /// Returns the map from the state after the first `count` moves.
    fn after(&mut self, count: usize) -> &MovedLines {
        self.maps.entry(count).or_insert_with(|| self.moves.after(count))
    }
}

/// Reads the formulas of one sheet.
pub(in crate::workbook) struct FormulaReader<'a> {
    sheet: SheetId,
    tabs: &'a Tabs,
    moves: MovesAfter<'a>,
}

impl<'a> FormulaReader<'a> {
    pub(in crate::workbook) fn new(sheet: SheetId, tabs: &'a Tabs, moves: &'a Moves) -> Self {
        Self { sheet, tabs, moves: MovesAfter::new(moves) }
    }

    /// Returns the template with the references that it has now, or `None` for a text that is not a
    /// formula.
    pub(in crate::workbook) fn template<'f>(
        &mut self,
        formula: &'f StoredFormula,
    ) -> Option<Cow<'f, Template>> {
        match formula {
            StoredFormula::Parsed { template, moves_before } => {
                Some(moved_template(template, self.sheet, self.moves.after(*moves_before)))
            }
            StoredFormula::Text(_) => None,
        }
    }

    pub(in crate::workbook) fn text(&mut self, formula: &StoredFormula) -> String {
        match formula {
            StoredFormula::Text(text) => text.clone(),
            StoredFormula::Parsed { .. } => {
                let template = self.template(formula);
                template.map(|template| text_of(&template, self.tabs)).unwrap_or_default()
            }
        }
    }

    /// Like [`FormulaReader::only_moved`], but references to a sheet that was replaced, or that did not
    /// exist, may have followed the sheet that has its name now.
    pub(in crate::workbook) fn only_moved_or_followed(
        &mut self,
        older: Option<&StoredFormula>,
        moved: &MovedLines,
        newer: Option<&StoredFormula>,
        newer_reader: &mut FormulaReader<'_>,
    ) -> bool {
        let newer_tabs = newer_reader.tabs;
        self.only_moved(older, moved, newer, newer_reader)
            || self.names_same_sheets(older, moved, newer, newer_reader, |sheet| {
                newer_tabs.name(sheet).is_some()
            })
    }

    /// Like [`FormulaReader::only_moved_or_followed`], for formulas of two branches. Only the numbers of
    /// the sheets `shared` mean the same sheets in both.
    pub(in crate::workbook) fn only_moved_from_branch(
        &mut self,
        older: Option<&StoredFormula>,
        moved: &MovedLines,
        newer: Option<&StoredFormula>,
        newer_reader: &mut FormulaReader<'_>,
        shared: &Tabs,
    ) -> bool {
        let newer_tabs = newer_reader.tabs;
        let is_kept =
            |sheet: SheetId| shared.name(sheet).is_some() && newer_tabs.name(sheet).is_some();
        let has_other_sheets =
            older.is_some_and(|older| self.refers_to_any(older, |sheet| !is_kept(sheet)));
        !has_other_sheets && self.only_moved(older, moved, newer, newer_reader)
            || self.names_same_sheets(older, moved, newer, newer_reader, is_kept)
    }

    /// Returns whether the formulas are the same if each sheet is called by its name. Sheets for which
    /// `is_kept` returns true may have been renamed.
    fn names_same_sheets(
        &mut self,
        older: Option<&StoredFormula>,
        moved: &MovedLines,
        newer: Option<&StoredFormula>,
        newer_reader: &mut FormulaReader<'_>,
        is_kept: impl Fn(SheetId) -> bool,
    ) -> bool {
        let Some((older, newer)) = older.zip(newer) else { return false };
        let Some((older, newer)) = self.template(older).zip(newer_reader.template(newer)) else {
            return false;
        };
        let older = moved_template(&older, self.sheet, moved);
        let (tabs, newer_tabs) = (self.tabs, newer_reader.tabs);
        let older_name =
            |sheet| if is_kept(sheet) { newer_tabs.name(sheet) } else { tabs.name(sheet) };
        text_with_names(&older, older_name, newer_tabs)
            == text_with_names(&newer, |sheet| newer_tabs.name(sheet), newer_tabs)
    }

    /// Returns whether the formula `newer`, of the same cell in another state, is `older` with the
    /// references that it has after `moved`. `self` reads the older formula.
    pub(in crate::workbook) fn only_moved(
        &mut self,
        older: Option<&StoredFormula>,
        moved: &MovedLines,
        newer: Option<&StoredFormula>,
        newer_reader: &mut FormulaReader<'_>,
    ) -> bool {
        let (older, newer) = match (older, newer) {
            (None, None) => return true,
            (None, _) | (_, None) => return false,
            (Some(older), Some(newer)) => (older, newer),
        };
        match (self.template(older), newer_reader.template(newer)) {
            (Some(old_template), Some(new_template)) => {
                let moved_template = moved_template(&old_template, self.sheet, moved);
                moved_template == new_template
                    || lost_same_references(&moved_template, &new_template, newer_reader.tabs)
            }
            _ => older == newer,
        }
    }

    /// Returns whether a reference of the formula is on the sheet.
    pub(in crate::workbook) fn refers_to(
        &mut self,
        formula: &StoredFormula,
        sheet: SheetId,
    ) -> bool {
        self.refers_to_any(formula, |other| other == sheet)
    }

    /// Returns whether a reference of the formula is on a sheet for which `is_wanted` returns true.
    fn refers_to_any(
        &mut self,
        formula: &StoredFormula,
        is_wanted: impl Fn(SheetId) -> bool,
    ) -> bool {
        let own_sheet = self.sheet;
        let template = self.template(formula);
        template.is_some_and(|template| {
            let mut references = template.references_at(TEMPLATE_CELL);
            references.any(|reference| reference.sheet_number(own_sheet).is_some_and(&is_wanted))
        })
    }

    /// Returns the number of references that are displayed as `#REF!`.
    pub(in crate::workbook) fn lost_references(
        &mut self,
        formula: Option<&StoredFormula>,
    ) -> usize {
        let tabs = self.tabs;
        let template = formula.and_then(|formula| self.template(formula));
        template.map_or(0, |template| lost_count(&template, tabs))
    }

    /// Returns whether a formula of the state with the sheets `tabs` refers to a sheet that
    /// `newer_tabs` does not contain, or whether the first or last row or column of a reference is
    /// deleted by `moved`, the moves to the state with `newer_tabs`. If the deleted rows and columns
    /// are inserted again, such a formula does not refer to them.
    pub(in crate::workbook) fn loses_references(
        &mut self,
        formula: &StoredFormula,
        moved: &MovedLines,
        newer_tabs: &Tabs,
    ) -> bool {
        let (sheet, tabs) = (self.sheet, self.tabs);
        let Some(template) = self.template(formula) else { return false };
        let mut references = template.references_at(TEMPLATE_CELL);
        references.any(|reference| {
            if reference.area == Area::Deleted {
                return false;
            }
            let Some(number) = reference.sheet_number(sheet) else { return false };
            let was_deleted = tabs.name(number).is_some() && newer_tabs.name(number).is_none();
            was_deleted || loses_ends(&reference, number, moved)
        })
    }
}

/// Returns whether two formulas of the state with the sheets `tabs` have lost the same references and
/// do not differ otherwise. An undo restores a lost reference as `#REF!`, without a sheet.
pub(in crate::workbook) fn lost_same_references(
    template: &Template,
    other: &Template,
    tabs: &Tabs,
) -> bool {
    let lost = Reference { sheet: ReferenceSheet::Own, area: Area::Deleted };
    let text_of_lost = |template: &Template| {
        let resolved = changed_template(template, |reference| {
            if is_lost(reference, tabs) { lost.clone() } else { reference.clone() }
        });
        text_of(&resolved, tabs)
    };
    lost_count(template, tabs) > 0 && text_of_lost(template) == text_of_lost(other)
}

/// Returns the text of a formula in which each sheet that has a name is called by it, in lower case.
fn text_with_names<'n>(
    template: &Template,
    name: impl Fn(SheetId) -> Option<&'n str>,
    tabs: &Tabs,
) -> String {
    let named = changed_template(template, |reference| {
        let name = match &reference.sheet {
            ReferenceSheet::Numbered(sheet) => name(*sheet),
            ReferenceSheet::Unknown(name) => Some(name.as_str()),
            ReferenceSheet::Own => None,
        };
        let unknown = |name: &str| ReferenceSheet::Unknown(name.to_lowercase());
        let sheet = name.map_or_else(|| reference.sheet.clone(), unknown);
        Reference { sheet, ..reference.clone() }
    });
    text_of(&named, tabs)
}

fn lost_count(template: &Template, tabs: &Tabs) -> usize {
    let references = template.references_at(TEMPLATE_CELL);
    references.filter(|reference| is_lost(reference, tabs)).count()
}

fn is_lost(reference: &Reference, tabs: &Tabs) -> bool {
    let is_missing = match reference.sheet {
        ReferenceSheet::Numbered(number) => tabs.name(number).is_none(),
        ReferenceSheet::Own | ReferenceSheet::Unknown(_) => false,
    };
    is_missing || reference.area == Area::Deleted
}

fn loses_ends(reference: &Reference, sheet: SheetId, moved: &MovedLines) -> bool {
    let Some(lines) = moved.sheet(sheet) else { return false };
    [Axis::Rows, Axis::Columns].into_iter().any(|axis| {
        let is_deleted = |index| lines.axis(axis).line(index).is_none();
        let ends = reference.area.ends(axis);
        ends.is_some_and(|Ends { first, last }| is_deleted(first.index) || is_deleted(last.index))
    })
}
