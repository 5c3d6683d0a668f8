//! From text to fields, each with its place.

use cellar_core::limits::{MAX_COLUMNS, MAX_ROWS, MAX_TEXT_BYTES};
use csv::StringRecord;

use super::{IMPORT_MAX_CELLS, ImportError, quotes};

/// The fields of a file that are not empty, by row and column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) fields: Vec<Field>,
}

impl Fields {
    /// The first row that has anything in it: headings are looked for there.
    pub(super) fn first_row(&self) -> u32 {
        self.fields.first().map_or(0, |field| field.row)
    }
}

/// A field that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) row: u32,
    pub(super) column: u32,
    /// The line where its row begins, from 1.
    pub(super) line: u64,
    pub(super) text: String,
}

/// Takes a CSV file apart. Blank lines are no rows, except where rows have only one field: there
/// a blank line is an empty one, also above the first that is not blank, whose number of fields
/// decides. `pad` lets rows have different numbers of fields.
pub(super) fn read(text: &str, delimiter: u8, pad: bool) -> Result<Fields, ImportError> {
    quotes::check(text, delimiter)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let mut fields = Fields { rows: 0, columns: 0, fields: Vec::new() };
    let mut record = StringRecord::new();
    let fault = |error: csv::Error| ImportError::Csv { why: error.to_string() };
    while reader.read_record(&mut record).map_err(fault)? {
        let place = Place::of(&record, text);
        if fields.rows == 0 {
            fields.columns = count(record.len())?;
        }
        if fields.columns == 1 && record.len() == 1 {
            fields.rows = fields.rows.saturating_add(place.blank_lines);
        }
        fields.add(&record, place.line, pad)?;
    }
    if fields.fields.is_empty() { Err(ImportError::Empty) } else { Ok(fields) }
}

impl Fields {
    fn add(&mut self, record: &StringRecord, line: u64, pad: bool) -> Result<(), ImportError> {
        let columns = count(record.len())?;
        if columns != self.columns && !pad {
            let expected = usize::try_from(self.columns).unwrap_or(usize::MAX);
            return Err(ImportError::Ragged { line, fields: record.len(), expected });
        }
        self.columns = self.columns.max(columns);
        if self.rows >= MAX_ROWS {
            return Err(ImportError::OutsideSheet);
        }
        for (column, text) in (0_u32..).zip(record) {
            if text.is_empty() {
                continue;
            }
            if text.len() > MAX_TEXT_BYTES {
                let column = u64::from(column) + 1;
                return Err(ImportError::TextTooLong { line, column, bytes: text.len() });
            }
            if self.fields.len() >= IMPORT_MAX_CELLS {
                return Err(ImportError::TooManyCells { line });
            }
            self.fields.push(Field { row: self.rows, column, line, text: text.to_owned() });
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }
}

fn count(columns: usize) -> Result<u32, ImportError> {
    let columns = u32::try_from(columns).map_err(|_| ImportError::OutsideSheet)?;
    if columns > MAX_COLUMNS { Err(ImportError::OutsideSheet) } else { Ok(columns) }
}

/// Where a record begins. The reader's own position is before the blank lines that it skips.
struct Place {
    line: u64,
    blank_lines: u32,
}

impl Place {
    fn of(record: &StringRecord, text: &str) -> Self {
        let Some(position) = record.position() else {
            return Self { line: 0, blank_lines: 0 };
        };
        let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
        let bytes = text.as_bytes();
        let mut place = Self { line: position.line(), blank_lines: 0 };
        let mut before = start.checked_sub(1).and_then(|index| bytes.get(index)).copied();
        for byte in bytes.iter().skip(start).copied() {
            match byte {
                b'\n' => place.line = place.line.saturating_add(1),
                b'\r' => {}
                _ => break,
            }
            // `\r\n` is one end of a line, not two.
            if !(byte == b'\n' && before == Some(b'\r')) {
                place.blank_lines = place.blank_lines.saturating_add(1);
            }
            before = Some(byte);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Fields, ImportError> {
        read(text, b',', false)
    }

    fn places(fields: &Fields) -> Vec<(u32, u32, u64, &str)> {
        fields.fields.iter().map(|f| (f.row, f.column, f.line, f.text.as_str())).collect()
    }

    #[test]
    fn fields_have_their_place_whatever_the_line_ends() {
        for end in ["\n", "\r\n"] {
            let text = ["a,\"b", "c\"", ",d", "", "e,f", ""].join(end);
            let fields = read_text(&text).unwrap();
            assert_eq!((fields.rows, fields.columns), (3, 2));
            let multi_line = format!("b{end}c");
            let expected = [(0, 0, 1, "a"), (0, 1, 1, &multi_line), (1, 1, 3, "d"), (2, 0, 5, "e")];
            assert_eq!(places(&fields)[..4], expected);
        }
    }

    #[test]
    fn a_blank_line_is_an_empty_row_only_where_rows_have_one_field() {
        for end in ["\n", "\r\n"] {
            let one = read_text(&["a", "", "", "b", ""].join(end)).unwrap();
            assert_eq!(places(&one), [(0, 0, 1, "a"), (3, 0, 4, "b")]);
            assert_eq!(one.rows, 4);
            let leading = read_text(&["", "", "a", "b", ""].join(end)).unwrap();
            assert_eq!(places(&leading), [(2, 0, 3, "a"), (3, 0, 4, "b")]);
            assert_eq!(leading.rows, 4);
            let leading = read_text(&["", "", "a,1", "b,2"].join(end)).unwrap();
            assert_eq!((leading.rows, places(&leading)[0]), (2, (0, 0, 3, "a")));
            let two = read_text(&["a,1", "", "b,2"].join(end)).unwrap();
            assert_eq!(two.rows, 2);
        }
        let quoted = read_text("a\n\"\"\nb\n").unwrap();
        assert_eq!(places(&quoted), [(0, 0, 1, "a"), (2, 0, 3, "b")]);
    }

    #[test]
    fn ragged_rows_are_an_error_unless_they_are_padded() {
        let text = "a,b\n\nc\nd,e,f\n";
        let Err(ImportError::Ragged { line, fields, expected }) = read_text(text) else {
            panic!("not ragged");
        };
        assert_eq!((line, fields, expected), (3, 1, 2));
        let padded = read(text, b',', true).unwrap();
        assert_eq!((padded.rows, padded.columns), (3, 3));
    }

    #[test]
    fn a_file_without_anything_is_an_error() {
        for text in ["", "\n", "\r\n\r\n", ",,\n,,\n", "\"\"\n"] {
            assert!(matches!(read_text(text), Err(ImportError::Empty)), "{text:?}");
        }
    }

    #[test]
    fn limits_hold_at_n_and_n_plus_1() {
        let longest = "x".repeat(MAX_TEXT_BYTES);
        assert!(read_text(&longest).is_ok());
        let Err(ImportError::TextTooLong { line, column, bytes }) =
            read_text(&format!("a,b\nc,{longest}x\n"))
        else {
            panic!("not too long");
        };
        assert_eq!((line, column, bytes), (2, 2, MAX_TEXT_BYTES + 1));

        let most = "1\n".repeat(IMPORT_MAX_CELLS);
        assert_eq!(read_text(&most).unwrap().fields.len(), IMPORT_MAX_CELLS);
        let Err(ImportError::TooManyCells { line }) = read_text(&format!("{most}1\n")) else {
            panic!("not too many");
        };
        assert_eq!(line, u64::try_from(IMPORT_MAX_CELLS).unwrap() + 1);
    }
}
