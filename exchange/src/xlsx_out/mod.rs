//! Writes xlsx files. Rows are stored in temporary files until the workbook is finished.
//!
//! A cell that Excel does not support causes an error that recommends csv. There are two
//! exceptions: newer error values such as `#SPILL!` are written as text, and number formats that
//! Excel would reject are omitted.
//!
//! If the cached result of a formula is text that looks like a number, other programs read it as a
//! number until Excel has recalculated the formula.

mod codes;
mod names;

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::path::Path;

use cellar_base::limits::MAX_XLSX_FORMATS;
use cellar_sheet::cell::{ErrorCode, GENERAL, Value, general};
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet, XlsxError};

use crate::{CellToWrite, WriteError};
use names::SheetNames;

const MAX_ROWS: u32 = 1_048_576;
const MAX_COLUMNS: u16 = 16_384;
/// Maximum text length in an Excel cell, in UTF-16 code units.
const MAX_TEXT_CHARACTERS: usize = 32_767;

/// Writes an xlsx workbook sheet by sheet and row by row.
pub struct XlsxWriter {
    workbook: Workbook,
    names: SheetNames,
    sheet_name: String,
    sheet_count: usize,
    last_cell: Option<(u32, u32)>,
    /// Excel cell formats, by number format code.
    formats: BTreeMap<String, Format>,
}

impl XlsxWriter {
    /// Creates a workbook. Until it is finished, its rows are stored in temporary files in
    /// `folder`. If `folder` is `None`, the system's temporary directory is used.
    ///
    /// # Errors
    /// Returns a [`WriteError`] if the directory does not exist.
    pub fn new(folder: Option<&Path>) -> Result<Self, WriteError> {
        let mut workbook = Workbook::new();
        if let Some(folder) = folder {
            workbook.set_tempdir(folder).map_err(to_write_error)?;
        }
        Ok(Self {
            workbook,
            names: SheetNames::default(),
            sheet_name: String::new(),
            sheet_count: 0,
            last_cell: None,
            formats: BTreeMap::new(),
        })
    }

    /// Starts the next sheet and returns its name. The name is changed if Excel does not allow
    /// `name` or if another sheet already has this name.
    ///
    /// # Errors
    /// Returns [`WriteError::Io`] if no temporary file can be created.
    pub fn start_sheet(&mut self, name: &str) -> Result<String, WriteError> {
        let allowed_name = self.names.choose_name(name);
        let sheet = self.workbook.add_worksheet_with_constant_memory().map_err(to_write_error)?;
        sheet.set_name(&allowed_name).map_err(to_write_error)?;
        // Write an empty cached result for a formula without a value.
        sheet.set_formula_result_default("");
        self.sheet_name.clone_from(&allowed_name);
        self.sheet_count += 1;
        self.last_cell = None;
        Ok(allowed_name)
    }

    /// Writes the next cell of the current sheet.
    ///
    /// # Errors
    /// Returns a [`WriteError`] if the cell does not follow the previous cell, or if Excel does not
    /// support the cell.
    pub fn write_cell(
        &mut self,
        row: u32,
        column: u32,
        cell: &CellToWrite<'_>,
    ) -> Result<(), WriteError> {
        let Some(sheet_index) = self.sheet_count.checked_sub(1) else {
            return Err(WriteError::OutOfOrder);
        };
        let follows_last_cell = self.last_cell.is_none_or(|last_cell| last_cell < (row, column));
        if !follows_last_cell {
            return Err(WriteError::OutOfOrder);
        }
        let excel_column = self.to_excel_column(row, column)?;
        self.check_text_length(row, column, cell.value)?;
        let format = self.excel_format(cell.format)?;
        let sheet = self.workbook.worksheet_from_index(sheet_index).map_err(to_write_error)?;
        write_value_or_formula(sheet, row, excel_column, cell, &format).map_err(to_write_error)?;
        self.last_cell = Some((row, column));
        Ok(())
    }

