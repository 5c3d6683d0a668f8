//! Opens an import file and reads its sheets.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cellar_exchange::{
    BlockSize, ColumnTypes, CsvImport, CsvOptions, FileFormat, FileSource, Import as _,
    ImportProgress, ImportStep, NameInFile, NotImported, Omission, ReadError, Survey, TextEncoding,
    WorkbookImport,
};

use super::ImportError;

const DELIMITER_SAMPLE_BYTES: u64 = 64 * 1024;

/// Options for reading an import file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Field delimiter of a CSV file; must be an ASCII character. If `None`, it is detected.
    pub delimiter: Option<u8>,
    /// Encoding of a CSV file without a byte order mark. If `None`, it is UTF-8.
    pub encoding: Option<TextEncoding>,
    /// Whether to accept CSV rows with different numbers of fields.
    pub pad: bool,
    /// Column types of a CSV file. Types that are not specified are detected.
    pub types: ColumnTypes,
    /// Names of the workbook sheets to read. If empty, all sheets are read.
    pub sheets: Vec<String>,
}

impl ReadOptions {
    /// Returns the default options for a file. The default delimiter is a tab for `.tsv` and `.tab`
    /// files, and is detected for others.
    #[must_use]
    pub fn for_file(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default();
        let is_tsv = ["tsv", "tab"].iter().any(|name| extension.eq_ignore_ascii_case(name));
        Self { delimiter: is_tsv.then_some(b'\t'), ..Self::default() }
    }
}

/// Detects whether a file is a CSV file or a workbook.
///
/// # Errors
///
/// Returns [`ImportError::NotAFile`] if the path is not a regular file, or
/// [`ImportError::Unreadable`] if the file cannot be read.
pub fn detect_format(path: &Path) -> Result<FileFormat, ImportError> {
    // Check the file type before opening the file, because opening a pipe would block until another
    // process writes to it.
    let metadata = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(ImportError::NotAFile { path: path.to_owned(), what });
    }
    FileFormat::detect(path).map_err(|source| unreadable(path, source))
}

pub(super) fn unreadable(path: &Path, source: std::io::Error) -> ImportError {
    ImportError::Unreadable { path: path.to_owned(), source }
}

#[derive(Debug)]
pub(crate) struct SheetReader {
    path: PathBuf,
    format: FormatReader,
    /// Names of the sheets to read. If empty, all sheets are read.
    selected_names: Vec<String>,
    /// Names of the sheets that have been read or skipped so far.
    found_names: Vec<String>,
    is_skipping: bool,
    /// Contents of the workbook and of the selected sheets that are not imported.
    not_imported: NotImported,
    /// Contents of the workbook and of all sheets before the current one that are not imported.
    counted: NotImported,
}

/// Properties of a whole file, known after it was read.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    /// `None` for workbooks.
    pub(super) survey: Option<Survey>,
    pub(super) not_imported: NotImported,
    /// Names of a workbook that formulas can use. `not_imported` counts them.
    pub(super) names: Vec<NameInFile>,
}

#[derive(Debug)]
enum FormatReader {
    Csv(Box<CsvImport<FileSource>>),
    Workbook(Box<WorkbookImport<FileSource>>),
}

impl FormatReader {
    fn open(
        path: &Path,
        options: &ReadOptions,
        sample_bytes: Option<u64>,
    ) -> Result<Self, ImportError> {
        let source = FileSource(path.to_owned());
        let to_import_error = |error| read_error(path, error);
        match detect_format(path)? {
            FileFormat::Csv => {
                let csv_options = CsvOptions {
                    delimiter: options.delimiter,
                    encoding: options.encoding,
                    pads_short_rows: options.pad,
                    types: options.types.clone(),
                    block: BlockSize::default(),
                    sample_bytes,
                };
                let csv = CsvImport::open(source, &csv_options).map_err(to_import_error)?;
                Ok(Self::Csv(Box::new(csv)))
            }
            FileFormat::Workbook => {
                let workbook =
                    WorkbookImport::open(source, BlockSize::default()).map_err(to_import_error)?;
                Ok(Self::Workbook(Box::new(workbook)))
            }
        }
    }
}

impl SheetReader {
    /// If `sample_bytes` is set, only this many bytes at the start of a CSV file are examined to
    /// detect the column types ([`CsvOptions::sample_bytes`]).
    pub(crate) fn open(
        path: &Path,
        options: &ReadOptions,
        sample_bytes: Option<u64>,
    ) -> Result<Self, ImportError> {
        Ok(Self {
            path: path.to_owned(),
            format: FormatReader::open(path, options, sample_bytes)?,
            selected_names: options.sheets.clone(),
            found_names: Vec::new(),
            is_skipping: false,
            not_imported: NotImported::default(),
            counted: NotImported::default(),
        })
    }

