//! Encodes the cells of a sheet as rows of csv.

use cellar_api::wire::CellAt;
use cellar_exchange::CsvRow;
use cellar_sheet::cell::{Cell, DisplayFormat, GENERAL, Value};
use cellar_sheet::metadata::{FormatLayer, RangeFormat};
use cellar_snapshot::tile::{TextLayer, TileColumn, TileValue, ValueLayer};

use super::{CsvStyle, ExportError, cells_out_of_order_error};
use crate::reader::StoredBand;

/// Texts that start with one of these characters are interpreted as formulas by some programs.
const FORMULA_PREFIXES: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Rows in the order of their numbers, each as the number of the row, the number of its fields and
/// the length of its csv as 4-byte little-endian integers, and its csv.
#[derive(Debug, Clone, Default)]
pub(super) struct EncodedRows {
    pub(super) bytes: Vec<u8>,
    /// First row with a text, if there is one.
    pub(super) first_row: Option<u32>,
    pub(super) counts: CellCounts,
}

/// Counts of the cells in rows. Cells without a text do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CellCounts {
    /// Up to the last row with a text.
    pub(super) rows: u64,
    /// Up to the last column with a text.
    pub(super) columns: u64,
    pub(super) cells: u64,
    pub(super) formulas: u64,
    pub(super) stale_formulas: u64,
    pub(super) formula_like_texts: u64,
}

impl CellCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.rows = self.rows.max(other.rows);
        self.columns = self.columns.max(other.columns);
        self.cells += other.cells;
        self.formulas += other.formulas;
        self.stale_formulas += other.stale_formulas;
        self.formula_like_texts += other.formula_like_texts;
    }
}

/// Encodes cells in row-major order.
#[derive(Debug)]
pub(super) struct RowEncoder {
    style: CsvStyle,
    current_row: CsvRow,
    encoded: EncodedRows,
}

impl RowEncoder {
    pub(super) fn new(style: CsvStyle) -> Self {
        let current_row = CsvRow::new(style.delimiter);
        Self { style, current_row, encoded: EncodedRows::default() }
    }

    /// Encodes the cells of a band without formulas and long texts.
    pub(super) fn encode_band(
        style: CsvStyle,
        band: &StoredBand<'_>,
    ) -> Result<EncodedRows, ExportError> {
        let mut encoder = Self::new(style);
        encoder.push_band(band)?;
        Ok(encoder.finish())
    }

    /// Fails if a cell does not follow the previous one.
    pub(super) fn push_displayed(&mut self, cells: &[CellAt]) -> Result<(), ExportError> {
        for CellAt { row, column, cell, stale, .. } in cells {
            let counts = &mut self.encoded.counts;
            counts.formulas += u64::from(cell.formula.is_some());
            counts.stale_formulas += u64::from(*stale && !self.style.formulas);
            let text = self.displayed_text(cell);
            self.push_text(*row, *column, &text)?;
        }
        Ok(())
    }

    /// Returns the rows before the current one, which may get more cells.
    pub(super) fn take_complete_rows(&mut self) -> EncodedRows {
        std::mem::take(&mut self.encoded)
    }

    pub(super) fn finish(mut self) -> EncodedRows {
        self.end_row();
        self.encoded
    }

    fn displayed_text(&mut self, cell: &Cell) -> String {
        if self.style.formulas
            && let Some(formula) = &cell.formula
        {
            return formula.clone();
        }
        let mut text = cell.text();
        if matches!(cell.value, Value::Text(_)) {
            self.escape_formula_like(&mut text);
        }
        text
    }

    fn escape_formula_like(&mut self, text: &mut String) {
        if !text.starts_with(FORMULA_PREFIXES) {
            return;
        }
        if self.style.escape_formulas {
            text.insert(0, '\'');
        } else {
            self.encoded.counts.formula_like_texts += 1;
        }
    }

    fn push_band(
        &mut self,
        StoredBand { tile, formats }: &StoredBand<'_>,
    ) -> Result<(), ExportError> {
        let mut columns: Vec<DisplayedColumn<'_>> =
            tile.columns.iter().map(|column| DisplayedColumn::new(column, formats)).collect();
        let mut text = String::new();
        for StoredCell { row, column_index, value_index } in cells_by_row(&tile.columns) {
            let Some(column) = columns.get_mut(column_index as usize) else { continue };
            text.clear();
            let is_text = column.push_text(row, value_index as usize, &mut text);
            if is_text {
                self.escape_formula_like(&mut text);
            }
            self.push_text(row, column.index, &text)?;
        }
        Ok(())
    }

