//! Cells of a stored state, with which workbooks are filled.

use super::moves::Moves;
use super::sheet::StoredCell;
use super::stored_formula::StoredFormula;
use crate::a1::CellName;
use crate::cell::{Cell, Value};
use crate::operation::NamesInFile;
use cellar_formula::Template;
use cellar_formula::reference::SheetNames;

/// A cell of a stored state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateCell {
    /// Value, or result of the formula.
    pub value: Value,
    /// Formula, if the cell has one.
    pub formula: Option<StateFormula>,
    /// Number format of the cell itself.
    pub format: Option<String>,
}

/// A formula of a stored state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateFormula {
    /// The template of the formula in its cell. A name of a sheet in it stays a name, as in the log:
    /// no sheet had the name when the formula was set.
    Template(Template),
    /// The text of a formula, whose names refer to the sheets that have them now, or a text that is no
    /// formula.
    Text(String),
}

impl StateFormula {
    /// Returns the text of the formula in `cell`.
    #[must_use]
    pub fn text_at(&self, cell: CellName, names: &impl SheetNames) -> String {
        match self {
            Self::Template(template) => template.text_at(cell, names),
            Self::Text(text) => text.clone(),
        }
    }
}

impl From<Cell> for StateCell {
    fn from(Cell { value, formula, format }: Cell) -> Self {
        Self { value, formula: formula.map(StateFormula::Text), format }
    }
}

impl StateCell {
    /// Returns the cell with the text of its formula in `cell`.
    #[must_use]
    pub fn with_formula_text(self, cell: CellName, names: &impl SheetNames) -> Cell {
        let formula = self.formula.map(|formula| formula.text_at(cell, names));
        Cell { value: self.value, formula, format: self.format }
    }

    pub(super) fn into_stored(
        self,
        cell: CellName,
        names: &NamesInFile<'_>,
        moves: &mut Moves,
    ) -> StoredCell {
        let Self { value, formula, format } = self;
        let formula = formula.map(|formula| match formula {
            StateFormula::Template(template) => {
                let template = template.with_sheet_numbers(|name| names.file?.number(name));
                StoredFormula::of_template(&template, cell, moves)
            }
            StateFormula::Text(text) => StoredFormula::parse(&text, names, moves),
        });
        StoredCell { value, formula, format }
    }
}
