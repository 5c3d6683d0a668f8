//! Converts OpenDocument number formats, which are element sequences, to format codes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use cellar_base::limits::{MAX_FORMAT_BYTES, MAX_WORKBOOK_STYLES};
use quick_xml::events::{BytesStart, Event};

use crate::WorkbookError;
use crate::workbook::formats::Format;
use crate::workbook::xml::{Xml, attribute, push_text};

/// Maximum depth of parent styles. The limit also breaks cycles.
const MAX_PARENTS: usize = 16;
/// Maximum number of decimals in a format code.
const MAX_DECIMALS: usize = 30;

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// Number formats by data style name.
    formats: BTreeMap<String, Format>,
    /// Cell styles by name.
    cells: BTreeMap<String, CellStyle>,
    /// Names of the table styles that hide a sheet.
    hidden_tables: BTreeSet<String>,
}

#[derive(Debug)]
struct CellStyle {
    /// Name of the data style that defines the number format.
    data_style: Option<String>,
    /// Name of the parent style.
    parent: Option<String>,
}

impl Styles {
    /// Reads styles up to the first sheet or the end of the part.
    pub(super) fn read<R: Read>(&mut self, xml: &mut Xml<R>) -> Result<(), WorkbookError> {
        let mut data_style: Option<(String, CodeBuilder)> = None;
        let mut table_style = None;
        loop {
            match xml.next()? {
                Event::Start(tag) => {
                    let qualified_name = tag.name();
                    match (qualified_name.as_ref(), &mut data_style) {
                        ("office:spreadsheet", _) => return Ok(()),
                        ("style:style", _) => table_style = self.add_style(&tag),
                        ("style:table-properties", _) => {
                            if attribute(&tag, "display").as_deref() == Some("false") {
                                self.hidden_tables.extend(table_style.take());
                            }
                        }
                        (element, Some((_, code))) => code.push_element(element, &tag),
                        (element, None) => {
                            if let Some(code) = CodeBuilder::start(element, &tag)
                                && let Some(name) = attribute(&tag, "name")
                            {
                                data_style = Some((name, code));
                            }
                        }
                    }
                }
                Event::End(tag) => {
                    if CodeBuilder::is_data_style(tag.name().as_ref())
                        && let Some((name, code)) = data_style.take()
                    {
                        self.formats.insert(name, Format::from_code(&code.finish()));
                    } else if let Some((_, code)) = &mut data_style {
                        code.end_element();
                    }
                }
                Event::Eof => return Ok(()),
                event => {
                    if let Some((_, code)) = &mut data_style {
                        push_text(&event, &mut code.literal);
                    }
                }
            }
            if self.cells.len().saturating_add(self.formats.len()) > MAX_WORKBOOK_STYLES {
                return Err(WorkbookError::TooManyStyles);
            }
        }
    }

    /// Stores a cell style. For a table style, returns its name instead.
    fn add_style(&mut self, tag: &BytesStart<'_>) -> Option<String> {
        let name = attribute(tag, "name")?;
        match attribute(tag, "family").as_deref() {
            Some("table") => return Some(name),
            Some("table-cell") => {
                let data_style = attribute(tag, "data-style-name");
                let parent = attribute(tag, "parent-style-name");
                self.cells.insert(name, CellStyle { data_style, parent });
            }
            _ => {}
        }
        None
    }

    /// Returns a cell style's number format, which may be inherited.
    pub(super) fn format(&self, style: &str) -> Option<Arc<str>> {
        let mut name = style;
        for _ in 0..MAX_PARENTS {
            let style = self.cells.get(name)?;
            if let Some(data_style) = &style.data_style {
                return self.formats.get(data_style)?.code.clone();
            }
            name = style.parent.as_deref()?;
        }
        None
    }

    pub(super) fn is_hidden(&self, table_style: Option<&str>) -> bool {
        table_style.is_some_and(|style| self.hidden_tables.contains(style))
    }
}

/// Builds a format code from a data style's elements.
#[derive(Debug, Default)]
struct CodeBuilder {
    code: String,
    /// Text of the current element.
    literal: String,
    is_percentage: bool,
    /// Whether hours represent elapsed time, which may exceed a day.
    is_elapsed: bool,
}

impl CodeBuilder {
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

    /// Creates a builder. Returns `None` if the element is not a data style.
    fn start(element: &str, tag: &BytesStart<'_>) -> Option<Self> {
        if !Self::is_data_style(element) {
            return None;
        }
        let is_elapsed = attribute(tag, "truncate-on-overflow").as_deref() == Some("false");
        let is_percentage = element == "number:percentage-style";
        Some(Self { is_percentage, is_elapsed, ..Self::default() })
    }

    fn push_element(&mut self, element: &str, tag: &BytesStart<'_>) {
        self.literal.clear();
        let is_long = attribute(tag, "style").as_deref() == Some("long");
        let is_textual = attribute(tag, "textual").as_deref() == Some("true");
        let code = match (element, is_long) {
            ("number:number", _) => return self.push_number(tag, ""),
            ("number:scientific-number", _) => return self.push_number(tag, "E+00"),
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

    fn push_number(&mut self, tag: &BytesStart<'_>, exponent: &str) {
        let decimals = attribute(tag, "decimal-places").and_then(|text| text.parse::<usize>().ok());
        let is_grouped = attribute(tag, "grouping").as_deref() == Some("true");
        // An unspecified number of decimals means as many as necessary.
        if decimals.is_none() && !is_grouped && !self.is_percentage && exponent.is_empty() {
            return self.code.push_str("General");
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

    /// Appends the element's text, which is a separator or a currency symbol.
    fn end_element(&mut self) {
        // Codes that exceed the limit are discarded, so appending more is pointless.
        if self.code.len() > MAX_FORMAT_BYTES {
            self.literal.clear();
        }
        let needs_no_quotes = |character: char| "-/.: %()".contains(character);
        if self.literal.chars().all(needs_no_quotes) {
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
