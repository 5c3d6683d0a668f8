//! Cell and range references in A1 notation, with an optional sheet name.

use std::fmt;
use std::str::FromStr;

use crate::sheet_id::SheetId;
use cellar_base::limits::{MAX_COLUMNS, MAX_RANGE_CELLS, MAX_ROWS};

/// The zero-based row and column of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellName {
    /// Zero-based row.
    pub row: u32,
    /// Zero-based column.
    pub column: u32,
}

/// A rectangle of cells, including the cells at both corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rectangle {
    /// The top left cell.
    pub first: CellName,
    /// The bottom right cell.
    pub last: CellName,
}

/// A rectangle of cells of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SheetArea {
    /// The sheet.
    pub sheet: SheetId,
    /// The cells of the sheet.
    pub cells: Rectangle,
}

/// A parsed range of cells, whole columns or whole rows, with an optional sheet name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Sheet name, if specified.
    pub sheet: Option<String>,
    /// The cells of the range. Whole columns or rows extend to the end of the largest possible
    /// sheet.
    pub rectangle: Rectangle,
    /// Whether the range consists of whole columns (`A:C`) or whole rows (`3:5`).
    pub is_open: bool,
}

/// Error for a malformed range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a range: {reason}")]
pub struct NotARange {
    /// The rejected text.
    pub text: String,
    /// The reason why the text is invalid, and the expected syntax.
    pub reason: &'static str,
}

/// Error for a range with too many cells to read at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("range {rectangle} has {area} cells; at most {MAX_RANGE_CELLS} are allowed")]
pub struct RangeTooLarge {
    /// The requested rectangle.
    pub rectangle: Rectangle,
    pub area: u64,
}

const SYNTAX: &str = "write it as A1, A1:G20, A:C, 3:5 or 'My sheet'!A1:G20";
const OUTSIDE: &str = "it extends beyond the largest possible sheet";

impl SheetArea {
    /// Number of numbers in the stored form.
    pub const NUMBERS: usize = 5;

    /// Returns the stored form: the sheet, the first row, the number of rows, the first column and the
    /// number of columns.
    #[must_use]
    pub fn numbers(&self) -> [u32; Self::NUMBERS] {
        let Self { sheet, cells: Rectangle { first, last } } = *self;
        let count = |first: u32, last: u32| last.saturating_sub(first).saturating_add(1);
        let rows = count(first.row, last.row);
        [sheet.0, first.row, rows, first.column, count(first.column, last.column)]
    }

    /// Returns the area with this stored form. Returns `None` if it is empty or beyond the end of the
    /// largest possible sheet.
    #[must_use]
    pub fn from_numbers(
        [sheet, first_row, rows, first_column, columns]: [u32; Self::NUMBERS],
    ) -> Option<Self> {
        let last = |first: u32, count: u32, limit: u32| {
            let end = first.checked_add(count).filter(|end| *end <= limit)?;
            end.checked_sub(1).filter(|last| *last >= first)
        };
        let last_row = last(first_row, rows, MAX_ROWS)?;
        let last_column = last(first_column, columns, MAX_COLUMNS)?;
        let first = CellName { row: first_row, column: first_column };
        let last = CellName { row: last_row, column: last_column };
        Some(Self { sheet: SheetId(sheet), cells: Rectangle { first, last } })
    }
}

