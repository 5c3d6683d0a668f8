//! The first pass over a csv file, which counts rows and cells and detects the column types.

use std::io::Read;

use cellar_base::limits::MAX_ROWS;

use super::encoding::TextEncoding;
use super::options::CsvOptions;
use super::records::{NonemptyField, Record, Records, Syntax};
use super::uniform_rows::{RowLimits, UniformField, UniformRows};
use crate::typing::{Evidence, ExaminedField, Number, RecognisedValue, parse_short_number};
use crate::{ColumnTypes, ColumnTyping, ReadError};

/// Size and column types of a csv file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Number of rows.
    pub rows: u32,
    /// Number of fields in the longest row.
    pub columns: u32,
    /// Number of nonempty fields.
    pub cells: u64,
    /// Zero-based index of the first row with a nonempty field. This row may contain headings.
    pub first_row: u32,
    /// Types of all columns.
    pub typings: Vec<ColumnTyping>,
    /// Delimiter that was chosen or detected.
    pub delimiter: u8,
    /// Encoding that was chosen, or that a byte order mark indicates.
    pub encoding: TextEncoding,
}

/// The number of rows and cells and the column types, based on the rows that have been read so far.
#[derive(Debug)]
pub(super) struct Tally {
    row_counter: RowCounter,
    types: ColumnTypes,
    columns: Vec<Evidence>,
    cells: u64,
    first_row: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ExaminedCsvField<'a> {
    pub(super) column: u32,
    pub(super) column_index: usize,
    pub(super) text: &'a str,
    pub(super) examined: ExaminedField,
    /// Whether the field belongs to the first row with a nonempty field.
    pub(super) in_first_row: bool,
}

impl Tally {
    pub(super) fn new(options: &CsvOptions) -> Self {
        Self {
            row_counter: RowCounter::new(options.pads_short_rows),
            types: options.types.clone(),
            columns: Vec::new(),
            cells: 0,
            first_row: None,
        }
    }

    /// Returns a tally for another pass over the file. It contains the column types that this pass
    /// has detected, but all counts are zero.
    pub(super) fn for_next_pass(&self) -> Self {
        Self {
            row_counter: RowCounter::new(self.row_counter.pads_short_rows),
            types: self.types.clone(),
            columns: self.columns.clone(),
            cells: 0,
            first_row: self.first_row,
        }
    }

    pub(super) fn rows(&self) -> u32 {
        self.row_counter.rows
    }

    /// Counts a record and returns its row index.
    pub(super) fn add_row(&mut self, record: &Record<'_>) -> Result<u32, ReadError> {
        let row = self.row_counter.add_row(record)?;
        let new_columns = (0_u32..).take(record.len()).skip(self.columns.len());
        for column in new_columns {
            self.columns.push(Evidence::new(self.types.chosen_type(column)));
        }
        Ok(row)
    }

    /// Counts and examines a nonempty field of a row that was added with [`Tally::add_row`].
    pub(super) fn examine_field<'a>(
        &mut self,
        row: u32,
        field: NonemptyField<'a>,
    ) -> Option<ExaminedCsvField<'a>> {
        let NonemptyField { column_index, text } = field;
        let column = u32::try_from(column_index).ok()?;
        let evidence = self.columns.get_mut(column_index)?;
        self.cells += 1;
        let in_first_row = *self.first_row.get_or_insert(row) == row;
        let examined = evidence.examine_field(text, in_first_row);
        Some(ExaminedCsvField { column, column_index, text, examined, in_first_row })
    }

    /// Returns which rows can be added with [`Tally::add_uniform_rows`], or `None` before the first
    /// row with a nonempty field has been added.
    pub(super) fn limits_of_uniform_rows(&self, max_bytes: usize) -> Option<RowLimits> {
        let is_after_first_row = self.first_row.is_some_and(|first_row| first_row < self.rows());
        let columns = self.row_counter.first_row_fields.filter(|_| is_after_first_row)?;
        let max_rows = MAX_ROWS.saturating_sub(self.rows());
        (max_rows > 0).then_some(RowLimits { columns, max_rows, max_bytes })
    }

    /// Counts rows within [`Tally::limits_of_uniform_rows`]. Returns the first row index.
    pub(super) fn add_uniform_rows(&mut self, rows: &UniformRows<'_>) -> u32 {
        let first_row = self.rows();
        self.row_counter.rows += rows.count;
        first_row
    }

    /// Counts and examines a column of rows that were added with [`Tally::add_uniform_rows`]. Passes
    /// each nonempty field to `sink`. Returns whether the evidence for the type of the column changed.
    pub(super) fn examine_column(
        &mut self,
        rows: &UniformRows<'_>,
        column_index: usize,
        sink: &mut impl FieldSink,
    ) -> bool {
        let Some(evidence) = self.columns.get_mut(column_index) else { return false };
        let mut has_evidence_changed = false;
        let (has_text, is_numeric) = (evidence.has_text(), evidence.is_numeric());
        for UniformField { row_index, text, first_bytes } in rows.nonempty_fields(column_index) {
            self.cells += 1;
            if has_text {
                sink.push_field(row_index, text, None);
            } else if is_numeric
                && let Some(first_bytes) = first_bytes
                && let Some(number) = parse_short_number(first_bytes, text.len())
            {
                let value = Some(RecognisedValue::Number(number));
                has_evidence_changed |= evidence.add_field_of_other_row(value);
                sink.push_number(row_index, text, number);
            } else {
                let examined = evidence.examine_field(text, false);
                has_evidence_changed |= examined.changed_evidence;
                sink.push_field(row_index, text, examined.recognised_value);
            }
        }
        has_evidence_changed
    }

    pub(super) fn typings(&self) -> Vec<ColumnTyping> {
        self.columns.iter().map(|evidence| evidence.typing()).collect()
    }

    pub(super) fn to_survey(&self, syntax: Syntax) -> Result<Survey, ReadError> {
        let Syntax { delimiter, encoding } = syntax;
        Ok(Survey {
            rows: self.row_counter.rows,
            columns: u32::try_from(self.columns.len()).unwrap_or(u32::MAX),
            cells: self.cells,
            first_row: self.first_row.ok_or(ReadError::Empty)?,
            typings: self.typings(),
            delimiter,
            encoding,
        })
    }
}

