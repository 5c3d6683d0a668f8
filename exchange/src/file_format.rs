//! File formats and their detection.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek};
use std::path::Path;

use crate::workbook::archive::Archive;
use crate::xlsx::find_office_document;
use crate::{FileSource, ReadError, Source, WorkbookError};

/// First bytes of an old binary workbook or an encrypted workbook.
pub(crate) const COMPOUND_FILE_SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0";
/// First bytes of workbooks: zip archives with and without parts, and compound files.
const WORKBOOK_SIGNATURES: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", COMPOUND_FILE_SIGNATURE];
/// Length of each file signature, in bytes.
const SIGNATURE_BYTES: u64 = 4;
/// File name extensions of workbooks, including unsupported ones.
const WORKBOOK_EXTENSIONS: [&str; 9] =
    ["xlsx", "xlsm", "xltx", "xltm", "xlsb", "ods", "ots", "xls", "fods"];
/// Name of the part of an ods workbook that contains all sheets.
pub(crate) const ODS_CONTENT_PART: &str = "content.xml";

/// Format of an import file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Comma-separated values or text with another delimiter.
    Csv,
    /// Excel 2007 and later.
    Xlsx,
    /// Excel binary workbook. For formula cells, only the value is read.
    Xlsb,
    /// OpenDocument spreadsheet, the format of LibreOffice.
    Ods,
}

impl FileFormat {
    /// Detects the format of a file. A file is a workbook if it has a workbook's signature or
    /// extension, and its parts tell which format it has; all other files are csv.
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

/// The main part of a workbook, from which its format follows.
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
