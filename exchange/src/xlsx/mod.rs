//! Reads xlsx workbooks. The reader returns cell values, formulas and number formats. The cells of a
//! shared formula have the same template. Number formats of whole rows and columns are applied only to cells that
//! the file contains. All other contents are counted.
//!
//! No existing xlsx crate returns a cell's value, formula and number format in one pass, and some
//! of these crates panic on damaged files (see `tests/workbooks/comparison.rs`).

mod cell;
mod context;
mod defined_names;
mod formula_tag;
mod metadata;
mod not_imported;
mod shared;
mod shared_formula;
mod sheet;
mod strings;
mod styles;

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Seek};

use cellar_base::limits::MAX_SHEETS;
use quick_xml::events::Event;

use crate::workbook::archive::Archive;
use crate::workbook::cell::WorkbookCell;
use crate::workbook::other_parts::count_other_parts;
use crate::workbook::xml::{Xml, attribute};
use crate::{NotImported, Omission, ReadError, SheetStart, Source, WorkbookError};
pub(crate) use context::WorkbookContext;
pub use defined_names::NameInFile;
use defined_names::NameTag;
use metadata::DynamicArrays;
use not_imported::{note_sheet_tag, note_workbook_tag};
use sheet::SheetReader;
pub(crate) use strings::{ESCAPE_PREFIX, SharedTexts, unescape};

#[derive(Debug)]
pub(crate) struct Xlsx<R: Read> {
    context: WorkbookContext,
    /// Sheets not opened yet.
    sheets: VecDeque<SheetPart>,
    sheet_reader: Option<SheetReader<R>>,
    pub(crate) names: Vec<NameInFile>,
    /// Contents of the workbook and of all sheets before the current one that are not imported.
    not_imported: NotImported,
}

#[derive(Debug)]
pub(crate) struct SheetPart {
    pub(crate) start: SheetStart,
    pub(crate) part: String,
}

impl<R: Read + Seek> Xlsx<R> {
    pub(crate) fn open<S: Source<Stream = R>>(
        archive: &Archive<S>,
        main_part: &str,
    ) -> Result<Self, ReadError> {
        let targets =
            read_relationships(archive, &relationships_part(main_part), parent_folder(main_part))?;
        let mut not_imported = count_other_parts(archive);
        let workbook_part = archive.open_part(main_part)?;
        let mut workbook_xml = Xml::noting(workbook_part, main_part, note_workbook_tag);
        let sheet_list = read_sheet_list(&mut workbook_xml, &targets)?;
        not_imported.add_all(&workbook_xml.not_imported);
        not_imported.add(Omission::OtherSheets, sheet_list.other_sheets);
        let SheetList { sheets, from_1904, names, .. } = sheet_list;
        let mut context = WorkbookContext { from_1904, ..WorkbookContext::default() };
        for target in targets.values() {
            if target.kind == "sharedStrings" {
                let mut xml = open_xml(archive, &target.part)?;
                context.texts = SharedTexts::read(&mut xml)?;
                not_imported.add_all(&xml.not_imported);
            } else if target.kind == "styles" {
                context.styles = styles::read_styles(&mut open_xml(archive, &target.part)?)?;
            } else if target.kind == "sheetMetadata" {
                context.dynamic_arrays =
                    DynamicArrays::read(&mut open_xml(archive, &target.part)?)?;
            }
        }
        Ok(Self { context, sheets, sheet_reader: None, names, not_imported })
    }

    pub(crate) fn not_imported(&self) -> NotImported {
        let mut not_imported = self.not_imported;
        if let Some(sheet_reader) = &self.sheet_reader {
            not_imported.add_all(sheet_reader.not_imported());
        }
        not_imported
    }

    pub(crate) fn next_sheet<S: Source<Stream = R>>(
        &mut self,
        archive: &Archive<S>,
    ) -> Result<Option<SheetStart>, ReadError> {
        let Some(sheet) = self.sheets.pop_front() else {
            return Ok(None);
        };
        self.not_imported = self.not_imported();
        let name = sheet.start.name.as_deref().unwrap_or_default();
        let part = archive.open_part(&sheet.part)?;
        let xml = Xml::noting(part, &sheet.part, note_sheet_tag);
        self.sheet_reader = Some(SheetReader::new(xml, name));
        Ok(Some(sheet.start))
    }

    pub(crate) fn next_cell(&mut self, cell: &mut WorkbookCell) -> Result<bool, WorkbookError> {
        match &mut self.sheet_reader {
            Some(sheet_reader) => sheet_reader.next_cell(&self.context, cell),
            None => Ok(false),
        }
    }
}