/// Takes the nonempty fields of a column of [`UniformRows`]. Rows are indices in these rows.
pub(super) trait FieldSink {
    fn push_field(&mut self, row_index: u32, text: &str, value: Option<RecognisedValue>);

    /// Does the same as `push_field` with this number. A separate function keeps the number in
    /// processor registers.
    fn push_number(&mut self, row_index: u32, text: &str, number: Number);
}

struct Ignored;

impl FieldSink for Ignored {
    fn push_field(&mut self, _: u32, _: &str, _: Option<RecognisedValue>) {}

    fn push_number(&mut self, _: u32, _: &str, _: Number) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SurveyState {
    EndOfFile,
    Unfinished,
}

#[derive(Debug)]
pub(super) struct Surveyor<R> {
    pub(super) records: Records<R>,
    pub(super) tally: Tally,
}

impl<R: Read> Surveyor<R> {
    pub(super) fn survey_bytes(&mut self, bytes: u64) -> Result<SurveyState, ReadError> {
        let goal_bytes = self.records.bytes().saturating_add(bytes);
        while self.records.bytes() < goal_bytes {
            let bytes_left =
                usize::try_from(goal_bytes - self.records.bytes()).unwrap_or(usize::MAX);
            if let Some(limits) = self.tally.limits_of_uniform_rows(bytes_left)
                && let Some(rows) = self.records.next_uniform_rows(limits)?
            {
                self.tally.add_uniform_rows(&rows);
                for column_index in 0..rows.columns {
                    self.tally.examine_column(&rows, column_index, &mut Ignored);
                }
                continue;
            }
            let Some(record) = self.records.next_record()? else {
                return Ok(SurveyState::EndOfFile);
            };
            let row = self.tally.add_row(&record)?;
            for field in record.nonempty_fields() {
                self.tally.examine_field(row, field);
            }
        }
        Ok(SurveyState::Unfinished)
    }
}

#[derive(Debug)]
pub(super) struct RowCounter {
    /// Whether rows may have different numbers of fields.
    pads_short_rows: bool,
    pub(super) rows: u32,
    first_row_fields: Option<usize>,
}

impl RowCounter {
    pub(super) fn new(pads_short_rows: bool) -> Self {
        Self { pads_short_rows, rows: 0, first_row_fields: None }
    }

    /// In a file with a single column, a blank line is an empty row, even before the first record.
    /// In a file with several columns, blank lines are ignored.
    pub(super) fn add_row(&mut self, record: &Record<'_>) -> Result<u32, ReadError> {
        let fields = record.len();
        let expected = *self.first_row_fields.get_or_insert(fields);
        if fields != expected && !self.pads_short_rows {
            return Err(ReadError::Ragged { line: record.line, fields, expected });
        }
        let has_single_column = expected == 1 && fields == 1;
        if has_single_column {
            self.rows = self.rows.saturating_add(record.blank_lines);
        }
        if self.rows >= MAX_ROWS {
            return Err(ReadError::TooManyRows { line: record.line });
        }
        let row = self.rows;
        self.rows += 1;
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_rows_are_added_after_the_first_row_and_up_to_the_limit() {
        let mut records = Records::open(&b"a,b\n"[..], &CsvOptions::default()).unwrap();
        let mut tally = Tally::new(&CsvOptions::default());
        assert!(tally.limits_of_uniform_rows(9).is_none(), "no row has been added");
        let record = records.next_record().unwrap().unwrap();
        let row = tally.add_row(&record).unwrap();
        assert!(tally.limits_of_uniform_rows(9).is_none(), "no nonempty field has been added");
        tally.examine_field(row, record.nonempty_fields().next().unwrap()).unwrap();
        for (rows, max_rows) in [(1, Some(MAX_ROWS - 1)), (MAX_ROWS - 1, Some(1)), (MAX_ROWS, None)]
        {
            tally.row_counter.rows = rows;
            let limits = tally.limits_of_uniform_rows(9);
            assert_eq!(limits.map(|limits| limits.max_rows), max_rows);
            assert!(limits.is_none_or(|limits| limits.columns == 2 && limits.max_bytes == 9));
        }
    }

    #[test]
    fn the_number_of_rows_is_bounded() {
        let mut records = Records::open(&b"a\n\n\nb\n"[..], &CsvOptions::default()).unwrap();
        let mut row_counter = RowCounter::new(false);
        row_counter.rows = MAX_ROWS - 1;
        let record = records.next_record().unwrap().unwrap();
        assert_eq!(row_counter.add_row(&record).unwrap(), MAX_ROWS - 1);
        let record = records.next_record().unwrap().unwrap();
        assert!(matches!(row_counter.add_row(&record), Err(ReadError::TooManyRows { line: 4 })));
    }
}
