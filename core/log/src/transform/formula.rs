//! Transforms the references in formulas.

use cellar_formula::Formula;
use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_formula::reference::{ReferenceSheet, SheetNames};
use cellar_sheet::operation::SheetId;

use super::space_map::SpaceMap;

/// Transforms the formulas of one sheet. Their references may refer to any sheet.
pub(super) struct FormulaTransform<'a> {
    map: &'a SpaceMap,
    own_sheet: SheetId,
    /// Computed when the first formula is transformed.
    moved: Option<MovedLines>,
}

impl<'a> FormulaTransform<'a> {
    /// Creates a transform for formulas of a sheet. `own_sheet` is the number of this sheet when
    /// the formulas were written.
    pub(super) fn new(map: &'a SpaceMap, own_sheet: SheetId) -> Self {
        Self { map, own_sheet, moved: None }
    }

    /// Returns the formula with its references and sheet names updated to the later state. Text
    /// that is not a formula, or that does not change, is returned unchanged.
    pub(super) fn transform(&mut self, text: &str) -> String {
        let sheets = self.map.formula_sheets();
        let Ok(formula) = Formula::parse(text, sheets) else { return text.to_owned() };
        let moved = self.moved.get_or_insert_with(|| moved_lines(self.map));
        let changed = formula.map_references(|reference| reference.moved(self.own_sheet, moved));
        let keeps_names = formula.references().all(|placed| match placed.reference.sheet {
            ReferenceSheet::Numbered(number) => keeps_name(sheets, number),
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => true,
        });
        if changed.is_unchanged() && keeps_names { text.to_owned() } else { changed.text(sheets) }
    }
}

fn keeps_name(sheets: &impl SheetNames, number: SheetId) -> bool {
    sheets.name(number).is_some_and(|name| sheets.number(name) == Some(number))
}

/// Returns how the rows and columns that an author's formulas refer to have moved. All deletions
/// are applied before all insertions.
fn moved_lines(map: &SpaceMap) -> MovedLines {
    let lines = map.sheets().map(|(sheet, map)| {
        (sheet, SheetLines::of_axis_maps(map.rows.clone(), map.columns.clone()))
    });
    lines.collect()
}
