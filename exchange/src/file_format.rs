//! File formats and their detection.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek};
use std::path::Path;

use crate::workbook::archive::Archive;
use crate::xlsx::find_office_document;
use crate::{FileSource, ReadError, Source, WorkbookError};

/// First bytes of an old binary workbook or of an encrypted workbook.
pub(crate) const COMPOUND_FILE_SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0";
/// First bytes of workbooks, which are nonempty zip archives, empty zip archives or compound files.
const WORKBOOK_SIGNATURES: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", COMPOUND_FILE_SIGNATURE];
/// Length of a file signature in bytes.
const SIGNATURE_BYTES: u64 = 4;
/// File name extensions of workbooks, including unsupported types of workbooks.
const WORKBOOK_EXTENSIONS: [&str; 9] =
    ["xlsx", "xlsm", "xltx", "xltm", "xlsb", "ods", "ots", "xls", "fods"];
/// Name of the part of an ods workbook that contains all sheets.
pub(crate) const ODS_CONTENT_PART: &str = "content.xml";

/// Format of an import file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Values separated by commas or by another delimiter.
    Csv,
    /// Excel 2007 and later.
    Xlsx,
    /// Excel binary workbook. Formulas are not read, but their values are.
    Xlsb,
    /// OpenDocument spreadsheet, which is LibreOffice's format.
    Ods,
}

impl FileFormat {
    /// Detects a file's format.
    ///
    /// A file is a workbook if it has a workbook's signature (first bytes) or file name extension.
    /// The format of a workbook is determined by its parts. All other files are csv.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file cannot be read, or if the workbook is damaged or not
    /// supported.
    pub fn detect(path: &Path) -> Result<Self, ReadError> {
        if !has_workbook_extension(path) && !has_workbook_signature(path)? {
            return Ok(Self::Csv);
        }
        let archive = Archive::open(FileSource(path.to_owned()))?;
        match WorkbookMain::find(&archive)? {
            WorkbookMain::Xlsx { .. } => Ok(Self::Xlsx),
            WorkbookMain::Xlsb { .. } => Ok(Self::Xlsb),
            WorkbookMain::Ods => Ok(Self::Ods),
        }
    }
}

fn has_workbook_extension(path: &Path) -> bool {
    let extension = path.extension().unwrap_or(OsStr::new(""));
    WORKBOOK_EXTENSIONS.iter().any(|workbook| extension.eq_ignore_ascii_case(workbook))
}

fn has_workbook_signature(path: &Path) -> io::Result<bool> {
    let mut first_bytes = Vec::new();
    File::open(path)?.take(SIGNATURE_BYTES).read_to_end(&mut first_bytes)?;
    let has_signature = WORKBOOK_SIGNATURES.contains(&first_bytes.as_slice());
    Ok(has_signature)
}

/// A workbook's main part, which determines the workbook's format.
#[derive(Debug)]
pub(crate) enum WorkbookMain {
    /// Usually `xl/workbook.xml`.
    Xlsx {
        part: String,
    },
    /// Usually `xl/workbook.bin`.
    Xlsb {
        part: String,
    },
    Ods,
}

impl WorkbookMain {
    pub(crate) fn find<S: Source>(archive: &Archive<S>) -> Result<Self, ReadError>
    where
        S::Stream: Seek,
    {
        match find_office_document(archive)? {
            Some(part) if part.ends_with(".bin") => Ok(Self::Xlsb { part }),
            Some(part) => Ok(Self::Xlsx { part }),
            None if archive.has_part(ODS_CONTENT_PART) => Ok(Self::Ods),
            None => Err(WorkbookError::Unknown.into()),
        }
    }
}
