//! Reads a sheet row. A cell may repeat across columns, and a row may repeat many times.

use std::io::Read;
use std::sync::Arc;

use cellar_base::limits::{
    MAX_FORMULA_BYTES, MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_ROWS, MAX_TEXT_BYTES,
    MAX_XLSX_CELLS,
};
use quick_xml::events::{BytesStart, Event};

use super::formula;
use super::styles::Styles;
use crate::WorkbookError;
use crate::file_format::ODS_CONTENT_PART;
use crate::workbook::cell::{CellValue, WorkbookCell};
use crate::workbook::dates;
use crate::workbook::xml::{Xml, attribute, push_text};

/// Default cell styles of columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// Column runs with the same style: the first column after the run, and the style.
    runs: Vec<(u32, Option<String>)>,
}

impl Columns {
    pub(super) fn add(&mut self, tag: &BytesStart<'_>) -> Result<(), WorkbookError> {
        let start = self.runs.last().map_or(0, |(end, _)| *end);
        if start < MAX_IMPORT_COLUMNS {
            let end = start.saturating_add(repetitions(tag, "number-columns-repeated")?);
            self.runs.push((end, attribute(tag, "default-cell-style-name")));
        }
        Ok(())
    }

    fn style(&self, column: u32) -> Option<&str> {
        let index = self.runs.partition_point(|(end, _)| *end <= column);
        self.runs.get(index)?.1.as_deref()
    }
}

/// Returns the repeat count of a row, column or cell, which is at least 1.
pub(super) fn repetitions(tag: &BytesStart<'_>, name: &str) -> Result<u32, WorkbookError> {
    let Some(text) = attribute(tag, name) else { return Ok(1) };
    match text.parse::<u32>() {
        Ok(count) => Ok(count.max(1)),
        Err(_) => Err(WorkbookError::Damaged {
            part: ODS_CONTENT_PART.to_owned(),
            why: format!("`{text}` is not a number of repetitions"),
        }),
    }
}

/// Cells of a row, returned once per repetition of the row.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<RepeatedCell>,
    first_row: u32,
    repetitions: u32,
    /// Number of completed repetitions of the row.
    rows_returned: u32,
    /// Index of the next cell in the current repetition.
    next_cell: usize,
    /// Offset of the next column in the current run of repeated columns.
    column_offset: u32,
}

/// A cell that is repeated in one or more consecutive columns.
#[derive(Debug, Default)]
struct RepeatedCell {
    cell: WorkbookCell,
    columns: u32,
    style: Option<String>,
    value_type: String,
    is_error: bool,
    /// Whether an attribute contains the value, in which case the element's text is only the
    /// displayed form.
    has_value: bool,
}

impl Row {
    /// Reads the next cell. Returns `false` at the end of the row.
    pub(super) fn next(
        &mut self,
        sheet: &str,
        cell: &mut WorkbookCell,
    ) -> Result<bool, WorkbookError> {
        if self.rows_returned < self.repetitions && self.next_cell >= self.cells.len() {
            self.rows_returned += 1;
            self.next_cell = 0;
            self.column_offset = 0;
        }
        if self.rows_returned >= self.repetitions {
            self.cells.clear();
            return Ok(false);
        }
        let Some(repeated) = self.cells.get(self.next_cell) else {
            return Ok(false);
        };
        cell.clone_from(&repeated.cell);
        cell.row = self.first_row.saturating_add(self.rows_returned);
        cell.column = repeated.cell.column.saturating_add(self.column_offset);
        if cell.row >= MAX_ROWS || cell.column >= MAX_IMPORT_COLUMNS {
            let cell = format!(
                "in row {}, column {}",
                u64::from(cell.row) + 1,
                u64::from(cell.column) + 1
            );
            return Err(WorkbookError::NoSuchCell { sheet: sheet.to_owned(), cell });
        }
        self.column_offset += 1;
        if self.column_offset >= repeated.columns {
            self.next_cell += 1;
            self.column_offset = 0;
        }
        Ok(true)
    }

