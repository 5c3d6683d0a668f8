//! Reads the metadata of cells, which say which array formulas are dynamic arrays.

use std::io::Read;

use cellar_base::limits::MAX_WORKBOOK_STYLES;
use quick_xml::events::{BytesStart, Event};

use crate::WorkbookError;
use crate::workbook::xml::{Xml, attribute, is_true};

/// The type of metadata that describes dynamic arrays.
const DYNAMIC_ARRAY_TYPE: &str = "XLDAPR";

/// Which records of cell metadata mark dynamic arrays. The first record has the index 1.
#[derive(Debug, Default)]
pub(crate) struct DynamicArrays(Vec<bool>);

impl DynamicArrays {
    pub(super) fn contains(&self, index: usize) -> bool {
        let record = index.checked_sub(1).and_then(|index| self.0.get(index));
        record.copied().unwrap_or(false)
    }

    pub(super) fn read<R: Read>(xml: &mut Xml<R>) -> Result<Self, WorkbookError> {
        let mut metadata = Metadata::default();
        loop {
            match xml.next_event()? {
                Event::Start(tag) => metadata.start(&tag),
                Event::End(tag) => metadata.end(tag.local_name().as_ref()),
                Event::Eof => return Ok(Self(metadata.records)),
                _ => {}
            }
            if metadata.count() > MAX_WORKBOOK_STYLES {
                return Err(WorkbookError::TooManyStyles);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    /// Values of the type of dynamic arrays.
    Values,
    Records,
}

/// The file has first the types, then the values of each type, and then the records of cells.
#[derive(Debug, Default)]
struct Metadata {
    /// Whether each type is that of dynamic arrays.
    types: Vec<bool>,
    /// Whether each value of this type marks a dynamic array.
    values: Vec<bool>,
    /// Whether each record refers to such a value.
    records: Vec<bool>,
    section: Section,
}

impl Metadata {
    fn count(&self) -> usize {
        self.types.len().saturating_add(self.values.len()).saturating_add(self.records.len())
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        let is_dynamic_type = || attribute(tag, "name").as_deref() == Some(DYNAMIC_ARRAY_TYPE);
        match (tag.local_name().as_ref(), self.section) {
            ("metadataType", _) => self.types.push(is_dynamic_type()),
            ("futureMetadata", _) if is_dynamic_type() => self.section = Section::Values,
            ("cellMetadata", _) => self.section = Section::Records,
            ("bk", Section::Values) => self.values.push(false),
            ("bk", Section::Records) => self.records.push(false),
            ("dynamicArrayProperties", Section::Values) => {
                let is_dynamic = attribute(tag, "fDynamic").is_some_and(|value| is_true(&value));
                if let Some(value) = self.values.last_mut() {
                    *value |= is_dynamic;
                }
            }
            ("rc", Section::Records) => {
                let is_dynamic = self.refers_to_dynamic_array(tag);
                if let Some(record) = self.records.last_mut() {
                    *record |= is_dynamic;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if matches!(name, "futureMetadata" | "cellMetadata") {
            self.section = Section::Other;
        }
    }

    /// A reference has the one-based index of the type and the zero-based index of the value.
    fn refers_to_dynamic_array(&self, tag: &BytesStart<'_>) -> bool {
        let index = |name| attribute(tag, name)?.parse::<usize>().ok();
        let is_type = index("t").and_then(|number| self.types.get(number.checked_sub(1)?));
        let is_value = index("v").and_then(|index| self.values.get(index));
        is_type.copied().unwrap_or(false) && is_value.copied().unwrap_or(false)
    }
}
