//! The reference data as a csv file, and a digest that finds the same rows in an export.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use cellar_reference_data::{COLUMNS, NAMES, ReferenceValue, value};
use cellar_sheet::cell::{DisplayFormat, GENERAL};

/// Number of lines at the top of the file that the steps may edit. The digest leaves them out.
pub const EDITED_LINES: u64 = 100;

const BUFFER_BYTES: usize = 1024 * 1024;
/// Lines that are encoded before they are written.
const LINES_PER_WRITE: u32 = 1_000;

/// Digest of all lines of a csv file after the first ones.
#[derive(Debug, Clone)]
pub struct TailDigest {
    skipped_lines_left: u64,
    lines: u64,
    bytes: u64,
    hasher: blake3::Hasher,
}

/// Number of lines and bytes of a file, and the hash of its last lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSummary {
    /// Number of all lines.
    pub lines: u64,
    /// Number of all bytes.
    pub bytes: u64,
    /// Hash of the lines after the skipped ones.
    pub tail_hash: [u8; 32],
}

impl TailDigest {
    /// Leaves out the first `skipped_lines` lines.
    #[must_use]
    pub fn after_lines(skipped_lines: u64) -> Self {
        let hasher = blake3::Hasher::new();
        Self { skipped_lines_left: skipped_lines, lines: 0, bytes: 0, hasher }
    }

    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += length(bytes);
        self.lines += length_of(bytes.iter().filter(|byte| **byte == b'\n').count());
        let mut tail = bytes;
        while self.skipped_lines_left > 0 {
            let Some(line_end) = tail.iter().position(|byte| *byte == b'\n') else { return };
            self.skipped_lines_left -= 1;
            tail = tail.get(line_end + 1..).unwrap_or_default();
        }
        self.hasher.update(tail);
    }

    /// Returns the summary of all bytes.
    #[must_use]
    pub fn finish(&self) -> FileSummary {
        let tail_hash = *self.hasher.finalize().as_bytes();
        FileSummary { lines: self.lines, bytes: self.bytes, tail_hash }
    }
}

fn length(bytes: &[u8]) -> u64 {
    length_of(bytes.len())
}

fn length_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Writes a file with a line of names and `rows` rows, as `cellar export` would write it.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn write_file(path: &Path, rows: u32) -> io::Result<FileSummary> {
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
    let summary = write_rows(&mut file, rows)?;
    file.flush()?;
    Ok(summary)
}

fn write_rows(target: &mut impl Write, rows: u32) -> io::Result<FileSummary> {
    let mut digest = TailDigest::after_lines(EDITED_LINES);
    let formats = Formats::default();
    let mut lines = NAMES.join(",");
    lines.push('\n');
    for row in 0..rows {
        formats.push_row(row, &mut lines);
        if row % LINES_PER_WRITE == 0 || row + 1 == rows {
            digest.update(lines.as_bytes());
            target.write_all(lines.as_bytes())?;
            lines.clear();
        }
    }
    Ok(digest.finish())
}

/// The number formats that an import detects in the columns.
struct Formats {
    general: DisplayFormat<'static>,
    cents: DisplayFormat<'static>,
    date: DisplayFormat<'static>,
}

impl Default for Formats {
    fn default() -> Self {
        Self {
            general: DisplayFormat::new(GENERAL),
            cents: DisplayFormat::new("0.00"),
            date: DisplayFormat::new("yyyy-mm-dd"),
        }
    }
}

impl Formats {
    fn push_row(&self, row: u32, line: &mut String) {
        for column in 0..COLUMNS {
            if column > 0 {
                line.push(',');
            }
            match value(row, column) {
                ReferenceValue::Empty => {}
                ReferenceValue::Number(number) => self.of_column(column).push_number(number, line),
                ReferenceValue::Bool(true) => line.push_str("TRUE"),
                ReferenceValue::Bool(false) => line.push_str("FALSE"),
                ReferenceValue::Text(text) => line.push_str(&text),
            }
        }
        line.push('\n');
    }

    fn of_column(&self, column: u32) -> &DisplayFormat<'static> {
        match column {
            4 | 9 => &self.cents,
            6 => &self.date,
            _ => &self.general,
        }
    }
}

/// Returns the unique text of a row.
pub(crate) fn code_of_row(row: u32) -> String {
    const CODE_COLUMN: u32 = 2;
    match value(row, CODE_COLUMN) {
        ReferenceValue::Text(code) => code,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_as_they_are_displayed() {
        let mut file = Vec::new();
        let summary = write_rows(&mut file, 2_000).unwrap();
        let text = String::from_utf8(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], NAMES.join(","));
        let expected = "8,Pine Bracket,3PRHPO1VJE7L,438,7216.34,0.8472790906372832,2020-01-01,TRUE,,3160756.92";
        assert_eq!(lines[8], expected);
        assert!(lines.iter().all(|line| line.split(',').count() == 10));
        assert_eq!((summary.lines, summary.bytes), (2_001, text.len().try_into().unwrap()));
    }

    #[test]
    fn the_digest_leaves_out_the_first_lines_however_the_bytes_are_divided() {
        let digest = |skipped, parts: &[&str]| {
            let mut digest = TailDigest::after_lines(skipped);
            parts.iter().for_each(|part| digest.update(part.as_bytes()));
            digest.finish()
        };
        let whole = digest(2, &["a\nb\nc\nd\n"]);
        assert_eq!(digest(2, &["a\nb", "\nc", "\nd\n"]), whole);
        assert_eq!(digest(2, &["x\ny\nc\nd\n"]), whole);
        assert_eq!(digest(3, &["\na\nb\nc\nd\n"]).tail_hash, whole.tail_hash);
        assert_ne!(digest(2, &["a\nb\nc\ne\n"]).tail_hash, whole.tail_hash);
        assert_ne!(digest(1, &["a\nb\nc\nd\n"]).tail_hash, whole.tail_hash);
    }
}
