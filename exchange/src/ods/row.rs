//! Reads a row element of a sheet. The element may represent many equal rows, and each of its cell
//! elements may represent many equal cells.

use std::io::Read;
use std::sync::Arc;

use cellar_base::limits::{
    MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_ROWS, MAX_TEXT_BYTES, MAX_WORKBOOK_CELLS,
};
use quick_xml::events::{BytesStart, Event};

use super::formula;
use super::styles::Styles;
use crate::file_format::ODS_CONTENT_PART;
use crate::workbook::cell::{CellValue, WorkbookCell};
use crate::workbook::dates;
use crate::workbook::dynamic_arrays::Evaluation;
use crate::workbook::xml::{Xml, attribute, push_text};
use crate::{NotImported, Omission, WorkbookError};

#[derive(Debug, Default)]
pub(super) struct Columns {
    runs: Vec<ColumnRun>,
}

#[derive(Debug)]
struct ColumnRun {
    /// Index of the column after the last column with this style.
    end: u32,
    style: Option<String>,
}

impl Columns {
    pub(super) fn add_run(&mut self, tag: &BytesStart<'_>) -> Result<(), WorkbookError> {
        let start = self.runs.last().map_or(0, |last_run| last_run.end);
        if start < MAX_IMPORT_COLUMNS {
            let end = start.saturating_add(read_repetitions(tag, "number-columns-repeated")?);
            let style = attribute(tag, "default-cell-style-name");
            self.runs.push(ColumnRun { end, style });
        }
        Ok(())
    }

    fn style(&self, column: u32) -> Option<&str> {
        let run_index = self.runs.partition_point(|run| run.end <= column);
        self.runs.get(run_index)?.style.as_deref()
    }
}

/// Returns how often a row, column or cell is repeated, which is at least once.
pub(super) fn read_repetitions(tag: &BytesStart<'_>, name: &str) -> Result<u32, WorkbookError> {
    let Some(text) = attribute(tag, name) else { return Ok(1) };
    match text.parse::<u32>() {
        Ok(count) => Ok(count.max(1)),
        Err(_) => Err(WorkbookError::Damaged {
            part: ODS_CONTENT_PART.to_owned(),
            why: format!("`{text}` is not a number of repetitions"),
        }),
    }
}

/// All cells are returned once for each repetition of the row.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<RepeatedCell>,
    memory_bytes: usize,
    first_row: u32,
    repetitions: u32,
    /// Number of repetitions whose cells have all been returned.
    rows_returned: u32,
    cell_index: usize,
    /// Number of columns for which the next cell has already been returned.
    column_offset: u32,
}

#[derive(Debug, Default)]
struct RepeatedCell {
    cell: WorkbookCell,
    columns: u32,
    style: Option<String>,
    value_type: String,
    is_error: bool,
    /// Whether an attribute of the cell's XML element contains the value. The text inside the
    /// element then only shows how the value is displayed.
    has_value: bool,
}

impl Row {
    /// Returns `false` at the end of the row.
    pub(super) fn next_cell(
        &mut self,
        sheet_name: &str,
        cell: &mut WorkbookCell,
    ) -> Result<bool, WorkbookError> {
        let is_repetition_complete = self.cell_index >= self.cells.len();
        if is_repetition_complete && self.rows_returned < self.repetitions {
            self.rows_returned += 1;
            self.cell_index = 0;
        }
        if self.rows_returned >= self.repetitions {
            self.cells.clear();
            return Ok(false);
        }
        let Some(repeated_cell) = self.cells.get(self.cell_index) else { return Ok(false) };
        cell.clone_from(&repeated_cell.cell);
        cell.row = self.first_row.saturating_add(self.rows_returned);
        cell.column = repeated_cell.cell.column.saturating_add(self.column_offset);
        check_position(sheet_name, cell)?;
        self.column_offset += 1;
        if self.column_offset >= repeated_cell.columns {
            self.cell_index += 1;
            self.column_offset = 0;
        }
        Ok(true)
    }

    fn start(&mut self, first_row: u32, repetitions: u32) {
        self.cells.clear();
        self.memory_bytes = 0;
        self.first_row = first_row;
        self.repetitions = repetitions;
        self.rows_returned = 0;
        self.cell_index = 0;
        self.column_offset = 0;
    }

