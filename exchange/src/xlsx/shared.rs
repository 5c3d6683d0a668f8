//! Shared formulas. The formula text is stored for the first cell, and its references are shifted
//! for all other cells.

use cellar_sheet::a1::column_name;

/// Number of rows in an Excel sheet. Shifted references wrap around at the sheet edges.
const ROWS: i64 = 1_048_576;
/// Number of columns in an Excel sheet.
const COLUMNS: i64 = 16_384;
const MAX_COLUMN_LETTERS: usize = 3;

/// Shifts the references in `formula` for another cell, which is `row_offset` rows and
/// `column_offset` columns away from the formula's original cell.
pub(super) fn shift_formula(formula: &str, row_offset: i64, column_offset: i64) -> String {
    let mut shifted = String::with_capacity(formula.len());
    let mut rest = formula;
    let mut previous = None;
    while let Some(first) = rest.chars().next() {
        let Some((token, after)) = rest.split_at_checked(token_bytes(rest, first)) else { break };
        let next = after.chars().next();
        // A name is a function if `(` follows it, and a sheet if `!` follows it.
        let can_be_reference = !matches!(next, Some('(' | '!'));
        let is_range_end = previous == Some(':') || next == Some(':');
        match Reference::parse(token) {
            Some(reference) if can_be_reference && (reference.is_cell() || is_range_end) => {
                reference.write_shifted(row_offset, column_offset, &mut shifted);
            }
            _ => shifted.push_str(token),
        }
        previous = token.chars().next_back();
        rest = after;
    }
    shifted
}

/// Returns the length of the token at the start of `rest`, whose first character is `first`.
fn token_bytes(rest: &str, first: char) -> usize {
    match first {
        '"' | '\'' => quoted_bytes(rest, first),
        '[' => bracketed_bytes(rest),
        first if is_word(first) => rest.find(|next| !is_word(next)).unwrap_or(rest.len()),
        first => first.len_utf8(),
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '$' | '\\' | '?')
}

/// Returns the length of the quoted text or name at the start of `rest`. A text with a doubled
/// quote counts as two quoted texts.
fn quoted_bytes(rest: &str, quote: char) -> usize {
    let end = rest.char_indices().skip(1).find(|(_, next)| *next == quote);
    end.map_or(rest.len(), |(index, _)| index + quote.len_utf8())
}

/// Returns the length of the bracketed text at the start of `rest`, which refers to a table part or
/// to a file.
fn bracketed_bytes(rest: &str) -> usize {
    let mut depth = 0_usize;
    for (index, next) in rest.char_indices() {
        match next {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    rest.len()
}

/// A reference to a cell, or a column or row that is one end of a range.
struct Reference {
    column: Option<Coordinate>,
    row: Option<Coordinate>,
}

/// A row or column in a reference.
#[derive(Clone, Copy)]
struct Coordinate {
    /// Index from 0.
    index: i64,
    /// Whether the coordinate is absolute: preceded by a `$` and never shifted.
    is_fixed: bool,
}

impl Coordinate {
    /// Returns the `$` prefix, if any, and the shifted row or column index.
    fn shifted(self, offset: i64, count: i64) -> (&'static str, i64) {
        if self.is_fixed {
            ("$", self.index)
        } else {
            ("", (self.index + offset).rem_euclid(count))
        }
    }
}

impl Reference {
    fn parse(token: &str) -> Option<Self> {
        let (column_is_fixed, rest) = strip_dollar(token);
        let letter_count =
            rest.find(|next: char| !next.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (letters, rest) = rest.split_at_checked(letter_count)?;
        if letters.len() > MAX_COLUMN_LETTERS {
            return None;
        }
        // In a reference without letters, such as `$5`, the `$` belongs to the row.
        let (row_is_fixed, digits) =
            if letters.is_empty() { (column_is_fixed, rest) } else { strip_dollar(rest) };
        let row = parse_row(digits, row_is_fixed)?;
        if letters.is_empty() {
            return row.map(|row| Self { column: None, row: Some(row) });
        }
        if row.is_none() && rest.contains('$') {
            return None;
        }
        let column_number = letters.bytes().fold(0_i64, |number, letter| {
            number * 26 + i64::from(letter.to_ascii_uppercase().saturating_sub(b'A')) + 1
        });
        if column_number > COLUMNS {
            return None;
        }
        let column = Coordinate { index: column_number - 1, is_fixed: column_is_fixed };
        Some(Self { column: Some(column), row })
    }

    fn is_cell(&self) -> bool {
        self.column.is_some() && self.row.is_some()
    }

    fn write_shifted(&self, row_offset: i64, column_offset: i64, text: &mut String) {
        if let Some(column) = self.column {
            let (dollar, index) = column.shifted(column_offset, COLUMNS);
            text.push_str(dollar);
            text.push_str(&column_name(u32::try_from(index).unwrap_or(0)));
        }
        if let Some(row) = self.row {
            let (dollar, index) = row.shifted(row_offset, ROWS);
            text.push_str(dollar);
            text.push_str(&(index + 1).to_string());
        }
    }
}

/// Parses a reference's row. The outer `None` means invalid digits; the inner `None` means no
/// digits.
fn parse_row(digits: &str, is_fixed: bool) -> Option<Option<Coordinate>> {
    if digits.is_empty() {
        return Some(None);
    }
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let row_number = digits.parse::<i64>().ok()?;
    if !(1..=ROWS).contains(&row_number) {
        return None;
    }
    Some(Some(Coordinate { index: row_number - 1, is_fixed }))
}

/// Removes a leading `$` and returns whether there was one.
fn strip_dollar(text: &str) -> (bool, &str) {
    match text.strip_prefix('$') {
        Some(rest) => (true, rest),
        None => (false, text),
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
