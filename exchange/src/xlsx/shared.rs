//! Expands shared formulas. A workbook contains the text of a shared formula only for the first
//! cell that uses it. For every other cell, the references in the text are shifted by the distance
//! from the first cell.

use cellar_sheet::a1::column_name;

use crate::workbook::formula::quoted_token_bytes;
use crate::workbook::{EXCEL_COLUMNS, EXCEL_ROWS};

const MAX_COLUMN_LETTERS: usize = 3;

/// A reference that is shifted beyond an edge of the sheet continues at the opposite edge.
pub(super) fn shift_formula(formula: &str, row_offset: i64, column_offset: i64) -> String {
    let mut shifted_formula = String::with_capacity(formula.len());
    let mut unread_formula = formula;
    let mut previous_character = None;
    while let Some(first_character) = unread_formula.chars().next() {
        let token_bytes = first_token_bytes(unread_formula, first_character);
        let Some((token, after_token)) = unread_formula.split_at_checked(token_bytes) else {
            break;
        };
        let next_character = after_token.chars().next();
        // A name followed by `(` is a function, and a name followed by `!` is a sheet.
        let is_name = matches!(next_character, Some('(' | '!')) || starts_sheet_range(after_token);
        let can_be_reference = !is_name;
        let is_range_end = previous_character == Some(':') || next_character == Some(':');
        match Reference::parse(token) {
            Some(reference) if can_be_reference && (reference.is_cell() || is_range_end) => {
                reference.write_shifted(row_offset, column_offset, &mut shifted_formula);
            }
            _ => shifted_formula.push_str(token),
        }
        previous_character = token.chars().next_back();
        unread_formula = after_token;
    }
    shifted_formula
}

/// Returns whether the text after a token makes it the first of several sheets, as in `One:Two!A1`.
fn starts_sheet_range(after_token: &str) -> bool {
    let Some(last_sheet) = after_token.strip_prefix(':') else { return false };
    last_sheet.trim_start_matches(is_word_character).starts_with('!')
}

fn first_token_bytes(text: &str, first_character: char) -> usize {
    match first_character {
        '"' | '\'' => quoted_token_bytes(text, first_character),
        '[' => bracketed_token_bytes(text),
        _ if is_word_character(first_character) => {
            let word_end = text.find(|character| !is_word_character(character));
            word_end.unwrap_or(text.len())
        }
        _ => first_character.len_utf8(),
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '$' | '\\' | '?')
}

/// Returns the length of the token in brackets at the start of `text`, which refers to a part of a
/// table or to another file.
fn bracketed_token_bytes(text: &str) -> usize {
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    text.len()
}

/// A reference to a cell, or to the column or row at one end of a range such as `B:D` or `2:5`.
struct Reference {
    column: Option<Coordinate>,
    row: Option<Coordinate>,
}

#[derive(Clone, Copy)]
struct Coordinate {
    /// Zero-based.
    index: i64,
    /// An absolute coordinate follows a `$` and is never shifted.
    is_fixed: bool,
}

impl Coordinate {
    /// Parses a column such as `B` or `$B`.
    fn parse_column(text: &str) -> Option<Self> {
        const LETTERS_OF_ALPHABET: i64 = 26;
        let letters = text.strip_prefix('$').unwrap_or(text);
        if letters.len() > MAX_COLUMN_LETTERS {
            return None;
        }
        let mut column_number = 0_i64;
        for letter in letters.bytes() {
            let letter_number = i64::from(letter.to_ascii_uppercase() - b'A') + 1;
            column_number = column_number * LETTERS_OF_ALPHABET + letter_number;
        }
        if column_number > i64::from(EXCEL_COLUMNS) {
            return None;
        }
        Some(Self { index: column_number - 1, is_fixed: text.starts_with('$') })
    }

    /// Parses a row such as `5` or `$5`.
    fn parse_row(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('$').unwrap_or(text);
        // Check the digits, because `parse` would also accept a leading sign.
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let row_number = digits.parse::<i64>().ok()?;
        if !(1..=i64::from(EXCEL_ROWS)).contains(&row_number) {
            return None;
        }
        Some(Self { index: row_number - 1, is_fixed: text.starts_with('$') })
    }

    /// An index beyond an edge of the sheet continues at the opposite edge.
    const fn shifted_index(self, offset: i64, count: i64) -> i64 {
        if self.is_fixed { self.index } else { (self.index + offset).rem_euclid(count) }
    }

    const fn prefix(self) -> &'static str {
        if self.is_fixed { "$" } else { "" }
    }
}

impl Reference {
    fn parse(token: &str) -> Option<Self> {
        let letters_start = usize::from(token.starts_with('$'));
        let letter_count =
            token.bytes().skip(letters_start).take_while(u8::is_ascii_alphabetic).count();
        if letter_count == 0 {
            return Some(Self { column: None, row: Some(Coordinate::parse_row(token)?) });
        }
        let (column_text, row_text) = token.split_at_checked(letters_start + letter_count)?;
        let column = Some(Coordinate::parse_column(column_text)?);
        if row_text.is_empty() {
            return Some(Self { column, row: None });
        }
        Some(Self { column, row: Some(Coordinate::parse_row(row_text)?) })
    }

    fn is_cell(&self) -> bool {
        self.column.is_some() && self.row.is_some()
    }

    fn write_shifted(&self, row_offset: i64, column_offset: i64, text: &mut String) {
        if let Some(column) = self.column {
            let index = column.shifted_index(column_offset, i64::from(EXCEL_COLUMNS));
            text.push_str(column.prefix());
            text.push_str(&column_name(u32::try_from(index).unwrap_or(0)));
        }
        if let Some(row) = self.row {
            let index = row.shifted_index(row_offset, i64::from(EXCEL_ROWS));
            text.push_str(row.prefix());
            text.push_str(&(index + 1).to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_relative_references_are_shifted() {
        for (formula, expected) in [
            ("A1*2", "B3*2"),
            ("$A$1+A$1+$A1", "$A$1+B$1+$A3"),
            ("SUM(A1:B2,A:A,1:1,$C:D,$5:6)", "SUM(B3:C4,B:B,3:3,$C:E,$5:8)"),
            ("LOG10(A1)&\"A1 \"\"A1\"\"\"", "LOG10(B3)&\"A1 \"\"A1\"\"\""),
            ("'A1 it''s'!A1+Sheet1!A1+A1!B2", "'A1 it''s'!B3+Sheet1!B3+A1!C4"),
            ("Table1[[#This Row],[A1]]+[1]Sheet1!A1", "Table1[[#This Row],[A1]]+[1]Sheet1!B3"),
            ("1E3+TRUE+name_1+x.A1+ABCD1+A0", "1E3+TRUE+name_1+x.A1+ABCD1+A0"),
            ("XFD1048576", "A2"),
            ("SUM(One:Two!A1,A:B)", "SUM(One:Two!B3,B:C)"),
            ("Ärger+A1", "Ärger+B3"),
        ] {
            assert_eq!(shift_formula(formula, 2, 1), expected, "{formula}");
        }
        assert_eq!(shift_formula("A1+B2", -1, -1), "XFD1048576+A1");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[A-C$0-9:!'\"\\[\\]().]{0,20}|\\PC{0,20}", rows: i32, columns: i32) {
            let _ = shift_formula(&text, rows.into(), columns.into());
        }
    }
}