    /// Reads all cells of a row element.
    pub(super) fn read<R: Read>(
        &mut self,
        xml: &mut Xml<R>,
        sheet: &str,
        first_row: u32,
        repetitions: u32,
    ) -> Result<(), WorkbookError> {
        self.cells.clear();
        self.first_row = first_row;
        self.repetitions = repetitions;
        self.rows_returned = 0;
        self.next_cell = 0;
        self.column_offset = 0;
        let (mut column, mut row_bytes) = (0_u32, 0_usize);
        loop {
            match xml.next()? {
                Event::Start(tag) if is_cell(tag.name().as_ref()) => {
                    let mut repeated = RepeatedCell::from_tag(&tag)?;
                    (repeated.cell.row, repeated.cell.column) = (first_row, column);
                    column = column.saturating_add(repeated.columns);
                    repeated.read_text(xml, sheet)?;
                    repeated.set_value();
                    let cell = &repeated.cell;
                    if cell.value == CellValue::Empty && cell.formula.is_empty() {
                        continue;
                    }
                    row_bytes += size_of::<RepeatedCell>() + cell.text.len() + cell.formula.len();
                    if row_bytes > MAX_ROW_MEMORY_BYTES {
                        let row = u64::from(first_row) + 1;
                        return Err(WorkbookError::RowTooLong { sheet: sheet.to_owned(), row });
                    }
                    self.cells.push(repeated);
                    xml.record_content();
                }
                Event::End(tag) if tag.name().as_ref() == "table:table-row" => {
                    return self.check_repetitions(sheet);
                }
                Event::Eof => return Err(xml.truncated()),
                _ => {}
            }
        }
    }

    /// Checks the number of cells, including repetitions, before any cell is returned.
    fn check_repetitions(&self, sheet: &str) -> Result<(), WorkbookError> {
        let columns = self.cells.iter().map(|cell| u64::from(cell.columns));
        let cells_per_row = columns.fold(0, u64::saturating_add);
        if cells_per_row.saturating_mul(u64::from(self.repetitions)) > MAX_XLSX_CELLS {
            return Err(WorkbookError::TooManyCells { sheet: sheet.to_owned() });
        }
        Ok(())
    }

    /// Sets each cell's number format: the format of the cell style, else of the column style, else
    /// the default for the value type.
    pub(super) fn set_formats(&mut self, columns: &Columns, styles: &Styles) {
        for repeated in &mut self.cells {
            let own_style = repeated.style.as_deref();
            let style = own_style.or_else(|| columns.style(repeated.cell.column));
            let format = style.and_then(|style| styles.format(style));
            repeated.cell.format = format.or_else(|| repeated.default_format());
        }
    }
}

/// Maximum memory for a row's cells, in bytes.
const MAX_ROW_MEMORY_BYTES: usize = 2 * MAX_IMPORT_ROW_BYTES;

fn is_cell(name: &str) -> bool {
    matches!(name, "table:table-cell" | "table:covered-table-cell")
}

impl RepeatedCell {
    /// Creates a cell from its element's attributes.
    fn from_tag(tag: &BytesStart<'_>) -> Result<Self, WorkbookError> {
        let mut repeated = Self {
            columns: repetitions(tag, "number-columns-repeated")?,
            style: attribute(tag, "style-name"),
            ..Self::default()
        };
        for attribute in tag.attributes().with_checks(false).flatten() {
            let Ok(value) = quick_xml::escape::unescape(&attribute.value) else {
                continue;
            };
            match attribute.key.as_ref() {
                "office:value-type" => repeated.value_type = value.into_owned(),
                "calcext:value-type" => repeated.is_error = value == "error",
                "table:formula" => repeated.cell.formula = formula::to_excel_syntax(&value),
                "office:value"
                | "office:date-value"
                | "office:time-value"
                | "office:boolean-value"
                | "office:string-value" => {
                    repeated.cell.text = value.into_owned();
                    repeated.has_value = true;
                }
                _ => {}
            }
        }
        Ok(repeated)
    }

