//! Formulas of a level in the coordinates of the newest level.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use crate::tile::{TextLayer, Tile, TileColumn};
use cellar_formula::changes::MovedLines;
use cellar_formula::reference::Reference;
use cellar_formula::{Formula, Template};
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{NamesInFile, SheetId, SheetsOfFile};

/// Moves the formulas of a level to the coordinates of the newest level.
#[derive(Debug, Clone, Default)]
pub struct FormulaMapping {
    /// Sheet of the formulas.
    pub sheet: SheetId,
    /// How the rows and columns of all sheets that the formulas name move from the level to the
    /// newest level.
    pub moves: Arc<MovedLines>,
    /// Names of the sheets, to which the names in texts of formulas refer.
    pub tabs: Arc<Tabs>,
    /// The sheets that the formulas of an imported sheet name, or `None` if the level is not imported.
    pub file: Option<Arc<SheetsOfFile>>,
}

/// A formula as a tile stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredFormula<'a> {
    /// The text of a formula, or a text that is no formula.
    Text(&'a str),
    /// An encoded template.
    Template(&'a str),
}

impl<'a> StoredFormula<'a> {
    /// Returns the formula in a row of a column.
    pub(crate) fn at(column: &'a TileColumn, row: u32) -> Option<Self> {
        let template = column.templates.at(row).map(Self::Template);
        template.or_else(|| column.formulas.at(row).map(Self::Text))
    }
}

impl FormulaMapping {
    /// Returns the mapping of tiles without formulas.
    #[must_use]
    pub fn unmoved() -> &'static Self {
        static UNMOVED: LazyLock<FormulaMapping> = LazyLock::new(FormulaMapping::default);
        &UNMOVED
    }

    /// Appends a formula to the layers of a column. `from` is its cell in the level, and `to` its cell in the
    /// newest level.
    pub(super) fn push(
        &self,
        column: &mut FormulaLayers<'_>,
        formula: StoredFormula<'_>,
        from: CellName,
        to: CellName,
    ) {
        if let StoredFormula::Template(encoded) = formula
            && from == to
            && self.moves.is_identity()
            && self.file.is_none()
        {
            return column.templates.push(to.row, encoded);
        }
        match (formula, self.to_template(formula, from)) {
            (_, Some(template)) => {
                column.templates.push(to.row, self.moved(&template, from, to).encoded());
            }
            (StoredFormula::Text(text) | StoredFormula::Template(text), None) => {
                column.texts.push(to.row, text);
            }
        }
    }

    /// Returns a stored formula as a template, or `None` if the text is no formula.
    pub(crate) fn to_template(
        &self,
        formula: StoredFormula<'_>,
        cell: CellName,
    ) -> Option<Template> {
        match formula {
            StoredFormula::Text(text) => self.parse(text).map(|text| Template::of(&text, cell)),
            StoredFormula::Template(encoded) => self.decode(encoded),
        }
    }

    fn parse(&self, text: &str) -> Option<Formula> {
        let names = NamesInFile { file: self.file.as_deref(), tabs: &self.tabs };
        Formula::parse(text, &names).ok()
    }

    /// Returns the template with the numbers of the sheets that it names, or `None` if it is
    /// malformed.
    pub(crate) fn decode(&self, encoded: &str) -> Option<Template> {
        let template = Template::decode(encoded.to_owned()).ok()?;
        let Some(file) = self.file.as_ref().filter(|file| !file.is_empty()) else {
            return Some(template);
        };
        Some(template.with_sheet_numbers(|name| file.number(name)))
    }

    fn moved(&self, template: &Template, from: CellName, to: CellName) -> Template {
        if self.moves.is_identity() && from == to {
            return template.clone();
        }
        template.map_references(from, to, |reference| reference.moved(self.sheet, &self.moves))
    }

    /// Returns whether all formulas of a tile can stay as they are stored. `from` and `to` are the
    /// top left corner of the tile in the level and in the newest level.
    pub(super) fn keeps_formulas(&self, tile: &Tile, from: CellName, to: CellName) -> bool {
        let are_unchanged = self.moves.is_identity() && self.file.is_none();
        are_unchanged || tile.columns.iter().all(|column| self.keeps_column(column, from, to))
    }

    fn keeps_column(&self, column: &TileColumn, from: CellName, to: CellName) -> bool {
        let place = |corner: CellName, row: u32| CellName {
            row: corner.row.saturating_add(row),
            column: corner.column.saturating_add(column.index),
        };
        let keeps_template = |(row, encoded): (u32, &str)| {
            let (from, to) = (place(from, row), place(to, row));
            self.decode(encoded)
                .is_some_and(|template| self.moved(&template, from, to).encoded() == encoded)
        };
        let has_no_reference = |(_, text): (u32, &str)| match self.parse(text) {
            Some(formula) => formula.references().next().is_none(),
            None => true,
        };
        let keeps_templates = if self.moves.is_identity() && from == to {
            let same_in_all_rows = |encoded| keeps_template((0, encoded));
            column.templates.distinct().all(same_in_all_rows)
        } else {
            column.templates.iter().all(keeps_template)
        };
        keeps_templates && column.formulas.iter().all(has_no_reference)
    }
}

