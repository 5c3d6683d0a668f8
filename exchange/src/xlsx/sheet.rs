//! The cells of one sheet, as they stand in its part.

use std::collections::BTreeMap;
use std::io::Read;

use cellar_core::limits::{
    MAX_FORMULA_BYTES, MAX_IMPORT_COLUMNS, MAX_ROWS, MAX_SHARED_FORMULA_BYTES, MAX_TEXT_BYTES,
    MAX_WORKBOOK_STYLES,
};
use quick_xml::events::{BytesStart, Event};

use super::shared::shift;
use super::strings::{SharedTexts, unescaped};
use crate::WorkbookError;
use crate::workbook::cell::{Found, FoundCell};
use crate::workbook::dates;
use crate::workbook::formats::{DAYS_TO_1904, Format};
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

/// The attributes of a cell and of its formula.
#[derive(Debug, Default)]
struct Attributes {
    kind: Option<String>,
    style: Option<usize>,
    shared: Option<u32>,
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
                        (cell.row, cell.column) = place(&tag, &self.name, (self.row, self.column))?;
                        attributes = Some(Attributes {
                            kind: attribute(&tag, "t"),
                            style: attribute(&tag, "s").and_then(|text| text.parse().ok()),
                            shared: None,
                        });
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
        attributes: &Attributes,
        cell: &mut FoundCell,
    ) -> Result<(), WorkbookError> {
        if let Some(number) = attributes.shared {
            self.share(number, cell)?;
        }
        if !cell.formula.is_empty() {
            cell.formula.insert(0, '=');
        }
        check_lengths(&self.name, cell)?;
        let style = attributes.style.unwrap_or(0);
        let format = common.styles.get(style);
        cell.format = format.and_then(|format| format.code.clone());
        let is_date = format.is_some_and(|format| format.date);
        let kind = attributes.kind.as_deref().unwrap_or("n");
        cell.value = match kind {
            "s" if !cell.text.is_empty() => {
                let found =
                    cell.text.trim().parse().ok().and_then(|number| common.texts.get(number));
                let Some(text) = found else {
                    return Err(WorkbookError::BadValue {
                        sheet: self.name.clone(),
                        cell: cell.name(),
                        value: cell.text.clone(),
                        expected: "the number of a shared text",
                    });
                };
                cell.text.clear();
                cell.text.push_str(text);
                check_lengths(&self.name, cell)?;
                Found::Text
            }
            "str" | "inlineStr" => {
                if cell.text.contains("_x") {
                    cell.text = unescaped(&cell.text).into_owned();
                }
                Found::Text
            }
            _ if cell.text.is_empty() => Found::Empty,
            "b" => match cell.text.trim() {
                "1" | "true" => Found::Bool(true),
                "0" | "false" => Found::Bool(false),
                _ => Found::Text,
            },
            "e" => cell.text.parse().map_or(Found::Text, Found::Error),
            "d" => iso_date(cell),
            // What is no number after all is kept as it is.
            _ => match cell.text.trim().parse::<f64>() {
                Ok(number) if is_date && common.from_1904 => {
                    FoundCell::number(number + DAYS_TO_1904)
                }
                Ok(number) => FoundCell::number(number),
                Err(_) => Found::Text,
            },
        };
        if cell.value == Found::Text && cell.text.is_empty() {
            cell.value = Found::Empty;
        }
        // How an error is written that comes from no formula.
        if matches!(cell.value, Found::Error(_))
            && cell.formula.strip_prefix('=') == Some(&cell.text)
        {
            cell.formula.clear();
        }
        Ok(())
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

/// A date that is written as one.
fn iso_date(cell: &mut FoundCell) -> Found {
    let Some((serial, has_time)) = dates::date(&cell.text) else {
        return Found::Text;
    };
    if cell.format.is_none() {
        let format = if has_time { "yyyy-mm-dd hh:mm:ss" } else { "yyyy-mm-dd" };
        cell.format = Some(format.into());
    }
    Found::Number(serial)
}

fn no_such_cell(sheet: &str, cell: &str) -> WorkbookError {
    WorkbookError::NoSuchCell { sheet: sheet.to_owned(), cell: cell.chars().take(20).collect() }
}

/// Where a cell is: cells without a name follow each other.
fn place(tag: &BytesStart<'_>, sheet: &str, next: (u32, u32)) -> Result<(u32, u32), WorkbookError> {
    let Some(name) = attribute(tag, "r") else {
        return if next.1 < MAX_IMPORT_COLUMNS {
            Ok(next)
        } else {
            Err(no_such_cell(sheet, "behind the last column"))
        };
    };
    named(&name).ok_or_else(|| no_such_cell(sheet, &name))
}

fn named(name: &str) -> Option<(u32, u32)> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = name.split_at_checked(letters)?;
    let column = letters.bytes().try_fold(0_u32, |number, letter| {
        let letter = u32::from(letter.to_ascii_uppercase().saturating_sub(b'A'));
        number.checked_mul(26)?.checked_add(letter)?.checked_add(1)
    })?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    let row = digits.parse::<u32>().ok().filter(|_| plain)?.checked_sub(1)?;
    let column = column.checked_sub(1)?;
    (row < MAX_ROWS && column < MAX_IMPORT_COLUMNS).then_some((row, column))
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
