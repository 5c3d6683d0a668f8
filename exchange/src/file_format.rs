//! File formats and their detection.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek};
use std::path::Path;

use crate::workbook::archive::Archive;
use crate::xlsx::find_office_document;
use crate::{ReadError, Source, WorkbookError};

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
    /// A workbook. Its parts, which [`WorkbookImport::open`](crate::WorkbookImport::open) reads,
    /// determine whether it is xlsx, xlsb or ods.
    Workbook,
}

impl FileFormat {
    /// Detects a file's format from its extension and its first bytes. A file is a workbook if it
    /// has a workbook's extension or signature. All other files are csv.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(path: &Path) -> io::Result<Self> {
        // Read the signature even if the extension suffices, so that an unreadable file causes an
        // error here.
        let has_signature = has_workbook_signature(path)?;
        let is_workbook = has_signature || has_workbook_extension(path);
        Ok(if is_workbook { Self::Workbook } else { Self::Csv })
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
    /// Excel 2007 and later. The part is usually `xl/workbook.xml`.
    Xlsx { part: String },
    /// Excel binary workbook, usually with the part `xl/workbook.bin`. Formulas are not read, but
    /// their values are.
    Xlsb { part: String },
    /// OpenDocument spreadsheet, which is LibreOffice's format.
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
