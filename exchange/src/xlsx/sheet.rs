//! Reads the cells of a sheet in an xlsx workbook.

use std::collections::BTreeMap;
use std::io::Read;

use cellar_base::limits::{MAX_ROWS, MAX_SHARED_FORMULA_BYTES, MAX_WORKBOOK_STYLES};
use quick_xml::events::Event;

use super::cell::{CellAttributes, CellPosition, no_such_cell_error};
use super::context::WorkbookContext;
use super::formula_tag::FormulaTag;
use super::shared_formula::SharedFormula;
use super::strings::unescape;
use crate::workbook::cell::WorkbookCell;
use crate::workbook::dynamic_arrays::{Evaluation, SpilledAreas};
use crate::workbook::functions::without_prefixes;
use crate::workbook::xml::{Xml, attribute, push_text};
use crate::{NotImported, Omission, WorkbookError};

#[derive(Debug)]
pub(super) struct SheetReader<R: Read> {
    xml: Xml<R>,
    name: String,
    /// Row of the next cell, if its XML element does not contain a cell name such as `B2`.
    next_row: u32,
    /// Column of the next cell, if its XML element does not contain a cell name such as `B2`.
    next_column: u32,
    shared_formulas: BTreeMap<u32, SharedFormula>,
    shared_formula_bytes: usize,
    spilled_areas: SpilledAreas,
}

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
            next_row: 0,
            next_column: 0,
            shared_formulas: BTreeMap::new(),
            shared_formula_bytes: 0,
            spilled_areas: SpilledAreas::default(),
        }
    }

    pub(super) fn not_imported(&self) -> &NotImported {
        &self.xml.not_imported
    }

    /// Returns `false` at the end of the sheet.
    pub(super) fn next_cell(
        &mut self,
        context: &WorkbookContext,
        cell: &mut WorkbookCell,
    ) -> Result<bool, WorkbookError> {
        loop {
            match self.xml.next_event()? {
                Event::Start(tag) if tag.local_name().as_ref() == "row" => {
                    let row_name = attribute(&tag, "r");
                    self.start_row(row_name.as_deref())?;
                }
                Event::End(tag) if tag.local_name().as_ref() == "row" => {
                    self.next_row = self.next_row.saturating_add(1);
                }
                Event::Start(tag) if tag.local_name().as_ref() == "c" => {
                    let next_position =
                        CellPosition { row: self.next_row, column: self.next_column };
                    let attributes = CellAttributes::read(&tag, &self.name, next_position)?;
                    cell.clear();
                    cell.row = attributes.position.row;
                    cell.column = attributes.position.column;
                    let formula_tag = self.read_cell_texts(cell)?;
                    self.next_column = cell.column.saturating_add(1);
                    self.finish_formula(context, &attributes, formula_tag, cell)?;
                    self.finish_value(context, &attributes, cell)?;
                    if cell.has_content() {
                        self.xml.record_content();
                        return Ok(true);
                    }
                }
                Event::Eof => return Ok(false),
                _ => {}
            }
        }
    }

    fn start_row(&mut self, row_name: Option<&str>) -> Result<(), WorkbookError> {
        if let Some(row_name) = row_name {
            self.next_row =
                parse_row(row_name).ok_or_else(|| no_such_cell_error(&self.name, row_name))?;
        }
        self.next_column = 0;
        Ok(())
    }

    /// Returns the attributes of the cell's formula, if any.
    fn read_cell_texts(
        &mut self,
        cell: &mut WorkbookCell,
    ) -> Result<Option<FormulaTag>, WorkbookError> {
        let mut formula_tag = None;
        let mut text_element = TextElement::Other;
        let mut in_phonetic_text = false;
        let mut is_formatted = false;
        loop {
            match self.xml.next_event()? {
                Event::Start(tag) => match tag.local_name().as_ref() {
                    "v" | "t" if !in_phonetic_text => text_element = TextElement::Value,
                    "f" => {
                        text_element = TextElement::Formula;
                        formula_tag = Some(FormulaTag::of(&tag));
                    }
                    "rPh" => in_phonetic_text = true,
                    "rPr" => is_formatted = true,
                    _ => {}
                },
                Event::End(tag) => match tag.local_name().as_ref() {
                    "c" => {
                        let counts = &mut self.xml.not_imported;
                        counts.add(Omission::FormattedTexts, u64::from(is_formatted));
                        return Ok(formula_tag);
                    }
                    "v" | "t" | "f" => text_element = TextElement::Other,
                    "rPh" => in_phonetic_text = false,
                    _ => {}
                },
                Event::Eof => return Err(self.xml.truncated()),
                event => match text_element {
                    TextElement::Other => {}
                    TextElement::Value => push_text(&event, &mut cell.text),
                    TextElement::Formula => push_text(&event, &mut cell.formula),
                },
            }
            cell.check_lengths(&self.name)?;
        }
    }

    fn finish_formula(
        &mut self,
        context: &WorkbookContext,
        attributes: &CellAttributes,
        formula_tag: Option<FormulaTag>,
        cell: &mut WorkbookCell,
    ) -> Result<(), WorkbookError> {
        match formula_tag {
            // The value belongs to the formula whose result extends into this cell.
            None if self.spilled_areas.contains(cell.row, cell.column) => cell.text.clear(),
            None => {}
            Some(FormulaTag::Shared { id }) if cell.formula.is_empty() => {
                self.copy_shared_formula(id, cell);
            }
            Some(FormulaTag::Shared { id }) => self.store_shared_formula(id, cell)?,
            Some(_) if cell.formula.is_empty() => {}
            Some(FormulaTag::Ordinary) => clean_formula(&mut cell.formula),
            Some(FormulaTag::Array { range }) => {
                clean_formula(&mut cell.formula);
                cell.evaluation = Evaluation::Array;
                if let Some((first, last)) = range {
                    if context.dynamic_arrays.contains(attributes.metadata) {
                        self.add_dynamic_array(first, last, attributes.position);
                    } else {
                        // Without its range, the formula would need the cells of its own values.
                        cell.formula.clear();
                        self.xml.not_imported.add(Omission::ArrayFormulas, 1);
                    }
                }
            }
        }
        cell.check_lengths(&self.name)
    }

    /// Adds the range of a dynamic array in the cell at `position`.
    fn add_dynamic_array(
        &mut self,
        first: CellPosition,
        last: CellPosition,
        position: CellPosition,
    ) {
        if first == position {
            self.spilled_areas.add((first.row, first.column), (last.row, last.column));
        }
    }

    fn finish_value(
        &mut self,
        context: &WorkbookContext,
        attributes: &CellAttributes,
        cell: &mut WorkbookCell,
    ) -> Result<(), WorkbookError> {
        attributes.set_value(context, &self.name, cell)?;
        if let Some(format) = attributes.format(context) {
            format.note_cell(&mut self.xml.not_imported);
        }
        cell.check_lengths(&self.name)
    }

    /// Sets the cell's formula to the shared formula with the given id.
    fn copy_shared_formula(&self, id: u32, cell: &mut WorkbookCell) {
        if let Some(shared_formula) = self.shared_formulas.get(&id) {
            shared_formula.copy_to(cell);
        }
    }

    fn store_shared_formula(
        &mut self,
        id: u32,
        cell: &mut WorkbookCell,
    ) -> Result<(), WorkbookError> {
        self.shared_formula_bytes += cell.formula.len();
        if self.shared_formula_bytes > MAX_SHARED_FORMULA_BYTES
            || self.shared_formulas.len() >= MAX_WORKBOOK_STYLES
        {
            return Err(WorkbookError::TooManyStyles);
        }
        let shared_formula = SharedFormula::new(cell);
        clean_formula(&mut cell.formula);
        self.shared_formulas.insert(id, shared_formula);
        Ok(())
    }
}

/// Converts the text of a formula in the file to what Excel shows.
pub(super) fn clean_formula(formula: &mut String) {
    if formula.contains('_') {
        *formula = without_prefixes(&unescape(formula));
    }
    formula.insert(0, '=');
}

/// Converts a one-based row number to a zero-based row index.
fn parse_row(text: &str) -> Option<u32> {
    let row = text.parse::<u32>().ok()?.checked_sub(1)?;
    if row >= MAX_ROWS {
        return None;
    }
    Some(row)
}
