//! Converts number formats of OpenDocument files to format codes. In these files, a number format
//! is a sequence of XML elements.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use cellar_base::limits::{MAX_FORMAT_BYTES, MAX_WORKBOOK_STYLES};
use quick_xml::events::{BytesStart, Event};

use crate::WorkbookError;
use crate::workbook::formats::Format;
use crate::workbook::xml::{Xml, attribute, push_text};

/// Maximum number of parent styles that are searched for a number format. The limit also ends a
/// search through styles that inherit from each other.
const MAX_PARENT_STYLES: usize = 16;
const MAX_DECIMALS: usize = 30;

#[derive(Debug, Default)]
pub(super) struct Styles {
    /// Number formats by the name of the data style that defines them.
    formats: BTreeMap<String, Format>,
    cell_styles: BTreeMap<String, CellStyle>,
    /// Names of the table styles that hide sheets.
    hidden_tables: BTreeSet<String>,
}

/// The style that all other cell styles inherit from.
const DEFAULT_STYLE: &str = "Default";

#[derive(Debug)]
struct CellStyle {
    data_style: Option<String>,
    parent: Option<String>,
    /// Whether the style has a font, border, alignment or the like.
    has_look: bool,
}

impl Styles {
    /// Reads the styles of an XML part, up to the first sheet or the end of the part.
    pub(super) fn read_part<R: Read>(&mut self, xml: &mut Xml<R>) -> Result<(), WorkbookError> {
        let mut table_style_name = None;
        let mut cell_style_name = None;
        loop {
            match xml.next_event()? {
                Event::Start(tag) => match tag.name().as_ref() {
                    "office:spreadsheet" => return Ok(()),
                    "style:style" => {
                        table_style_name = read_table_style_name(&tag);
                        cell_style_name = self.add_cell_style(&tag);
                    }
                    "style:text-properties"
                    | "style:paragraph-properties"
                    | "style:table-cell-properties" => {
                        let style_name = cell_style_name.as_ref();
                        if let Some(style) =
                            style_name.and_then(|name| self.cell_styles.get_mut(name))
                        {
                            style.has_look = true;
                        }
                    }
                    "style:table-properties" if is_hidden_table(&tag) => {
                        self.hidden_tables.extend(table_style_name.take());
                    }
                    element if is_data_style(element) => {
                        let name = attribute(&tag, "name");
                        let code = FormatCodeBuilder::from_tag(&tag).read_elements(xml)?;
                        if let Some(name) = name {
                            self.formats.insert(name, Format::from_code(&code));
                        }
                    }
                    _ => {}
                },
                Event::Eof => return Ok(()),
                _ => {}
            }
            if self.cell_styles.len() + self.formats.len() > MAX_WORKBOOK_STYLES {
                return Err(WorkbookError::TooManyStyles);
            }
        }
    }

    /// Returns the name of the style, if it is a cell style.
    fn add_cell_style(&mut self, tag: &BytesStart<'_>) -> Option<String> {
        if attribute(tag, "family").as_deref() != Some("table-cell") {
            return None;
        }
        let name = attribute(tag, "name")?;
        let data_style = attribute(tag, "data-style-name");
        let parent = attribute(tag, "parent-style-name");
        self.cell_styles.insert(name.clone(), CellStyle { data_style, parent, has_look: false });
        Some(name)
    }

    /// Whether a cell style, or a style from which it inherits, looks different from the default.
    pub(super) fn is_styled(&self, style_name: &str) -> bool {
        let mut searched_name = style_name;
        for _ in 0..MAX_PARENT_STYLES {
            let Some(style) = self.cell_styles.get(searched_name) else { return false };
            if style.has_look && searched_name != DEFAULT_STYLE {
                return true;
            }
            let Some(parent) = style.parent.as_deref() else { return false };
            searched_name = parent;
        }
        false
    }

    /// Returns the number format of a cell style, which may be inherited from a parent style.
    pub(super) fn number_format(&self, style_name: &str) -> Option<Arc<str>> {
        let mut searched_name = style_name;
        for _ in 0..MAX_PARENT_STYLES {
            let style = self.cell_styles.get(searched_name)?;
            if let Some(data_style) = &style.data_style {
                return self.formats.get(data_style)?.code.clone();
            }
            searched_name = style.parent.as_deref()?;
        }
        None
    }

    pub(super) fn is_hidden(&self, table_style: Option<&str>) -> bool {
        table_style.is_some_and(|style| self.hidden_tables.contains(style))
    }
}