fn open_xml<S: Source>(archive: &Archive<S>, part: &str) -> Result<Xml<S::Stream>, ReadError>
where
    S::Stream: Seek,
{
    Ok(Xml::new(archive.open_part(part)?, part))
}

/// Does not include chart sheets and dialog sheets.
#[derive(Debug, Default)]
pub(crate) struct SheetList {
    pub(crate) sheets: VecDeque<SheetPart>,
    pub(crate) other_sheets: u64,
    pub(crate) from_1904: bool,
    pub(crate) names: Vec<NameInFile>,
}

impl SheetList {
    /// Adds a sheet to the list, unless it is a chart sheet or a dialog sheet, which has no cells.
    pub(crate) fn add_sheet(
        &mut self,
        start: SheetStart,
        target: &RelationshipTarget,
    ) -> Result<(), WorkbookError> {
        if target.kind == "worksheet" {
            self.sheets.push_back(SheetPart { start, part: target.part.clone() });
        } else {
            self.other_sheets += 1;
        }
        if self.sheets.len() > MAX_SHEETS {
            return Err(WorkbookError::TooManySheets);
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct RelationshipTarget {
    /// Last path segment of the relationship's type, such as `worksheet`.
    pub(crate) kind: String,
    pub(crate) part: String,
}

/// Returns the name of the main part of an Excel workbook, such as `xl/workbook.xml`, or
/// `xl/workbook.bin` for xlsb. Returns `None` if the archive is not an Excel workbook.
pub(crate) fn find_office_document<S: Source>(
    archive: &Archive<S>,
) -> Result<Option<String>, ReadError>
where
    S::Stream: Seek,
{
    if !archive.has_part("_rels/.rels") {
        return Ok(None);
    }
    let targets = read_relationships(archive, "_rels/.rels", "")?;
    let main_target = targets.into_values().find(|target| target.kind == "officeDocument");
    Ok(main_target.map(|target| target.part))
}

/// Returns the name of the file that contains the relationships of `part`, such as
/// `xl/_rels/workbook.xml.rels`.
pub(crate) fn relationships_part(part: &str) -> String {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    format!("{folder}/_rels/{name}.rels")
}

pub(crate) fn parent_folder(part: &str) -> &str {
    part.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Relative part names are resolved against `folder`.
pub(crate) fn read_relationships<S: Source>(
    archive: &Archive<S>,
    part: &str,
    folder: &str,
) -> Result<BTreeMap<String, RelationshipTarget>, ReadError>
where
    S::Stream: Seek,
{
    let mut targets = BTreeMap::new();
    let mut xml = open_xml(archive, part)?;
    loop {
        match xml.next_event()? {
            Event::Start(tag) if tag.local_name().as_ref() == "Relationship" => {
                if let Some(id) = attribute(&tag, "Id")
                    && let Some(type_url) = attribute(&tag, "Type")
                    && let Some(target) = attribute(&tag, "Target")
                {
                    let kind = type_url.rsplit('/').next().unwrap_or_default().to_owned();
                    targets.insert(
                        id,
                        RelationshipTarget { kind, part: resolve_path(folder, &target) },
                    );
                }
            }
            Event::Eof => return Ok(targets),
            _ => {}
        }
    }
}

/// `target` is absolute or relative to `folder`.
fn resolve_path(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            ".." => {
                let _parent_folder = names.pop();
            }
            "." | "" => {}
            _ => names.push(name),
        }
    }
    names.join("/")
}

fn read_sheet_list<R: Read>(
    xml: &mut Xml<R>,
    targets: &BTreeMap<String, RelationshipTarget>,
) -> Result<SheetList, WorkbookError> {
    let mut sheet_list = SheetList::default();
    loop {
        match xml.next_event()? {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "workbookPr" => {
                    let date_setting = attribute(&tag, "date1904");
                    if matches!(date_setting.as_deref(), Some("1" | "true")) {
                        sheet_list.from_1904 = true;
                    }
                }
                "sheet" => {
                    let relationship_id = attribute(&tag, "id");
                    let name = attribute(&tag, "name").map(|name| unescape(&name).into_owned());
                    let hidden = attribute(&tag, "state").is_some_and(|state| state != "visible");
                    let Some(target) = relationship_id.and_then(|id| targets.get(&id)) else {
                        return Err(xml.damaged("the part of a sheet is missing"));
                    };
                    sheet_list.add_sheet(SheetStart { name, hidden }, target)?;
                }
                "definedName" => {
                    let name_tag = NameTag::of(&tag);
                    name_tag.read_into(xml, &mut sheet_list.names)?;
                }
                _ => {}
            },
            Event::Eof => return Ok(sheet_list),
            _ => {}
        }
    }
}
