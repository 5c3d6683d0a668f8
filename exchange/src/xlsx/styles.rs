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
    let mut looks = Looks::default();
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
                    looks.start(&tag);
                }
                "alignment" if in_cell_styles => looks.add_alignment(&tag),
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                "numFmts" => in_number_formats = false,
                "cellXfs" => in_cell_styles = false,
                "xf" if in_cell_styles => {
                    if let Some(format) = style_formats.last_mut() {
                        format.is_styled = looks.differs();
                    }
                }
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

/// Compares the looks of cell styles with that of the first, which is the default. Programs write
/// the parts of a style that have their default value in different ways.
#[derive(Debug, Default)]
struct Looks {
    default_look: Option<String>,
    look: String,
}

impl Looks {
    fn start(&mut self, style: &BytesStart<'_>) {
        self.look.clear();
        for name in ["fontId", "fillId", "borderId"] {
            let id = attribute(style, name);
            self.look.push_str(id.as_deref().unwrap_or("0"));
            self.look.push(' ');
        }
    }

    fn add_alignment(&mut self, alignment: &BytesStart<'_>) {
        for attribute in alignment.attributes().with_checks(false).flatten() {
            self.look.push_str(attribute.key.as_ref());
            self.look.push('=');
            self.look.push_str(&attribute.value);
            self.look.push(' ');
        }
    }

    /// Whether the look differs from the first one, which it may be itself.
    fn differs(&mut self) -> bool {
        let Self { default_look, look } = self;
        default_look.get_or_insert_with(|| look.clone()) != look
    }
}

fn number_format_id(tag: &BytesStart<'_>) -> Option<u32> {
    attribute(tag, "numFmtId")?.parse().ok()
}
