//! The cells of one sheet, as they stand in its part.

use std::collections::BTreeMap;
use std::io::Read;

use cellar_base::limits::{
    MAX_FORMULA_BYTES, MAX_ROWS, MAX_SHARED_FORMULA_BYTES, MAX_TEXT_BYTES, MAX_WORKBOOK_STYLES,
};
use quick_xml::events::Event;

use super::cell::{CellAttributes, no_such_cell};
use super::shared::shift;
use super::strings::SharedTexts;
use crate::WorkbookError;
use crate::workbook::cell::{Found, FoundCell};
use crate::workbook::formats::Format;
use crate::workbook::xml::{Xml, attribute, push_text};

/// What all sheets of a workbook have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub(super) texts: SharedTexts,
    pub(super) styles: Vec<Format>,
    pub(super) from_1904: bool,
}

/// A sheet that is being read.
#[derive(Debug)]
pub(super) struct SheetCells<R: Read> {
    xml: Xml<R>,
    name: String,
    row: u32,
    column: u32,
    shared: BTreeMap<u32, SharedFormula>,
    shared_bytes: usize,
}

#[derive(Debug)]
struct SharedFormula {
    text: String,
    row: u32,
    column: u32,
}

/// Which element's text is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Value,
    Formula,
}

impl<R: Read> SheetCells<R> {
    pub(super) fn new(xml: Xml<R>, name: &str) -> Self {
        let name = name.to_owned();
        Self { xml, name, row: 0, column: 0, shared: BTreeMap::new(), shared_bytes: 0 }
    }

    /// The next cell that has anything; `false` once the part has been read to its end.
    pub(super) fn next(
        &mut self,
        common: &Common,
        cell: &mut FoundCell,
    ) -> Result<bool, WorkbookError> {
        let mut attributes = None;
        let (mut within, mut in_phonetic) = (Within::Nothing, false);
        loop {
            match self.xml.next()? {
                Event::Start(tag) => match (tag.local_name().as_ref(), &mut attributes) {
                    ("row", _) => {
                        if let Some(text) = attribute(&tag, "r") {
                            let row = text.parse::<u32>().ok().and_then(|row| row.checked_sub(1));
                            let row = row.filter(|row| *row < MAX_ROWS);
                            self.row = row.ok_or_else(|| no_such_cell(&self.name, &text))?;
                        }
                        self.column = 0;
                    }
                    ("c", _) => {
                        cell.clear();
                        (cell.row, cell.column) = (self.row, self.column);
                        attributes = Some(CellAttributes::read(&tag, &self.name, cell)?);
                    }
                    ("v" | "t", Some(_)) if !in_phonetic => within = Within::Value,
                    ("f", Some(attributes)) => {
                        within = Within::Formula;
                        let is_shared = attribute(&tag, "t").as_deref() == Some("shared");
                        let number = attribute(&tag, "si").and_then(|text| text.parse().ok());
                        attributes.shared = number.filter(|_| is_shared);
                    }
                    ("rPh", _) => in_phonetic = true,
                    _ => {}
                },
                Event::End(tag) => match tag.local_name().as_ref() {
                    "row" => self.row = self.row.saturating_add(1),
                    "c" => {
                        let Some(attributes) = attributes.take() else { continue };
                        self.column = cell.column.saturating_add(1);
                        self.finish(common, &attributes, cell)?;
                        if cell.value != Found::Empty
                            || !cell.formula.is_empty()
                            || cell.format.is_some()
                        {
                            self.xml.found();
                            return Ok(true);
                        }
                    }
                    "v" | "t" | "f" => within = Within::Nothing,
                    "rPh" => in_phonetic = false,
                    _ => {}
                },
                Event::Eof => return Ok(false),
                event => match within {
                    Within::Nothing => {}
                    Within::Value => push_text(&event, &mut cell.text),
                    Within::Formula => push_text(&event, &mut cell.formula),
                },
            }
            check_lengths(&self.name, cell)?;
        }
    }

    /// Makes a cell of what stands in its element.
    fn finish(
        &mut self,
        common: &Common,
        attributes: &CellAttributes,
        cell: &mut FoundCell,
    ) -> Result<(), WorkbookError> {
        if let Some(number) = attributes.shared {
            self.share(number, cell)?;
        }
        if !cell.formula.is_empty() {
            cell.formula.insert(0, '=');
        }
        check_lengths(&self.name, cell)?;
        if attributes.set_value(common, cell).is_none() {
            return Err(WorkbookError::BadValue {
                sheet: self.name.clone(),
                cell: cell.name(),
                value: cell.text.clone(),
                expected: "the number of a shared text",
            });
        }
        check_lengths(&self.name, cell)
    }

    /// Keeps a formula for those that share it, or gets it from there.
    fn share(&mut self, number: u32, cell: &mut FoundCell) -> Result<(), WorkbookError> {
        if cell.formula.is_empty() {
            if let Some(shared) = self.shared.get(&number) {
                let rows = i64::from(cell.row) - i64::from(shared.row);
                let columns = i64::from(cell.column) - i64::from(shared.column);
                cell.formula = shift(&shared.text, rows, columns);
            }
            return Ok(());
        }
        self.shared_bytes = self.shared_bytes.saturating_add(cell.formula.len());
        if self.shared_bytes > MAX_SHARED_FORMULA_BYTES || self.shared.len() >= MAX_WORKBOOK_STYLES
        {
            return Err(WorkbookError::TooManyStyles);
        }
        let shared =
            SharedFormula { text: cell.formula.clone(), row: cell.row, column: cell.column };
        self.shared.insert(number, shared);
        Ok(())
    }
}

fn check_lengths(sheet: &str, cell: &FoundCell) -> Result<(), WorkbookError> {
    let (sheet, name) = (|| sheet.to_owned(), || cell.name());
    if cell.text.len() > MAX_TEXT_BYTES {
        return Err(WorkbookError::TextTooLong { sheet: sheet(), cell: name() });
    }
    if cell.formula.len() > MAX_FORMULA_BYTES {
        return Err(WorkbookError::FormulaTooLong { sheet: sheet(), cell: name() });
    }
    Ok(())
}