    /// Returns `None` at the end of the file. The parts of sheets that are not selected are
    /// replaced by [`ImportStep::Working`].
    pub(crate) fn next_step(&mut self) -> Result<Option<ImportStep>, ImportError> {
        let read_result = match &mut self.format {
            FormatReader::Csv(csv) => csv.next_step(),
            FormatReader::Workbook(workbook) => workbook.next_step(),
        };
        let Some(step) = read_result.map_err(|error| read_error(&self.path, error))? else {
            self.count_not_imported();
            self.check_selected_were_found()?;
            return Ok(None);
        };
        if let ImportStep::Sheet(start) = &step {
            self.count_not_imported();
            let sheet_name = start.name.clone().unwrap_or_default();
            self.is_skipping = !self.is_selected(&sheet_name);
            self.found_names.push(sheet_name);
            if start.hidden && !self.is_skipping {
                self.not_imported.add(Omission::HiddenSheets, 1);
            }
        }
        Ok(Some(if self.is_skipping { ImportStep::Working } else { step }))
    }

    /// Must be called at the end of each sheet, while `is_skipping` belongs to this sheet.
    fn count_not_imported(&mut self) {
        let FormatReader::Workbook(workbook) = &self.format else { return };
        let newly_counted = workbook.not_imported();
        if !self.is_skipping {
            self.not_imported.add_all(&newly_counted.since(&self.counted));
        }
        self.counted = newly_counted;
    }

    fn is_selected(&self, name: &str) -> bool {
        self.selected_names.is_empty() || contains_name(&self.selected_names, name)
    }

    fn check_selected_were_found(&self) -> Result<(), ImportError> {
        for name in &self.selected_names {
            if !contains_name(&self.found_names, name) {
                let sheets = self.found_names.clone();
                return Err(ImportError::NotInFile { name: name.clone(), sheets });
            }
        }
        Ok(())
    }

    /// Sets the number of cells after which the next blocks end.
    pub(super) fn set_block_cells(&mut self, cells: usize) {
        match &mut self.format {
            FormatReader::Csv(csv) => csv.set_block_cells(cells),
            FormatReader::Workbook(workbook) => workbook.set_block_cells(cells),
        }
    }

    pub(super) fn progress(&self) -> ImportProgress {
        match &self.format {
            FormatReader::Csv(csv) => csv.progress(),
            FormatReader::Workbook(workbook) => workbook.progress(),
        }
    }

    /// Must be called after the end of the file.
    pub(super) fn findings(&self) -> Findings {
        let names = match &self.format {
            FormatReader::Csv(_) => Vec::new(),
            FormatReader::Workbook(workbook) => workbook.names().to_vec(),
        };
        Findings { survey: self.survey().cloned(), not_imported: self.not_imported, names }
    }

    /// Returns `None` if the column types of a CSV file have not been detected yet.
    fn survey(&self) -> Option<&Survey> {
        match &self.format {
            FormatReader::Csv(csv) => csv.survey(),
            FormatReader::Workbook(_) => None,
        }
    }
}

/// Case is ignored, as on the server.
fn contains_name(names: &[String], name: &str) -> bool {
    let folded_name = name.to_lowercase();
    names.iter().any(|other| other.to_lowercase() == folded_name)
}

fn read_error(path: &Path, error: ReadError) -> ImportError {
    let path = path.to_owned();
    match error {
        ReadError::Io(source) => ImportError::Unreadable { path, source },
        error => ImportError::Read { path, source: Box::new(error) },
    }
}

/// Returns a delimiter that fits the file better than the one with which it was read. Returns `None`
/// unless the file has a single column and most of its first lines contain the other delimiter.
#[must_use]
pub fn likely_delimiter(path: &Path, survey: &Survey) -> Option<u8> {
    const DELIMITERS: [u8; 3] = *b";\t,";
    if survey.columns != 1 {
        return None;
    }
    let mut sample = Vec::new();
    File::open(path).ok()?.take(DELIMITER_SAMPLE_BYTES).read_to_end(&mut sample).ok()?;
    let lines: Vec<&[u8]> =
        sample.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let count_lines_with = |byte: u8| lines.iter().filter(|line| line.contains(&byte)).count();
    let other_delimiters = DELIMITERS.into_iter().filter(|other| *other != survey.delimiter);
    let most_frequent = other_delimiters.max_by_key(|other| count_lines_with(*other))?;
    let is_in_most_lines = count_lines_with(most_frequent) > lines.len() / 2;
    is_in_most_lines.then_some(most_frequent)
}

