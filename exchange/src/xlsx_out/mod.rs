//! Writes xlsx files. Cells are compressed into a temporary file until the workbook is finished.
//!
//! A cell that Excel does not support causes an error that recommends csv. There are two
//! exceptions: newer error values such as `#SPILL!` are written as text, and number formats that
//! Excel would reject are omitted.
//!
//! The libraries that write xlsx guess the type of a formula's result from its text, and cannot
//! write error values. This writer states the type of each cell.

mod cells;
mod codes;
mod escape;
mod names;
mod parts;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use cellar_base::limits::MAX_XLSX_FORMATS;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{GENERAL, Value};
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use crate::workbook::dynamic_arrays::{SpilledAreas, as_stored_array};
use crate::workbook::{EXCEL_COLUMNS, EXCEL_ROWS};
use crate::{CellToWrite, Spill, WriteError};
use cells::CellXml;
use names::SheetNames;
use parts::{Parts, SHEET_END, SHEET_START};

/// Maximum text length in an Excel cell, in UTF-16 code units.
const MAX_TEXT_CHARACTERS: usize = 32_767;
/// Excel repairs, but does not simply open, archives with longer parts.
const MAX_SHEET_BYTES: u64 = 0xffff_ffff;
/// Length of the XML that is compressed at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes an xlsx workbook sheet by sheet and row by row.
pub struct XlsxWriter {
    zip: ZipWriter<File>,
    names: SheetNames,
    sheets: Vec<String>,
    last_cell: Option<(u32, u32)>,
    spilled_areas: SpilledAreas,
    /// XML of the current sheet that has not been compressed yet.
    xml: String,
    sheet_bytes: u64,
    has_dynamic_formulas: bool,
    /// Names for formulas, and what they stand for in the notation of files.
    defined_names: Vec<(String, String)>,
    /// Index of the cell style of each number format.
    styles: BTreeMap<String, usize>,
    /// Number formats in Excel's notation. The number format at index n belongs to style n + 1.
    excel_codes: Vec<String>,
}

impl XlsxWriter {
    /// Creates a workbook. Until it is finished, it is stored in a temporary file in `folder`. If
    /// `folder` is `None`, the system's temporary directory is used.
    ///
    /// # Errors
    /// Returns [`WriteError::Io`] if the temporary file cannot be created.
    pub fn new(folder: Option<&Path>) -> Result<Self, WriteError> {
        let file = match folder {
            Some(folder) => tempfile::tempfile_in(folder)?,
            None => tempfile::tempfile()?,
        };
        Ok(Self {
            zip: ZipWriter::new(file),
            names: SheetNames::default(),
            sheets: Vec::new(),
            last_cell: None,
            spilled_areas: SpilledAreas::default(),
            xml: String::new(),
            sheet_bytes: 0,
            has_dynamic_formulas: false,
            defined_names: Vec::new(),
            styles: BTreeMap::new(),
            excel_codes: Vec::new(),
        })
    }

    /// Starts the next sheet and returns its name. The name is changed if Excel does not allow
    /// `name` or if another sheet already has this name.
    ///
    /// # Errors
    /// Returns [`WriteError::Io`] if the temporary file cannot be written.
    pub fn start_sheet(&mut self, name: &str) -> Result<String, WriteError> {
        self.end_sheet()?;
        self.spilled_areas = SpilledAreas::default();
        let allowed_name = self.names.choose_name(name);
        self.sheets.push(allowed_name.clone());
        self.start_part(&parts::sheet_part(self.sheets.len()))?;
        self.xml.push_str(SHEET_START);
        Ok(allowed_name)
    }

    /// Defines a name for formulas. The formula starts with `=`, and its references have the names of
    /// the sheets in the file. Names must be unique when case is ignored.
    pub fn define_name(&mut self, name: &str, formula: &str) {
        self.defined_names.push((name.to_owned(), as_stored_array(formula).text));
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
        let follows_last_cell = self.last_cell.is_none_or(|last_cell| last_cell < (row, column));
        if self.sheets.is_empty() || !follows_last_cell {
            return Err(WriteError::OutOfOrder);
        }
        self.check_position(row, column)?;
        self.check_text_length(row, column, cell.value)?;
        let style = self.style(cell.format)?;
        self.start_row(row);
        let last = self.last_of_area(row, column, cell.spill);
        let is_value_omitted =
            cell.spill == Spill::Spilled && !self.spilled_areas.contains(row, column);
        let cell_xml = CellXml { row, column, style, cell, last, is_value_omitted };
        self.has_dynamic_formulas |= cell_xml.push_to(&mut self.xml);
        self.last_cell = Some((row, column));
        if self.xml.len() >= BUFFER_BYTES { self.compress_xml() } else { Ok(()) }
    }

    /// Returns the last cell of the area that a result of several cells fills.
    fn last_of_area(&mut self, row: u32, column: u32, spill: Spill) -> Option<CellName> {
        let Spill::Anchor { rows, columns } = spill else { return None };
        let end = |first: u32, count: u32, limit: u32| {
            first.saturating_add(count.saturating_sub(1)).min(limit - 1)
        };
        let last = (end(row, rows, EXCEL_ROWS), end(column, columns, EXCEL_COLUMNS));
        let is_added = last != (row, column) && self.spilled_areas.add((row, column), last);
        is_added.then_some(CellName { row: last.0, column: last.1 })
    }