    pub(super) fn read_cells<R: Read>(
        &mut self,
        xml: &mut Xml<R>,
        sheet_name: &str,
        first_row: u32,
        repetitions: u32,
    ) -> Result<(), WorkbookError> {
        self.start(first_row, repetitions);
        let mut column = 0_u32;
        loop {
            match xml.next_event()? {
                Event::Start(tag) if is_cell(tag.name().as_ref()) => {
                    let mut repeated_cell = RepeatedCell::from_tag(&tag)?;
                    repeated_cell.cell.row = first_row;
                    repeated_cell.cell.column = column;
                    column = column.saturating_add(repeated_cell.columns);
                    repeated_cell.read_text(xml, sheet_name)?;
                    repeated_cell.cell.value = repeated_cell.parse_value();
                    if !repeated_cell.is_empty() {
                        self.add_cell(repeated_cell, sheet_name)?;
                        xml.record_content();
                    }
                }
                Event::End(tag) if tag.name().as_ref() == "table:table-row" => {
                    return self.check_repetitions(sheet_name);
                }
                Event::Eof => return Err(xml.truncated()),
                _ => {}
            }
        }
    }

    fn add_cell(&mut self, cell: RepeatedCell, sheet_name: &str) -> Result<(), WorkbookError> {
        self.memory_bytes += cell.memory_bytes();
        if self.memory_bytes > MAX_ROW_MEMORY_BYTES {
            let row = u64::from(self.first_row) + 1;
            return Err(WorkbookError::RowTooLong { sheet: sheet_name.to_owned(), row });
        }
        self.cells.push(cell);
        Ok(())
    }

    /// Checks that the row does not exceed the cell limit, counting repeated cells and all
    /// repetitions of the row.
    fn check_repetitions(&self, sheet_name: &str) -> Result<(), WorkbookError> {
        let column_counts = self.cells.iter().map(|cell| u64::from(cell.columns));
        let cells_per_row = column_counts.fold(0, u64::saturating_add);
        if cells_per_row.saturating_mul(u64::from(self.repetitions)) > MAX_WORKBOOK_CELLS {
            return Err(WorkbookError::TooManyCells { sheet: sheet_name.to_owned() });
        }
        Ok(())
    }

    /// A cell without a style uses the style of its column. If the style has no number format, the
    /// default format of the value type is used.
    pub(super) fn set_formats(&mut self, columns: &Columns, styles: &Styles) {
        for repeated_cell in &mut self.cells {
            let cell_style = repeated_cell.style.as_deref();
            let style = cell_style.or_else(|| columns.style(repeated_cell.cell.column));
            let style_format = style.and_then(|style| styles.number_format(style));
            repeated_cell.cell.format = style_format.or_else(|| repeated_cell.default_format());
        }
    }

    /// Counts the cells with a style that is not imported.
    pub(super) fn note_styles(&self, styles: &Styles, not_imported: &mut NotImported) {
        for repeated_cell in &self.cells {
            if repeated_cell.style.as_deref().is_some_and(|style| styles.is_styled(style)) {
                let cells = u64::from(repeated_cell.columns) * u64::from(self.repetitions);
                not_imported.add(Omission::StyledCells, cells);
            }
        }
    }
}

const MAX_ROW_MEMORY_BYTES: usize = 2 * MAX_IMPORT_ROW_BYTES;

fn check_position(sheet_name: &str, cell: &WorkbookCell) -> Result<(), WorkbookError> {
    if cell.row < MAX_ROWS && cell.column < MAX_IMPORT_COLUMNS {
        return Ok(());
    }
    let row_number = u64::from(cell.row) + 1;
    let column_number = u64::from(cell.column) + 1;
    Err(WorkbookError::NoSuchCell {
        sheet: sheet_name.to_owned(),
        cell: format!("in row {row_number}, column {column_number}"),
    })
}

fn is_cell(name: &str) -> bool {
    matches!(name, "table:table-cell" | "table:covered-table-cell")
}

