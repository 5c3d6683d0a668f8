//! Encoding of references in templates. It must never change, because existing data depends on it.
//!
//! A relative coordinate is `r` (row) or `c` (column), followed by the distance from the cell of
//! the formula. An absolute coordinate is `R` or `C`, followed by a zero-based index. A cell is a
//! row and a column, such as `r-1C3`. A range consists of two cells, two rows or two columns
//! separated by `:`. A deleted reference is `x`. An optional prefix names the sheet and ends with
//! `!`. It is the number of the sheet, or the quoted sheet name if no sheet has this name.

use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;

use crate::reference::{Area, Coordinate, Ends, Reference, ReferenceSheet};

const DELETED: char = 'x';

pub(super) fn encode(reference: &Reference, cell: CellName, text: &mut String) {
    match &reference.sheet {
        ReferenceSheet::Own => {}
        ReferenceSheet::Numbered(number) => text.push_str(&format!("{}!", number.0)),
        ReferenceSheet::Unknown(name) => {
            text.push_str(&format!("'{}'!", name.replace('\'', "''")));
        }
    }
    let encoder = Encoder { cell };
    match reference.area {
        Area::Cell { row, column } => encoder.push_cell(row, column, text),
        Area::Range { rows, columns } => {
            encoder.push_cell(rows.first, columns.first, text);
            text.push(':');
            encoder.push_cell(rows.last, columns.last, text);
        }
        Area::Rows(ends) => encoder.push_ends(Axis::Rows, ends, text),
        Area::Columns(ends) => encoder.push_ends(Axis::Columns, ends, text),
        Area::Deleted => text.push(DELETED),
    }
}

struct Encoder {
    cell: CellName,
}

impl Encoder {
    fn push_cell(&self, row: Coordinate, column: Coordinate, text: &mut String) {
        self.push(Axis::Rows, row, text);
        self.push(Axis::Columns, column, text);
    }

    fn push_ends(&self, axis: Axis, ends: Ends, text: &mut String) {
        self.push(axis, ends.first, text);
        text.push(':');
        self.push(axis, ends.last, text);
    }

    fn push(&self, axis: Axis, coordinate: Coordinate, text: &mut String) {
        let letter = letter_of(axis, coordinate.is_absolute);
        let origin = if coordinate.is_absolute { 0 } else { index_of(self.cell, axis) };
        let distance = i64::from(coordinate.index) - i64::from(origin);
        text.push(letter);
        text.push_str(&distance.to_string());
    }
}

fn letter_of(axis: Axis, is_absolute: bool) -> char {
    match (axis, is_absolute) {
        (Axis::Rows, false) => 'r',
        (Axis::Rows, true) => 'R',
        (Axis::Columns, false) => 'c',
        (Axis::Columns, true) => 'C',
    }
}

fn index_of(cell: CellName, axis: Axis) -> u32 {
    match axis {
        Axis::Rows => cell.row,
        Axis::Columns => cell.column,
    }
}

/// Decodes a reference of a formula in `cell`. Returns a deleted reference if the cells extend
/// beyond the largest possible sheet, and `None` if `code` is malformed.
pub(super) fn decode(code: &str, cell: CellName) -> Option<Reference> {
    let (reference, is_outside) = decode_with_place(code, cell)?;
    Some(if is_outside { Reference { area: Area::Deleted, ..reference } } else { reference })
}

/// Decodes a reference of a formula in `cell`. Also returns whether it is outside the largest possible
/// sheet. Its rows and columns are then replaced by the nearest ones inside.
pub(super) fn decode_with_place(code: &str, cell: CellName) -> Option<(Reference, bool)> {
    let (sheet, area_code) = decode_sheet(code)?;
    let mut decoder = Decoder { rest: area_code, cell, is_outside: false };
    let area = decoder.area()?;
    if !decoder.rest.is_empty() {
        return None;
    }
    Some((Reference { sheet, area }, decoder.is_outside))
}

fn decode_sheet(code: &str) -> Option<(ReferenceSheet, &str)> {
    if let Some(after_quote) = code.strip_prefix('\'') {
        // An encoded area contains no quotes, so the last quote ends the sheet name.
        let (name, area) = after_quote.rsplit_once("'!")?;
        return Some((ReferenceSheet::Unknown(name.replace("''", "'")), area));
    }
    match code.split_once('!') {
        None => Some((ReferenceSheet::Own, code)),
        Some((number, area)) => {
            Some((ReferenceSheet::Numbered(SheetId(decode_digits(number)?)), area))
        }
    }
}

/// Returns the name of the sheet of a reference, and the code of its area. Returns `None` if the
/// reference contains no name.
pub(super) fn named_sheet(code: &str) -> Option<(String, &str)> {
    match decode_sheet(code)? {
        (ReferenceSheet::Unknown(name), area) => Some((name, area)),
        (ReferenceSheet::Own | ReferenceSheet::Numbered(_), _) => None,
    }
}

/// Decodes a decimal number without a sign, spaces or leading zeros.
fn decode_digits(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok()?;
    if number.to_string() == digits { Some(number) } else { None }
}

struct Decoder<'a> {
    rest: &'a str,
    cell: CellName,
    /// Whether a decoded coordinate is outside the largest possible sheet.
    is_outside: bool,
}

impl Decoder<'_> {
    fn area(&mut self) -> Option<Area> {
        if let Some(after_deleted) = self.rest.strip_prefix(DELETED) {
            self.rest = after_deleted;
            return Some(Area::Deleted);
        }
        let row = self.coordinate(Axis::Rows)?;
        let column = self.coordinate(Axis::Columns)?;
        let is_range = self.take(':');
        match (row, column, is_range) {
            (Some(row), Some(column), false) => Some(Area::Cell { row, column }),
            (Some(row), Some(column), true) => {
                let last_row = self.coordinate(Axis::Rows)??;
                let last_column = self.coordinate(Axis::Columns)??;
                let rows = Ends::sorted(row, last_row);
                Some(Area::Range { rows, columns: Ends::sorted(column, last_column) })
            }
            (Some(row), None, true) => {
                Some(Area::Rows(Ends::sorted(row, self.coordinate(Axis::Rows)??)))
            }
            (None, Some(column), true) => {
                Some(Area::Columns(Ends::sorted(column, self.coordinate(Axis::Columns)??)))
            }
            _ => None,
        }
    }

    fn take(&mut self, character: char) -> bool {
        match self.rest.strip_prefix(character) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    /// Decodes a coordinate on `axis`. Returns `Some(None)` if the next coordinate is not on this
    /// axis, and `None` if it is malformed.
    #[allow(clippy::option_option, reason = "a missing coordinate is not an error")]
    fn coordinate(&mut self, axis: Axis) -> Option<Option<Coordinate>> {
        let is_absolute = self.take(letter_of(axis, true));
        if !is_absolute && !self.take(letter_of(axis, false)) {
            return Some(None);
        }
        let is_negative = self.take('-');
        let digits_end = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = self.rest.split_at_checked(digits_end)?;
        self.rest = after;
        let magnitude = decode_digits(digits).filter(|number| *number < axis.limit())?;
        if is_negative && (is_absolute || magnitude == 0) {
            return None;
        }
        let distance = if is_negative { -i64::from(magnitude) } else { i64::from(magnitude) };
        let origin = if is_absolute { 0 } else { index_of(self.cell, axis) };
        let place = i64::from(origin) + distance;
        let nearest = place.clamp(0, i64::from(axis.limit() - 1));
        self.is_outside |= place != nearest;
        Some(Some(Coordinate { index: u32::try_from(nearest).unwrap_or(0), is_absolute }))
    }
}
