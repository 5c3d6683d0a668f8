//! Parses cells, ranges, whole rows and whole columns in A1 notation.

use cellar_base::limits::MAX_ROWS;
use cellar_grid::a1::parse_column;

use super::word::{space_bytes, word_bytes};
use crate::reference::{Area, Coordinate, Ends};

/// A parsed area and the length of its text in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AreaText {
    pub(crate) area: Area,
    pub(crate) bytes: usize,
}

/// A cell, or one side of the `:` in a range.
#[derive(Clone, Copy)]
enum Part {
    Cell { row: Coordinate, column: Coordinate },
    Column(Coordinate),
    Row(Coordinate),
}

/// Parses the area at the start of `text`, or returns `None` if there is none. A word before `(`,
/// `!` or `[` is a function, sheet or table name and not an area.
pub(crate) fn area_at(text: &str) -> Option<AreaText> {
    let (first, bytes) = part_at(text)?;
    if let Some((last, bytes_after_first)) = second_part_at(text.get(bytes..)?)
        && let Some(area) = join(first, last)
    {
        return Some(AreaText { area, bytes: bytes + bytes_after_first });
    }
    match first {
        Part::Cell { row, column } => Some(AreaText { area: Area::Cell { row, column }, bytes }),
        Part::Column(_) | Part::Row(_) => None,
    }
}

/// Parses a `:` and the part after it. Returns the part and the number of parsed bytes, including
/// the spaces around the `:`.
fn second_part_at(text: &str) -> Option<(Part, usize)> {
    let spaces_before = space_bytes(text);
    let after_colon = text.get(spaces_before..)?.strip_prefix(':')?;
    let spaces_after = space_bytes(after_colon);
    let (part, bytes) = part_at(after_colon.get(spaces_after..)?)?;
    Some((part, spaces_before + 1 + spaces_after + bytes))
}

fn part_at(text: &str) -> Option<(Part, usize)> {
    let (word, after_word) = text.split_at_checked(word_bytes(text))?;
    if after_word.starts_with(['(', '!', '[']) {
        return None;
    }
    Some((parse_part(word)?, word.len()))
}

fn parse_part(word: &str) -> Option<Part> {
    let (is_first_absolute, after_dollar) = strip_dollar(word);
    let letters_end = after_dollar.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, after_letters) = after_dollar.split_at_checked(letters_end)?;
    if letters.is_empty() {
        return Some(Part::Row(Coordinate {
            index: parse_row(after_letters)?,
            is_absolute: is_first_absolute,
        }));
    }
    let column = Coordinate { index: parse_column(letters)?, is_absolute: is_first_absolute };
    if after_letters.is_empty() {
        return Some(Part::Column(column));
    }
    let (is_absolute, digits) = strip_dollar(after_letters);
    Some(Part::Cell { row: Coordinate { index: parse_row(digits)?, is_absolute }, column })
}

fn strip_dollar(text: &str) -> (bool, &str) {
    match text.strip_prefix('$') {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

fn parse_row(digits: &str) -> Option<u32> {
    // `u32::parse` also accepts a leading `+`.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    number.checked_sub(1).filter(|row| *row < MAX_ROWS)
}

fn join(first: Part, last: Part) -> Option<Area> {
    match (first, last) {
        (
            Part::Cell { row: first_row, column: first_column },
            Part::Cell { row: last_row, column: last_column },
        ) => Some(Area::Range {
            rows: Ends::sorted(first_row, last_row),
            columns: Ends::sorted(first_column, last_column),
        }),
        (Part::Column(first), Part::Column(last)) => Some(Area::Columns(Ends::sorted(first, last))),
        (Part::Row(first), Part::Row(last)) => Some(Area::Rows(Ends::sorted(first, last))),
        _ => None,
    }
}