impl Rectangle {
    /// The rectangle of all cells in the largest possible sheet.
    pub const EVERYTHING: Self = Self {
        first: CellName { row: 0, column: 0 },
        last: CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 },
    };

    /// Returns whether the rectangle contains the cell at `row` and `column`.
    #[must_use]
    pub fn contains(&self, row: u32, column: u32) -> bool {
        (self.first.row..=self.last.row).contains(&row)
            && (self.first.column..=self.last.column).contains(&column)
    }

    /// Returns whether both rectangles contain a cell in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first.row <= other.last.row
            && other.first.row <= self.last.row
            && self.first.column <= other.last.column
            && other.first.column <= self.last.column
    }

    /// Returns the number of cells in the rectangle, including blank cells.
    #[must_use]
    pub fn area(&self) -> u64 {
        let length = |first: u32, last: u32| u64::from(last.saturating_sub(first)) + 1;
        let rows = length(self.first.row, self.last.row);
        rows.saturating_mul(length(self.first.column, self.last.column))
    }

    /// Returns the smallest rectangle that contains both rectangles.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (first, last) = (self.first, self.last);
        Self {
            first: CellName {
                row: first.row.min(other.first.row),
                column: first.column.min(other.first.column),
            },
            last: CellName {
                row: last.row.max(other.last.row),
                column: last.column.max(other.last.column),
            },
        }
    }

    /// Returns the cells that are in both rectangles, or `None` if there are none.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let (first, last) = (self.first, self.last);
        let common = Self {
            first: CellName {
                row: first.row.max(other.first.row),
                column: first.column.max(other.first.column),
            },
            last: CellName {
                row: last.row.min(other.last.row),
                column: last.column.min(other.last.column),
            },
        };
        self.overlaps(other).then_some(common)
    }

    /// Returns the number of cells of the union that are in neither of the rectangles.
    #[must_use]
    pub fn cells_added_by_union(&self, other: &Self) -> u64 {
        let common = self.intersection(other).map_or(0, |common| common.area());
        let cells = self.area().saturating_add(other.area()).saturating_sub(common);
        self.union(other).area().saturating_sub(cells)
    }

    /// Returns the cells that are not in `other`, in at most four rectangles: those above, below,
    /// on the left and on the right.
    pub fn without(&self, other: &Self) -> impl Iterator<Item = Self> + use<> {
        let whole = *self;
        let Some(common) = self.intersection(other) else {
            return [Some(whole), None, None, None].into_iter().flatten();
        };
        let above = (whole.first.row < common.first.row)
            .then(|| Self { last: CellName { row: common.first.row - 1, ..whole.last }, ..whole });
        let below = (common.last.row < whole.last.row)
            .then(|| Self { first: CellName { row: common.last.row + 1, ..whole.first }, ..whole });
        let beside = |first_column: u32, last_column: u32| Self {
            first: CellName { row: common.first.row, column: first_column },
            last: CellName { row: common.last.row, column: last_column },
        };
        let left = (whole.first.column < common.first.column)
            .then(|| beside(whole.first.column, common.first.column - 1));
        let right = (common.last.column < whole.last.column)
            .then(|| beside(common.last.column + 1, whole.last.column));
        [above, below, left, right].into_iter().flatten()
    }

    /// Returns whether the rectangle contains all cells of another one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.union(other) == *self
    }
}

impl Range {
    /// Checks that the range is small enough to be read at once. Whole columns and rows are always
    /// accepted, because reading stops at the last used row and column.
    ///
    /// # Errors
    /// Returns [`RangeTooLarge`] if another range has more than `MAX_RANGE_CELLS` cells.
    pub fn check_area(&self) -> Result<(), RangeTooLarge> {
        let (rectangle, area) = (self.rectangle, self.rectangle.area());
        if self.is_open || area <= MAX_RANGE_CELLS {
            return Ok(());
        }
        Err(RangeTooLarge { rectangle, area })
    }
}

/// Returns the letters of a zero-based column: `A` for 0 and `AA` for 26.
#[must_use]
pub fn column_name(column: u32) -> String {
    let mut letters = Vec::new();
    let mut remainder = u64::from(column) + 1;
    while remainder > 0 {
        remainder -= 1;
        let letter = u8::try_from(remainder % 26).unwrap_or(0);
        letters.push(char::from(b'A' + letter));
        remainder /= 26;
    }
    letters.iter().rev().collect()
}

/// Parses column letters, ignoring case, and returns the zero-based column. Returns `None` if the
/// letters are invalid or the column is outside the largest possible sheet.
#[must_use]
pub fn parse_column(letters: &str) -> Option<u32> {
    if !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let mut number = 0_u32;
    for byte in letters.bytes() {
        let digit = u32::from(byte.to_ascii_uppercase().checked_sub(b'A')?) + 1;
        number = number.checked_mul(26)?.checked_add(digit)?;
    }
    number.checked_sub(1).filter(|column| *column < MAX_COLUMNS)
}