fn read_table_style_name(tag: &BytesStart<'_>) -> Option<String> {
    if attribute(tag, "family").as_deref() == Some("table") { attribute(tag, "name") } else { None }
}

fn is_hidden_table(table_properties: &BytesStart<'_>) -> bool {
    attribute(table_properties, "display").as_deref() == Some("false")
}

fn is_data_style(element: &str) -> bool {
    matches!(
        element,
        "number:number-style"
            | "number:percentage-style"
            | "number:currency-style"
            | "number:date-style"
            | "number:time-style"
    )
}

#[derive(Debug, Default)]
struct FormatCodeBuilder {
    code: String,
    literal: String,
    is_percentage: bool,
    /// Whether hours are displayed as elapsed time, which may exceed 24 hours.
    is_elapsed: bool,
}

impl FormatCodeBuilder {
    fn from_tag(tag: &BytesStart<'_>) -> Self {
        Self {
            is_percentage: tag.name().as_ref() == "number:percentage-style",
            is_elapsed: attribute(tag, "truncate-on-overflow").as_deref() == Some("false"),
            ..Self::default()
        }
    }

    fn read_elements<R: Read>(mut self, xml: &mut Xml<R>) -> Result<String, WorkbookError> {
        loop {
            match xml.next_event()? {
                Event::Start(tag) => self.push_element(&tag),
                Event::End(tag) if is_data_style(tag.name().as_ref()) => return Ok(self.finish()),
                Event::End(_) => self.end_element(),
                Event::Eof => return Err(xml.truncated()),
                event => push_text(&event, &mut self.literal),
            }
        }
    }

    fn push_element(&mut self, tag: &BytesStart<'_>) {
        self.literal.clear();
        let is_long = attribute(tag, "style").as_deref() == Some("long");
        let is_textual = attribute(tag, "textual").as_deref() == Some("true");
        let code = match (tag.name().as_ref(), is_long) {
            ("number:number", _) => return self.push_number_code(tag, ""),
            ("number:scientific-number", _) => return self.push_number_code(tag, "E+00"),
            ("number:fraction", _) => "# ?/?",
            ("number:year", true) => "yyyy",
            ("number:year", false) => "yy",
            ("number:month", true) if is_textual => "mmmm",
            ("number:month", false) if is_textual => "mmm",
            ("number:month" | "number:minutes", true) => "mm",
            ("number:month" | "number:minutes", false) => "m",
            ("number:day", true) => "dd",
            ("number:day", false) => "d",
            ("number:day-of-week", true) => "dddd",
            ("number:day-of-week", false) => "ddd",
            ("number:hours", _) if self.is_elapsed => "[h]",
            ("number:hours", true) => "hh",
            ("number:hours", false) => "h",
            ("number:seconds", true) => "ss",
            ("number:seconds", false) => "s",
            ("number:am-pm", _) => "AM/PM",
            _ => return,
        };
        self.code.push_str(code);
    }

    fn push_number_code(&mut self, tag: &BytesStart<'_>, exponent: &str) {
        let declared_decimals = attribute(tag, "decimal-places");
        let decimals = declared_decimals.and_then(|text| text.parse::<usize>().ok());
        let is_grouped = attribute(tag, "grouping").as_deref() == Some("true");
        let is_plain_number = !is_grouped && !self.is_percentage && exponent.is_empty();
        // A plain number without a specified number of decimals is displayed with as many decimals
        // as necessary.
        if decimals.is_none() && is_plain_number {
            self.code.push_str("General");
            return;
        }
        self.code.push_str(if is_grouped { "#,##0" } else { "0" });
        if let Some(decimals) = decimals
            && decimals > 0
        {
            self.code.push('.');
            self.code.push_str(&"0".repeat(decimals.min(MAX_DECIMALS)));
        }
        self.code.push_str(exponent);
    }

    fn end_element(&mut self) {
        // A format code that is too long is discarded later, so its remaining text is not needed.
        if self.code.len() > MAX_FORMAT_BYTES {
            self.literal.clear();
        }
        let is_plain_separator = |character: char| "-/.: %()".contains(character);
        if self.literal.chars().all(is_plain_separator) {
            self.code.push_str(&self.literal);
        } else {
            self.code.push('"');
            self.code.push_str(&self.literal.replace('"', ""));
            self.code.push('"');
        }
        self.literal.clear();
    }

    fn finish(mut self) -> String {
        if self.is_percentage && !self.code.contains('%') {
            self.code.push('%');
        }
        self.code
    }
}
