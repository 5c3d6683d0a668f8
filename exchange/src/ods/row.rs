//! One row of a sheet: its cells, some of which stand for many.

use std::io::Read;
use std::sync::Arc;

use cellar_base::limits::{
    MAX_FORMULA_BYTES, MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_ROWS, MAX_TEXT_BYTES,
    MAX_XLSX_CELLS,
};
use quick_xml::events::{BytesStart, Event};

use super::styles::Styles;
use super::{CONTENT, formula};
use crate::WorkbookError;
use crate::workbook::cell::{Found, FoundCell};
use crate::workbook::dates;
use crate::workbook::xml::{Xml, attribute, push_text};

/// The styles of columns, for cells that have none of their own.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The column behind the last of a run, and its style.
    runs: Vec<(u32, Option<String>)>,
}

impl Columns {
    pub(super) fn add(&mut self, tag: &BytesStart<'_>) -> Result<(), WorkbookError> {
        let start = self.runs.last().map_or(0, |(end, _)| *end);
        if start < MAX_IMPORT_COLUMNS {
            let end = start.saturating_add(repeats(tag, "number-columns-repeated")?);
            self.runs.push((end, attribute(tag, "default-cell-style-name")));
        }
        Ok(())
    }

    fn style(&self, column: u32) -> Option<&str> {
        let index = self.runs.partition_point(|(end, _)| *end <= column);
        self.runs.get(index)?.1.as_deref()
    }
}

/// How often a row, column or cell is repeated.
pub(super) fn repeats(tag: &BytesStart<'_>, name: &str) -> Result<u32, WorkbookError> {
    let Some(text) = attribute(tag, name) else { return Ok(1) };
    let damaged = |_| WorkbookError::Damaged {
        part: CONTENT.to_owned(),
        why: format!("`{text}` is no number of repetitions"),
    };
    text.parse().map(|count: u32| count.max(1)).map_err(damaged)
}

/// A row that is being given out.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<Repeated>,
    first: u32,
    repeats: u32,
    /// How many rows are complete, which cell is next, and which of its columns.
    at: (u32, usize, u32),
}

/// A cell, for one or more columns.
#[derive(Debug, Default)]
struct Repeated {
    cell: FoundCell,
    columns: u32,
    style: Option<String>,
    value_type: String,
    is_error: bool,
    has_value: bool,
}

impl Row {
    /// The next cell; `false` at the end.
    pub(super) fn next(
        &mut self,
        sheet: &str,
        cell: &mut FoundCell,
    ) -> Result<bool, WorkbookError> {
        let (mut row, mut index, mut offset) = self.at;
        if row < self.repeats && index >= self.cells.len() {
            (row, index, offset) = (row.saturating_add(1), 0, 0);
        }
        let Some(found) = self.cells.get(index).filter(|_| row < self.repeats) else {
            self.cells.clear();
            return Ok(false);
        };
        cell.clone_from(&found.cell);
        cell.row = self.first.saturating_add(row);
        cell.column = found.cell.column.saturating_add(offset);
        if cell.row >= MAX_ROWS || cell.column >= MAX_IMPORT_COLUMNS {
            let cell = format!(
                "in row {}, column {}",
                u64::from(cell.row) + 1,
                u64::from(cell.column) + 1
            );
            return Err(WorkbookError::NoSuchCell { sheet: sheet.to_owned(), cell });
        }
        offset = offset.saturating_add(1);
        if offset >= found.columns {
            (index, offset) = (index.saturating_add(1), 0);
        }
        self.at = (row, index, offset);
        Ok(true)
    }

    /// Reads a row's cells, up to its end.
    pub(super) fn read<R: Read>(
        &mut self,
        xml: &mut Xml<R>,
        sheet: &str,
        first: u32,
        repeats: u32,
    ) -> Result<(), WorkbookError> {
        self.cells.clear();
        (self.first, self.repeats, self.at) = (first, repeats, (0, 0, 0));
        let (mut column, mut bytes) = (0_u32, 0_usize);
        loop {
            match xml.next()? {
                Event::Start(tag) if is_cell(tag.name().as_ref()) => {
                    let mut found = Repeated::begin(&tag)?;
                    (found.cell.row, found.cell.column) = (first, column);
                    column = column.saturating_add(found.columns);
                    found.read_text(xml, sheet)?;
                    found.finish();
                    let cell = &found.cell;
                    if cell.value == Found::Empty && cell.formula.is_empty() {
                        continue;
                    }
                    let held = size_of::<Repeated>();
                    bytes = bytes.saturating_add(held + cell.text.len() + cell.formula.len());
                    if bytes > MAX_IMPORT_ROW_BYTES.saturating_mul(2) {
                        let row = u64::from(first).saturating_add(1);
                        return Err(WorkbookError::RowTooLong { sheet: sheet.to_owned(), row });
                    }
                    self.cells.push(found);
                    xml.found();
                }
                Event::End(tag) if tag.name().as_ref() == "table:table-row" => {
                    return self.check_repetitions(sheet);
                }
                Event::Eof => return Err(xml.ended()),
                _ => {}
            }
        }
    }