/// Parses a one-based row number and returns the zero-based row. Returns `None` if the number is
/// invalid or the row is outside the largest possible sheet.
fn parse_row(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok()?;
    number.checked_sub(1).filter(|row| *row < MAX_ROWS)
}

impl fmt::Display for CellName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", column_name(self.column), u64::from(self.row) + 1)
    }
}

impl fmt::Display for Rectangle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            return self.first.fmt(formatter);
        }
        write!(formatter, "{}:{}", self.first, self.last)
    }
}

struct Reference {
    column: Option<u32>,
    row: Option<u32>,
}

fn parse_reference(text: &str) -> Result<Reference, &'static str> {
    // `$` is ignored: it marks an absolute reference, which matters only when a formula is copied.
    let text = text.replace('$', "");
    let digits = text.trim_start_matches(|character: char| character.is_ascii_alphabetic());
    let letters = text.strip_suffix(digits).ok_or(SYNTAX)?;
    let has_only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() || !has_only_digits {
        return Err(SYNTAX);
    }
    let column =
        if letters.is_empty() { None } else { Some(parse_column(letters).ok_or(OUTSIDE)?) };
    let row = if digits.is_empty() { None } else { Some(parse_row(digits).ok_or(OUTSIDE)?) };
    Ok(Reference { column, row })
}

struct ParsedRectangle {
    rectangle: Rectangle,
    /// Whether the range consists of whole columns or rows.
    is_open: bool,
}

fn parse_rectangle(text: &str) -> Result<ParsedRectangle, &'static str> {
    let has_colon = text.contains(':');
    let (start_text, end_text) = text.split_once(':').unwrap_or((text, text));
    let start = parse_reference(start_text)?;
    let end = parse_reference(end_text)?;
    let is_open = start.row.is_none() || start.column.is_none();
    if is_open && !has_colon {
        return Err(SYNTAX);
    }
    let (first_row, last_row) = ascending_bounds(start.row, end.row, MAX_ROWS)?;
    let (first_column, last_column) = ascending_bounds(start.column, end.column, MAX_COLUMNS)?;
    let rectangle = Rectangle {
        first: CellName { row: first_row, column: first_column },
        last: CellName { row: last_row, column: last_column },
    };
    Ok(ParsedRectangle { rectangle, is_open })
}

/// Sorts two row or column indices. Returns the bounds of the largest possible sheet if both
/// indices are `None`.
fn ascending_bounds(
    start: Option<u32>,
    end: Option<u32>,
    limit: u32,
) -> Result<(u32, u32), &'static str> {
    match (start, end) {
        (Some(start), Some(end)) => Ok((start.min(end), start.max(end))),
        (None, None) => Ok((0, limit - 1)),
        _ => Err(SYNTAX),
    }
}

/// Splits a range into its optional sheet name and its cells. In a quoted sheet name, two
/// consecutive quotes are an escaped quote.
fn split_sheet(text: &str) -> Result<(Option<String>, &str), &'static str> {
    let Some(quoted) = text.strip_prefix('\'') else {
        return Ok(match text.rsplit_once('!') {
            Some((sheet, range)) => (Some(sheet.to_owned()), range),
            None => (None, text),
        });
    };
    let (sheet, range) = quoted.rsplit_once("'!").ok_or("a quoted sheet name ends with '!")?;
    if sheet.replace("''", "").contains('\'') {
        return Err("a quote inside a sheet name is written twice");
    }
    Ok((Some(sheet.replace("''", "'")), range))
}

impl FromStr for Range {
    type Err = NotARange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let not_a_range = |reason| NotARange { text: text.to_owned(), reason };
        let (sheet, range_text) = split_sheet(text.trim()).map_err(not_a_range)?;
        if sheet.as_deref() == Some("") {
            return Err(not_a_range("the sheet name before ! is empty"));
        }
        let ParsedRectangle { rectangle, is_open } =
            parse_rectangle(range_text).map_err(not_a_range)?;
        Ok(Self { sheet, rectangle, is_open })
    }
}

