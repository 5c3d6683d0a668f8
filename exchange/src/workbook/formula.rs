//! Formulas of workbooks, and the parts of their syntax that all formats share.

use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, Template};
use cellar_sheet::a1::CellName;

use super::dynamic_arrays::{Evaluation, as_shown};

/// A formula of a workbook after parsing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedFormula {
    /// The template, which contains the names of sheets.
    pub(crate) template: Template,
    /// Whether Cellar can calculate the formula. It cannot calculate references to tables, to other
    /// files and to several sheets.
    pub(crate) is_supported: bool,
}

impl ParsedFormula {
    /// Parses the formula of a cell, and converts it to the formula that Excel shows. Returns `None`
    /// if its syntax is unknown.
    pub(crate) fn parse(text: &str, cell: CellName, evaluation: Evaluation) -> Option<Self> {
        let formula = as_shown(Formula::parse(text, &NoSheets).ok()?, evaluation);
        let template = Template::of(&formula, cell);
        Some(Self { template, is_supported: formula.check_supported().is_ok() })
    }
}

/// Returns the length of the quoted token at the start of `text`, including both quotes. A doubled
/// quote ends one token and starts the next.
pub(crate) fn quoted_token_bytes(text: &str, quote: char) -> usize {
    let closing_quote = text.char_indices().skip(1).find(|(_, character)| *character == quote);
    closing_quote.map_or(text.len(), |(index, _)| index + quote.len_utf8())
}
