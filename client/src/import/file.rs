//! The file of an import: what it is, and its sheets one after the other.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cellar_exchange::{
    BlockSize, ColumnTypes, CsvImport, CsvOptions, FileSource, Import as _, ImportProgress, Piece,
    ReadError, SheetStart, Survey, WorkbookImport,
};

use super::ImportError;

/// What the archives begin with that workbooks are, and what those of older programs do.
const WORKBOOK_MARKS: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0"];
/// How the names of workbooks end.
const WORKBOOK_EXTENSIONS: [&str; 9] =
    ["xlsx", "xlsm", "xltx", "xltm", "xlsb", "ods", "ots", "xls", "fods"];
/// Bytes at the beginning of a file that are looked at for another delimiter.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// How a file is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// What separates the fields of csv: an ASCII character.
    pub delimiter: u8,
    /// Accept rows of csv with different numbers of fields.
    pub pad: bool,
    /// What columns of csv are; others are what their fields are.
    pub types: ColumnTypes,
    /// The sheets of a workbook that are wanted, by name; all if there are none.
    pub sheets: Vec<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { delimiter: b',', pad: false, types: ColumnTypes::default(), sheets: Vec::new() }
    }
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Text, in fields.
    Csv,
    /// xlsx, xlsb or ods.
    Workbook,
}

impl FileKind {
    /// By the first bytes of a file, or else by its name: a workbook is one whatever its name, and
    /// what is called one and is not, is an error when it is read.
    ///
    /// # Errors
    /// [`ImportError::Unreadable`], and [`ImportError::NoFile`] for what is no regular file.
    pub fn of(path: &Path) -> Result<Self, ImportError> {
        // Before it is opened: the opening of a pipe waits for a writer.
        let metadata = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
            return Err(ImportError::NoFile { path: path.to_owned(), what });
        }
        let mut start = Vec::new();
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        file.take(4).read_to_end(&mut start).map_err(|source| unreadable(path, source))?;
        let extension = path.extension().unwrap_or_default();
        let called = WORKBOOK_EXTENSIONS.iter().any(|name| extension.eq_ignore_ascii_case(name));
        let is_workbook = called || WORKBOOK_MARKS.contains(&start.as_slice());
        Ok(if is_workbook { Self::Workbook } else { Self::Csv })
    }
}

pub(super) fn unreadable(path: &Path, source: std::io::Error) -> ImportError {
    ImportError::Unreadable { path: path.to_owned(), source }
}

/// A file that is being read, of whose sheets only those come that are wanted.
#[derive(Debug)]
pub(super) struct Sheets {
    path: PathBuf,
    file: Reading,
    wanted: Vec<String>,
    /// The names of the sheets so far.
    names: Vec<String>,
    skips: bool,
}

#[derive(Debug)]
enum Reading {
    Csv(Box<CsvImport<FileSource>>),
    Workbook(Box<WorkbookImport<FileSource>>),
}

impl Sheets {
    /// Opens a file. The cells of csv may come before all of it was looked at
    /// ([`CsvOptions::sample_bytes`]).
    pub(super) fn open(
        path: &Path,
        options: &ReadOptions,
        sample_bytes: Option<u64>,
    ) -> Result<Self, ImportError> {
        let source = FileSource(path.to_owned());
        let fault = |error| read_fault(path, error);
        let file = match FileKind::of(path)? {
            FileKind::Csv => {
                let csv = CsvOptions {
                    delimiter: options.delimiter,
                    pad: options.pad,
                    types: options.types.clone(),
                    block: BlockSize::default(),
                    sample_bytes,
                };
                Reading::Csv(Box::new(CsvImport::open(source, &csv).map_err(fault)?))
            }
            FileKind::Workbook => {
                let workbook = WorkbookImport::open(source, BlockSize::default());
                Reading::Workbook(Box::new(workbook.map_err(fault)?))
            }
        };
        let (wanted, names) = (options.sheets.clone(), Vec::new());
        Ok(Self { path: path.to_owned(), file, wanted, names, skips: false })
    }

    /// The next piece of a sheet that is wanted.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, ImportError> {
        let piece = match &mut self.file {
            Reading::Csv(csv) => csv.next(),
            Reading::Workbook(workbook) => workbook.next(),
        };
        let piece = piece.map_err(|error| read_fault(&self.path, error))?;
        match &piece {
            Some(Piece::Sheet(start)) => self.skips = !self.wants(start),
            None => self.all_were_there()?,
            Some(Piece::Working | Piece::Restart | Piece::Block(_)) => {}
        }
        Ok(if self.skips && piece.is_some() { Some(Piece::Working) } else { piece })
    }

    fn wants(&mut self, start: &SheetStart) -> bool {
        let name = start.name.clone().unwrap_or_default();
        let wanted = self.wanted.is_empty() || self.wanted.iter().any(|it| same(it, &name));
        self.names.push(name);
        wanted
    }

    fn all_were_there(&self) -> Result<(), ImportError> {
        let missing = |name: &&String| !self.names.iter().any(|there| same(there, name));
        match self.wanted.iter().find(missing) {
            None => Ok(()),
            Some(name) => {
                Err(ImportError::NotInFile { name: name.clone(), sheets: self.names.clone() })
            }
        }
    }

    pub(super) fn progress(&self) -> ImportProgress {
        match &self.file {
            Reading::Csv(csv) => csv.progress(),
            Reading::Workbook(workbook) => workbook.progress(),
        }
    }

    /// What the columns of csv are, once that is known.
    pub(super) fn survey(&self) -> Option<&Survey> {
        match &self.file {
            Reading::Csv(csv) => csv.survey(),
            Reading::Workbook(_) => None,
        }
    }
}

