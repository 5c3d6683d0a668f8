//! xlsx, in: its own reader, since none on offer gives value, formula and format of a cell in one
//! pass, and none is total (see `tests/workbooks/comparison.rs`).
//!
//! What is read: values, the texts of formulas (shared ones written out), number formats of cells.
//! What is not: formats of whole rows and columns, where they have no cell; everything else.

mod cell;
mod shared;
mod sheet;
mod strings;
mod styles;

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Seek};

use cellar_base::limits::MAX_SHEETS;
use quick_xml::events::Event;

use crate::workbook::archive::Archive;
use crate::workbook::cell::FoundCell;
use crate::workbook::xml::{Xml, attribute};
use crate::{ReadError, SheetStart, Source, WorkbookError};
use sheet::{Common, SheetCells};
pub(crate) use strings::SharedTexts;

/// An xlsx workbook.
#[derive(Debug)]
pub(crate) struct Xlsx<R: Read> {
    common: Common,
    sheets: VecDeque<SheetPlace>,
    current: Option<SheetCells<R>>,
}

/// A sheet in the list of sheets.
#[derive(Debug)]
pub(crate) struct SheetPlace {
    pub(crate) start: SheetStart,
    pub(crate) part: String,
}

impl<R: Read + Seek> Xlsx<R> {
    pub(crate) fn open<S: Source<Stream = R>>(
        archive: &Archive<S>,
        main: &str,
    ) -> Result<Self, ReadError> {
        let targets = relationships(archive, &relationships_of(main), folder(main))?;
        let (sheets, from_1904) = workbook(&mut xml(archive, main)?, &targets)?;
        let mut common = Common { from_1904, ..Common::default() };
        for target in targets.values() {
            if target.kind == "sharedStrings" {
                common.texts = SharedTexts::read(&mut xml(archive, &target.part)?)?;
            } else if target.kind == "styles" {
                common.styles = styles::read(&mut xml(archive, &target.part)?)?;
            }
        }
        Ok(Self { common, sheets, current: None })
    }

    pub(crate) fn next_sheet<S: Source<Stream = R>>(
        &mut self,
        archive: &Archive<S>,
    ) -> Result<Option<SheetStart>, ReadError> {
        let Some(place) = self.sheets.pop_front() else {
            return Ok(None);
        };
        let name = place.start.name.as_deref().unwrap_or_default();
        self.current = Some(SheetCells::new(xml(archive, &place.part)?, name));
        Ok(Some(place.start))
    }

    pub(crate) fn next_cell(&mut self, cell: &mut FoundCell) -> Result<bool, WorkbookError> {
        match &mut self.current {
            Some(sheet) => sheet.next(&self.common, cell),
            None => Ok(false),
        }
    }
}

fn xml<S: Source>(archive: &Archive<S>, part: &str) -> Result<Xml<S::Stream>, ReadError>
where
    S::Stream: Seek,
{
    Ok(Xml::new(archive.part(part)?, part))
}

/// What a part refers to.
#[derive(Debug)]
pub(crate) struct Target {
    /// The last word of its type: `worksheet`.
    pub(crate) kind: String,
    pub(crate) part: String,
}

/// The part that everything else is found from: `xl/workbook.xml`, or `.bin` of xlsb.
pub(crate) fn main_part<S: Source>(archive: &Archive<S>) -> Result<Option<String>, ReadError>
where
    S::Stream: Seek,
{
    if !archive.has("_rels/.rels") {
        return Ok(None);
    }
    let targets = relationships(archive, "_rels/.rels", "")?;
    let main = targets.into_values().find(|target| target.kind == "officeDocument");
    Ok(main.map(|target| target.part))
}

/// The part with what `part` refers to: `xl/_rels/workbook.xml.rels`.
pub(crate) fn relationships_of(part: &str) -> String {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    format!("{folder}/_rels/{name}.rels")
}

pub(crate) fn folder(part: &str) -> &str {
    part.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn relationships<S: Source>(
    archive: &Archive<S>,
    part: &str,
    folder: &str,
) -> Result<BTreeMap<String, Target>, ReadError>
where
    S::Stream: Seek,
{
    let mut targets = BTreeMap::new();
    let mut xml = xml(archive, part)?;
    loop {
        match xml.next()? {
            Event::Start(tag) if tag.local_name().as_ref() == "Relationship" => {
                let named = |name| attribute(&tag, name);
                if let (Some(id), Some(kind), Some(target)) =
                    (named("Id"), named("Type"), named("Target"))
                {
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    targets.insert(id, Target { kind, part: resolved(folder, &target) });
                }
            }
            Event::Eof => return Ok(targets),
            _ => {}
        }
    }
}

/// A part's name from one that is relative to a folder.
fn resolved(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            ".." => drop(names.pop()),
            "." | "" => {}
            name => names.push(name),
        }
    }
    names.join("/")
}

/// The sheets in their order, and whether days are counted from 1904.
fn workbook<R: Read>(
    xml: &mut Xml<R>,
    targets: &BTreeMap<String, Target>,
) -> Result<(VecDeque<SheetPlace>, bool), WorkbookError> {
    let (mut sheets, mut from_1904) = (VecDeque::new(), false);
    loop {
        match xml.next()? {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "workbookPr" => {
                    let date = attribute(&tag, "date1904");
                    from_1904 |= matches!(date.as_deref(), Some("1" | "true"));
                }
                "sheet" => {
                    let id = attribute(&tag, "id");
                    let target = id.and_then(|id| targets.get(&id));
                    let name = attribute(&tag, "name");
                    let hidden = attribute(&tag, "state").is_some_and(|state| state != "visible");
                    let Some(target) = target else {
                        return Err(xml.damaged("it lists a sheet that is nowhere"));
                    };
                    // Charts and dialogs are sheets, too, without cells.
                    if target.kind == "worksheet" {
                        let start = SheetStart { name, hidden };
                        sheets.push_back(SheetPlace { start, part: target.part.clone() });
                    }
                    if sheets.len() > MAX_SHEETS {
                        return Err(WorkbookError::TooManySheets);
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok((sheets, from_1904)),
            _ => {}
        }
    }
}