impl RepeatedCell {
    fn from_tag(tag: &BytesStart<'_>) -> Result<Self, WorkbookError> {
        let mut repeated_cell = Self {
            columns: read_repetitions(tag, "number-columns-repeated")?,
            style: attribute(tag, "style-name"),
            ..Self::default()
        };
        let mut fills_several_cells = false;
        for attribute in tag.attributes().with_checks(false).flatten() {
            let Ok(value) = quick_xml::escape::unescape(&attribute.value) else { continue };
            match attribute.key.as_ref() {
                "office:value-type" => repeated_cell.value_type = value.into_owned(),
                "calcext:value-type" => repeated_cell.is_error = value == "error",
                "table:number-matrix-columns-spanned" | "table:number-matrix-rows-spanned" => {
                    repeated_cell.cell.evaluation = Evaluation::Array;
                    fills_several_cells |= value != "1";
                }
                "table:formula" => repeated_cell.cell.formula = formula::to_excel_syntax(&value),
                "office:value"
                | "office:date-value"
                | "office:time-value"
                | "office:boolean-value"
                | "office:string-value" => {
                    repeated_cell.cell.text = value.into_owned();
                    repeated_cell.has_value = true;
                }
                _ => {}
            }
        }
        if fills_several_cells {
            // Without its range, the formula would need the cells of its own values.
            repeated_cell.cell.formula.clear();
        }
        Ok(repeated_cell)
    }

    fn is_empty(&self) -> bool {
        self.cell.value == CellValue::Empty && self.cell.formula.is_empty()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.cell.text.len() + self.cell.formula.len()
    }

    /// The paragraphs become the cell's text, unless an attribute of the element already contains
    /// the value. Other child elements, such as notes and pictures, are ignored.
    fn read_text<R: Read>(
        &mut self,
        xml: &mut Xml<R>,
        sheet_name: &str,
    ) -> Result<(), WorkbookError> {
        let needs_text = !self.has_value || self.is_error;
        if self.is_error {
            self.cell.text.clear();
        }
        let mut is_first_paragraph = true;
        loop {
            match xml.next_event()? {
                Event::Start(tag) if needs_text && tag.name().as_ref() == "text:p" => {
                    if !is_first_paragraph {
                        self.cell.text.push('\n');
                        self.cell.check_lengths(sheet_name)?;
                    }
                    is_first_paragraph = false;
                    self.read_paragraph(xml, sheet_name)?;
                }
                Event::Start(_) => xml.skip_element()?,
                Event::End(_) => return self.cell.check_lengths(sheet_name),
                Event::Eof => return Err(xml.truncated()),
                _ => {}
            }
        }
    }

    /// Reads up to the end tag of the paragraph.
    fn read_paragraph<R: Read>(
        &mut self,
        xml: &mut Xml<R>,
        sheet_name: &str,
    ) -> Result<(), WorkbookError> {
        let mut nested_elements = 0_usize;
        loop {
            match xml.next_event()? {
                Event::Start(tag) => {
                    nested_elements += 1;
                    self.push_whitespace_element(&tag);
                }
                Event::End(_) if nested_elements == 0 => return Ok(()),
                Event::End(_) => nested_elements -= 1,
                Event::Eof => return Err(xml.truncated()),
                event => push_text(&event, &mut self.cell.text),
            }
            self.cell.check_lengths(sheet_name)?;
        }
    }

    fn push_whitespace_element(&mut self, tag: &BytesStart<'_>) {
        match tag.name().as_ref() {
            "text:s" => {
                let declared_count = attribute(tag, "c").and_then(|text| text.parse().ok());
                let space_count = declared_count.unwrap_or(1_usize).min(MAX_TEXT_BYTES + 1);
                self.cell.text.extend(std::iter::repeat_n(' ', space_count));
            }
            "text:tab" => self.cell.text.push('\t'),
            "text:line-break" => self.cell.text.push('\n'),
            _ => {}
        }
    }

    /// If the text does not match the declared type, the value is the text itself.
    fn parse_value(&self) -> CellValue {
        let text = self.cell.text.as_str();
        if text.is_empty() {
            return CellValue::Empty;
        }
        if self.is_error {
            return text.parse().map_or(CellValue::Text, CellValue::Error);
        }
        match self.value_type.as_str() {
            "float" | "percentage" | "currency" if self.has_value => {
                text.trim().parse().map_or(CellValue::Text, CellValue::from_number)
            }
            "boolean" if self.has_value => match text {
                "true" | "TRUE" => CellValue::Bool(true),
                "false" | "FALSE" => CellValue::Bool(false),
                _ => CellValue::Text,
            },
            "date" => dates::parse_iso_date(text)
                .map_or(CellValue::Text, |date| CellValue::Number(date.serial)),
            "time" => {
                dates::parse_iso_duration_days(text).map_or(CellValue::Text, CellValue::Number)
            }
            _ => CellValue::Text,
        }
    }

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
