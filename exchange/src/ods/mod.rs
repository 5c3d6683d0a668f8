//! ods, in: one part has all sheets, one behind the other, and is read once.
//!
//! What is read: values, the texts of formulas (as others write them), number formats of cells that
//! have a value. Cells that only have a format are left out: the whole rest of a sheet has one.

mod formula;
mod row;
mod styles;

use std::io::{Read, Seek};

use quick_xml::events::Event;

use crate::workbook::archive::Archive;
use crate::workbook::cell::FoundCell;
use crate::workbook::xml::{Xml, attribute};
use crate::{ReadError, SheetStart, Source, WorkbookError};
use row::{Columns, Row};
use styles::Styles;

const CONTENT: &str = "content.xml";
const STYLES: &str = "styles.xml";

/// An OpenDocument spreadsheet.
#[derive(Debug)]
pub(crate) struct Ods<R: Read> {
    xml: Xml<R>,
    styles: Styles,
    sheet: String,
    in_sheet: bool,
    columns: Columns,
    row: Row,
    next_row: u32,
}

impl<R: Read + Seek> Ods<R> {
    pub(crate) fn open<S: Source<Stream = R>>(archive: &Archive<S>) -> Result<Self, ReadError> {
        check_encryption(archive)?;
        let mut styles = Styles::default();
        if archive.has(STYLES) {
            styles.read(&mut Xml::new(archive.part(STYLES)?, STYLES))?;
        }
        let mut xml = Xml::new(archive.part(CONTENT)?, CONTENT);
        styles.read(&mut xml)?;
        Ok(Self {
            xml,
            styles,
            sheet: String::new(),
            in_sheet: false,
            columns: Columns::default(),
            row: Row::default(),
            next_row: 0,
        })
    }

    pub(crate) fn next_sheet(&mut self) -> Result<Option<SheetStart>, ReadError> {
        loop {
            match self.xml.next()? {
                Event::Start(tag) if tag.name().as_ref() == "table:table" => {
                    let name = attribute(&tag, "name");
                    let hidden = self.styles.is_hidden(attribute(&tag, "style-name").as_deref());
                    self.sheet = name.clone().unwrap_or_default();
                    self.in_sheet = true;
                    (self.columns, self.row, self.next_row) = Default::default();
                    return Ok(Some(SheetStart { name, hidden }));
                }
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    pub(crate) fn next_cell(&mut self, cell: &mut FoundCell) -> Result<bool, WorkbookError> {
        loop {
            if self.row.next(&self.sheet, cell)? {
                return Ok(true);
            }
            if !self.in_sheet {
                return Ok(false);
            }
            match self.xml.next()? {
                Event::Start(tag) => match tag.name().as_ref() {
                    "table:table-column" => self.columns.add(&tag)?,
                    "table:table-row" => {
                        let repeats = row::repeats(&tag, "number-rows-repeated")?;
                        let first = self.next_row;
                        self.next_row = first.saturating_add(repeats);
                        self.row.read(&mut self.xml, &self.sheet, first, repeats)?;
                        self.row.resolve(&self.columns, &self.styles);
                    }
                    _ => {}
                },
                Event::End(tag) if tag.name().as_ref() == "table:table" => self.in_sheet = false,
                Event::Eof => return Err(self.xml.ended()),
                _ => {}
            }
        }
    }
}

/// Encrypted parts look like damaged ones: the manifest says which they are.
fn check_encryption<S: Source>(archive: &Archive<S>) -> Result<(), ReadError>
where
    S::Stream: Seek,
{
    const MANIFEST: &str = "META-INF/manifest.xml";
    if !archive.has(MANIFEST) {
        return Ok(());
    }
    let mut xml = Xml::new(archive.part(MANIFEST)?, MANIFEST);
    loop {
        match xml.next()? {
            Event::Start(tag) if tag.local_name().as_ref() == "encryption-data" => {
                return Err(WorkbookError::Encrypted.into());
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}