/// Names as the server compares them, whatever the case of their letters.
fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn read_fault(path: &Path, error: ReadError) -> ImportError {
    match error {
        ReadError::Io(source) => unreadable(path, source),
        error => {
            let ragged = matches!(error, ReadError::Ragged { .. });
            let advice =
                "`--ragged pad` fills short rows; `--delimiter` says what separates fields";
            let advice = ragged.then(|| advice.to_owned());
            ImportError::Read { path: path.to_owned(), source: Box::new(error), advice }
        }
    }
}

/// A question about the delimiter, if a csv file came out as one column and most of its first lines
/// hold something else that separates fields: it is no error, only likely to be a slip.
#[must_use]
pub fn delimiter_hint(path: &Path, survey: &Survey, delimiter: u8) -> Option<String> {
    if survey.columns != 1 {
        return None;
    }
    let mut sample = Vec::new();
    File::open(path).ok()?.take(SAMPLE_BYTES).read_to_end(&mut sample).ok()?;
    let lines = || sample.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let half = lines().count() / 2;
    let others = [(b';', "semicolon"), (b'\t', "tab"), (b',', "comma")].into_iter();
    let with = |other: u8| lines().filter(|line| line.contains(&other)).count();
    others
        .filter(|(other, _)| *other != delimiter)
        .map(|(other, name)| (with(other), name))
        .filter(|(lines, _)| *lines > half)
        .max_by_key(|(lines, _)| *lines)
        .map(|(_, name)| format!("one column: is `--delimiter {name}` right?"))
}

#[cfg(test)]
pub(super) mod tests {
    use cellar_exchange::{OutCell, XlsxWriter};
    use cellar_sheet::cell::Value;

    use super::*;

    /// A workbook with a number in the first cell of each sheet.
    pub(crate) fn workbook(path: &Path, sheets: &[&str]) {
        let mut writer = XlsxWriter::new(None).unwrap();
        for (name, number) in sheets.iter().zip([1.0, 2.0, 3.0]) {
            writer.sheet(name).unwrap();
            let value = Value::Number(number);
            writer.cell(0, 0, &OutCell { value: &value, formula: None, format: None }).unwrap();
        }
        writer.finish(File::create(path).unwrap()).unwrap();
    }

    fn read(path: &Path, sheets: &[&str]) -> Result<Vec<f64>, ImportError> {
        let sheets = sheets.iter().map(|name| (*name).to_owned()).collect();
        let options = ReadOptions { sheets, ..ReadOptions::default() };
        let (mut file, mut numbers) = (Sheets::open(path, &options, None)?, Vec::new());
        while let Some(piece) = file.next()? {
            if let Piece::Block(block) = piece {
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
    fn a_workbook_is_one_whatever_its_name_and_its_sheets_can_be_chosen() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.xlsx", "a.csv", "a"] {
            let path = folder.path().join(name);
            workbook(&path, &["One", "Two", "Three"]);
            assert_eq!(read(&path, &[]).unwrap(), [1.0, 2.0, 3.0]);
            assert_eq!(read(&path, &["three", "ONE"]).unwrap(), [1.0, 3.0]);
            let Err(ImportError::NotInFile { name, sheets }) = read(&path, &["One", "Four"]) else {
                panic!("a sheet that is not there was not missed");
            };
            assert_eq!((name.as_str(), sheets.len()), ("Four", 3));
        }
    }

    #[test]
    fn what_is_no_workbook_but_called_one_is_an_error_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content, expected) in [
            ("a.xlsx", &b"a,b\n1,2\n"[..], "not an xlsx, xlsb or ods workbook"),
            ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", "password-protected"),
            ("a.ods", b"PK\x03\x04cut", "damaged or truncated"),
            ("b.csv", b"\xff\xfea\0", "UTF-16"),
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
    fn a_ragged_file_says_which_options_help() {
        use miette::Diagnostic as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ragged.csv");
        std::fs::write(&path, "a,b\n1\n").unwrap();
        let error = read(&path, &[]).unwrap_err();
        assert!(error.to_string().contains("ragged.csv: line 2"), "{error}");
        assert!(error.help().unwrap().to_string().contains("--ragged pad"));
    }

    #[test]
    fn one_column_that_looks_like_more_asks_for_the_delimiter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let hint = |text: &str, delimiter: u8| {
            std::fs::write(&path, text).unwrap();
            let options = ReadOptions { delimiter, pad: true, ..ReadOptions::default() };
            let mut file = Sheets::open(&path, &options, None).unwrap();
            while file.next().unwrap().is_some() {}
            delimiter_hint(&path, file.survey().unwrap(), delimiter)
        };
        let asks = |text, delimiter, name: &str| {
            assert!(hint(text, delimiter).unwrap().contains(&format!("`--delimiter {name}`")));
        };
        asks("a;b\n1;2\n\n", b',', "semicolon");
        asks("a\tb\r\n1\t2\r\nnote\r\n", b',', "tab");
        asks("a;b\n1;2\n", b'\t', "semicolon");
        asks("a,b\n1,2\n", b'\t', "comma");
        for (text, delimiter) in [("a;b\n1;2\n", b';'), ("a\nb;c\n", b','), ("a,b;c\n", b',')] {
            assert_eq!(hint(text, delimiter), None, "{text}");
        }
    }
}