    fn to_excel_column(&self, row: u32, column: u32) -> Result<u16, WriteError> {
        match u16::try_from(column) {
            Ok(excel_column) if excel_column < MAX_COLUMNS && row < MAX_ROWS => Ok(excel_column),
            _ => Err(WriteError::OutsideExcel {
                sheet: self.sheet_name.clone(),
                row: u64::from(row) + 1,
                column: u64::from(column) + 1,
            }),
        }
    }

    fn check_text_length(&self, row: u32, column: u32, value: &Value) -> Result<(), WriteError> {
        let Value::Text(text) = value else { return Ok(()) };
        let characters = text.encode_utf16().count();
        if characters <= MAX_TEXT_CHARACTERS {
            return Ok(());
        }
        Err(WriteError::TextTooLong {
            sheet: self.sheet_name.clone(),
            row: u64::from(row) + 1,
            column: u64::from(column) + 1,
            characters,
        })
    }

    /// Writes the workbook to `target`. If the workbook has no sheets, an empty sheet is written,
    /// because Excel requires at least one sheet.
    ///
    /// # Errors
    /// Returns a [`WriteError`] if the workbook cannot be written.
    pub fn finish(mut self, target: impl Write + Seek + Send) -> Result<(), WriteError> {
        if self.sheet_count == 0 {
            self.start_sheet("Sheet1")?;
        }
        self.workbook.save_to_writer(target).map_err(to_write_error)
    }

    fn excel_format(&mut self, code: Option<&str>) -> Result<Format, WriteError> {
        let Some(code) = code.filter(|code| *code != GENERAL) else {
            return Ok(Format::default());
        };
        if let Some(format) = self.formats.get(code) {
            return Ok(format.clone());
        }
        if self.formats.len() >= MAX_XLSX_FORMATS {
            return Err(WriteError::TooManyFormats);
        }
        let format = match codes::to_excel_code(code) {
            Some(excel_code) => Format::new().set_num_format(excel_code),
            None => Format::default(),
        };
        self.formats.insert(code.to_owned(), format.clone());
        Ok(format)
    }
}

fn write_value_or_formula(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    cell: &CellToWrite<'_>,
    format: &Format,
) -> Result<(), XlsxError> {
    if let Some(formula_text) = cell.formula {
        let formula = Formula::new(formula_text).set_result(cached_result(cell.value));
        sheet.write_formula_with_format(row, column, formula, format)?;
        return Ok(());
    }
    match cell.value {
        Value::Empty => sheet.write_blank(row, column, format)?,
        Value::Number(number) => sheet.write_number_with_format(row, column, *number, format)?,
        Value::Bool(boolean) => sheet.write_boolean_with_format(row, column, *boolean, format)?,
        Value::Text(text) => sheet.write_string_with_format(row, column, text, format)?,
        // The `rust_xlsxwriter` crate can write an error value only as the result of a formula.
        Value::Error(code) if code.number() <= ErrorCode::GettingData.number() => {
            let error_formula = Formula::new(format!("={code}")).set_result(code.to_string());
            sheet.write_formula_with_format(row, column, error_formula, format)?
        }
        Value::Error(code) => {
            sheet.write_string_with_format(row, column, code.to_string(), format)?
        }
    };
    Ok(())
}

/// Returns the text that is stored as a formula's cached result.
fn cached_result(value: &Value) -> String {
    match value {
        Value::Empty => String::new(),
        Value::Number(number) => general(*number),
        Value::Text(text) => text.clone(),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::Error(code) => code.to_string(),
    }
}

fn to_write_error(error: XlsxError) -> WriteError {
    match error {
        XlsxError::IoError(io_error) => WriteError::Io(io_error),
        other_error => WriteError::Workbook { why: other_error.to_string() },
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
        assert!(writer.excel_format(Some("0.0")).is_ok());
        assert!(writer.excel_format(Some(GENERAL)).is_ok());
        assert!(matches!(writer.excel_format(Some("0.00")), Err(WriteError::TooManyFormats)));
        assert!(writer.excel_format(Some("0.0")).is_ok());
    }
}
