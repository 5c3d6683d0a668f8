//! Reads a cell from its XML element.

use std::borrow::Cow;

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_ROWS};
use quick_xml::events::BytesStart;

use super::context::WorkbookContext;
use super::strings::unescape;
use crate::WorkbookError;
use crate::workbook::cell::{CellValue, WorkbookCell};
use crate::workbook::dates::{self, IsoDate};
use crate::workbook::formats::{DAYS_TO_1904, Format};

/// Cell type (ECMA-376 18.18.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum CellType {
    #[default]
    Number,
    SharedText,
    Text,
    Bool,
    Error,
    Date,
}

#[derive(Debug, Default)]
pub(super) struct CellAttributes {
    pub(super) position: CellPosition,
    cell_type: CellType,
    style_index: usize,
    /// One-based index of the cell's metadata.
    pub(super) metadata: usize,
}

impl CellAttributes {
    /// If the attributes do not include a cell name such as `B2`, the cell is at
    /// `default_position`.
    pub(super) fn read(
        tag: &BytesStart<'_>,
        sheet_name: &str,
        default_position: CellPosition,
    ) -> Result<Self, WorkbookError> {
        let mut attributes = Self { position: default_position, ..Self::default() };
        // These attributes never contain escaped characters, so their values are used as they are.
        for attribute in tag.attributes().with_checks(false).flatten() {
            let value = attribute.value.as_ref();
            match attribute.key.as_ref() {
                "r" => {
                    attributes.position = parse_cell_name(value)
                        .ok_or_else(|| no_such_cell_error(sheet_name, value))?;
                }
                "s" => attributes.style_index = value.parse().unwrap_or(0),
                "cm" => attributes.metadata = value.parse().unwrap_or(0),
                "t" => attributes.cell_type = CellType::from_name(value),
                _ => {}
            }
        }
        let CellPosition { row, column } = attributes.position;
        if row >= MAX_ROWS || column >= MAX_IMPORT_COLUMNS {
            return Err(no_such_cell_error(sheet_name, "after the last row or column"));
        }
        Ok(attributes)
    }

    pub(super) fn format<'a>(&self, context: &'a WorkbookContext) -> Option<&'a Format> {
        context.styles.get(self.style_index)
    }

    /// Sets the cell's number format and parses its value from its text. If the text does not match
    /// the declared type, the value is the text itself.
    ///
    /// # Errors
    /// Returns [`WorkbookError::BadValue`] if the cell refers to a shared text that does not exist.
    pub(super) fn set_value(
        &self,
        context: &WorkbookContext,
        sheet_name: &str,
        cell: &mut WorkbookCell,
    ) -> Result<(), WorkbookError> {
        let format = self.format(context);
        cell.format = format.and_then(|format| format.code.clone());
        if cell.text.is_empty() {
            return Ok(());
        }
        let is_date = format.is_some_and(|format| format.is_date);
        let offset_days = if is_date && context.from_1904 { DAYS_TO_1904 } else { 0.0 };
        cell.value = match self.cell_type {
            CellType::Number => parse_number_value(&cell.text, offset_days),
            CellType::SharedText => {
                let Some(shared_text) = find_shared_text(context, &cell.text) else {
                    return Err(missing_shared_text_error(sheet_name, cell));
                };
                cell.text.clear();
                cell.text.push_str(shared_text);
                CellValue::Text
            }
            CellType::Text => {
                if let Cow::Owned(unescaped_text) = unescape(&cell.text) {
                    cell.text = unescaped_text;
                }
                CellValue::Text
            }
            CellType::Bool => parse_boolean_value(&cell.text),
            CellType::Error => parse_error_value(cell),
            CellType::Date => parse_date_value(cell),
        };
        if cell.value == CellValue::Text && cell.text.is_empty() {
            cell.value = CellValue::Empty;
        }
        Ok(())
    }
}

impl CellType {
    fn from_name(name: &str) -> Self {
        match name {
            "s" => Self::SharedText,
            "str" | "inlineStr" => Self::Text,
            "b" => Self::Bool,
            "e" => Self::Error,
            "d" => Self::Date,
            _ => Self::Number,
        }
    }
}

fn find_shared_text<'a>(context: &'a WorkbookContext, index_text: &str) -> Option<&'a str> {
    context.texts.get(index_text.trim().parse().ok()?)
}

fn missing_shared_text_error(sheet_name: &str, cell: &WorkbookCell) -> WorkbookError {
    WorkbookError::BadValue {
        sheet: sheet_name.to_owned(),
        cell: cell.name(),
        value: cell.text.clone(),
        expected: "the index of a shared text",
    }
}

fn parse_number_value(text: &str, offset_days: f64) -> CellValue {
    match text.trim().parse::<f64>() {
        Ok(number) => CellValue::from_number(number + offset_days),
        Err(_) => CellValue::Text,
    }
}

fn parse_boolean_value(text: &str) -> CellValue {
    match text.trim() {
        "1" | "true" => CellValue::Bool(true),
        "0" | "false" => CellValue::Bool(false),
        _ => CellValue::Text,
    }
}

fn parse_error_value(cell: &WorkbookCell) -> CellValue {
    cell.text.parse().map_or(CellValue::Text, CellValue::Error)
}

/// Sets a date format if the cell has no number format.
fn parse_date_value(cell: &mut WorkbookCell) -> CellValue {
    let Some(IsoDate { serial, has_time }) = dates::parse_iso_date(&cell.text) else {
        return CellValue::Text;
    };
    if cell.format.is_none() {
        let format = if has_time { "yyyy-mm-dd hh:mm:ss" } else { "yyyy-mm-dd" };
        cell.format = Some(format.into());
    }
    CellValue::Number(serial)
}

pub(super) fn no_such_cell_error(sheet_name: &str, cell: &str) -> WorkbookError {
    const MAX_SHOWN_CHARACTERS: usize = 30;
    let shown_cell = cell.chars().take(MAX_SHOWN_CHARACTERS).collect();
    WorkbookError::NoSuchCell { sheet: sheet_name.to_owned(), cell: shown_cell }
}

/// Row and column of a cell, both zero-based.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellPosition {
    pub(super) row: u32,
    pub(super) column: u32,
}

/// Parses a cell name such as `B2`.
pub(super) fn parse_cell_name(name: &str) -> Option<CellPosition> {
    const LETTERS_OF_ALPHABET: u32 = 26;
    let letter_count = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = name.split_at_checked(letter_count)?;
    let mut column_number = 0_u32;
    for letter in letters.bytes() {
        let letter_index = u32::from(letter.to_ascii_uppercase() - b'A');
        column_number = column_number.checked_mul(LETTERS_OF_ALPHABET)?;
        column_number = column_number.checked_add(letter_index + 1)?;
    }
    // Check the digits, because `parse` would also accept a leading sign.
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let row_number = digits.parse::<u32>().ok()?;
    Some(CellPosition { row: row_number.checked_sub(1)?, column: column_number.checked_sub(1)? })
}