    /// Sees that what is repeated does not become too much, before any of it is given out.
    fn check_repetitions(&self, sheet: &str) -> Result<(), WorkbookError> {
        let columns = self.cells.iter().map(|cell| u64::from(cell.columns));
        let cells = columns.fold(0, u64::saturating_add).saturating_mul(u64::from(self.repeats));
        if cells > MAX_XLSX_CELLS {
            return Err(WorkbookError::TooManyCells { sheet: sheet.to_owned() });
        }
        Ok(())
    }

    /// Gives the cells their number formats.
    pub(super) fn resolve(&mut self, columns: &Columns, styles: &Styles) {
        for found in &mut self.cells {
            let style = found.style.as_deref().or_else(|| columns.style(found.cell.column));
            let format = style.and_then(|style| styles.format(style));
            found.cell.format = format.or_else(|| found.own_format());
        }
    }
}

fn is_cell(name: &str) -> bool {
    matches!(name, "table:table-cell" | "table:covered-table-cell")
}

impl Repeated {
    fn begin(tag: &BytesStart<'_>) -> Result<Self, WorkbookError> {
        let mut found = Self {
            columns: repeats(tag, "number-columns-repeated")?,
            style: attribute(tag, "style-name"),
            ..Self::default()
        };
        for attribute in tag.attributes().with_checks(false).flatten() {
            let Ok(value) = quick_xml::escape::unescape(&attribute.value) else {
                continue;
            };
            match attribute.key.as_ref() {
                "office:value-type" => found.value_type = value.into_owned(),
                "calcext:value-type" => found.is_error = value == "error",
                "table:formula" => found.cell.formula = formula::plain(&value),
                "office:value"
                | "office:date-value"
                | "office:time-value"
                | "office:boolean-value"
                | "office:string-value" => {
                    found.cell.text = value.into_owned();
                    found.has_value = true;
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Reads what stands in the cell: its paragraphs are its text, if it has no other. Notes and
    /// pictures are not.
    fn read_text<R: Read>(&mut self, xml: &mut Xml<R>, sheet: &str) -> Result<(), WorkbookError> {
        let wanted = !self.has_value || self.is_error;
        if self.is_error {
            self.cell.text.clear();
        }
        let (mut depth, mut other, mut paragraphs) = (0_usize, None::<usize>, 0_usize);
        loop {
            match xml.next()? {
                Event::Start(tag) => {
                    depth = depth.saturating_add(1);
                    match tag.name().as_ref() {
                        _ if other.is_some() || !wanted => {}
                        "text:p" if depth == 1 => {
                            if paragraphs > 0 {
                                self.cell.text.push('\n');
                            }
                            paragraphs = paragraphs.saturating_add(1);
                        }
                        _ if depth == 1 => other = Some(depth),
                        "text:s" => {
                            let count = attribute(&tag, "c").and_then(|text| text.parse().ok());
                            let count = count.unwrap_or(1_usize).min(MAX_TEXT_BYTES + 1);
                            self.cell.text.extend(std::iter::repeat_n(' ', count));
                        }
                        "text:tab" => self.cell.text.push('\t'),
                        "text:line-break" => self.cell.text.push('\n'),
                        _ => {}
                    }
                }
                Event::End(tag) => {
                    if depth == 0 && is_cell(tag.name().as_ref()) {
                        return self.check(sheet);
                    }
                    if other == Some(depth) {
                        other = None;
                    }
                    depth = depth.saturating_sub(1);
                }
                Event::Eof => return Err(xml.ended()),
                event if wanted && other.is_none() && depth > 0 => {
                    push_text(&event, &mut self.cell.text);
                }
                _ => {}
            }
            self.check(sheet)?;
        }
    }

    fn check(&self, sheet: &str) -> Result<(), WorkbookError> {
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

    /// Makes a value of its text. What is not of its type after all is kept as text.
    fn finish(&mut self) {
        let text = self.cell.text.as_str();
        let number = || text.trim().parse::<f64>().map_or(Found::Text, FoundCell::number);
        let value = match self.value_type.as_str() {
            _ if text.is_empty() => Found::Empty,
            _ if self.is_error => text.parse().map_or(Found::Text, Found::Error),
            "float" | "percentage" | "currency" if self.has_value => number(),
            "boolean" if self.has_value => match text {
                "true" | "TRUE" => Found::Bool(true),
                "false" | "FALSE" => Found::Bool(false),
                _ => Found::Text,
            },
            "date" => dates::date(text).map_or(Found::Text, |(serial, _)| Found::Number(serial)),
            "time" => dates::duration(text).map_or(Found::Text, Found::Number),
            _ => Found::Text,
        };
        self.cell.value = value;
    }

    /// The format that its type implies.
    fn own_format(&self) -> Option<Arc<str>> {
        if !matches!(self.cell.value, Found::Number(_)) {
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
