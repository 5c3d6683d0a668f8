//! Reads ods spreadsheets. A single part (file) contains all sheets and is read once.
//!
//! The reader returns cell values, formulas, and the number formats of cells with a value. Formulas
//! are converted to Excel's syntax. Cells that only have a number format are omitted, because every
//! unused cell of a sheet may have one.

mod formula;
mod not_imported;
mod row;
mod styles;

use std::io::{Read, Seek};

use quick_xml::events::Event;

use crate::file_format::ODS_CONTENT_PART;
use crate::workbook::archive::Archive;
use crate::workbook::cell::WorkbookCell;
use crate::workbook::xml::{Xml, attribute};
use crate::{NotImported, Omission, ReadError, SheetStart, Source, WorkbookError};
use row::{Columns, Row};
use styles::Styles;

const STYLES_PART: &str = "styles.xml";
/// In lower case.
const MACROS_FOLDER: &str = "basic/";

#[derive(Debug)]
pub(crate) struct Ods<R: Read> {
    xml: Xml<R>,
    styles: Styles,
    sheet_name: String,
    in_sheet: bool,
    columns: Columns,
    row: Row,
    next_row: u32,
}

impl<R: Read + Seek> Ods<R> {
    pub(crate) fn open<S: Source<Stream = R>>(archive: &Archive<S>) -> Result<Self, ReadError> {
        check_not_encrypted(archive)?;
        let mut styles = Styles::default();
        if archive.has_part(STYLES_PART) {
            styles.read_part(&mut Xml::new(archive.open_part(STYLES_PART)?, STYLES_PART))?;
        }
        let content = archive.open_part(ODS_CONTENT_PART)?;
        let mut xml = Xml::noting(content, ODS_CONTENT_PART, not_imported::note_tag);
        if archive.part_names().any(|name| name.starts_with(MACROS_FOLDER)) {
            xml.not_imported.add(Omission::Macros, 1);
        }
        styles.read_part(&mut xml)?;
        Ok(Self {
            xml,
            styles,
            sheet_name: String::new(),
            in_sheet: false,
            columns: Columns::default(),
            row: Row::default(),
            next_row: 0,
        })
    }

    pub(crate) fn not_imported(&self) -> NotImported {
        self.xml.not_imported
    }

    pub(crate) fn next_sheet(&mut self) -> Result<Option<SheetStart>, ReadError> {
        loop {
            match self.xml.next_event()? {
                Event::Start(tag) if tag.name().as_ref() == "table:table" => {
                    let name = attribute(&tag, "name");
                    let table_style = attribute(&tag, "style-name");
                    let hidden = self.styles.is_hidden(table_style.as_deref());
                    self.start_sheet(name.clone().unwrap_or_default());
                    return Ok(Some(SheetStart { name, hidden }));
                }
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    fn start_sheet(&mut self, name: String) {
        self.sheet_name = name;
        self.in_sheet = true;
        self.columns = Columns::default();
        self.row = Row::default();
        self.next_row = 0;
    }

    pub(crate) fn next_cell(&mut self, cell: &mut WorkbookCell) -> Result<bool, WorkbookError> {
        loop {
            if self.row.next_cell(&self.sheet_name, cell)? {
                return Ok(true);
            }
            if !self.in_sheet {
                return Ok(false);
            }
            match self.xml.next_event()? {
                Event::Start(tag) => match tag.name().as_ref() {
                    "table:table-column" => self.columns.add_run(&tag)?,
                    "table:table-row" => {
                        let repetitions = row::read_repetitions(&tag, "number-rows-repeated")?;
                        self.read_row(repetitions)?;
                    }
                    _ => {}
                },
                Event::End(tag) if tag.name().as_ref() == "table:table" => self.in_sheet = false,
                Event::Eof => return Err(self.xml.truncated()),
                _ => {}
            }
        }
    }

    fn read_row(&mut self, repetitions: u32) -> Result<(), WorkbookError> {
        let first_row = self.next_row;
        self.next_row = first_row.saturating_add(repetitions);
        self.row.read_cells(&mut self.xml, &self.sheet_name, first_row, repetitions)?;
        self.row.set_formats(&self.columns, &self.styles);
        self.row.note_styles(&self.styles, &mut self.xml.not_imported);
        Ok(())
    }
}

/// Returns an error if the manifest says that the file is encrypted. Otherwise, the import would
/// report that the file is damaged.
fn check_not_encrypted<S: Source>(archive: &Archive<S>) -> Result<(), ReadError>
where
    S::Stream: Seek,
{
    const MANIFEST: &str = "META-INF/manifest.xml";
    if !archive.has_part(MANIFEST) {
        return Ok(());
    }
    let mut xml = Xml::new(archive.open_part(MANIFEST)?, MANIFEST);
    loop {
        match xml.next_event()? {
            Event::Start(tag) if tag.local_name().as_ref() == "encryption-data" => {
                return Err(WorkbookError::Encrypted.into());
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}
