//! One cell: what its element says, and what value that is.

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_ROWS};
use quick_xml::events::BytesStart;

use super::sheet::Common;
use super::strings::unescaped;
use crate::WorkbookError;
use crate::workbook::cell::{Found, FoundCell};
use crate::workbook::dates;
use crate::workbook::formats::DAYS_TO_1904;

/// What stands in a cell (ECMA-376 18.18.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Number,
    SharedText,
    Text,
    Bool,
    Error,
    Date,
}

/// The attributes of a cell and of its formula.
#[derive(Debug, Default)]
pub(super) struct CellAttributes {
    kind: Kind,
    style: usize,
    /// The number under which its formula is shared.
    pub(super) shared: Option<u32>,
}

impl CellAttributes {
    /// Reads the attributes of a cell, and gives it its place: one without a name stays where it is.
    pub(super) fn read(
        tag: &BytesStart<'_>,
        sheet: &str,
        cell: &mut FoundCell,
    ) -> Result<Self, WorkbookError> {
        let mut found = Self::default();
        // None of them has anything that would be escaped.
        for attribute in tag.attributes().with_checks(false).flatten() {
            let value = attribute.value.as_ref();
            match attribute.key.as_ref() {
                "r" => {
                    let place = place(value).ok_or_else(|| no_such_cell(sheet, value))?;
                    (cell.row, cell.column) = place;
                }
                "s" => found.style = value.parse().unwrap_or(0),
                "t" => found.kind = Kind::of(value),
                _ => {}
            }
        }
        if cell.row >= MAX_ROWS || cell.column >= MAX_IMPORT_COLUMNS {
            return Err(no_such_cell(sheet, "behind the last row or column"));
        }
        Ok(found)
    }

    /// Makes a value and a format of the cell's text; `None` if it refers to a shared text that is
    /// not there. What is not of its kind after all stays text.
    pub(super) fn set_value(&self, common: &Common, cell: &mut FoundCell) -> Option<()> {
        let format = common.styles.get(self.style);
        cell.format = format.and_then(|format| format.code.clone());
        if cell.text.is_empty() {
            return Some(());
        }
        cell.value = match self.kind {
            Kind::Number => {
                let shifted = common.from_1904 && format.is_some_and(|format| format.date);
                number(&cell.text, if shifted { DAYS_TO_1904 } else { 0.0 })
            }
            Kind::SharedText => {
                let text = common.texts.get(cell.text.trim().parse().ok()?)?;
                cell.text.clear();
                cell.text.push_str(text);
                Found::Text
            }
            Kind::Text => {
                if cell.text.contains("_x") {
                    cell.text = unescaped(&cell.text).into_owned();
                }
                Found::Text
            }
            Kind::Bool => match cell.text.trim() {
                "1" | "true" => Found::Bool(true),
                "0" | "false" => Found::Bool(false),
                _ => Found::Text,
            },
            Kind::Error => error(cell),
            Kind::Date => date(cell),
        };
        if cell.value == Found::Text && cell.text.is_empty() {
            cell.value = Found::Empty;
        }
        Some(())
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "s" => Self::SharedText,
            "str" | "inlineStr" => Self::Text,
            "b" => Self::Bool,
            "e" => Self::Error,
            "d" => Self::Date,
            _ => Self::Number,
        }
    }
}

fn number(text: &str, days: f64) -> Found {
    match text.trim().parse::<f64>() {
        Ok(number) => FoundCell::number(number + days),
        Err(_) => Found::Text,
    }
}

fn error(cell: &mut FoundCell) -> Found {
    // How an error is written that comes from no formula.
    if cell.formula.strip_prefix('=') == Some(&cell.text) {
        cell.formula.clear();
    }
    cell.text.parse().map_or(Found::Text, Found::Error)
}

/// A date that is written as one.
fn date(cell: &mut FoundCell) -> Found {
    let Some((serial, has_time)) = dates::date(&cell.text) else {
        return Found::Text;
    };
    if cell.format.is_none() {
        let format = if has_time { "yyyy-mm-dd hh:mm:ss" } else { "yyyy-mm-dd" };
        cell.format = Some(format.into());
    }
    Found::Number(serial)
}

pub(super) fn no_such_cell(sheet: &str, cell: &str) -> WorkbookError {
    WorkbookError::NoSuchCell { sheet: sheet.to_owned(), cell: cell.chars().take(30).collect() }
}

/// Row and column of a name such as `B2`.
fn place(name: &str) -> Option<(u32, u32)> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = name.split_at_checked(letters)?;
    let column = letters.bytes().try_fold(0_u32, |number, letter| {
        let letter = u32::from(letter.to_ascii_uppercase().saturating_sub(b'A'));
        number.checked_mul(26)?.checked_add(letter)?.checked_add(1)
    })?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    let row = digits.parse::<u32>().ok().filter(|_| plain)?.checked_sub(1)?;
    Some((row, column.checked_sub(1)?))
}