#[cfg(test)]
pub(super) mod tests {
    use cellar_exchange::{CellToWrite, Spill, XlsxWriter};
    use cellar_sheet::cell::Value;

    use super::*;

    /// Writes a workbook with a number in the first cell of each sheet.
    pub(crate) fn workbook(path: &Path, sheets: &[&str]) {
        let mut writer = XlsxWriter::new(None).unwrap();
        for (name, number) in sheets.iter().zip([1.0, 2.0, 3.0]) {
            writer.start_sheet(name).unwrap();
            let value = Value::Number(number);
            writer
                .write_cell(
                    0,
                    0,
                    &CellToWrite { value: &value, formula: None, format: None, spill: Spill::None },
                )
                .unwrap();
        }
        writer.finish(File::create(path).unwrap()).unwrap();
    }

    fn read(path: &Path, sheets: &[&str]) -> Result<Vec<f64>, ImportError> {
        let sheets = sheets.iter().map(|name| (*name).to_owned()).collect();
        let options = ReadOptions { sheets, ..ReadOptions::default() };
        let (mut file, mut numbers) = (SheetReader::open(path, &options, None)?, Vec::new());
        while let Some(step) = file.next_step()? {
            if let ImportStep::Block(block) = step {
                let values = block.cells().map(|cell| cell.value);
                numbers.extend(values.filter_map(|value| match value {
                    Value::Number(number) => Some(number),
                    _ => None,
                }));
            }
        }
        Ok(numbers)
    }

    #[test]
    fn workbooks_are_detected_by_content_and_sheets_selected() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.xlsx", "a.csv", "a"] {
            let path = folder.path().join(name);
            workbook(&path, &["One", "Two", "Three"]);
            assert_eq!(read(&path, &[]).unwrap(), [1.0, 2.0, 3.0]);
            assert_eq!(read(&path, &["three", "ONE"]).unwrap(), [1.0, 3.0]);
            let Err(ImportError::NotInFile { name, sheets }) = read(&path, &["One", "Four"]) else {
                panic!("the missing sheet was not reported");
            };
            assert_eq!((name.as_str(), sheets.len()), ("Four", 3));
        }
    }

    #[test]
    fn rejects_files_that_are_not_what_their_name_says() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content, expected) in [
            ("a.xlsx", &b"a,b\n1,2\n"[..], "not an xlsx, xlsb or ods workbook"),
            ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", "password-protected"),
            ("a.ods", b"PK\x03\x04cut", "damaged or truncated"),
            ("b.csv", b"\xff\xfea\0b", "is not UTF-16LE text"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            let error = read(&path, &[]).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let missing = read(&folder.path().join("none.csv"), &[]);
        assert!(matches!(missing, Err(ImportError::Unreadable { .. })));
    }

    #[test]
    fn the_error_of_a_ragged_file_names_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ragged.csv");
        std::fs::write(&path, "a,b\n1\n").unwrap();
        let error = read(&path, &[]).unwrap_err();
        assert!(error.to_string().contains("ragged.csv: line 2"), "{error}");
    }

    #[test]
    fn finds_the_delimiter_of_a_file_with_one_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let likely = |text: &str, delimiter: u8| {
            std::fs::write(&path, text).unwrap();
            let delimiter = Some(delimiter);
            let options = ReadOptions { delimiter, pad: true, ..ReadOptions::default() };
            let mut file = SheetReader::open(&path, &options, None).unwrap();
            while file.next_step().unwrap().is_some() {}
            likely_delimiter(&path, file.survey().unwrap())
        };
        assert_eq!(likely("a;b\n1;2\n\n", b','), Some(b';'));
        assert_eq!(likely("a\tb\r\n1\t2\r\nnote\r\n", b','), Some(b'\t'));
        assert_eq!(likely("a;b\n1;2\n", b'\t'), Some(b';'));
        assert_eq!(likely("a,b\n1,2\n", b'\t'), Some(b','));
        for (text, delimiter) in [("a;b\n1;2\n", b';'), ("a\nb;c\n", b','), ("a,b;c\n", b',')] {
            assert_eq!(likely(text, delimiter), None, "{text}");
        }
    }
}
