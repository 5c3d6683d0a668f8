//! Reads the number formats of the cell styles in an xlsx workbook.

use std::io::Read;

use cellar_base::limits::MAX_WORKBOOK_STYLES;
use quick_xml::events::{BytesStart, Event};

use super::strings::unescape;
use crate::WorkbookError;
use crate::workbook::formats::{Format, NumberFormats};
use crate::workbook::xml::{Xml, attribute};

/// Returns the number formats, indexed by style.
pub(super) fn read_styles<R: Read>(xml: &mut Xml<R>) -> Result<Vec<Format>, WorkbookError> {
    let mut number_formats = NumberFormats::default();
    let mut style_formats = Vec::new();
    // Elements named `numFmt` and `xf` also occur in other sections, where they are ignored.
    let mut in_number_formats = false;
    let mut in_cell_styles = false;
    loop {
        match xml.next_event()? {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "numFmts" => in_number_formats = true,
                "cellXfs" => in_cell_styles = true,
                "numFmt" if in_number_formats => {
                    let code = attribute(&tag, "formatCode");
                    if let (Some(id), Some(code)) = (number_format_id(&tag), code) {
                        number_formats.insert(id, &unescape(&code));
                    }
                }
                "xf" if in_cell_styles => {
                    let id = number_format_id(&tag).unwrap_or(0);
                    style_formats.push(number_formats.format_of(id));
                }
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                "numFmts" => in_number_formats = false,
                "cellXfs" => in_cell_styles = false,
                _ => {}
            },
            Event::Eof => return Ok(style_formats),
            _ => {}
        }
        if style_formats.len().saturating_add(number_formats.count()) > MAX_WORKBOOK_STYLES {
            return Err(WorkbookError::TooManyStyles);
        }
    }
}

fn number_format_id(tag: &BytesStart<'_>) -> Option<u32> {
    attribute(tag, "numFmtId")?.parse().ok()
}