impl FromStr for CellName {
    type Err = NotARange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Range { sheet, rectangle, .. } = text.parse()?;
        if sheet.is_some() || rectangle.first != rectangle.last {
            let reason = "name one cell, such as B2";
            return Err(NotARange { text: text.to_owned(), reason });
        }
        Ok(rectangle.first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn round_trips_every_rectangle(
            row in 0..MAX_ROWS, column in 0..MAX_COLUMNS, row2 in 0..MAX_ROWS, column2 in 0..MAX_COLUMNS,
        ) {
            let rectangle = Rectangle {
                first: CellName { row: row.min(row2), column: column.min(column2) },
                last: CellName { row: row.max(row2), column: column.max(column2) },
            };
            let read: Range = rectangle.to_string().parse().unwrap();
            prop_assert_eq!(read.rectangle, rectangle);
        }

        #[test]
        fn parsing_any_text_does_not_panic(text in "\\PC{0,24}") {
            let _ = text.parse::<Range>();
        }
    }

    fn rectangle(text: &str) -> (u32, u32, u32, u32) {
        let Rectangle { first, last } = text.parse::<Range>().unwrap().rectangle;
        (first.row, first.column, last.row, last.column)
    }

    #[test]
    fn parses_cells_rectangles_columns_and_rows() {
        assert_eq!(rectangle("A1"), (0, 0, 0, 0));
        assert_eq!(rectangle("a1:g20"), (0, 0, 19, 6));
        assert_eq!(rectangle("G20:A1"), (0, 0, 19, 6));
        assert_eq!(rectangle("$B$2:AA3"), (1, 1, 2, 26));
        assert_eq!(rectangle("A:C"), (0, 0, MAX_ROWS - 1, 2));
        assert_eq!(rectangle("3:5"), (2, 0, 4, MAX_COLUMNS - 1));
        assert!("A:C".parse::<Range>().unwrap().is_open);
        let quoted: Range = "'It''s mine!'!A1".parse().unwrap();
        assert_eq!(quoted.sheet.as_deref(), Some("It's mine!"));
        assert_eq!("Sheet1!A1".parse::<Range>().unwrap().sheet.as_deref(), Some("Sheet1"));
    }

    #[test]
    fn rejects_invalid_ranges() {
        for text in [
            "",
            "A",
            "1",
            "A0",
            "A1:",
            ":A1",
            "A1:B",
            "1A",
            "A-1",
            "!A1",
            "'x!A1",
            "'a'b'!A1",
            "A1:B2:C3",
            "A4294967296",
            "ZZZZZZZZZZ1",
            "Ä1",
        ] {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
        assert!("A1:B2".parse::<CellName>().is_err());
    }

    #[test]
    fn only_letters_name_a_column() {
        assert_eq!(["A", "z", "AA"].map(parse_column), [Some(0), Some(25), Some(26)]);
        for text in ["", "1", "A1", "~", "[", "é", "A B"] {
            assert_eq!(parse_column(text), None, "{text}");
        }
    }

    #[test]
    fn the_last_row_and_column_are_the_limits() {
        let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
        assert_eq!(last.to_string().parse::<CellName>(), Ok(last));
        let below = format!("A{}", u64::from(MAX_ROWS) + 1);
        let right = format!("{}1", column_name(MAX_COLUMNS));
        for text in [below, right] {
            assert_eq!(text.parse::<CellName>().unwrap_err().reason, OUTSIDE);
        }
    }

    #[test]
    fn area_counts_all_cells() {
        assert_eq!("A1:B3".parse::<Range>().unwrap().rectangle.area(), 6);
        assert_eq!(Rectangle::EVERYTHING.area(), u64::from(MAX_ROWS) * u64::from(MAX_COLUMNS));
    }

    #[test]
    fn only_explicit_ranges_have_a_size_limit() {
        let check = |text: &str| text.parse::<Range>().unwrap().check_area();
        let rows = MAX_RANGE_CELLS / 16;
        assert_eq!(check(&format!("A1:P{rows}")), Ok(()));
        let error = check(&format!("A1:P{}", rows + 1)).unwrap_err();
        assert_eq!(error.area, MAX_RANGE_CELLS + 16);
        assert!(error.to_string().contains("cells; at most 16777216"), "{error}");
        assert_eq!((check("A:ZZ"), check("1:3")), (Ok(()), Ok(())));
    }
}
