//! The attributes of a formula's XML element.

use quick_xml::events::BytesStart;

use super::cell::{CellPosition, parse_cell_name};
use crate::workbook::xml::attribute;

/// The kind of a formula.
#[derive(Debug, Clone, Copy)]
pub(super) enum FormulaTag {
    Ordinary,
    /// A formula that other cells use. Only the first of these cells has its text.
    Shared {
        id: u32,
    },
    Array {
        /// The first and the last cell of the range that the formula fills, or `None` if it fills one
        /// cell.
        range: Option<(CellPosition, CellPosition)>,
    },
}

impl FormulaTag {
    pub(super) fn of(tag: &BytesStart<'_>) -> Self {
        match attribute(tag, "t").as_deref() {
            Some("shared") => match attribute(tag, "si").and_then(|id| id.parse().ok()) {
                Some(id) => Self::Shared { id },
                None => Self::Ordinary,
            },
            Some("array") => {
                let range = attribute(tag, "ref").unwrap_or_default();
                Self::Array { range: parse_range(&range) }
            }
            _ => Self::Ordinary,
        }
    }
}

fn parse_range(range: &str) -> Option<(CellPosition, CellPosition)> {
    let (first, last) = range.split_once(':')?;
    Some((parse_cell_name(first)?, parse_cell_name(last)?))
}
