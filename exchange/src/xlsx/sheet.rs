//! Reads a sheet's cells from its part.

use std::collections::BTreeMap;
use std::io::Read;

use cellar_base::limits::{
    MAX_FORMULA_BYTES, MAX_ROWS, MAX_SHARED_FORMULA_BYTES, MAX_TEXT_BYTES, MAX_WORKBOOK_STYLES,
};
use quick_xml::events::{BytesStart, Event};

use super::cell::{CellAttributes, no_such_cell};
use super::context::WorkbookContext;
use super::shared::shift_formula;
use crate::WorkbookError;
use crate::workbook::cell::WorkbookCell;
use crate::workbook::xml::{Xml, attribute, push_text};

#[derive(Debug)]
pub(super) struct SheetReader<R: Read> {
    xml: Xml<R>,
    name: String,
    /// Row of the next unnamed cell.
    row: u32,
    /// Column of the next unnamed cell.
    column: u32,
    /// Shared formulas by id.
    shared_formulas: BTreeMap<u32, SharedFormula>,
    shared_formula_bytes: usize,
}

/// A shared formula and the cell for which it was written.
#[derive(Debug)]
struct SharedFormula {
    text: String,
    row: u32,
    column: u32,
}

/// The element whose text is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextElement {
    Other,
    Value,
    Formula,
}

impl<R: Read> SheetReader<R> {
    pub(super) fn new(xml: Xml<R>, name: &str) -> Self {
        Self {
            xml,
            name: name.to_owned(),
            row: 0,
            column: 0,
            shared_formulas: BTreeMap::new(),
            shared_formula_bytes: 0,
        }
    }

    /// Reads the next nonempty cell. Returns `false` at the end of the part.
    pub(super) fn next(
        &mut self,
        context: &WorkbookContext,
        cell: &mut WorkbookCell,
    ) -> Result<bool, WorkbookError> {
        let mut attributes = None;
        let mut text_element = TextElement::Other;
        let mut in_phonetic = false;
        loop {
            match self.xml.next()? {
                Event::Start(tag) => match (tag.local_name().as_ref(), &mut attributes) {
                    ("row", _) => {
                        if let Some(row_name) = attribute(&tag, "r") {
                            self.row = parse_row(&row_name)
                                .ok_or_else(|| no_such_cell(&self.name, &row_name))?;
                        }
                        self.column = 0;
                    }
                    ("c", _) => {
                        cell.clear();
                        (cell.row, cell.column) = (self.row, self.column);
                        attributes = Some(CellAttributes::read(&tag, &self.name, cell)?);
                    }
                    ("v" | "t", Some(_)) if !in_phonetic => text_element = TextElement::Value,
                    ("f", Some(attributes)) => {
                        text_element = TextElement::Formula;
                        attributes.shared_formula_id = shared_formula_id(&tag);
                    }
                    ("rPh", _) => in_phonetic = true,
                    _ => {}
                },
                Event::End(tag) => match tag.local_name().as_ref() {
                    "row" => self.row = self.row.saturating_add(1),
                    "c" => {
                        let Some(attributes) = attributes.take() else { continue };
                        self.column = cell.column.saturating_add(1);
                        self.finish_cell(context, &attributes, cell)?;
                        if cell.has_content() {
                            self.xml.record_content();
                            return Ok(true);
                        }
                    }
                    "v" | "t" | "f" => text_element = TextElement::Other,
                    "rPh" => in_phonetic = false,
                    _ => {}
                },
                Event::Eof => return Ok(false),
                event => match text_element {
                    TextElement::Other => {}
                    TextElement::Value => push_text(&event, &mut cell.text),
                    TextElement::Formula => push_text(&event, &mut cell.formula),
                },
            }
            check_lengths(&self.name, cell)?;
        }
    }

    /// Sets a cell's formula, value and format after its XML element has been read.
    fn finish_cell(
        &mut self,
        context: &WorkbookContext,
        attributes: &CellAttributes,
        cell: &mut WorkbookCell,
    ) -> Result<(), WorkbookError> {
        if let Some(id) = attributes.shared_formula_id {
            self.resolve_shared_formula(id, cell)?;
        }
        if !cell.formula.is_empty() {
            cell.formula.insert(0, '=');
        }
        check_lengths(&self.name, cell)?;
        if attributes.set_value(context, cell).is_none() {
            return Err(WorkbookError::BadValue {
                sheet: self.name.clone(),
                cell: cell.name(),
                value: cell.text.clone(),
                expected: "the index of a shared text",
            });
        }
        check_lengths(&self.name, cell)
    }

    /// Stores the cell's formula as a shared formula. If the cell has none, sets its formula to the
    /// shared formula.
    fn resolve_shared_formula(
        &mut self,
        id: u32,
        cell: &mut WorkbookCell,
    ) -> Result<(), WorkbookError> {
        if cell.formula.is_empty() {
            if let Some(shared) = self.shared_formulas.get(&id) {
                let row_offset = i64::from(cell.row) - i64::from(shared.row);
                let column_offset = i64::from(cell.column) - i64::from(shared.column);
                cell.formula = shift_formula(&shared.text, row_offset, column_offset);
            }
            return Ok(());
        }
        self.shared_formula_bytes += cell.formula.len();
        if self.shared_formula_bytes > MAX_SHARED_FORMULA_BYTES
            || self.shared_formulas.len() >= MAX_WORKBOOK_STYLES
        {
            return Err(WorkbookError::TooManyStyles);
        }
        let shared =
            SharedFormula { text: cell.formula.clone(), row: cell.row, column: cell.column };
        self.shared_formulas.insert(id, shared);
        Ok(())
    }
}

/// Converts a one-based row number to a zero-based row index.
fn parse_row(text: &str) -> Option<u32> {
    let row = text.parse::<u32>().ok()?.checked_sub(1)?;
    if row < MAX_ROWS { Some(row) } else { None }
}

/// Returns the shared formula id from a formula element's attributes.
fn shared_formula_id(tag: &BytesStart<'_>) -> Option<u32> {
    if attribute(tag, "t").as_deref() != Some("shared") {
        return None;
    }
    attribute(tag, "si")?.parse().ok()
}

fn check_lengths(sheet: &str, cell: &WorkbookCell) -> Result<(), WorkbookError> {
    if cell.text.len() > MAX_TEXT_BYTES {
        return Err(WorkbookError::TextTooLong { sheet: sheet.to_owned(), cell: cell.name() });
    }
    if cell.formula.len() > MAX_FORMULA_BYTES {
        return Err(WorkbookError::FormulaTooLong { sheet: sheet.to_owned(), cell: cell.name() });
    }
    Ok(())
}
