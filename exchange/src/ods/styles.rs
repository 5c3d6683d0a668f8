//! Number formats, as OpenDocument spells them out, as codes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use cellar_base::limits::{MAX_FORMAT_BYTES, MAX_WORKBOOK_STYLES};
use quick_xml::events::{BytesStart, Event};

use crate::WorkbookError;
use crate::workbook::formats::Format;
use crate::workbook::xml::{Xml, attribute, push_text};

/// Styles that stand on each other, at most: a circle ends there.
const MAX_PARENTS: usize = 16;
/// Decimals that a code may have.
const MAX_DECIMALS: usize = 30;

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    formats: BTreeMap<String, Format>,
    cells: BTreeMap<String, CellStyle>,
    hidden_tables: BTreeSet<String>,
}

#[derive(Debug)]
struct CellStyle {
    data: Option<String>,
    parent: Option<String>,
}

impl Styles {
    /// Reads styles up to the cells of the document, or the end of the part.
    pub(super) fn read<R: Read>(&mut self, xml: &mut Xml<R>) -> Result<(), WorkbookError> {
        let mut data: Option<(String, Code)> = None;
        let mut table = None;
        loop {
            match xml.next()? {
                Event::Start(tag) => {
                    let qualified = tag.name();
                    match (qualified.as_ref(), &mut data) {
                        ("office:spreadsheet", _) => return Ok(()),
                        ("style:style", _) => table = self.style(&tag),
                        ("style:table-properties", _) => {
                            if attribute(&tag, "display").as_deref() == Some("false") {
                                self.hidden_tables.extend(table.take());
                            }
                        }
                        (name, Some((_, code))) => code.part(name, &tag),
                        (name, None) => {
                            if let (Some(code), Some(name)) =
                                (Code::begin(name, &tag), attribute(&tag, "name"))
                            {
                                data = Some((name, code));
                            }
                        }
                    }
                }
                Event::End(tag) => {
                    if Code::is_style(tag.name().as_ref())
                        && let Some((name, code)) = data.take()
                    {
                        self.formats.insert(name, Format::of(&code.finish()));
                    } else if let Some((_, code)) = &mut data {
                        code.end_part();
                    }
                }
                Event::Eof => return Ok(()),
                event => {
                    if let Some((_, code)) = &mut data {
                        push_text(&event, &mut code.literal);
                    }
                }
            }
            if self.cells.len().saturating_add(self.formats.len()) > MAX_WORKBOOK_STYLES {
                return Err(WorkbookError::TooManyStyles);
            }
        }
    }

    /// Keeps a cell's style; gives the name of a table's.
    fn style(&mut self, tag: &BytesStart<'_>) -> Option<String> {
        let name = attribute(tag, "name")?;
        match attribute(tag, "family").as_deref() {
            Some("table") => return Some(name),
            Some("table-cell") => {
                let data = attribute(tag, "data-style-name");
                let parent = attribute(tag, "parent-style-name");
                self.cells.insert(name, CellStyle { data, parent });
            }
            _ => {}
        }
        None
    }

    /// The number format of a cell's style.
    pub(super) fn format(&self, style: &str) -> Option<Arc<str>> {
        let mut name = style;
        for _ in 0..MAX_PARENTS {
            let style = self.cells.get(name)?;
            if let Some(data) = &style.data {
                return self.formats.get(data)?.code.clone();
            }
            name = style.parent.as_deref()?;
        }
        None
    }

    pub(super) fn is_hidden(&self, table: Option<&str>) -> bool {
        table.is_some_and(|style| self.hidden_tables.contains(style))
    }
}

/// A code that is being put together.
#[derive(Debug, Default)]
struct Code {
    text: String,
    literal: String,
    is_percentage: bool,
    is_elapsed: bool,
}

impl Code {
    fn is_style(name: &str) -> bool {
        matches!(
            name,
            "number:number-style"
                | "number:percentage-style"
                | "number:currency-style"
                | "number:date-style"
                | "number:time-style"
        )
    }

    fn begin(name: &str, tag: &BytesStart<'_>) -> Option<Self> {
        let is_elapsed = attribute(tag, "truncate-on-overflow").as_deref() == Some("false");
        let is_percentage = name == "number:percentage-style";
        Self::is_style(name).then(|| Self { is_percentage, is_elapsed, ..Self::default() })
    }

    fn part(&mut self, name: &str, tag: &BytesStart<'_>) {
        self.literal.clear();
        let long = attribute(tag, "style").as_deref() == Some("long");
        let textual = attribute(tag, "textual").as_deref() == Some("true");
        let part = match (name, long) {
            ("number:number", _) => return self.number(tag, ""),
            ("number:scientific-number", _) => return self.number(tag, "E+00"),
            ("number:fraction", _) => "# ?/?",
            ("number:year", true) => "yyyy",
            ("number:year", false) => "yy",
            ("number:month", true) if textual => "mmmm",
            ("number:month", false) if textual => "mmm",
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
        self.text.push_str(part);
    }

    fn number(&mut self, tag: &BytesStart<'_>, exponent: &str) {
        let decimals = attribute(tag, "decimal-places").and_then(|text| text.parse::<usize>().ok());
        let grouped = attribute(tag, "grouping").as_deref() == Some("true");
        // Without decimals it has as many as it takes.
        if decimals.is_none() && !grouped && !self.is_percentage && exponent.is_empty() {
            return self.text.push_str("General");
        }
        self.text.push_str(if grouped { "#,##0" } else { "0" });
        if let Some(decimals) = decimals.filter(|decimals| *decimals > 0) {
            self.text.push('.');
            self.text.push_str(&"0".repeat(decimals.min(MAX_DECIMALS)));
        }
        self.text.push_str(exponent);
    }

    /// Text between the parts, or a currency's symbol.
    fn end_part(&mut self) {
        // Longer ones are not kept anyway.
        if self.text.len() > MAX_FORMAT_BYTES {
            self.literal.clear();
        }
        let bare = |character: char| "-/.: %()".contains(character);
        if self.literal.chars().all(bare) {
            self.text.push_str(&self.literal);
        } else {
            self.text.push('"');
            self.text.push_str(&self.literal.replace('"', ""));
            self.text.push('"');
        }
        self.literal.clear();
    }

    fn finish(mut self) -> String {
        if self.is_percentage && !self.text.contains('%') {
            self.text.push('%');
        }
        self.text
    }
}