    fn check_position(&self, row: u32, column: u32) -> Result<(), WriteError> {
        if row < EXCEL_ROWS && column < EXCEL_COLUMNS {
            return Ok(());
        }
        Err(WriteError::OutsideExcel {
            sheet: self.sheet_name(),
            row: u64::from(row) + 1,
            column: u64::from(column) + 1,
        })
    }

    fn check_text_length(&self, row: u32, column: u32, value: &Value) -> Result<(), WriteError> {
        let Value::Text(text) = value else { return Ok(()) };
        // A text has at least as many bytes as UTF-16 code units.
        if text.len() <= MAX_TEXT_CHARACTERS {
            return Ok(());
        }
        let characters = text.encode_utf16().count();
        if characters <= MAX_TEXT_CHARACTERS {
            return Ok(());
        }
        Err(WriteError::TextTooLong {
            sheet: self.sheet_name(),
            row: u64::from(row) + 1,
            column: u64::from(column) + 1,
            characters,
        })
    }

    fn sheet_name(&self) -> String {
        self.sheets.last().cloned().unwrap_or_default()
    }

    fn start_row(&mut self, row: u32) {
        match self.last_cell {
            Some((last_row, _)) if last_row == row => return,
            Some(_) => self.xml.push_str("</row>"),
            None => {}
        }
        parts::push_row_start(&mut self.xml, row);
    }

    /// Writes the workbook to `target`. If the workbook has no sheets, an empty sheet is written,
    /// because Excel requires at least one sheet.
    ///
    /// # Errors
    /// Returns a [`WriteError`] if the workbook cannot be written.
    pub fn finish(mut self, mut target: impl Write + Seek + Send) -> Result<(), WriteError> {
        if self.sheets.is_empty() {
            self.start_sheet("Sheet1")?;
        }
        self.end_sheet()?;
        let Self { sheets, defined_names, excel_codes, has_dynamic_formulas, .. } = &self;
        let (codes, has_dynamic_formulas) = (excel_codes.as_slice(), *has_dynamic_formulas);
        for (name, xml) in (Parts { sheets, defined_names, codes, has_dynamic_formulas }).all() {
            self.start_part(name)?;
            self.zip.write_all(xml.as_bytes())?;
        }
        let mut file = self.zip.finish().map_err(to_write_error)?;
        file.rewind()?;
        io::copy(&mut file, &mut target)?;
        target.flush()?;
        Ok(())
    }

    fn start_part(&mut self, name: &str) -> Result<(), WriteError> {
        self.zip.start_file(name, SimpleFileOptions::default()).map_err(to_write_error)
    }

    fn end_sheet(&mut self) -> Result<(), WriteError> {
        if self.sheets.is_empty() {
            return Ok(());
        }
        if self.last_cell.take().is_some() {
            self.xml.push_str("</row>");
        }
        self.xml.push_str(SHEET_END);
        self.compress_xml()?;
        self.sheet_bytes = 0;
        Ok(())
    }

    fn compress_xml(&mut self) -> Result<(), WriteError> {
        self.sheet_bytes = self.sheet_bytes.saturating_add(self.xml.len() as u64);
        if self.sheet_bytes > MAX_SHEET_BYTES {
            return Err(WriteError::SheetTooLarge { sheet: self.sheet_name() });
        }
        self.zip.write_all(self.xml.as_bytes())?;
        self.xml.clear();
        Ok(())
    }

    /// Returns the index of the cell style with a number format. Style 0 is `General`.
    fn style(&mut self, code: Option<&str>) -> Result<usize, WriteError> {
        let Some(code) = code.filter(|code| *code != GENERAL) else { return Ok(0) };
        if let Some(style) = self.styles.get(code) {
            return Ok(*style);
        }
        if self.styles.len() >= MAX_XLSX_FORMATS {
            return Err(WriteError::TooManyFormats);
        }
        let style = match codes::to_excel_code(code) {
            Some(excel_code) => {
                self.excel_codes.push(excel_code);
                self.excel_codes.len()
            }
            None => 0,
        };
        self.styles.insert(code.to_owned(), style);
        Ok(style)
    }
}

fn to_write_error(error: ZipError) -> WriteError {
    match error {
        ZipError::Io(io_error) => WriteError::Io(io_error),
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
            writer.styles.insert(number.to_string(), 1);
        }
        assert!(writer.style(Some("0.0")).is_ok());
        assert!(writer.style(Some(GENERAL)).is_ok());
        assert!(matches!(writer.style(Some("0.00")), Err(WriteError::TooManyFormats)));
        assert!(writer.style(Some("0.0")).is_ok());
    }

    #[test]
    fn a_sheet_ends_at_its_limit() {
        let finish = |extra_bytes: u64| {
            let mut writer = XlsxWriter::new(None).unwrap();
            writer.start_sheet("Long").unwrap();
            let sheet_bytes = (SHEET_START.len() + SHEET_END.len()) as u64;
            writer.sheet_bytes = MAX_SHEET_BYTES - sheet_bytes + extra_bytes;
            writer.finish(io::Cursor::new(Vec::new()))
        };
        assert!(finish(0).is_ok());
        let error = finish(1).unwrap_err();
        assert!(matches!(error, WriteError::SheetTooLarge { sheet } if sheet == "Long"));
    }
}
