//! The formulas of cells. Cells of a filled column share one formula, which is parsed once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use cellar_formula::Template;
use cellar_formula::reference::{Area, Coordinate, Ends, Reference};
use cellar_functions::{Formula, SyntaxError};
use cellar_grid::a1::CellName;

use crate::result_format::{FormatSource, result_format};
use crate::workbook::CalculatedWorkbook;

/// The formula of a cell, or of several cells of a filled column.
#[derive(Debug)]
pub(crate) struct SharedFormula {
    stored: StoredFormula,
    parsed: OnceLock<Result<Arc<ParsedFormula>, SyntaxError>>,
}

#[derive(Debug)]
enum StoredFormula {
    Template(Template),
    /// A text that is valid in one cell, or no formula.
    Text(Box<str>),
}

/// A formula that is ready for evaluation.
#[derive(Debug)]
pub(crate) struct ParsedFormula {
    pub(crate) formula: Formula,
    parsed: cellar_formula::Formula,
    /// The cell in which `parsed` is the formula, if other cells share it.
    origin: Option<CellName>,
    /// The number format of a result if no cell that the formula reads has a number format.
    pub(crate) default_format: Option<Arc<str>>,
    /// Whether the formula always reads the cell above its own.
    pub(crate) reads_cell_above: bool,
}

impl ParsedFormula {
    fn new(
        text: &str,
        origin: Option<CellName>,
        workbook: &CalculatedWorkbook,
    ) -> Result<Self, SyntaxError> {
        let parsed = cellar_formula::Formula::parse(text, workbook)?;
        let formula = match origin {
            Some(origin) => Formula::of_copies(&parsed, workbook, origin),
            None => Formula::of(&parsed, workbook),
        };
        let default_format = result_format(parsed.expression(), |_, _| None);
        let reads_cell_above = origin.is_some() && formula.reads_cell_above();
        Ok(Self { formula, parsed, origin, default_format, reads_cell_above })
    }

    /// Returns the number format of the result in `cell`, or `None` for `General`. `format_of`
    /// returns the number format of a cell of a reference: of its first cell or, if this is a header
    /// without a format, of the cell below.
    pub(crate) fn format_in(
        &self,
        cell: CellName,
        format_of: impl Fn(&Reference, CellName, FormatSource) -> Option<Arc<str>>,
    ) -> Option<Arc<str>> {
        result_format(self.parsed.expression(), |reference, source| {
            let first = self.first_cell(&reference.area, cell)?;
            let below_header =
                || format_of(reference, self.cell_below_header(&reference.area, cell)?, source);
            format_of(reference, first, source).or_else(below_header)
        })
    }

    /// Returns the second cell of an area that begins in the first row of a sheet, where headers are.
    fn cell_below_header(&self, area: &Area, cell: CellName) -> Option<CellName> {
        let first = self.first_cell(area, cell)?;
        let has_several_rows = match (*area, self.origin) {
            (Area::Columns(_), _) => true,
            (Area::Range { rows, .. }, None) => rows.first.index != rows.last.index,
            (Area::Range { rows, .. }, Some(origin)) => {
                let copied = |end: Coordinate| copied(end, origin.row, cell.row);
                copied(rows.first)? != copied(rows.last)?
            }
            _ => false,
        };
        (first.row == 0 && has_several_rows).then_some(CellName { row: 1, ..first })
    }

    /// Returns the references of the formula, each with its first cell for a formula in `cell`.
    pub(crate) fn first_cells(
        &self,
        cell: CellName,
    ) -> impl Iterator<Item = (&Reference, CellName)> {
        self.parsed.references().filter_map(move |placed| {
            let reference = placed.reference;
            Some((reference, self.first_cell(&reference.area, cell)?))
        })
    }

    fn first_cell(&self, area: &Area, cell: CellName) -> Option<CellName> {
        let Some(origin) = self.origin else { return Some(area.rectangle()?.first) };
        let first_row = |ends: Ends| first_of(ends, origin.row, cell.row);
        let first_column = |ends: Ends| first_of(ends, origin.column, cell.column);
        let single = |one: Coordinate| Ends { first: one, last: one };
        let (row, column) = match *area {
            Area::Cell { row, column } => (first_row(single(row))?, first_column(single(column))?),
            Area::Range { rows, columns } => (first_row(rows)?, first_column(columns)?),
            Area::Rows(rows) => (first_row(rows)?, 0),
            Area::Columns(columns) => (0, first_column(columns)?),
            Area::Deleted => return None,
        };
        Some(CellName { row, column })
    }
}

