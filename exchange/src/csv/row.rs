//! Encodes one row as csv.

use super::delimiter::CANDIDATES;
use crate::WriteError;

const BYTES: usize = 256;

/// A row that is encoded as csv up to its last field. [`super::CsvWriter`] adds the blank fields
/// after it.
#[derive(Debug, Clone)]
pub struct CsvRow {
    delimiter: u8,
    /// Whether a field with this byte is quoted.
    is_quoted: [bool; BYTES],
    row: u32,
    field_count: u32,
    encoded: Vec<u8>,
}

impl CsvRow {
    /// Creates row 0 without fields. `delimiter` must be an ASCII character.
    #[must_use]
    pub fn new(delimiter: u8) -> Self {
        let mut is_quoted = [false; BYTES];
        // Other delimiters are quoted too, so that nothing that detects the delimiter takes one of
        // them for it.
        for byte in CANDIDATES.into_iter().chain([delimiter, b'"', b'\n', b'\r']) {
            if let Some(is_quoted) = is_quoted.get_mut(usize::from(byte)) {
                *is_quoted = true;
            }
        }
        Self { delimiter, is_quoted, row: 0, field_count: 0, encoded: Vec::new() }
    }

    /// Removes all fields, and continues with another row.
    pub fn start(&mut self, row: u32) {
        self.row = row;
        self.field_count = 0;
        self.encoded.clear();
    }

    /// Appends a field, and a blank field for each column that was skipped.
    ///
    /// # Errors
    /// Returns [`WriteError::OutOfOrder`] if the row already has a field in this column or after it.
    pub fn push_field(&mut self, column: u32, text: &str) -> Result<(), WriteError> {
        let skipped = column.checked_sub(self.field_count).ok_or(WriteError::OutOfOrder)?;
        let delimiters = if self.field_count == 0 { skipped } else { skipped + 1 };
        self.encoded.extend(std::iter::repeat_n(self.delimiter, delimiters as usize));
        let is_first_field = self.row == 0 && column == 0;
        if self.needs_quotes(text, is_first_field) {
            self.encoded.push(b'"');
            self.encoded.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.encoded.push(b'"');
        } else {
            self.encoded.extend_from_slice(text.as_bytes());
        }
        self.field_count = column.saturating_add(1);
        Ok(())
    }

    /// Returns the row index.
    #[must_use]
    pub fn row(&self) -> u32 {
        self.row
    }

    /// Returns the number of fields, including skipped ones.
    #[must_use]
    pub fn field_count(&self) -> u32 {
        self.field_count
    }

    /// Returns the encoded fields.
    #[must_use]
    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    fn needs_quotes(&self, text: &str, is_first_field: bool) -> bool {
        // If a file started with one of these marks, it would be detected as another format.
        let is_file_mark =
            is_first_field && (text.starts_with('\u{feff}') || text.starts_with("PK"));
        let is_quoted =
            |byte: u8| self.is_quoted.get(usize::from(byte)).is_some_and(|is_quoted| *is_quoted);
        is_file_mark || text.bytes().any(is_quoted)
    }
}