    /// Texts that are empty are left out.
    fn push_text(&mut self, row: u32, column: u32, text: &str) -> Result<(), ExportError> {
        if row != self.current_row.row() || self.current_row.field_count() == 0 {
            if row < self.current_row.row() {
                return Err(cells_out_of_order_error());
            }
            self.end_row();
            self.current_row.start(row);
        }
        if text.is_empty() {
            return Ok(());
        }
        self.current_row.push_field(column, text).map_err(|_| cells_out_of_order_error())?;
        self.encoded.counts.cells += 1;
        Ok(())
    }

    fn end_row(&mut self) {
        let (row, field_count) = (self.current_row.row(), self.current_row.field_count());
        if field_count == 0 {
            return;
        }
        let EncodedRows { bytes, first_row, counts } = &mut self.encoded;
        let csv = self.current_row.encoded();
        let csv_bytes = u32::try_from(csv.len()).unwrap_or(u32::MAX);
        for number in [row, field_count, csv_bytes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(csv);
        first_row.get_or_insert(row);
        counts.rows = u64::from(row) + 1;
        counts.columns = counts.columns.max(u64::from(field_count));
    }
}

#[derive(Debug, Clone, Copy)]
struct StoredCell {
    row: u32,
    /// Index in the columns of the tile.
    column_index: u32,
    /// Index in the values of the column.
    value_index: u32,
}

/// Returns the cells with a value in row-major order.
fn cells_by_row(columns: &[TileColumn]) -> Vec<StoredCell> {
    let cell_count = columns.iter().map(|column| column.values.len()).sum();
    let mut cells = Vec::with_capacity(cell_count);
    for (column_index, column) in (0..).zip(columns) {
        let rows = (0..).zip(column.values.rows());
        cells.extend(rows.map(|(value_index, row)| StoredCell {
            row: *row,
            column_index,
            value_index,
        }));
    }
    // The sort is stable, so the columns of a row stay in order, and the rows of a column are already
    // sorted.
    cells.sort_by_key(|cell| cell.row);
    cells
}

/// A column whose cells are displayed from top to bottom.
struct DisplayedColumn<'a> {
    index: u32,
    values: &'a ValueLayer,
    /// Formats of cells.
    own_formats: &'a TextLayer,
    next_own_format: usize,
    /// Formats of ranges that contain cells of the column, newest first.
    range_formats: Vec<&'a RangeFormat>,
    format: DisplayFormat<'a>,
}

impl<'a> DisplayedColumn<'a> {
    fn new(column: &'a TileColumn, formats: &'a FormatLayer) -> Self {
        let newest_first = formats.records().iter().rev();
        Self {
            index: column.index,
            values: &column.values,
            own_formats: &column.formats,
            next_own_format: 0,
            range_formats: newest_first
                .filter(|range_format| range_format.columns.contains(column.index))
                .collect(),
            format: DisplayFormat::new(GENERAL),
        }
    }

    /// Appends the displayed text of a cell. Returns whether the cell has a text as its value.
    fn push_text(&mut self, row: u32, value_index: usize, text: &mut String) -> bool {
        let values = self.values;
        let Some(value) = values.values().get(value_index) else { return false };
        let format = self.format_at(row);
        match value {
            TileValue::Number(number) => format.push_number(*number, text),
            TileValue::Text(span) => format.push_text(span.of(values.texts()), text),
            TileValue::Bool(boolean) => format.push_value(&Value::Bool(*boolean), text),
            TileValue::Error(code) => format.push_value(&Value::Error(*code), text),
            TileValue::Empty | TileValue::LongText(_) => {}
        }
        matches!(value, TileValue::Text(_))
    }

    fn format_at(&mut self, row: u32) -> &DisplayFormat<'a> {
        let rows = self.own_formats.rows();
        while rows.get(self.next_own_format).is_some_and(|own_row| *own_row < row) {
            self.next_own_format += 1;
        }
        let own_format = match rows.get(self.next_own_format) {
            Some(own_row) if *own_row == row => self.own_formats.get(self.next_own_format),
            _ => None,
        };
        let range_format = || {
            let newest = self.range_formats.iter().find(|it| it.rows.contains(row));
            newest.map(|range_format| range_format.format.as_str())
        };
        let code = own_format.or_else(range_format).unwrap_or(GENERAL);
        if code != self.format.code() {
            self.format = DisplayFormat::new(code);
        }
        &self.format
    }
}