/// Returns the smaller end of a range after its formula was copied from `origin` to `own`.
fn first_of(ends: Ends, origin: u32, own: u32) -> Option<u32> {
    let copied = |end| copied(end, origin, own);
    Some(copied(ends.first)?.min(copied(ends.last)?))
}

/// Returns a row or column after its formula was copied from `origin` to `own`.
fn copied(coordinate: Coordinate, origin: u32, own: u32) -> Option<u32> {
    if coordinate.is_absolute {
        return Some(coordinate.index);
    }
    let index = i64::from(coordinate.index) + i64::from(own) - i64::from(origin);
    u32::try_from(index).ok()
}

impl SharedFormula {
    pub(crate) fn of_text(text: &str) -> Arc<Self> {
        let stored = StoredFormula::Text(text.into());
        Arc::new(Self { stored, parsed: OnceLock::new() })
    }

    /// Returns the parsed formula for a cell.
    pub(crate) fn parsed_in(
        &self,
        cell: CellName,
        workbook: &CalculatedWorkbook,
    ) -> Result<Arc<ParsedFormula>, SyntaxError> {
        match (&self.stored, self.parsed(workbook)) {
            // The text in the middle of the sheet can be longer than that in the cell.
            (StoredFormula::Template(_), Err(_)) => {
                let own = ParsedFormula::new(&self.text_in(cell, workbook), None, workbook);
                own.map(Arc::new)
            }
            (_, parsed) => parsed.clone(),
        }
    }

    /// Returns the parsed formula that all cells share.
    pub(crate) fn shared(&self, workbook: &CalculatedWorkbook) -> Option<&Arc<ParsedFormula>> {
        self.parsed(workbook).as_ref().ok()
    }

    fn parsed(&self, workbook: &CalculatedWorkbook) -> &Result<Arc<ParsedFormula>, SyntaxError> {
        self.parsed.get_or_init(|| {
            let (text, origin) = match &self.stored {
                StoredFormula::Template(template) => {
                    (template.text_at(Template::MIDDLE, workbook), Some(Template::MIDDLE))
                }
                StoredFormula::Text(text) => (text.as_ref().to_owned(), None),
            };
            ParsedFormula::new(&text, origin, workbook).map(Arc::new)
        })
    }

    /// Returns the text of the formula in a cell.
    pub(crate) fn text_in(&self, cell: CellName, workbook: &CalculatedWorkbook) -> String {
        match &self.stored {
            StoredFormula::Template(template) => template.text_at(cell, workbook),
            StoredFormula::Text(text) => text.as_ref().to_owned(),
        }
    }

    /// Returns whether the formula can be shared by all cells between two cells of a column.
    pub(crate) fn is_shared_between(&self, first: CellName, last: CellName) -> bool {
        match &self.stored {
            StoredFormula::Template(template) => {
                template.is_inside_sheet_at(first)
                    && template.is_inside_sheet_at(last)
                    && template.is_inside_sheet_at(Template::MIDDLE)
            }
            StoredFormula::Text(_) => first == last,
        }
    }

    fn stored_bytes(&self) -> usize {
        match &self.stored {
            StoredFormula::Template(template) => template.encoded().len(),
            StoredFormula::Text(text) => text.len(),
        }
    }
}

/// The formulas of all loaded cells, by encoded template.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormulaTable {
    formulas: HashMap<Box<str>, Arc<SharedFormula>>,
    memory_bytes: usize,
}

impl FormulaTable {
    /// Returns the formula of an encoded template.
    pub(crate) fn formula(&mut self, encoded: &str) -> Arc<SharedFormula> {
        if let Some(formula) = self.formulas.get(encoded) {
            return Arc::clone(formula);
        }
        let stored = match Template::decode(encoded.to_owned()) {
            Ok(template) => StoredFormula::Template(template),
            Err(_) => StoredFormula::Text(encoded.into()),
        };
        let formula = Arc::new(SharedFormula { stored, parsed: OnceLock::new() });
        self.memory_bytes += memory_bytes_of(&formula);
        self.formulas.insert(encoded.into(), Arc::clone(&formula));
        formula
    }

    /// Drops formulas that no cell has.
    pub(crate) fn shrink(&mut self) {
        self.formulas.retain(|_, formula| Arc::strong_count(formula) > 1);
        self.memory_bytes = self.formulas.values().map(|formula| memory_bytes_of(formula)).sum();
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }
}

fn memory_bytes_of(formula: &SharedFormula) -> usize {
    /// Approximate memory of a parsed formula for each byte of its template.
    const PARSED_BYTES: usize = 16;
    size_of::<SharedFormula>() + formula.stored_bytes() * (PARSED_BYTES + 2)
}
