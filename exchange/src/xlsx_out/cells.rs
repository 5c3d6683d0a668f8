//! Writes the XML elements of cells.

use std::fmt::Write as _;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use super::escape::push_escaped;
use crate::CellToWrite;
use crate::workbook::dynamic_arrays::as_stored;
use crate::workbook::functions::PrefixedFormula;

/// Metadata of a formula whose result may extend into other cells, see
/// [`super::parts::Parts::all`].
const DYNAMIC_FORMULA: &str = " cm=\"1\"";

/// A cell in a sheet.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellXml<'a> {
    pub(super) row: u32,
    pub(super) column: u32,
    /// Index of the cell style.
    pub(super) style: usize,
    pub(super) cell: &'a CellToWrite<'a>,
    /// The last cell of the area that the result of the formula fills, if it is known.
    pub(super) last: Option<CellName>,
    /// Whether only the number format is written.
    pub(super) is_value_omitted: bool,
}

impl CellXml<'_> {
    /// Returns whether the cell has a formula whose result may extend into other cells.
    pub(super) fn push_to(self, xml: &mut String) -> bool {
        let Some(formula) = self.cell.formula else {
            self.push_without_formula(xml);
            return false;
        };
        let PrefixedFormula { text, is_dynamic } = as_stored(formula);
        let is_dynamic = is_dynamic || self.last.is_some();
        self.push_start(xml, result_type(self.cell.value));
        if is_dynamic {
            xml.push_str(DYNAMIC_FORMULA);
            let _ = write!(xml, "><f t=\"array\" ref=\"{}", self.name());
            if let Some(last) = self.last {
                let _ = write!(xml, ":{last}");
            }
            xml.push_str("\">");
        } else {
            xml.push_str("><f>");
        }
        push_escaped(xml, &text);
        xml.push_str("</f><v>");
        push_value(xml, self.cell.value);
        xml.push_str("</v></c>");
        is_dynamic
    }

    fn push_without_formula(self, xml: &mut String) {
        let value = if self.is_value_omitted { &Value::Empty } else { self.cell.value };
        match value {
            Value::Empty if self.style == 0 => {}
            Value::Empty => {
                self.push_start(xml, "");
                xml.push_str("/>");
            }
            value if result_type(value) == TEXT_RESULT => {
                self.push_start(xml, " t=\"inlineStr\"");
                xml.push_str("><is><t xml:space=\"preserve\">");
                push_value(xml, value);
                xml.push_str("</t></is></c>");
            }
            value => {
                self.push_start(xml, result_type(value));
                xml.push_str("><v>");
                push_value(xml, value);
                xml.push_str("</v></c>");
            }
        }
    }

    /// Leaves the start tag open.
    fn push_start(self, xml: &mut String, type_attribute: &str) {
        // Writing to a `String` cannot fail.
        let _ = write!(xml, "<c r=\"{}\"", self.name());
        if self.style > 0 {
            let _ = write!(xml, " s=\"{}\"", self.style);
        }
        xml.push_str(type_attribute);
    }

    fn name(self) -> CellName {
        CellName { row: self.row, column: self.column }
    }
}

const TEXT_RESULT: &str = " t=\"str\"";

/// Returns the attribute with the type of a value. A number needs none.
fn result_type(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_finite() => "",
        Value::Bool(_) => " t=\"b\"",
        Value::Error(code) if is_excel_error(*code) => " t=\"e\"",
        Value::Empty | Value::Text(_) | Value::Number(_) | Value::Error(_) => TEXT_RESULT,
    }
}

/// Excel refuses newer error values in cells of this type.
fn is_excel_error(code: ErrorCode) -> bool {
    code.number() <= ErrorCode::GettingData.number()
}

fn push_value(xml: &mut String, value: &Value) {
    match value {
        Value::Empty => {}
        Value::Number(number) if number.is_finite() => {
            let mut buffer = zmij::Buffer::new();
            let text = buffer.format_finite(*number);
            xml.push_str(text.strip_suffix(".0").unwrap_or(text));
        }
        Value::Number(number) => xml.push_str(&number.to_string()),
        Value::Bool(boolean) => xml.push(if *boolean { '1' } else { '0' }),
        Value::Text(text) => push_escaped(xml, text),
        Value::Error(code) => xml.push_str(&code.to_string()),
    }
}
