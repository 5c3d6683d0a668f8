//! xlsx, out: rows go to a temporary file as they come.
//!
//! What Excel cannot hold is an error that names csv as the way out, apart from two things: the newer
//! error values (`#SPILL!` and those behind it) become texts, and a number format that Excel would
//! call damage is left out. A formula's cached text that looks like a number is read as one, until
//! Excel has calculated it again, which it does when it opens the file.

mod codes;
mod names;

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::path::Path;

use cellar_base::limits::MAX_XLSX_FORMATS;
use cellar_sheet::cell::{ErrorCode, GENERAL, Value, general};
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet, XlsxError};

use crate::{OutCell, WriteError};
use names::Names;

const MAX_ROWS: u32 = 1_048_576;
const MAX_COLUMNS: u16 = 16_384;
/// Characters of a cell's text, in Excel.
const MAX_TEXT_CHARACTERS: usize = 32_767;

/// Writes an xlsx workbook: its sheets one after the other, each row by row.
pub struct XlsxWriter {
    workbook: Workbook,
    names: Names,
    sheet: String,
    sheets: usize,
    last: Option<(u32, u32)>,
    formats: BTreeMap<String, Format>,
}

impl XlsxWriter {
    /// Begins a workbook. Rows are put aside in `folder` until it is finished, or in the system's
    /// folder for temporary files.
    ///
    /// # Errors
    /// [`WriteError`] if there is no such folder.
    pub fn new(folder: Option<&Path>) -> Result<Self, WriteError> {
        let mut workbook = Workbook::new();
        if let Some(folder) = folder {
            workbook.set_tempdir(folder).map_err(fault)?;
        }
        Ok(Self {
            workbook,
            names: Names::default(),
            sheet: String::new(),
            sheets: 0,
            last: None,
            formats: BTreeMap::new(),
        })
    }

    /// Begins the next sheet, and gives the name that it has: another one if Excel does not take this
    /// one, or it is there already.
    ///
    /// # Errors
    /// [`WriteError::Io`] if no temporary file can be made.
    pub fn sheet(&mut self, name: &str) -> Result<String, WriteError> {
        let name = self.names.legal(name);
        let sheet = self.workbook.add_worksheet_with_constant_memory().map_err(fault)?;
        sheet.set_name(&name).map_err(fault)?;
        // What a formula gave that gave nothing.
        sheet.set_formula_result_default("");
        self.sheet.clone_from(&name);
        self.sheets = self.sheets.saturating_add(1);
        self.last = None;
        Ok(name)
    }

    /// Writes the next cell of the sheet.
    ///
    /// # Errors
    /// [`WriteError`] if it does not come after the ones before, or Excel cannot hold it.
    pub fn cell(&mut self, row: u32, column: u32, cell: &OutCell<'_>) -> Result<(), WriteError> {
        let (Some(sheet), true) = (self.sheets.checked_sub(1), self.last < Some((row, column)))
        else {
            return Err(WriteError::OutOfOrder);
        };
        let place = (u64::from(row).saturating_add(1), u64::from(column).saturating_add(1));
        let outside = || WriteError::OutsideExcel {
            sheet: self.sheet.clone(),
            row: place.0,
            column: place.1,
        };
        let number = u16::try_from(column).ok().filter(|column| *column < MAX_COLUMNS);
        let number = number.filter(|_| row < MAX_ROWS).ok_or_else(outside)?;
        if let Value::Text(text) = cell.value {
            let characters = text.encode_utf16().count();
            if characters > MAX_TEXT_CHARACTERS {
                let sheet = self.sheet.clone();
                return Err(WriteError::TextTooLong {
                    sheet,
                    row: place.0,
                    column: place.1,
                    characters,
                });
            }
        }
        let format = self.format(cell.format)?;
        let sheet = self.workbook.worksheet_from_index(sheet).map_err(fault)?;
        write(sheet, row, number, cell, &format).map_err(fault)?;
        self.last = Some((row, column));
        Ok(())
    }

    /// Puts the workbook together. One without any sheet gets an empty one: Excel has none without.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn finish(mut self, target: impl Write + Seek + Send) -> Result<(), WriteError> {
        if self.sheets == 0 {
            self.sheet("Sheet1")?;
        }
        self.workbook.save_to_writer(target).map_err(fault)
    }

    fn format(&mut self, code: Option<&str>) -> Result<Format, WriteError> {
        let Some(code) = code.filter(|code| *code != GENERAL) else {
            return Ok(Format::default());
        };
        if let Some(format) = self.formats.get(code) {
            return Ok(format.clone());
        }
        if self.formats.len() >= MAX_XLSX_FORMATS {
            return Err(WriteError::TooManyFormats);
        }
        let format = match codes::for_excel(code) {
            Some(code) => Format::new().set_num_format(code),
            None => Format::default(),
        };
        self.formats.insert(code.to_owned(), format.clone());
        Ok(format)
    }
}

fn write(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    cell: &OutCell<'_>,
    format: &Format,
) -> Result<(), XlsxError> {
    if let Some(formula) = cell.formula {
        let formula = Formula::new(formula).set_result(result(cell.value));
        sheet.write_formula_with_format(row, column, formula, format)?;
        return Ok(());
    }
    match cell.value {
        Value::Empty => sheet.write_blank(row, column, format)?,
        Value::Number(number) => sheet.write_number_with_format(row, column, *number, format)?,
        Value::Bool(value) => sheet.write_boolean_with_format(row, column, *value, format)?,
        Value::Text(text) => sheet.write_string_with_format(row, column, text, format)?,
        // An error can only stand there as what a formula gives.
        Value::Error(code) if code.number() <= ErrorCode::GettingData.number() => {
            let formula = Formula::new(format!("={code}")).set_result(code.to_string());
            sheet.write_formula_with_format(row, column, formula, format)?
        }
        Value::Error(code) => {
            sheet.write_string_with_format(row, column, code.to_string(), format)?
        }
    };
    Ok(())
}

/// What a formula gave, as the file has it.
fn result(value: &Value) -> String {
    match value {
        Value::Empty => String::new(),
        Value::Number(number) => general(*number),
        Value::Text(text) => text.clone(),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::Error(code) => code.to_string(),
    }
}

fn fault(error: XlsxError) -> WriteError {
    match error {
        XlsxError::IoError(error) => WriteError::Io(error),
        error => WriteError::Workbook { why: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_formats_end_at_their_limit() {
        let mut writer = XlsxWriter::new(None).unwrap();
        for number in 1..MAX_XLSX_FORMATS {
            writer.formats.insert(number.to_string(), Format::default());
        }
        assert!(writer.format(Some("0.0")).is_ok());
        assert!(writer.format(Some(GENERAL)).is_ok());
        assert!(matches!(writer.format(Some("0.00")), Err(WriteError::TooManyFormats)));
        assert!(writer.format(Some("0.0")).is_ok());
    }
}
