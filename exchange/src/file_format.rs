//! File formats and their detection.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek};
use std::path::Path;

use crate::workbook::archive::Archive;
use crate::xlsx::find_office_document;
use crate::{ReadError, Source, WorkbookError};

/// File signature of the container format of old binary workbooks and encrypted workbooks.
pub(crate) const COMPOUND_FILE_SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0";
/// File signatures of workbooks: nonempty zip archives, empty zip archives and compound files.
const WORKBOOK_SIGNATURES: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", COMPOUND_FILE_SIGNATURE];
const SIGNATURE_BYTES: u64 = 4;
/// Includes workbook formats that cannot be imported.
const WORKBOOK_EXTENSIONS: [&str; 9] =
    ["xlsx", "xlsm", "xltx", "xltm", "xlsb", "ods", "ots", "xls", "fods"];
pub(crate) const ODS_CONTENT_PART: &str = "content.xml";

/// Format of an import file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Values separated by commas or by another delimiter.
    Csv,
    /// A workbook. Whether it is an xlsx, xlsb or ods workbook depends on its contents, which
    /// [`WorkbookImport::open`](crate::WorkbookImport::open) reads.
    Workbook,
}

impl FileFormat {
    /// Detects a file's format. A file is a workbook if its file name extension or its first bytes
    /// indicate a workbook. All other files are csv.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(path: &Path) -> io::Result<Self> {
        // Read the file even if the extension is sufficient, so that an unreadable file causes an
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

#[derive(Debug)]
pub(crate) enum WorkbookFormat {
    /// The part is usually `xl/workbook.xml`.
    Xlsx { main_part: String },
    /// Only the values of formulas are read.
    Xlsb { main_part: String },
    /// OpenDocument spreadsheet, which is LibreOffice's format.
    Ods,
}

impl WorkbookFormat {
    pub(crate) fn detect<S: Source>(archive: &Archive<S>) -> Result<Self, ReadError>
    where
        S::Stream: Seek,
    {
        match find_office_document(archive)? {
            Some(main_part) if main_part.ends_with(".bin") => Ok(Self::Xlsb { main_part }),
            Some(main_part) => Ok(Self::Xlsx { main_part }),
            None if archive.has_part(ODS_CONTENT_PART) => Ok(Self::Ods),
            None => Err(WorkbookError::Unknown.into()),
        }
    }
}
