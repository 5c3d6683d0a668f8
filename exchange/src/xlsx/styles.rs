//! Reads the number formats of cell styles.

use std::collections::BTreeMap;
use std::io::Read;

use cellar_base::limits::MAX_WORKBOOK_STYLES;
use quick_xml::events::Event;

use crate::WorkbookError;
use crate::workbook::formats::Format;
use crate::workbook::xml::{Xml, attribute};

/// Reads the part `styles.xml`. Returns number formats indexed by style.
pub(super) fn read_styles<R: Read>(xml: &mut Xml<R>) -> Result<Vec<Format>, WorkbookError> {
    let mut codes: BTreeMap<u32, Format> = BTreeMap::new();
    let mut styles = Vec::new();
    // Ignore elements with the same names outside these two sections.
    let (mut in_codes, mut in_styles) = (false, false);
    loop {
        match xml.next()? {
            Event::Start(tag) => {
                let number = |name| attribute(&tag, name).and_then(|text| text.parse::<u32>().ok());
                match tag.local_name().as_ref() {
                    "numFmts" => in_codes = true,
                    "cellXfs" => in_styles = true,
                    "numFmt" if in_codes => {
                        if let (Some(id), Some(code)) =
                            (number("numFmtId"), attribute(&tag, "formatCode"))
                        {
                            codes.insert(id, Format::from_code(&code));
                        }
                    }
                    "xf" if in_styles => {
                        let id = number("numFmtId").unwrap_or(0);
                        styles
                            .push(codes.get(&id).cloned().unwrap_or_else(|| Format::built_in(id)));
                    }
                    _ => {}
                }
            }
            Event::End(tag) => match tag.local_name().as_ref() {
                "numFmts" => in_codes = false,
                "cellXfs" => in_styles = false,
                _ => {}
            },
            Event::Eof => return Ok(styles),
            _ => {}
        }
        if styles.len().saturating_add(codes.len()) > MAX_WORKBOOK_STYLES {
            return Err(WorkbookError::TooManyStyles);
        }
    }
}