    /// Reads the cell element's contents up to its end tag. If no attribute contains the value, the
    /// paragraph text becomes the cell's text. Other elements, such as notes and pictures, are
    /// ignored.
    fn read_text<R: Read>(&mut self, xml: &mut Xml<R>, sheet: &str) -> Result<(), WorkbookError> {
        let wants_text = !self.has_value || self.is_error;
        if self.is_error {
            self.cell.text.clear();
        }
        let mut depth = 0_usize;
        let mut in_ignored_element = !wants_text;
        let mut paragraph_count = 0_usize;
        loop {
            match xml.next()? {
                Event::Start(tag) => {
                    depth += 1;
                    let is_paragraph = tag.name().as_ref() == "text:p";
                    if depth > 1 {
                        if !in_ignored_element {
                            self.push_whitespace_element(&tag);
                        }
                    } else if is_paragraph && wants_text {
                        if paragraph_count > 0 {
                            self.cell.text.push('\n');
                        }
                        paragraph_count += 1;
                    } else {
                        in_ignored_element = true;
                    }
                }
                Event::End(tag) => {
                    if depth == 0 && is_cell(tag.name().as_ref()) {
                        return self.check_lengths(sheet);
                    }
                    if depth == 1 {
                        in_ignored_element = !wants_text;
                    }
                    depth = depth.saturating_sub(1);
                }
                Event::Eof => return Err(xml.truncated()),
                event if depth > 0 && !in_ignored_element => {
                    push_text(&event, &mut self.cell.text);
                }
                _ => {}
            }
            self.check_lengths(sheet)?;
        }
    }

    /// Appends the whitespace represented by an element in a paragraph.
    fn push_whitespace_element(&mut self, tag: &BytesStart<'_>) {
        match tag.name().as_ref() {
            "text:s" => {
                let count = attribute(tag, "c").and_then(|text| text.parse().ok());
                let count = count.unwrap_or(1_usize).min(MAX_TEXT_BYTES + 1);
                self.cell.text.extend(std::iter::repeat_n(' ', count));
            }
            "text:tab" => self.cell.text.push('\t'),
            "text:line-break" => self.cell.text.push('\n'),
            _ => {}
        }
    }

    fn check_lengths(&self, sheet: &str) -> Result<(), WorkbookError> {
        if self.cell.text.len() > MAX_TEXT_BYTES {
            return Err(WorkbookError::TextTooLong {
                sheet: sheet.to_owned(),
                cell: self.cell.name(),
            });
        }
        if self.cell.formula.len() > MAX_FORMULA_BYTES {
            return Err(WorkbookError::FormulaTooLong {
                sheet: sheet.to_owned(),
                cell: self.cell.name(),
            });
        }
        Ok(())
    }

    /// Parses the cell's text as its value. A text that does not match the declared type stays
    /// text.
    fn set_value(&mut self) {
        let text = self.cell.text.as_str();
        let parse_number =
            || text.trim().parse::<f64>().map_or(CellValue::Text, CellValue::from_number);
        let value = match self.value_type.as_str() {
            _ if text.is_empty() => CellValue::Empty,
            _ if self.is_error => text.parse().map_or(CellValue::Text, CellValue::Error),
            "float" | "percentage" | "currency" if self.has_value => parse_number(),
            "boolean" if self.has_value => match text {
                "true" | "TRUE" => CellValue::Bool(true),
                "false" | "FALSE" => CellValue::Bool(false),
                _ => CellValue::Text,
            },
            "date" => dates::parse_date(text)
                .map_or(CellValue::Text, |(serial, _)| CellValue::Number(serial)),
            "time" => dates::parse_duration(text).map_or(CellValue::Text, CellValue::Number),
            _ => CellValue::Text,
        };
        self.cell.value = value;
    }

    /// Returns the default number format for the value's type.
    fn default_format(&self) -> Option<Arc<str>> {
        if !matches!(self.cell.value, CellValue::Number(_)) {
            return None;
        }
        match self.value_type.as_str() {
            "date" if self.cell.text.contains('T') => Some("yyyy-mm-dd hh:mm:ss".into()),
            "date" => Some("yyyy-mm-dd".into()),
            "time" => Some("[h]:mm:ss".into()),
            "percentage" => Some("0.00%".into()),
            _ => None,
        }
    }
}