/// The layers of a column to which formulas are appended.
pub(super) struct FormulaLayers<'a> {
    pub(super) texts: &'a mut TextLayer,
    pub(super) templates: &'a mut TextLayer,
}

/// Adds the sheets that the formulas in some rows of a column name, including the sheet of the
/// formulas. Returns whether there are formulas.
pub(super) fn add_named_sheets(
    column: &TileColumn,
    rows: impl Fn(&TextLayer) -> Vec<u32>,
    (sheet, tabs): (SheetId, &Tabs),
    named_sheets: &mut BTreeSet<SheetId>,
) -> bool {
    let (text_rows, template_rows) = (rows(&column.formulas), rows(&column.templates));
    let has_formulas = !text_rows.is_empty() || !template_rows.is_empty();
    let mut add = |reference: &Reference| named_sheets.extend(reference.sheet_number(sheet));
    for row in text_rows {
        let formula = column.formulas.at(row).and_then(|text| Formula::parse(text, tabs).ok());
        for placed in formula.iter().flat_map(Formula::references) {
            add(placed.reference);
        }
    }
    let mut previous = None;
    for row in template_rows {
        let encoded = column.templates.at(row);
        if encoded == previous {
            continue;
        }
        previous = encoded;
        let template = encoded.and_then(|encoded| Template::decode(encoded.to_owned()).ok());
        // References outside the sheet keep their sheet, so any cell will do.
        let references = template.iter().flat_map(|template| template.references_at(ANY_CELL));
        references.for_each(|reference| add(&reference));
    }
    has_formulas
}

const ANY_CELL: CellName = CellName { row: 0, column: 0 };

/// Replaces templates by texts of formulas. Rows and columns of the tile must be those of the sheet.
#[must_use]
pub fn with_formula_texts(mut tile: Tile, tabs: &Tabs) -> Tile {
    for column in &mut tile.columns {
        if !column.templates.is_empty() {
            column.formulas = formula_texts(column, tabs);
            column.templates = TextLayer::default();
        }
    }
    tile
}

fn formula_texts(column: &TileColumn, tabs: &Tabs) -> TextLayer {
    let mut texts = TextLayer::default();
    let mut rows: Vec<u32> =
        column.formulas.rows().iter().chain(column.templates.rows()).copied().collect();
    rows.sort_unstable();
    for row in rows {
        let cell = CellName { row, column: column.index };
        match StoredFormula::at(column, row) {
            None => {}
            Some(StoredFormula::Text(text)) => texts.push(row, text),
            Some(StoredFormula::Template(encoded)) => {
                if let Ok(template) = Template::decode(encoded.to_owned()) {
                    texts.push(row, &template.text_at(cell, tabs));
                }
            }
        }
    }
    texts
}
